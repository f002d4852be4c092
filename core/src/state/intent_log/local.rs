//! Intents in a directory on this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{IntentLog, StateAccess, UnfinishedRun};
use crate::disk::Durability;
use crate::state::file::StateFile;
use crate::state::journal::{
    self, Journal, JournalError, JournalInDir, RecordSeal, RunHeader, StoredJournalFile,
};
use crate::state::recover::{self, JournalContent, MisplacedJournals, MisplacedSearch, Recovery};

/// Intents in a directory on this machine, one file for each run.
#[derive(Clone)]
pub struct LocalIntentLog {
    directory: PathBuf,
    /// The directory in which an earlier version kept them. It is only read.
    former_dir: Option<PathBuf>,
    /// The state that they belong to, if it is a file.
    state: Option<PathBuf>,
    /// Seals the values in journals.
    seal: Option<Arc<dyn RecordSeal>>,
    durability: Durability,
}

impl LocalIntentLog {
    /// Creates an intent log in a directory, which is created when the first run begins.
    #[must_use]
    pub fn in_dir(directory: PathBuf) -> Self {
        let durability = Durability::default();
        Self { directory, former_dir: None, state: None, seal: None, durability }
    }

    /// Adds the intents that an earlier version has left in another directory.
    #[must_use]
    pub fn with_former_dir(self, former: PathBuf) -> Self {
        Self { former_dir: Some(former).filter(|former| *former != self.directory), ..self }
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
    /// When the file cannot be written.
    pub fn write_journal(&self, path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
        journal::write_journal_file(path, bytes)
    }

    /// The content of the journal of an ended or interrupted run.
    #[must_use]
    pub fn journal_content(&self, path: PathBuf, bytes: Vec<u8>) -> JournalContent {
        let journal = Arc::new(StoredJournalFile { path });
        JournalContent { journal, bytes, seal: self.seal.clone() }
    }

    /// The journals in the directory whose runs are no longer in progress.
    ///
    /// # Errors
    /// Returns an error if a journal cannot be read.
    pub fn read_interrupted_journals(&self) -> Result<Vec<JournalContent>, JournalError> {
        let mut journals = Vec::new();
        for directory in self.read_dirs() {
            let contents = recover::read_interrupted_journals(directory)?;
            let seal = |content| JournalContent { seal: self.seal.clone(), ..content };
            journals.extend(contents.into_iter().map(seal));
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
        let (own_dir, seal) = (&*self.directory, self.seal.as_ref());
        let mut journals = MisplacedSearch { own_dir, seal, state, known_runs }.find();
        // The journals of the former directory are taken over.
        journals.retain(|found| self.former_dir.as_ref() != Some(&found.directory));
        journals
    }

    /// The directories that can contain journals.
    fn read_dirs(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.directory).chain(&self.former_dir).map(PathBuf::as_path)
    }

    /// The directory of the journals.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

#[async_trait::async_trait(?Send)]
impl IntentLog for LocalIntentLog {
    async fn begin_run(&self, begin: RunHeader<'_>) -> Result<Journal, JournalError> {
        let JournalInDir { mut journal, file } =
            JournalInDir::begin_run(&self.directory, self.durability, begin)?;
        if let Some(seal) = &self.seal {
            journal.set_seal(Arc::clone(seal));
        }
        if let Some(state) = &self.state {
            file.copy_access_of_state(state);
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
        self.read_dirs().any(recover::has_unfinished_journal)
    }

    fn unfinished_runs(&self) -> Vec<UnfinishedRun> {
        let entries = self.read_dirs().filter_map(|directory| directory.read_dir().ok()).flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let paths =
            paths.filter(|path| path.extension().is_some_and(|extension| extension == "wal"));
        let traces = paths.map(|path| {
            let bytes = journal::read_journal_file(&path).ok();
            UnfinishedRun::from_journal(path.display().to_string(), bytes.as_deref())
        });
        traces.collect()
    }

    fn misplaced_journals(&self, state: &StateFile) -> Vec<MisplacedJournals> {
        self.misplaced_journals_except(state, &BTreeSet::new())
    }
}
