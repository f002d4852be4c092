//! Finds the former content of an empty, unreadable or missing state file: from its backup and from the
//! journals of interrupted runs. `docs/recovery.md` describes the order of trust.

use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_STATE_LEN, read_file};
use formwork_core::state::file::StateFile;
use formwork_value::Diagnostic;
use formwork_value::diag::Blame;

use super::{LocalStore, display_path, follow_links, replace_file};
use crate::messages;

/// A backup that can be read.
struct BackupCopy {
    path: PathBuf,
    /// The serial of the state in it.
    serial: u64,
    /// The serial of the state that an interrupted run began with, if it is a later one.
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
    pub(super) fn evidence_of_lost_state(&self) -> Vec<String> {
        let holds_something =
            |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() > 0);
        let backup = self.files.backup.clone().filter(holds_something);
        let traces = self.intents.unfinished_runs();
        // A run that was killed leaves the content in this file before it replaces the state. Its journal
        // has the same content.
        let is_lost = |file: &StateFile| traces.is_empty() && !file.state.resources.is_empty();
        let unfinished_files =
            self.read_unfinished_state().into_iter().filter(|(_, file)| is_lost(file));
        let next_paths: Vec<PathBuf> = unfinished_files.map(|(path, _)| path).collect();
        let runs = traces.iter().filter(|trace| trace.proves_state);
        let files = backup.iter().chain(&next_paths).map(|path| display_path(path));
        files.chain(runs.map(|trace| trace.location.clone())).collect()
    }

    /// The file from which an interrupted run has read the state.
    pub(super) fn interrupted_run_base_file(&self) -> Option<PathBuf> {
        let base_file =
            self.intents.unfinished_runs().into_iter().find_map(|trace| trace.read_from);
        base_file.map(PathBuf::from)
    }

    /// Describes the use of the complete state that was being written, or otherwise of the backup.
    pub(super) fn describe_best_copy(&self) -> Option<String> {
        let backup = self.read_backup();
        // A file of another lineage remains from another state.
        let bases = self.intents.unfinished_runs().into_iter().filter_map(|trace| trace.base);
        let mut lineages: Vec<String> = bases.map(|(lineage, _)| lineage).collect();
        lineages.extend(backup.as_ref().map(|(_, backup)| backup.lineage.clone()));
        let is_known = |file: &StateFile| lineages.is_empty() || lineages.contains(&file.lineage);
        let unfinished_files =
            self.read_unfinished_state().into_iter().filter(|(_, file)| is_known(file));
        if let Some((next_path, file)) = unfinished_files.max_by_key(|(_, file)| file.serial)
            && backup.as_ref().is_none_or(|(_, backup)| backup.serial <= file.serial)
        {
            return Some(format!(
                "{} can be copied over it. It is the complete state with serial {} and lineage {} that a run was writing.",
                next_path.display(),
                file.serial,
                file.lineage
            ));
        }
        let (path, backup) = backup?;
        let bases = self.intents.unfinished_runs().into_iter().filter_map(|trace| trace.base);
        let of_this = bases.filter(|(lineage, _)| *lineage == backup.lineage);
        let began_with = of_this.map(|(_, serial)| serial).max();
        let outdated_by = began_with.filter(|began_with| *began_with > backup.serial);
        Some(BackupCopy { path, serial: backup.serial, outdated_by }.describe())
    }

    /// The backup, and the number of resources in it if it can be read, for a missing state. `None` if
    /// the backup has no resources.
    pub(super) fn backup_without_state(&self) -> Option<(&Path, Option<usize>)> {
        if !self.is_state_missing() || self.existed_before_run(self.path_to_read()) {
            return None;
        }
        let path = self.files.backup.as_deref().filter(|path| path.is_file())?;
        let n_resources = self.read_backup().map(|(_, backup)| backup.state.resources.len());
        (n_resources != Some(0)).then_some((path, n_resources))
    }

    fn read_backup(&self) -> Option<(PathBuf, StateFile)> {
        self.read_complete_state(self.files.backup.clone()?)
    }

    /// The complete states that runs were writing.
    fn read_unfinished_state(&self) -> Vec<(PathBuf, StateFile)> {
        let state = follow_links(&self.files.state);
        replace_file::temporary_paths_beside(&state)
            .filter_map(|path| self.read_complete_state(path))
            .collect()
    }

    fn read_complete_state(&self, path: PathBuf) -> Option<(PathBuf, StateFile)> {
        let path = Some(path).filter(|path| path.is_file())?;
        let file = self.cipher.parse_state(&read_file(&path, MAX_STATE_LEN).ok()?).ok()?;
        Some((path, file))
    }
}

/// Warns about an empty state file, if no other file proves that it ever had content.
pub(super) fn empty_file_warning(path: &Path) -> Diagnostic {
    let detail = format!(
        "{} is empty. It counts as a state without objects, which is correct if the file was just created, by hand or for a lock. If objects existed, do not continue, because they would be created a second time. Restore the file from a copy instead.",
        path.display()
    );
    Diagnostic::warning(messages::STATE_FILE_IS_EMPTY, detail).blamed_on(Blame::Environment)
}
