//! Child processes on macOS and the BSDs.

use std::process::Child;

use nix::errno::Errno;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};

pub(super) fn wait_without_reaping(child: &Child) {
    let Ok(queue) = Kqueue::new() else { return };
    let Ok(number) = usize::try_from(child.id()) else { return };
    let (filter, flags) = (EventFilter::EVFILT_PROC, EvFlags::EV_ADD | EvFlags::EV_ONESHOT);
    let change = KEvent::new(number, filter, flags, FilterFlag::NOTE_EXIT, 0, 0);
    let mut events = [change];
    // For a child that has already ended, the call fails with `ESRCH`.
    while queue.kevent(&[change], &mut events, None) == Err(Errno::EINTR) {}
}

/// There is no such request. A provider on the SDK looks for its host once a second and ends by itself.
pub(super) fn end_with_parent_where_supported() -> nix::Result<()> {
    Ok(())
}
