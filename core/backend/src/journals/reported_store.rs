//! Reports long waits for a store of journals, as for state stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use formwork_core::state::intent_log::StateAccess;
use tokio::time::Instant;

use super::{AppendOutcome, JournalStore, SharedRun};
use crate::cause::Cause;
use crate::store::StoreOperation;
use crate::wait_report::{WAIT_REPORT_DELAY, wait_with_report};

/// A store of journals whose long waits are reported.
pub(super) struct ReportedJournalStore {
    store: Arc<dyn JournalStore>,
    /// Whether the last part took long, which was already reported.
    is_slow: AtomicBool,
}

impl ReportedJournalStore {
    pub(super) fn new(store: Arc<dyn JournalStore>) -> Self {
        Self { store, is_slow: AtomicBool::new(false) }
    }

    async fn report<T>(&self, operation: StoreOperation, call: impl Future<Output = T>) -> T {
        wait_with_report(self.store.store_location(), operation, call).await
    }
}

#[async_trait::async_trait]
impl JournalStore for ReportedJournalStore {
    fn store_location(&self) -> String {
        self.store.store_location()
    }

    fn lacks_journals(&self) -> bool {
        self.store.lacks_journals()
    }

    fn needs_heartbeats(&self) -> bool {
        self.store.needs_heartbeats()
    }

    async fn begin_run(&self, run: &str) -> Result<Option<String>, Cause> {
        self.report(StoreOperation::Open, self.store.begin_run(run)).await
    }

    async fn read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
        self.report(StoreOperation::Read, self.store.read_runs(access)).await
    }

    async fn append_part(
        &self,
        run: &str,
        number: u64,
        bytes: &[u8],
    ) -> Result<AppendOutcome, Cause> {
        let (began, append) = (Instant::now(), self.store.append_part(run, number, bytes));
        // A run writes many parts, and a store that takes a second for each is reported once.
        let outcome = match self.is_slow.load(Ordering::Relaxed) {
            true => append.await,
            false => self.report(StoreOperation::Write, append).await,
        };
        self.is_slow.store(began.elapsed() >= WAIT_REPORT_DELAY, Ordering::Relaxed);
        outcome
    }

    async fn release_claims(&self, run: &str, open: &[String]) -> Result<(), Cause> {
        self.report(StoreOperation::Write, self.store.release_claims(run, open)).await
    }

    async fn remove_parts_below(&self, run: &str, number: u64) -> Result<(), Cause> {
        self.report(StoreOperation::Write, self.store.remove_parts_below(run, number)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use super::*;
    use crate::set_wait_reporter;

    /// A store that responds to each call after a number of seconds.
    struct SlowStore(u64);

    impl SlowStore {
        async fn wait(&self) {
            tokio::time::sleep(Duration::from_secs(self.0)).await;
        }
    }

    #[async_trait::async_trait]
    impl JournalStore for SlowStore {
        fn store_location(&self) -> String {
            format!("slow://{}", self.0)
        }

        async fn begin_run(&self, _run: &str) -> Result<Option<String>, Cause> {
            self.wait().await;
            Ok(None)
        }

        async fn read_runs(&self, _access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
            self.wait().await;
            Ok(Vec::new())
        }

        async fn append_part(
            &self,
            _run: &str,
            _number: u64,
            _bytes: &[u8],
        ) -> Result<AppendOutcome, Cause> {
            self.wait().await;
            Ok(AppendOutcome::Stored)
        }

        async fn release_claims(&self, _run: &str, _open: &[String]) -> Result<(), Cause> {
            self.wait().await;
            Ok(())
        }

        async fn remove_parts_below(&self, _run: &str, _number: u64) -> Result<(), Cause> {
            self.wait().await;
            Ok(())
        }
    }

    static REPORTS: Mutex<Vec<(String, StoreOperation)>> = Mutex::new(Vec::new());

    fn note_report(location: &str, operation: StoreOperation) {
        let mut reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push((location.to_owned(), operation));
    }

    /// Makes each call once, and writes two more parts. Returns the reports.
    async fn reports_of_calls(seconds: u64) -> Vec<StoreOperation> {
        set_wait_reporter(note_report);
        let store = ReportedJournalStore::new(Arc::new(SlowStore(seconds)));
        store.begin_run("run").await.unwrap();
        store.read_runs(StateAccess::Locked).await.unwrap();
        for number in 0..3 {
            store.append_part("run", number, b"").await.unwrap();
        }
        store.release_claims("run", &[]).await.unwrap();
        store.remove_parts_below("run", 3).await.unwrap();
        // Other tests of this process are reported, too.
        let reports = REPORTS.lock().unwrap_or_else(PoisonError::into_inner);
        let own_reports =
            reports.iter().filter(|(location, _)| *location == store.store_location());
        own_reports.map(|(_, operation)| *operation).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_call_is_reported_and_consecutive_parts_are_reported_once() {
        let (open, read, write) =
            (StoreOperation::Open, StoreOperation::Read, StoreOperation::Write);
        assert_eq!(reports_of_calls(2).await, [open, read, write, write, write]);
        assert!(reports_of_calls(0).await.is_empty());
    }
}
