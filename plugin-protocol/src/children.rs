//! Platform-specific handling of child processes: waiting for an exit, ending a child together with
//! this process, and ending a child together with its descendants.

#[cfg_attr(target_os = "linux", path = "children/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "children/kqueue.rs")]
#[cfg_attr(not(unix), path = "children/windows.rs")]
mod system;
#[cfg_attr(unix, path = "children/process_group.rs")]
#[cfg_attr(not(unix), path = "children/process_job.rs")]
mod tree;

use std::process::Child;

pub use tree::{OutputPipeReader, ProcessTree, ending_signal_name, output_pipe};

/// Waits for the end of a child, and leaves it to be reaped: until then its number means no other process.
pub fn wait_without_reaping(child: &Child) {
    system::wait_without_reaping(child);
}

/// Makes the system end this process together with the thread that started it. Called between fork
/// and exec, so it does not allocate.
///
/// # Errors
/// When the system refuses.
#[cfg(unix)]
pub(crate) fn end_with_parent_where_supported() -> nix::Result<()> {
    system::end_with_parent_where_supported()
}

#[cfg(not(unix))]
pub(crate) use system::Job;
