//! Waits for calls of state stores. A long wait is reported on stderr, so that a server which does not answer
//! is not taken for a program that hangs.

use std::pin::pin;
use std::time::Duration;

use formwork_backend::{StateStore, StoreError};
use formwork_core::state::file::StateFile;
use tracing::info;

use crate::view::{self, sanitize};

/// The time that a call may take before it is reported.
const SILENT_CALL: Duration = Duration::from_secs(1);

/// Waits for a call of the store at `location`, which is to do something.
pub(super) async fn reported<T>(location: String, doing: &str, call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    if let Ok(outcome) = tokio::time::timeout(SILENT_CALL, &mut call).await {
        return outcome;
    }
    info!(location, doing, "waiting for the state store");
    view::err(&format!("Waiting for {} to {doing}...\n", sanitize::line(&location)));
    call.await
}

/// Reads the state in a store.
///
/// # Errors
/// As [`StateStore::read`].
pub(super) async fn read(store: &mut dyn StateStore) -> Result<Option<StateFile>, StoreError> {
    reported(store.location(), "return the state", store.read()).await
}
