//! Child processes on Linux.

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

pub(super) fn wait_for_end(child: Pid) {
    let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(child), ended) == Err(Errno::EINTR) {}
}

pub(super) fn end_with_parent() -> nix::Result<()> {
    // SIGKILL and not SIGTERM: plugins may catch the latter, and this is the last chance to end
    // them.
    prctl::set_pdeathsig(Signal::SIGKILL)
}
