//! Processes and files on Unix.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// Has a command started in a process group of its own, so that its children can be killed with it.
pub(crate) fn set_process_group_on_unix(command: &mut Command) {
    command.process_group(0);
}

/// Kills a process group. An error means that no process is left.
pub(crate) fn kill_process_group_on_unix(leader: i32) {
    killpg(Pid::from_raw(leader), Signal::SIGKILL).ok();
}

/// Kills a process. An error means that it has ended.
pub(crate) fn kill_process_on_unix(pid: i32) {
    nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
}

/// Sends a process the signal of Ctrl-C, and returns whether that was possible.
pub(crate) fn interrupt_process_on_unix(pid: i32) -> bool {
    nix::sys::signal::kill(Pid::from_raw(pid), Signal::SIGINT).is_ok()
}

/// Whether every user may write to a file and reach it, except for the directory `ours`. The mode
/// of the file is returned, too.
pub(crate) fn unix_mode_if_open_to_others(path: &Path, own_dir: &Path) -> Option<u32> {
    // To connect to a socket one needs to write.
    let mode = path.metadata().map(|it| it.permissions().mode() & 0o002).unwrap_or(0);
    let directory = path.parent().filter(|it| *it != own_dir);
    let directory = directory.and_then(|it| it.metadata().ok());
    let is_closed = directory.is_some_and(|it| it.mode() & 0o001 == 0);
    (mode != 0 && !is_closed).then_some(mode)
}

/// Makes a script executable.
pub(crate) fn make_executable_on_unix(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o700))
}
