//! The copy of a journal in a shared store, which other machines can read while the run writes it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use super::Journal;

/// A copy that grows with its journal.
#[async_trait::async_trait(?Send)]
pub trait JournalCopy {
    /// Appends the next whole records, without waiting.
    fn push_records(&self, records: Vec<u8>);

    /// Waits until all records pushed before the call are durable.
    fn flush_records(&self) -> LocalBoxFuture<'static, Result<(), JournalCopyError>>;

    /// Removes the copy: its run has completed normally.
    ///
    /// # Errors
    /// When the store fails.
    async fn remove_copy(self: Box<Self>) -> Result<(), JournalCopyError>;
}

/// The reason why the shared store lacks a record, or cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalCopyError {
    /// The store failed.
    #[error("cannot {doing} the journals in {location}: {cause}")]
    Failed {
        /// The operation: `read` or `write`.
        doing: &'static str,
        /// The location of the store.
        location: String,
        /// The cause.
        cause: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// Another machine has taken the run over.
    #[error("another process has taken over this run in {location}")]
    TakenOver {
        /// The location of the store.
        location: String,
    },
    /// A run of another machine has written its journal so recently that it may still be in progress.
    #[error(
        "a run{} may still be in progress: its journal in {location} was written {} seconds ago",
        run.as_ref().map(|run| format!(" of {run}")).unwrap_or_default(),
        silent_for.as_secs()
    )]
    MayGoOn {
        /// The location of the store.
        location: String,
        /// The user and host with the operation, if the journal names them.
        run: Option<String>,
        /// Time since the heartbeat.
        silent_for: Duration,
        /// Time until the run counts as interrupted.
        wait: Duration,
    },
}

impl Journal {
    /// Keeps a copy of everything appended from now on. The copy must have everything appended until
    /// now.
    pub fn set_copy(&mut self, copy: Box<dyn JournalCopy>) {
        self.copy = Some(copy);
    }
}
