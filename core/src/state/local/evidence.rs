//! Finds out what an empty, unreadable or missing state file has held: from its backup and from the
//! journals of interrupted runs. `docs/recovery.md` has the order of trust.

use std::path::{Path, PathBuf};

use super::LocalStore;
use crate::disk::{MAX_STATE, read_file};
use crate::state::file::StateFile;
use crate::state::journal::record::{self, Log};

/// A backup that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupCopy {
    /// The file.
    pub path: PathBuf,
    /// The serial of the state in it.
    pub serial: u64,
    /// The serial of the state that an interrupted run began with, if that is a later one.
    pub outdated_by: Option<u64>,
}

/// The journal of an interrupted run, as far as it can be read.
pub(super) struct FoundJournal {
    path: PathBuf,
    /// `None` if it cannot be read at all.
    log: Option<Log>,
}

impl FoundJournal {
    /// Whether a state was stored when the run began, or since. Of a damaged journal that has to be
    /// assumed.
    fn proves_a_state(&self) -> bool {
        let Some(log) = &self.log else { return true };
        // A run that has read its state elsewhere has written nothing here before it is taken over.
        let began_here =
            || log.begin().is_some_and(|begin| begin.serial > 0 && begin.read_from.is_none());
        log.is_damaged() || log.is_taken_over() || began_here()
    }

    /// The file from which the run has read the state, if it was to write another one.
    fn began_from(&self) -> Option<PathBuf> {
        // A run that was taken over has its results in the file that is written, and one that found
        // nothing goes on from nothing.
        let log = self.log.as_ref()?;
        let begin = log.begin().filter(|begin| begin.serial > 0 && !log.is_taken_over())?;
        begin.read_from.clone().filter(|_| log.has_calls())
    }
}

impl LocalStore {
    /// Files that prove that an empty state file was not always empty.
    pub(super) fn evidence(&self) -> Vec<PathBuf> {
        let holds_something = |path: &PathBuf| path.metadata().is_ok_and(|found| found.len() > 0);
        let backup = self.files.backup.clone().filter(holds_something);
        let journals = self.found_journals().filter(FoundJournal::proves_a_state);
        backup.into_iter().chain(journals.map(|journal| journal.path)).collect()
    }

    /// The file from which an interrupted run has read the state.
    pub(super) fn begun_from(&self) -> Option<PathBuf> {
        self.found_journals().find_map(|journal| journal.began_from())
    }

    /// The backup, if it can be read.
    pub(super) fn backup_copy(&self) -> Option<Box<BackupCopy>> {
        let (path, backup) = self.read_backup()?;
        let began_with = self.found_journals().filter_map(|journal| {
            let log = journal.log?;
            let begin = log.begin().filter(|begin| begin.lineage == backup.lineage)?;
            Some(begin.serial)
        });
        let outdated_by = began_with.max().filter(|began_with| *began_with > backup.serial);
        Some(Box::new(BackupCopy { path, serial: backup.serial, outdated_by }))
    }

    /// The backup, and the number of resources in it if it can be read, where there is no state. Nothing
    /// if the backup has no resources.
    #[must_use]
    pub fn backup_without_state(&self) -> Option<(&Path, Option<usize>)> {
        if !self.is_absent() || self.was_there(self.source()) {
            return None;
        }
        let path = self.files.backup.as_deref().filter(|path| path.is_file())?;
        let n_resources = self.read_backup().map(|(_, backup)| backup.state.resources.len());
        (n_resources != Some(0)).then_some((path, n_resources))
    }

    fn read_backup(&self) -> Option<(PathBuf, StateFile)> {
        let path = self.files.backup.clone().filter(|path| path.is_file())?;
        let backup = StateFile::read(&read_file(&path, MAX_STATE).ok()?).ok()?;
        Some((path, backup))
    }

    fn found_journals(&self) -> impl Iterator<Item = FoundJournal> {
        let entries = self.journals.read_dir().into_iter().flatten();
        entries.filter_map(|entry| {
            let path = entry.ok()?.path();
            path.extension().filter(|extension| *extension == "wal")?;
            let log = read_file(&path, MAX_STATE).ok().and_then(|bytes| record::read(&bytes).ok());
            Some(FoundJournal { path, log })
        })
    }
}
