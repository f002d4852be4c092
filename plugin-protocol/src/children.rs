//! Child processes, as far as systems differ in them: the wait for the end of one, and its end together
//! with this process.

#[cfg_attr(target_os = "linux", path = "children/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "children/kqueue.rs")]
mod system;

use nix::unistd::Pid;

/// Waits for the end of a child, and leaves it to be reaped: until then its number means no other process.
pub fn wait_for_end(child: i32) {
    system::wait_for_end(Pid::from_raw(child));
}

/// Has the system end this process together with the thread that started it. Called between fork and
/// exec: allocates nothing.
///
/// # Errors
/// When the system refuses.
pub(crate) fn end_with_parent() -> nix::Result<()> {
    system::end_with_parent()
}
