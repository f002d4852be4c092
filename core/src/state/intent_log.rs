//! The place where runs keep their intents and the answers to them, apart from the state itself: on
//! the local disk, or where the state is shared.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::StateFile;
use super::journal::record::{self, JournalLog};
use super::journal::{Journal, JournalError, RecordSeal, RunHeader};
use super::recover::{self, JournalContent, MisplacedJournals, MisplacedSearch, Recovery};
use crate::disk::{Durability, MAX_STATE_LEN, read_file};

/// Keeps the intents of runs, and finds those of interrupted runs.
#[async_trait::async_trait(?Send)]
pub trait IntentLog: Send + Sync {
    /// Begins the journal of a run. When this returns, it is durable.
    ///
    /// # Errors
    /// When it cannot be made durable.
    async fn begin_run(&self, begin: RunHeader<'_>) -> Result<Journal, JournalError>;

    /// Reads the journals that interrupted runs left, and puts their results into the state. Changes
    /// nothing: [`IntentLog::finish_recovery`] does, once the state is stored.
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

    /// Puts the journals away that were taken over, to be called when the state is stored.
    ///
    /// # Errors
    /// When a journal cannot be written, renamed or removed; the next run then takes it over once more.
    async fn finish_recovery(&self, recovery: &Recovery) -> Result<(), JournalError>;

    /// Whether a run has left a journal, or is still writing one. A place that cannot be read may
    /// have one.
    async fn has_unfinished_run(&self) -> bool;

    /// Reason why the intents are kept on this machine only although the state is shared; `None` if
    /// they are where the state is.
    fn local_journal_only_reason(&self) -> Option<String> {
        None
    }

    /// Returns the traces of runs that have not ended in order.
    fn unfinished_runs(&self) -> Vec<UnfinishedRun>;

    /// Finds journals beside these that go with a state and have results or operations which it lacks, but
    /// belong to another place by the name of their folder.
    fn misplaced_journals(&self, _state: &StateFile) -> Vec<MisplacedJournals> {
        Vec::new()
    }
}

/// Access of the caller to the state whose journals are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateAccess {
    /// It holds the lock, so that no run of another machine goes on.
    Locked,
    /// It holds the lock beside other runs, which may go on.
    Shared,
    /// It only reads, and a run of another machine may go on.
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
    /// The file from which the run has read the state, if it was to write another one.
    pub read_from: Option<PathBuf>,
    /// Lineage and serial of the state that the run began with, if they can be read.
    pub base: Option<(String, u64)>,
}

/// Intents in a folder on this machine, one file for each run.
#[derive(Clone)]
pub struct LocalIntentLog {
    folder: PathBuf,
    /// The folder in which an earlier version kept them. It is only read.
    former_folder: Option<PathBuf>,
    /// The state that they belong to, if it is a file.
    state: Option<PathBuf>,
    /// Seals the values in journals.
    seal: Option<Arc<dyn RecordSeal>>,
    durability: Durability,
}

impl LocalIntentLog {
    /// The intents in a folder, which is made when the first run begins.
    #[must_use]
    pub fn in_dir(folder: PathBuf) -> Self {
        let durability = Durability::default();
        Self { folder, former_folder: None, state: None, seal: None, durability }
    }

    /// The same intents, with those that an earlier version has left in another folder.
    #[must_use]
    pub fn with_former_folder(self, former: PathBuf) -> Self {
        Self { former_folder: Some(former).filter(|former| *former != self.folder), ..self }
    }

    /// The same intents for a state in a file, whose group and mode they get if it exists.
    #[must_use]
    pub fn with_state_file(self, state: PathBuf) -> Self {
        Self { state: Some(state), ..self }
    }

    /// The same intents, which have to survive the failures that `durability` names.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// Writes the content of a journal, durably and in one step.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_journal(&self, path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        super::journal::write_journal_file(path, bytes)
    }

    /// The content of a journal of a run that does not go on.
    #[must_use]
    pub fn journal_content(&self, path: PathBuf, bytes: Vec<u8>) -> JournalContent {
        JournalContent { path, bytes, seal: self.seal.clone() }
    }

    /// The journals in the folder whose runs do not go on.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn read_interrupted_journals(&self) -> Result<Vec<JournalContent>, JournalError> {
        let mut journals = Vec::new();
        for folder in self.read_folders() {
            let found = recover::read_interrupted_journals(folder)?;
            let sealed =
                found.into_iter().map(|found| self.journal_content(found.path, found.bytes));
            journals.extend(sealed);
        }
        Ok(journals)
    }

    /// Finds misplaced journals, as [`IntentLog::misplaced_journals`] does, of other runs than these.
    #[must_use]
    pub fn misplaced_journals_except(
        &self,
        state: &StateFile,
        known_runs: &BTreeSet<String>,
    ) -> Vec<MisplacedJournals> {
        let (own, seal) = (&*self.folder, self.seal.as_ref());
        MisplacedSearch { own, seal, state, known_runs }.find()
    }

    /// The folders in which there may be journals.
    fn read_folders(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.folder).chain(&self.former_folder).map(PathBuf::as_path)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

#[async_trait::async_trait(?Send)]
impl IntentLog for LocalIntentLog {
    async fn begin_run(&self, begin: RunHeader<'_>) -> Result<Journal, JournalError> {
        let mut journal = Journal::begin_run_with_durability(self.durability, &self.folder, begin)?;
        if let Some(seal) = &self.seal {
            journal.set_seal(Arc::clone(seal));
        }
        if let Some(state) = &self.state {
            journal.copy_access_of_state(state);
        }
        Ok(journal)
    }

    async fn recover_runs(
        &self,
        stored: Option<StateFile>,
        _access: StateAccess,
    ) -> Result<Recovery, JournalError> {
        // The access does not matter here: a run on this machine holds a lock on its own journal.
        recover::recover_journals(self.read_interrupted_journals()?, stored)
    }

    async fn finish_recovery(&self, recovery: &Recovery) -> Result<(), JournalError> {
        recovery.archive_journals()
    }

    fn set_seal(&mut self, seal: Arc<dyn RecordSeal>) {
        self.seal = Some(seal);
    }

    async fn has_unfinished_run(&self) -> bool {
        self.read_folders().any(recover::has_unfinished_journal)
    }

    fn unfinished_runs(&self) -> Vec<UnfinishedRun> {
        let entries = self.read_folders().filter_map(|folder| folder.read_dir().ok()).flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let paths = paths.filter(|path| path.extension().is_some_and(|found| found == "wal"));
        let traces = paths.map(|path| {
            let log = read_file(&path, MAX_STATE_LEN)
                .ok()
                .and_then(|bytes| record::scan_journal(&bytes).ok());
            UnfinishedRun::from_journal(&path, log.as_ref())
        });
        traces.collect()
    }

    fn misplaced_journals(&self, state: &StateFile) -> Vec<MisplacedJournals> {
        self.misplaced_journals_except(state, &BTreeSet::new())
    }
}

impl UnfinishedRun {
    /// Reads the trace out of a journal, `None` if it cannot be read at all.
    fn from_journal(path: &Path, log: Option<&JournalLog>) -> Self {
        let location = path.display().to_string();
        let Some(log) = log else {
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
