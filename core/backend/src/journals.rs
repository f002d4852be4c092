//! Journals of runs in the store of their state, so that any machine can take over an interrupted run. Each is
//! a sequence of parts that are written once. The journal on the machine of the run is kept as well.

mod journal_copy;
mod journal_part;
#[cfg(feature = "limited-objects")]
mod limited_objects;
#[cfg(feature = "object-journals")]
mod object_journals;
mod reported_store;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formwork_core::disk::{MAX_STATE_LEN, read_file};
use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::{IntentLog, LocalIntentLog, StateAccess, UnfinishedRun};
use formwork_core::state::journal::{
    Journal, JournalCopyError, JournalError, RecordSeal, RunHeader, StoredJournal,
    merge_journal_copies,
};
use formwork_core::state::operator::operation_display_name;
use formwork_core::state::recover::{
    InterruptedRun, JournalContent, MisplacedJournals, Recovery, is_being_written, recover_journals,
};

use self::journal_copy::JournalCopyTask;
use self::journal_part::{AssembledJournal, JournalPart, assemble_parts, is_taken_over};
#[cfg(feature = "limited-objects")]
pub(crate) use self::limited_objects::LimitedObjects;
#[cfg(feature = "object-journals")]
pub(crate) use self::object_journals::{CreateOutcome, ListedObject, ObjectJournals, ObjectStore};
use self::reported_store::ReportedJournalStore;
use crate::cause::Cause;

/// A store for journals that many machines share.
#[async_trait::async_trait]
pub(crate) trait JournalStore: Send + Sync {
    /// The store, for messages. Contains no secrets.
    fn store_location(&self) -> String;

    /// Whether the store is known to support no journals. `init` reports this, so that runs do not have
    /// to.
    fn lacks_journals(&self) -> bool {
        false
    }

    /// Whether the age of the latest part shows that a run is active, so that runs have to write parts
    /// periodically.
    fn needs_heartbeats(&self) -> bool {
        false
    }

    /// Prepares the store for a run. Returns the reason why it cannot store journals, if it cannot.
    async fn begin_run(&self, run: &str) -> Result<Option<String>, Cause>;

    /// Reads the runs that have left parts.
    async fn read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause>;

    /// Writes a part atomically, unless the run already has a part with that number.
    async fn append_part(
        &self,
        run: &str,
        number: u64,
        bytes: &[u8],
    ) -> Result<AppendOutcome, Cause>;

    /// Releases the claims of a run that was taken over, except those of its open operations.
    async fn release_claims(&self, _run: &str, _open: &[String]) -> Result<(), Cause> {
        Ok(())
    }

    /// Deletes the parts below a number, starting with the lowest.
    async fn remove_parts_below(&self, run: &str, number: u64) -> Result<(), Cause>;
}

/// A run in the shared store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedRun {
    /// The ID of the run.
    pub(crate) id: String,
    /// Whether the run is active, as far as the store can determine. If it is, its parts may be
    /// omitted.
    pub(crate) is_live: bool,
    /// Time since its latest part was written, if that shows whether the run is active.
    pub(crate) silent_for: Option<Duration>,
    /// The parts with their numbers, in order.
    pub(crate) parts: Vec<(u64, Vec<u8>)>,
}

/// The result of writing a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AppendOutcome {
    /// The part is stored durably.
    Stored,
    /// Another part with that number exists.
    Occupied,
    /// The backend cannot store journals, for this reason. Returned only for the first part.
    #[cfg_attr(
        not(feature = "object-journals"),
        expect(dead_code, reason = "a table stores journals next to any state")
    )]
    CannotStore(String),
}

/// The time without a part after which a run counts as interrupted, if parts are its heartbeats. Several of
/// them may be late.
const MAX_SILENCE: Duration = Duration::from_secs(120);

/// Intents in a shared store, with the journals on this machine as well.
pub(crate) struct SharedIntents {
    local: LocalIntentLog,
    store: Arc<dyn JournalStore>,
    /// The journals that were read from the store, by their paths on this machine.
    pulled: Mutex<BTreeMap<PathBuf, PulledJournal>>,
    /// The IDs of the runs that the store contained when it was read.
    known_runs: Mutex<BTreeSet<String>>,
    /// The journals on this machine of runs that have ended in the store.
    ended: Mutex<Vec<Arc<dyn StoredJournal>>>,
    local_only: Mutex<Option<String>>,
}

/// A journal that was read from the shared store.
#[derive(Clone, Debug)]
struct PulledJournal {
    run: String,
    /// The bytes in the store.
    shared: Vec<u8>,
    /// The same bytes with the results that only this machine has.
    merged: Vec<u8>,
    /// The number of the next part.
    next: u64,
}

