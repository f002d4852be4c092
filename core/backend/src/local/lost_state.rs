//! Finds out what an empty, unreadable or missing state file has held: from its backup and from the
//! journals of interrupted runs. `docs/recovery.md` has the order of trust.

use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_STATE, read_file};
use formwork_core::state::file::StateFile;

use super::{LocalStore, behind_links, replace, shown};

/// A backup that can be read.
struct BackupCopy {
    path: PathBuf,
    /// The serial of the state in it.
    serial: u64,
    /// The serial of the state that an interrupted run began with, if that is a later one.
    outdated_by: Option<u64>,
}

impl BackupCopy {
    /// Describes the use of the backup.
    fn describe(&self) -> String {
        let lacks = match self.outdated_by {
            None => String::new(),
            Some(began_with) => format!(
                " It is too old for the interrupted run, which began with serial {began_with}: objects \
                 that were created in between are in neither of them."
            ),
        };
        format!(
            "{} can be copied over it. It is the state with serial {}, from before the last run that \
             stored one, so compare it with the real objects before anything is applied.{lacks}",
            self.path.display(),
            self.serial
        )
    }
}

impl LocalStore {
    /// Files that prove that an empty state file was not always empty.
    pub(super) fn evidence(&self) -> Vec<String> {
        let holds_something = |path: &PathBuf| path.metadata().is_ok_and(|found| found.len() > 0);
        let backup = self.files.backup.clone().filter(holds_something);
        let traces = self.intents.traces();
        // A run that was killed leaves its text there before it takes the place of the state. Its journal
        // has everything in it.
        let is_lost = |file: &StateFile| traces.is_empty() && !file.state.resources.is_empty();
        let next = self.read_next().filter(|(_, file)| is_lost(file)).map(|(path, _)| path);
        let runs = traces.iter().filter(|trace| trace.proves_state);
        let files = backup.iter().chain(&next).map(|path| shown(path));
        files.chain(runs.map(|trace| trace.location.clone())).collect()
    }

    /// The file from which an interrupted run has read the state.
    pub(super) fn begun_from(&self) -> Option<PathBuf> {
        self.intents.traces().into_iter().find_map(|trace| trace.read_from)
    }

    /// The use of the complete state that was being written, or else of the backup.
    pub(super) fn copy(&self) -> Option<String> {
        let backup = self.read_backup();
        if let Some((next, file)) = self.read_next()
            && backup.as_ref().is_none_or(|(_, backup)| backup.serial <= file.serial)
        {
            return Some(format!(
                "{} can be copied over it. It is the complete state with serial {} that a run was writing.",
                next.display(),
                file.serial
            ));
        }
        let (path, backup) = backup?;
        let bases = self.intents.traces().into_iter().filter_map(|trace| trace.base);
        let of_this = bases.filter(|(lineage, _)| *lineage == backup.lineage);
        let began_with = of_this.map(|(_, serial)| serial).max();
        let outdated_by = began_with.filter(|began_with| *began_with > backup.serial);
        Some(BackupCopy { path, serial: backup.serial, outdated_by }.describe())
    }

    /// The backup, and the number of resources in it if it can be read, where there is no state. Nothing
    /// if the backup has no resources.
    pub(super) fn backup_without_state(&self) -> Option<(&Path, Option<usize>)> {
        if !self.is_absent() || self.was_there(self.source()) {
            return None;
        }
        let path = self.files.backup.as_deref().filter(|path| path.is_file())?;
        let n_resources = self.read_backup().map(|(_, backup)| backup.state.resources.len());
        (n_resources != Some(0)).then_some((path, n_resources))
    }

    fn read_backup(&self) -> Option<(PathBuf, StateFile)> {
        self.read_whole(self.files.backup.clone()?)
    }

    /// The complete state that a run was writing.
    fn read_next(&self) -> Option<(PathBuf, StateFile)> {
        self.read_whole(replace::beside(&behind_links(&self.files.state), replace::NEXT))
    }

    fn read_whole(&self, path: PathBuf) -> Option<(PathBuf, StateFile)> {
        let path = Some(path).filter(|path| path.is_file())?;
        let file = self.cipher.read(&read_file(&path, MAX_STATE).ok()?).ok()?;
        Some((path, file))
    }
}
