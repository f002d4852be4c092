//! Processes and files on Windows. Rules that need process groups or signals are not examined here.

use std::io;
use std::path::Path;
use std::process::Command;

/// There are no process groups.
pub(crate) fn set_own_process_group(_command: &mut Command) {}

/// There are no process groups.
pub(crate) fn kill_process_group(_leader: i32) {}

/// Not used: rules that leave processes behind are not examined.
pub(crate) fn kill_process(_pid: i32) {}

/// There is no signal.
pub(crate) fn interrupt_process(_pid: i32) -> bool {
    false
}

/// Plugins listen on TCP here.
pub(crate) fn mode_if_open_to_others(_path: &Path, _ours: &Path) -> Option<u32> {
    None
}

/// Scripts of Unix are not run.
pub(crate) fn make_executable(_path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
