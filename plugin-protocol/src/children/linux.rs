//! Child processes on Linux.

use std::process::Child;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

pub(super) fn wait_without_reaping(child: &Child) {
    let Ok(id) = i32::try_from(child.id()) else { return };
    let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(Pid::from_raw(id)), ended) == Err(Errno::EINTR) {}
}

pub(super) fn end_with_parent_where_supported() -> nix::Result<()> {
    // SIGKILL and not SIGTERM: plugins may catch the latter, and this is the last chance to end
    // them.
    prctl::set_pdeathsig(Signal::SIGKILL)
}
