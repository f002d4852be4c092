//! The clock of a test engine's timers. While no socket is open, it does not run, and advances to the next
//! timer when no other work is left. While a socket is open, time is real: an answer may be in
//! flight, and a client's timeout must not fire early.

#[cfg_attr(target_os = "linux", path = "clock/sockets/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "clock/sockets/other_systems.rs")]
mod sockets;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::time;

use self::sockets::PolledSockets;

/// The clock of one runtime.
#[derive(Default)]
pub(crate) struct VirtualClock {
    /// Whether time is always real.
    is_real: AtomicBool,
    /// Whether time is running.
    passes: AtomicBool,
    sockets: OnceLock<Option<PolledSockets>>,
}

impl VirtualClock {
    /// Starts a runtime on this thread, with its clock.
    pub(crate) fn start_runtime() -> (Runtime, Arc<Self>) {
        let clock = Arc::new(Self::default());
        let hook = clock.clone();
        let mut builder = Builder::new_current_thread();
        // Called before each wait of the runtime, which is when a paused clock would advance.
        builder.enable_all().start_paused(true).on_thread_park(move || hook.resume_or_pause());
        let runtime = builder.build().expect("a runtime on this thread has no requirements");
        // Inside the runtime, whose list gets the probe's file.
        let sockets = runtime.block_on(async { PolledSockets::of_this_runtime() });
        let _is_first: Result<(), _> = clock.sockets.set(sockets);
        (runtime, clock)
    }

    /// Uses real time from now on.
    pub(crate) fn use_real_time(&self) {
        self.is_real.store(true, Ordering::Relaxed);
    }

    /// Starts or stops time, before the runtime waits. Called within the runtime.
    fn resume_or_pause(&self) {
        let is_waited_for =
            // Without lists no socket can be seen, and then real time is safe.
            || self.sockets.get().is_some_and(|of| of.as_ref().is_none_or(PolledSockets::is_any_open));
        let passes = self.is_real.load(Ordering::Relaxed) || is_waited_for();
        // Only on a change: tokio panics if time is paused or resumed twice.
        match (self.passes.swap(passes, Ordering::Relaxed), passes) {
            (false, true) => time::resume(),
            (true, false) => time::pause(),
            _ => {}
        }
    }
}
