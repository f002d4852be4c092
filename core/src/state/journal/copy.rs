//! The copy of a journal in a place that other machines see, while its run writes it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use super::permissions::refuse_linked_folder;
use super::{Journal, JournalError};
use crate::disk::{FileOptions as _, create_private_dir};

/// A copy that grows with its journal.
#[async_trait::async_trait(?Send)]
pub trait JournalCopy {
    /// Hands over the next records, each whole, without waiting.
    fn push_records(&self, records: Vec<u8>);

    /// Waits until everything handed over before the call is durable.
    fn flush_records(&self) -> LocalBoxFuture<'static, Result<(), JournalCopyError>>;

    /// Removes the copy: its run has ended in good order.
    ///
    /// # Errors
    /// When the place fails.
    async fn remove_copy(self: Box<Self>) -> Result<(), JournalCopyError>;
}

/// Why the shared place does not have a record, or cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalCopyError {
    /// The place failed.
    #[error("cannot {doing} the journals in {location}: {cause}")]
    Failed {
        /// The operation: `read` or `write`.
        doing: &'static str,
        /// The place.
        location: String,
        /// The cause.
        cause: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// Another machine has taken the run over.
    #[error("another process has taken over this run in {location}")]
    TakenOver {
        /// The place.
        location: String,
    },
    /// A run of another machine has given a sign of life so shortly before that it may go on.
    #[error(
        "a run{} may still go on: its journal in {location} was written {} seconds ago",
        run.as_ref().map(|run| format!(" of {run}")).unwrap_or_default(),
        silent_for.as_secs()
    )]
    MayGoOn {
        /// The place.
        location: String,
        /// The user and host with the operation, if the journal names them.
        run: Option<String>,
        /// Time since the sign of life.
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

    /// The id of the run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }

    /// Reads the records until now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read_content(&self) -> Result<Vec<u8>, JournalError> {
        read_journal_file(&self.path)
    }

    /// Gives up a journal in which nothing was announced.
    pub fn abandon_journal(self) {
        // What stays has no calls in it, and the next run removes it.
        super::remove_journal(&self.path).ok();
    }
}

/// The bytes of a journal.
fn read_journal_file(path: &Path) -> Result<Vec<u8>, JournalError> {
    crate::disk::read_file(path, crate::disk::MAX_STATE_LEN)
        .map_err(JournalError::io_error("read", path))
}

/// Writes the content of a journal, durably and in one step.
pub(in crate::state) fn write_journal_file(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    let failed = |error| JournalError::io_error("write", path)(error);
    if let Some(folder) = path.parent() {
        refuse_linked_folder(folder).map_err(failed)?;
        create_private_dir(folder).map_err(failed)?;
    }
    // Under a name that recovery does not read, until all of it is durable.
    let unfinished = path.with_extension(super::NOT_BEGUN_EXTENSION);
    // Left by a process that was killed, or a link that a checkout contains: opening it would follow it.
    std::fs::remove_file(&unfinished).ok();
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).owner_only().open(&unfinished);
    file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&unfinished, path))
        .map_err(failed)
}
