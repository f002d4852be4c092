//! The sockets of a runtime on Linux, which lists the files of an epoll instance.

use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use tokio::net::UnixStream;

/// The files that a runtime waits for, as the system lists them.
pub(super) struct PolledSockets {
    list: PathBuf,
    /// Number of the runtime's own files.
    n_own: usize,
}

impl PolledSockets {
    /// Finds the list of the current runtime: the one with a socket that was just opened. `None` if
    /// the system has no such lists.
    pub(super) fn of_this_runtime() -> Option<Self> {
        // Closed again immediately: a socket keeps its runtime, which keeps its clock.
        let list = {
            let (probe, _other) = UnixStream::pair().ok()?;
            let file = fs::File::from(probe.as_fd().try_clone_to_owned().ok()?);
            let inode = file.metadata().ok()?.ino();
            // An epoll instance lists the files that it watches.
            let entries = fs::read_dir("/proc/self/fdinfo").ok()?;
            entries.flatten().map(|entry| entry.path()).find(|path| {
                let text = fs::read_to_string(path).unwrap_or_default();
                epoll_list_contains_inode(&text, inode)
            })?
        };
        let n_own = inodes_in_epoll_list(&fs::read_to_string(&list).ok()?).count();
        Some(Self { list, n_own })
    }

    pub(super) fn is_any_open(&self) -> bool {
        let text = fs::read_to_string(&self.list).unwrap_or_default();
        inodes_in_epoll_list(&text).count() > self.n_own
    }
}

/// Whether a list contains the file with an inode. The number after `tfd` does not identify a file:
/// a list keeps the numbers of closed descriptors whose files are still open under another number,
/// and another runtime reuses the numbers.
fn epoll_list_contains_inode(text: &str, inode: u64) -> bool {
    inodes_in_epoll_list(text).any(|polled| polled == Some(inode))
}

/// The inodes of the files in a list, of which each line has one: `tfd: 8 events: … ino:61f sdev:8`.
fn inodes_in_epoll_list(text: &str) -> impl Iterator<Item = Option<u64>> {
    text.lines().filter(|line| line.starts_with("tfd:")).map(|line| {
        let inode = line.split_whitespace().find_map(|word| word.strip_prefix("ino:"))?;
        u64::from_str_radix(inode, 16).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::VirtualClock;

    #[test]
    fn a_list_is_found_by_the_inode_and_not_by_a_reused_descriptor() {
        let stale = "pos:\t0\nflags:\t02\ntfd:       12 events: 19 data: 1  pos:0 ino:61f sdev:8\n";
        let own_line =
            "pos:\t0\nflags:\t02\ntfd:       12 events: 19 data: 1  pos:0 ino:a2b sdev:8\n";
        assert!(
            epoll_list_contains_inode(own_line, 0xa2b) && !epoll_list_contains_inode(stale, 0xa2b)
        );
        assert_eq!(
            (inodes_in_epoll_list(own_line).count(), inodes_in_epoll_list("pos:\t0\n").count()),
            (1, 0)
        );
    }

    #[test]
    fn open_sockets_are_detected_and_the_clock_ends_with_the_runtime() {
        let (runtime, clock) = VirtualClock::start_runtime();
        let sockets = clock.sockets.get().and_then(Option::as_ref).unwrap();
        assert!(!sockets.is_any_open());
        let pair = runtime.block_on(async { UnixStream::pair().unwrap() });
        assert!(sockets.is_any_open());
        drop(pair);
        assert!(!sockets.is_any_open());
        drop(runtime);
        // A socket that is kept here would keep the runtime, and with it the clock.
        assert_eq!(std::sync::Arc::strong_count(&clock), 1);
    }
}
