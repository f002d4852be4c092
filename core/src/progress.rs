//! Progress of a run: reports of long operations that are still running, counts of finished instances,
//! and the log lines at the beginning and the end of a phase.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;
use tracing::info;

use crate::addr::InstanceAddr;
use crate::change::Action;
use crate::event::{CountedPhase, Event, EventObserver, ObjectLabel};
use crate::session::Session;

/// Interval between progress reports of a long operation.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Subject of the progress events of an operation.
#[derive(Clone, Copy)]
pub(crate) struct ProgressSubject<'a> {
    pub(crate) addr: &'a InstanceAddr,
    pub(crate) action: Action,
    pub(crate) label: Option<&'a ObjectLabel>,
}

/// Waits for an operation, reports it every ten seconds, and returns its duration.
pub(crate) async fn wait_with_progress<T>(
    session: &Session<'_>,
    subject: ProgressSubject<'_>,
    operation: Pin<&mut impl Future<Output = T>>,
) -> (T, Duration) {
    let ProgressSubject { addr, action, label } = subject;
    let tick = |elapsed| {
        session.watch.on_event(&Event::ChangeProgress {
            addr,
            action,
            label: label.cloned(),
            elapsed,
        });
    };
    wait_with_ticks(operation, tick).await
}

/// Waits for an operation, calls a function every ten seconds, and returns the duration.
pub(crate) async fn wait_with_ticks<T>(
    mut operation: Pin<&mut impl Future<Output = T>>,
    tick: impl Fn(Duration),
) -> (T, Duration) {
    // The awaited future is borrowed: a move into this function would double its size.
    let start = Instant::now();
    loop {
        match tokio::time::timeout(PROGRESS_INTERVAL, operation.as_mut()).await {
            Ok(result) => return (result, start.elapsed()),
            Err(_) => tick(start.elapsed()),
        }
    }
}

/// The instances of a phase: the number of finished ones, and the number known so far.
pub(crate) struct InstanceCounter<'a> {
    watch: &'a dyn EventObserver,
    phase: CountedPhase,
    done: Cell<usize>,
    total: Cell<usize>,
}

impl<'a> InstanceCounter<'a> {
    /// Creates a counter that expects `total` instances.
    pub(crate) fn new(watch: &'a dyn EventObserver, phase: CountedPhase, total: usize) -> Self {
        Self { watch, phase, done: Cell::new(0), total: Cell::new(total) }
    }

    /// Expects more instances.
    pub(crate) fn add_expected(&self, more: usize) {
        self.total.set(self.total.get() + more);
    }

    /// Removes one expected instance, which represented instances that are now counted separately.
    pub(crate) fn remove_expected(&self) {
        self.total.set(self.total.get().saturating_sub(1));
    }

    /// Counts one instance as finished.
    pub(crate) fn count_finished(&self) {
        self.done.set(self.done.get() + 1);
        let (phase, done, total) = (self.phase, self.done.get(), self.total.get());
        // Instances become known while resources are expanded, so the total may lag behind.
        self.watch.on_event(&Event::InstanceCount { phase, done, total: total.max(done) });
    }
}

/// A phase that is logged.
pub(crate) struct PhaseLog {
    name: &'static str,
    since: Instant,
}

impl PhaseLog {
    /// Logs the start of a phase with the number of its vertices.
    pub(crate) fn begin(name: &'static str, n_items: usize) -> Self {
        info!(phase = name, n_items, "phase begins");
        Self { name, since: Instant::now() }
    }

    /// Logs the end of the phase with the number of changes that it planned or applied.
    pub(crate) fn end(self, n_changes: usize) {
        let duration_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        info!(phase = self.name, n_changes, duration_ms, "phase ended");
    }
}
