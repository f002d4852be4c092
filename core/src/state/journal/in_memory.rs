//! The journals of runs in the memory of this process. They end with it.

#![expect(clippy::disallowed_types, reason = "runs on several threads may share the place")]

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{self, LocalBoxFuture};

use super::JournalError;
use super::record_sink::{AppendError, RecordSink};
use super::stored_journal::StoredJournal;

/// Journals in memory, by the ids of their runs. Copies have the same ones.
#[derive(Clone, Default)]
pub(in crate::state) struct MemoryJournals(Arc<Mutex<BTreeMap<String, MemoryJournal>>>);

/// The journal of one run.
#[derive(Default)]
struct MemoryJournal {
    bytes: Vec<u8>,
    is_being_written: bool,
}

impl MemoryJournals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, MemoryJournal>> {
        // No panic can happen while it is held, so a poisoned lock means nothing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works with the bytes of a journal.
    fn with_bytes<T>(&self, run: &str, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let mut journals = self.lock();
        match journals.get_mut(run) {
            Some(journal) => work(&mut journal.bytes),
            // The journal was removed since: the bytes go with it.
            None => work(&mut Vec::new()),
        }
    }

    /// The sink for the records of a new run.
    pub(in crate::state) fn begin_run(&self, run: &str) -> Rc<dyn RecordSink> {
        let journal = MemoryJournal { bytes: Vec::new(), is_being_written: true };
        self.lock().insert(run.to_owned(), journal);
        Rc::new(RunInMemory(self.stored_journal(run)))
    }

    fn stored_journal(&self, run: &str) -> StoredInMemory {
        StoredInMemory { journals: self.clone(), run: run.to_owned() }
    }

    /// Whether a run has left a journal, or still writes one.
    pub(in crate::state) fn has_some(&self) -> bool {
        !self.lock().is_empty()
    }

    /// The journals of all runs, including runs in progress.
    pub(in crate::state) fn all_journals(&self) -> Vec<Arc<dyn StoredJournal>> {
        self.list_journals(|_| true)
    }

    /// The journals of the runs that are no longer in progress.
    pub(in crate::state) fn interrupted_journals(&self) -> Vec<Arc<dyn StoredJournal>> {
        self.list_journals(|journal| !journal.is_being_written)
    }

    fn list_journals(
        &self,
        is_wanted: impl Fn(&MemoryJournal) -> bool,
    ) -> Vec<Arc<dyn StoredJournal>> {
        let journals = self.lock();
        let wanted = journals.iter().filter(|(_, journal)| is_wanted(journal));
        wanted
            .map(|(run, _)| -> Arc<dyn StoredJournal> { Arc::new(self.stored_journal(run)) })
            .collect()
    }
}

impl fmt::Debug for MemoryJournals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes may contain secrets.
        f.debug_list().entries(self.lock().keys()).finish()
    }
}

/// The journal of a run that is no longer in progress.
#[derive(Debug)]
struct StoredInMemory {
    journals: MemoryJournals,
    run: String,
}

impl StoredJournal for StoredInMemory {
    fn location(&self) -> String {
        format!("{} in memory", self.run)
    }

    fn run_id(&self) -> Option<String> {
        Some(self.run.clone())
    }

    fn read_bytes(&self) -> Result<Vec<u8>, JournalError> {
        // A run that has ended since has no journal, and must not get one by this.
        let journals = self.journals.lock();
        Ok(journals.get(&self.run).map(|journal| journal.bytes.clone()).unwrap_or_default())
    }

    fn append_bytes(&self, end: usize, bytes: &[u8]) -> Result<(), JournalError> {
        self.journals.with_bytes(&self.run, |journal| {
            journal.truncate(end);
            journal.extend_from_slice(bytes);
        });
        Ok(())
    }

    fn replace_damaged_bytes(&self, bytes: &[u8]) -> Result<(), JournalError> {
        // Only an error of this program can damage memory, and no user could read a copy.
        self.journals.with_bytes(&self.run, |journal| *journal = bytes.to_vec());
        Ok(())
    }

    fn set_damaged_aside(&self) -> Result<(), JournalError> {
        self.remove_journal()
    }

    fn damaged_copy_location(&self) -> String {
        self.location()
    }

    fn remove_journal(&self) -> Result<(), JournalError> {
        self.journals.lock().remove(&self.run);
        Ok(())
    }
}

/// The records of a run in progress, until this is dropped.
struct RunInMemory(StoredInMemory);

impl RecordSink for RunInMemory {
    fn location(&self) -> String {
        self.0.location()
    }

    fn append_records(&self, records: &[u8]) -> Result<(), AppendError> {
        self.0.journals.with_bytes(&self.0.run, |bytes| bytes.extend_from_slice(records));
        Ok(())
    }

    fn sync_records(&self) -> LocalBoxFuture<'static, Result<(), JournalError>> {
        // Memory has nothing more durable below it.
        future::ready(Ok(())).boxed_local()
    }

    fn read_records(&self) -> Result<Vec<u8>, JournalError> {
        self.0.read_bytes()
    }

    fn remove_records(self: Rc<Self>) -> Result<(), JournalError> {
        self.0.remove_journal()
    }
}

impl Drop for RunInMemory {
    fn drop(&mut self) {
        // Like the lock of a file, which is released when its run ends.
        if let Some(journal) = self.0.journals.lock().get_mut(&self.0.run) {
            journal.is_being_written = false;
        }
    }
}
