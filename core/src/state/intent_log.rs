//! The storage of the intents of runs and the answers to them, separate from the state itself: on
//! the local disk, in memory, or where the state is shared.

mod local;
mod memory;

use std::sync::Arc;

use super::file::StateFile;
use super::journal::record::scan_journal;
use super::journal::{Journal, JournalError, RecordSeal, RunHeader};
use super::recover::{MisplacedJournals, Recovery};

pub use self::local::LocalIntentLog;
pub use self::memory::MemoryIntentLog;

/// Keeps the intents of runs, and finds those of interrupted runs.
///
/// ```
/// use formwork_core::state::file::StateFile;
/// use formwork_core::state::intent_log::{IntentLog, MemoryIntentLog, StateAccess};
/// use formwork_core::state::journal::RunHeader;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // No disk is needed.
/// let intents = MemoryIntentLog::default();
/// let base = StateFile::new_empty();
/// let begin = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
/// let journal = intents.begin_run(begin).await?;
/// // A run that is dropped before its end counts as interrupted.
/// drop(journal);
/// let recovery = intents.recover_runs(None, StateAccess::Locked).await?;
/// assert_eq!(recovery.runs.len(), 1);
/// intents.finish_recovery(&recovery).await?;
/// assert!(!intents.has_unfinished_run().await);
/// # Ok(())
/// # }
/// ```
#[async_trait::async_trait(?Send)]
pub trait IntentLog: Send + Sync {
    /// Begins the journal of a run. When this returns, the journal is durable.
    ///
    /// # Errors
    /// When the journal cannot be made durable.
    async fn begin_run(&self, begin: RunHeader<'_>) -> Result<Journal, JournalError>;

    /// Reads the journals that interrupted runs left, and applies their results to the state. Changes
    /// no journal: [`IntentLog::finish_recovery`] does, once the state is stored.
    ///
    /// # Errors
    /// When a journal cannot be read, or belongs to another state.
    async fn recover_runs(
        &self,
        stored: Option<StateFile>,
        access: StateAccess,
    ) -> Result<Recovery, JournalError>;

    /// Has the values in journals pass through a seal. To be called before all else.
    fn set_seal(&mut self, seal: Arc<dyn RecordSeal>);

    /// Archives the journals that were taken over. Must be called after the state is stored.
    ///
    /// # Errors
    /// When a journal cannot be written, renamed or removed. The next run then takes it over again.
    async fn finish_recovery(&self, recovery: &Recovery) -> Result<(), JournalError>;

    /// Whether a run has left a journal, or is still writing one. Storage that cannot be read may
    /// contain one.
    async fn has_unfinished_run(&self) -> bool;

    /// The reason why the intents are stored only on this machine although the state is shared; `None` if
    /// they are stored with the state.
    fn local_journal_only_reason(&self) -> Option<String> {
        None
    }

    /// Returns the traces of runs that have not ended in order.
    fn unfinished_runs(&self) -> Vec<UnfinishedRun>;

    /// Finds journals beside these that belong to a state and contain results or operations which it lacks, but
    /// belong to another location by the name of their directory.
    fn misplaced_journals(&self, _state: &StateFile) -> Vec<MisplacedJournals> {
        Vec::new()
    }
}

/// Access of the caller to the state whose journals are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateAccess {
    /// The run holds the lock exclusively, so no run of another machine is in progress.
    Locked,
    /// The run shares the lock with other runs, which may be in progress.
    Shared,
    /// The run only reads, and a run of another machine may be in progress.
    ReadOnly,
}

/// A trace of a run that has not ended in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedRun {
    /// The location of its journal.
    pub location: String,
    /// Whether a state was stored when the run began, or since. Of a damaged journal that has to be
    /// assumed.
    pub proves_state: bool,
    /// The location from which the run has read the state, if it writes to another one: a path, if that
    /// is a file.
    pub read_from: Option<String>,
    /// Lineage and serial of the state that the run began with, if they can be read.
    pub base: Option<(String, u64)>,
}

impl UnfinishedRun {
    /// Decodes the trace from the bytes of a journal; `None` if the journal cannot be read.
    fn from_journal(location: String, bytes: Option<&[u8]>) -> Self {
        let Some(log) = bytes.and_then(|bytes| scan_journal(bytes).ok()) else {
            return Self { location, proves_state: true, read_from: None, base: None };
        };
        let begin = log.run_begin();
        // A run that has read its state elsewhere has written nothing here before it is taken over.
        let began_here = begin.is_some_and(|begin| begin.serial > 0 && begin.read_from.is_none());
        // A run that was taken over has its results in the file that is written, and one that found
        // nothing continues from nothing.
        let goes_on = begin.filter(|begin| begin.serial > 0 && !log.is_taken_into_state());
        let read_from = goes_on.and_then(|begin| begin.read_from.clone());
        Self {
            location,
            proves_state: log.is_damaged() || log.is_taken_into_state() || began_here,
            read_from: read_from.filter(|_| log.has_announced_calls()),
            base: begin.map(|begin| (begin.lineage.clone(), begin.serial)),
        }
    }
}
