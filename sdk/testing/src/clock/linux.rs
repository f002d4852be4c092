//! The sockets of a runtime on Linux, which lists what an epoll instance waits for.

use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use tokio::net::UnixStream;

/// The files that a runtime waits for, as the system lists them.
pub(super) struct Sockets {
    list: PathBuf,
    /// Number of the runtime's own files.
    n_own: usize,
    _probe: (UnixStream, UnixStream),
}

impl Sockets {
    /// Finds the list of the current runtime: the one with a socket that was just opened. `None` if
    /// the system has no such lists.
    pub(super) fn of_this_runtime() -> Option<Self> {
        let probe = UnixStream::pair().ok()?;
        let wanted = probe.0.as_raw_fd();
        // An epoll instance lists the files that it watches.
        let entries = fs::read_dir("/proc/self/fdinfo").ok()?;
        let list = entries.flatten().map(|entry| entry.path()).find(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            polled_files(&text).any(|file| file == wanted)
        })?;
        let n_own = polled_files(&fs::read_to_string(&list).ok()?).count();
        // The probe stays open, because its file is in the count.
        Some(Self { list, n_own, _probe: probe })
    }

    pub(super) fn is_any_open(&self) -> bool {
        let text = fs::read_to_string(&self.list).unwrap_or_default();
        polled_files(&text).count() > self.n_own
    }
}

/// The files in a list, of which each line has one: `tfd: 8 events: …`.
fn polled_files(text: &str) -> impl Iterator<Item = i32> {
    text.lines()
        .filter_map(|line| line.strip_prefix("tfd:")?.split_whitespace().next()?.parse().ok())
}
