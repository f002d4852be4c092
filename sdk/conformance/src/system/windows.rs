//! Processes and files on Windows. Rules that need process groups or signals are not examined here.

use std::io;
use std::path::Path;
use std::process::Command;

/// Windows has no process groups.
pub(crate) fn set_process_group_on_unix(_command: &mut Command) {}

/// Windows has no process groups.
pub(crate) fn kill_process_group_on_unix(_leader: i32) {}

/// Not used: rules that leave processes behind are not examined.
pub(crate) fn kill_process_on_unix(_pid: i32) {}

/// Windows has no signals.
pub(crate) fn interrupt_process_on_unix(_pid: i32) -> bool {
    false
}

/// Plugins listen on TCP here.
pub(crate) fn unix_mode_if_open_to_others(_path: &Path, _ours: &Path) -> Option<u32> {
    None
}

/// Scripts of Unix are not run.
pub(crate) fn make_executable_on_unix(_path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