impl SharedIntents {
    pub(crate) fn new(local: LocalIntentLog, store: Arc<dyn JournalStore>) -> Self {
        let store = Arc::new(ReportedJournalStore::new(store));
        Self {
            local,
            store,
            pulled: Mutex::default(),
            known_runs: Mutex::default(),
            ended: Mutex::default(),
            local_only: Mutex::default(),
        }
    }

    fn journal_error(&self, operation: &'static str) -> impl Fn(Cause) -> JournalError + use<> {
        let location = self.store.store_location();
        move |cause| {
            let location = location.clone();
            JournalError::Copy(JournalCopyError::Failed {
                doing: operation,
                location,
                cause: cause.into(),
            })
        }
    }

    fn taken_over_error(&self) -> JournalError {
        JournalCopyError::TakenOver { location: self.store.store_location() }.into()
    }

    /// The error for a run that may be active.
    fn active_run_error(
        &self,
        journal: JournalContent,
        stored: Option<StateFile>,
        silent_for: Duration,
    ) -> JournalError {
        // Only used to describe the run, so an unreadable journal is ignored.
        let recovered = recover_journals(vec![journal], stored);
        let run = recovered.ok().and_then(|recovery| recovery.runs.into_iter().next()).map(|run| {
            let InterruptedRun { operation, when, who, .. } = run;
            format!("{who} ({}, since {when})", operation_display_name(&operation))
        });
        let (location, wait) = (self.store.store_location(), MAX_SILENCE - silent_for);
        JournalCopyError::MayGoOn { location, run, silent_for, wait }.into()
    }

    fn journal_path_of_run(&self, run: &str) -> PathBuf {
        self.local.directory().join(format!("{run}.wal"))
    }

    /// Starts the copy of a journal. Returns `None` if the store does not support journals.
    async fn start_copy(&self, journal: &Journal) -> Result<Option<JournalCopyTask>, JournalError> {
        let (run, failed) = (journal.run_id(), self.journal_error("write"));
        let reason = match self.store.begin_run(run).await.map_err(&failed)? {
            Some(reason) => reason,
            None => {
                let first = JournalPart::Records(journal.read_content()?);
                match self.store.append_part(run, 0, &first.encode()).await.map_err(failed)? {
                    AppendOutcome::Stored => {
                        let store = self.store.clone();
                        return Ok(Some(JournalCopyTask::start(store, run.to_owned(), 1)));
                    }
                    AppendOutcome::CannotStore(reason) => reason,
                    AppendOutcome::Occupied => return Err(self.taken_over_error()),
                }
            }
        };
        if !self.store.lacks_journals() {
            *self.local_only.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        }
        Ok(None)
    }

    /// Writes the rest of a journal that was taken over to the shared store. Its copy on this
    /// machine is not used any more.
    async fn push_recovered_journal(
        &self,
        path: &Path,
        pulled: PulledJournal,
    ) -> Result<(), JournalError> {
        let PulledJournal { run, shared, next, .. } = pulled;
        let failed = self.journal_error("write");
        let part = match read_file(path, MAX_STATE_LEN) {
            Ok(bytes) if bytes.starts_with(&shared) => {
                JournalPart::Continuation(bytes[shared.len()..].into())
            }
            // A rewritten journal cannot be continued, so readers start again with it.
            Ok(bytes) => JournalPart::Restart(bytes),
            // The journal was deleted because everything in it is settled.
            Err(error) if error.kind() == ErrorKind::NotFound => JournalPart::End,
            // It may have results that the shared copy lacks, so the run must not end here.
            Err(error) => return Err(JournalError::io_error("read", path)(error)),
        };
        match self.store.append_part(&run, next, &part.encode()).await.map_err(&failed)? {
            AppendOutcome::Stored => {}
            // The state has the results, and the decisions of the other run take precedence.
            AppendOutcome::Occupied | AppendOutcome::CannotStore(_) => {
                return Err(self.taken_over_error());
            }
        }
        if part == JournalPart::End {
            self.store.remove_parts_below(&run, next).await.map_err(failed)?;
        }
        // Fails if the file is already deleted. A remaining copy only repeats the content of the
        // store.
        std::fs::remove_file(path).ok();
        std::fs::remove_dir(self.local.directory()).ok();
        Ok(())
    }
}

