//! Reports of long waits for the places of states, so that a server which does not answer is not taken for a
//! program that hangs.

use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use crate::store::StoreOperation;

/// The time that a call may take before it is reported.
pub(crate) const WAIT_REPORT_DELAY: Duration = Duration::from_secs(1);

/// A function that reports a wait: the place, and the operation on it.
pub type WaitReporter = fn(&str, StoreOperation);

static WAIT_REPORTER: OnceLock<WaitReporter> = OnceLock::new();

/// Has waits of more than a second reported, for all stores of the process. Only the first function counts.
pub fn set_wait_reporter(report: WaitReporter) {
    WAIT_REPORTER.get_or_init(|| report);
}

/// Waits for a call of a place. A long wait is reported.
pub(crate) async fn wait_with_report<T>(
    location: String,
    operation: StoreOperation,
    call: impl Future<Output = T>,
) -> T {
    let mut call = pin!(call);
    let Some(report) = WAIT_REPORTER.get() else { return call.await };
    // By reference: the call must go on after the limit, not begin again.
    if let Ok(outcome) = tokio::time::timeout(WAIT_REPORT_DELAY, &mut call).await {
        return outcome;
    }
    tracing::info!(location, %operation, "waiting for the place of the state");
    report(&location, operation);
    call.await
}
