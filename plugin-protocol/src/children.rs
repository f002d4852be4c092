//! Child processes, as far as systems differ in them: the wait for the end of one, its end together with
//! this process, and its end together with everything it has started.

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

/// Has the system end this process together with the thread that started it. Called between fork and
/// exec: allocates nothing.
///
/// # Errors
/// When the system refuses.
#[cfg(unix)]
pub(crate) fn end_with_parent_where_supported() -> nix::Result<()> {
    system::end_with_parent_where_supported()
}

#[cfg(not(unix))]
pub(crate) use system::Job;