#[async_trait::async_trait(?Send)]
impl IntentLog for SharedIntents {
    async fn begin_run(&self, header: RunHeader<'_>) -> Result<Journal, JournalError> {
        let mut journal = self.local.begin_run(header).await?;
        match self.start_copy(&journal).await {
            Ok(Some(copy)) => journal.set_copy(Box::new(copy)),
            Ok(None) => {}
            Err(error) => {
                // A remaining journal would count as an interrupted run.
                journal.abandon_journal();
                return Err(error);
            }
        }
        // They are not read any more, but under another name of the store they would be mistaken for journals
        // of a state that lacks their results.
        let ended = std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
        ended.iter().for_each(|journal| drop(journal.remove_journal()));
        Ok(journal)
    }

    async fn recover_runs(
        &self,
        stored: Option<StateFile>,
        access: StateAccess,
    ) -> Result<Recovery, JournalError> {
        let runs = self.store.read_runs(access).await.map_err(self.journal_error("read"))?;
        *self.known_runs.lock().unwrap_or_else(PoisonError::into_inner) =
            runs.iter().map(|run| run.id.clone()).collect();
        let mut journals = self.local.read_interrupted_journals()?;
        let (mut pulled, mut ended) = (BTreeMap::new(), Vec::new());
        for run in runs {
            let path = self.journal_path_of_run(&run.id);
            let is_of_run =
                |content: &JournalContent| content.journal.run_id().as_ref() == Some(&run.id);
            let position = journals.iter().position(is_of_run);
            // Removed from the list, because it is added below, merged with the shared copy.
            let local_journal = position.map(|position| journals.remove(position));
            // The store may lack the information that a run is active, but on the machine of the run
            // its file shows it.
            if run.is_live || is_being_written(&path)? {
                continue;
            }
            let next = run.parts.last().map_or(0, |(number, _)| number + 1);
            match assemble_parts(&run.parts) {
                // Another machine has taken the run over, and everything in it is settled.
                AssembledJournal::Ended => {
                    ended.extend(local_journal.map(|local_journal| local_journal.journal));
                }
                AssembledJournal::Records(shared) => {
                    // A journal on this machine that no process is writing belongs to an interrupted run.
                    if local_journal.is_none()
                        && !is_taken_over(&run.parts)
                        && let Some(silent_for) =
                            run.silent_for.filter(|silence| *silence < MAX_SILENCE)
                    {
                        if access == StateAccess::ReadOnly {
                            continue;
                        }
                        let journal = self.local.journal_content(path, shared);
                        return Err(self.active_run_error(journal, stored, silent_for));
                    }
                    let merged = merge_journal_copies(
                        shared.clone(),
                        local_journal.as_ref().map(|local_journal| &local_journal.bytes[..]),
                    );
                    journals.push(self.local.journal_content(path.clone(), merged.clone()));
                    pulled.insert(path, PulledJournal { run: run.id, shared, merged, next });
                }
            }
        }
        *self.pulled.lock().unwrap_or_else(PoisonError::into_inner) = pulled;
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = ended;
        recover_journals(journals, stored)
    }

    async fn finish_recovery(&self, recovery: &Recovery) -> Result<(), JournalError> {
        let pulled =
            std::mem::take(&mut *self.pulled.lock().unwrap_or_else(PoisonError::into_inner));
        // Finishing works on files, so the journals of other machines are first written to files.
        for (path, pulled) in &pulled {
            self.local.write_journal(path, &pulled.merged)?;
        }
        recovery.archive_journals()?;
        for (path, pulled) in pulled {
            let run = pulled.run.clone();
            self.push_recovered_journal(&path, pulled).await?;
            // Released last: until the store has the outcome, the claims exclude other runs.
            let open = recovery.unresolved_instances_of_run(&run);
            let open = open.map(ToString::to_string).collect::<Vec<_>>();
            self.store.release_claims(&run, &open).await.map_err(self.journal_error("write"))?;
        }
        Ok(())
    }

    fn set_seal(&mut self, seal: Arc<dyn RecordSeal>) {
        self.local.set_seal(seal);
    }

    async fn has_unfinished_run(&self) -> bool {
        if self.local.has_unfinished_run().await {
            return true;
        }
        let runs = self.store.read_runs(StateAccess::ReadOnly).await;
        // A store that cannot be read may contain one.
        runs.map_or(true, |runs| {
            runs.iter()
                .any(|run| run.is_live || assemble_parts(&run.parts) != AssembledJournal::Ended)
        })
    }

    fn local_journal_only_reason(&self) -> Option<String> {
        self.local_only.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn misplaced_journals(&self, state: &StateFile) -> Vec<MisplacedJournals> {
        let known_runs = self.known_runs.lock().unwrap_or_else(PoisonError::into_inner);
        // A run in the store is taken over from there, whatever the name of its journal on this machine is.
        self.local.misplaced_journals_except(state, &known_runs)
    }

    fn unfinished_runs(&self) -> Vec<UnfinishedRun> {
        self.local.unfinished_runs()
    }
}
