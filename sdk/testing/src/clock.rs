//! The clock of a lab's timers. While no socket is open, it does not run, and advances to the next
//! timer when no other work is left. While a socket is open, time is real: an answer may be in
//! flight, and a client's timeout must not fire early.

use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time;

/// The clock of one runtime.
#[derive(Default)]
pub(crate) struct Clock {
    /// Whether time is always real.
    is_real: AtomicBool,
    /// Whether time is running.
    passes: AtomicBool,
    sockets: OnceLock<Option<Sockets>>,
}

/// The files that a runtime waits for, as the system lists them.
struct Sockets {
    list: PathBuf,
    /// Number of the runtime's own files.
    n_own: usize,
    _probe: (UnixStream, UnixStream),
}

impl Clock {
    /// Starts a runtime on this thread, with its clock.
    pub(crate) fn start() -> (Runtime, Arc<Self>) {
        let clock = Arc::new(Self::default());
        let hook = clock.clone();
        let mut builder = Builder::new_current_thread();
        // Called before each wait of the runtime, which is when a paused clock would advance.
        builder.enable_all().start_paused(true).on_thread_park(move || hook.settle());
        let runtime =
            builder.build().expect("a runtime on this thread needs nothing that can be missing");
        // Inside the runtime, whose list gets the probe's file.
        let sockets = runtime.block_on(async { Sockets::of_this_runtime() });
        let _is_first: Result<(), _> = clock.sockets.set(sockets);
        (runtime, clock)
    }

    /// Makes time real from now on.
    pub(crate) fn make_real(&self) {
        self.is_real.store(true, Ordering::Relaxed);
    }

    /// Starts or stops time, before the runtime waits. Called within the runtime.
    fn settle(&self) {
        let is_waited_for =
            // Without lists no socket can be seen, and then real time is safe.
            || self.sockets.get().is_some_and(|of| of.as_ref().is_none_or(Sockets::is_any_open));
        let passes = self.is_real.load(Ordering::Relaxed) || is_waited_for();
        // Only on a change: tokio panics if time is paused or resumed twice.
        match (self.passes.swap(passes, Ordering::Relaxed), passes) {
            (false, true) => time::resume(),
            (true, false) => time::pause(),
            _ => {}
        }
    }
}

impl Sockets {
    /// Finds the list of the current runtime: the one with a socket that was just opened. `None` if
    /// the system has no such lists.
    fn of_this_runtime() -> Option<Self> {
        let probe = UnixStream::pair().ok()?;
        let wanted = probe.0.as_raw_fd();
        // An epoll instance lists the files that it watches.
        let entries = fs::read_dir("/proc/self/fdinfo").ok()?;
        let list = entries.flatten().map(|entry| entry.path()).find(|path| {
            let text = fs::read_to_string(path).unwrap_or_default();
            waited_for(&text).any(|file| file == wanted)
        })?;
        let n_own = waited_for(&fs::read_to_string(&list).ok()?).count();
        // The probe stays open, because its file is in the count.
        Some(Self { list, n_own, _probe: probe })
    }

    fn is_any_open(&self) -> bool {
        let text = fs::read_to_string(&self.list).unwrap_or_default();
        waited_for(&text).count() > self.n_own
    }
}

/// The files in a list, of which each line has one: `tfd: 8 events: …`.
fn waited_for(text: &str) -> impl Iterator<Item = i32> {
    text.lines()
        .filter_map(|line| line.strip_prefix("tfd:")?.split_whitespace().next()?.parse().ok())
}
