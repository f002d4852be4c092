//! The log of a phase: one line when it begins, one when it ends.

use tokio::time::Instant;
use tracing::info;

/// A phase that is logged.
pub(crate) struct PhaseLog {
    name: &'static str,
    since: Instant,
}

impl PhaseLog {
    /// Logs the beginning of a phase with the number of things to look at.
    pub(crate) fn begin(name: &'static str, n_items: usize) -> Self {
        info!(phase = name, n_items, "phase begins");
        Self { name, since: Instant::now() }
    }

    /// Logs the end of the phase with the number of changes that it planned or made.
    pub(crate) fn end(self, n_changes: usize) {
        let duration_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        info!(phase = self.name, n_changes, duration_ms, "phase ended");
    }
}
