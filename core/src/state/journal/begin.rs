//! The begin of a journal: a file with its first record, under its final name.

use std::fs::OpenOptions;
use std::path::Path;

use super::on_disk::{NOT_BEGUN_EXTENSION, remove_journal, remove_journals_not_begun};
use super::{Journal, JournalError, RunHeader, permissions, record};
use crate::disk::{Durability, FileOptions as _, create_private_dir, locks};

impl Journal {
    /// Begins the journal of a run in a folder. When this returns, it is durable; so it also proves
    /// that the place can be written to.
    ///
    /// # Errors
    /// When it cannot be made durable.
    pub fn begin_run(folder: &Path, begin: RunHeader<'_>) -> Result<Self, JournalError> {
        Self::begin_run_with_durability(Durability::PowerLoss, folder, begin)
    }

    /// As [`Journal::begin_run`], for records that have to survive the failures that `durability` names.
    ///
    /// # Errors
    /// As [`Journal::begin_run`].
    pub fn begin_run_with_durability(
        durability: Durability,
        folder: &Path,
        begin: RunHeader<'_>,
    ) -> Result<Self, JournalError> {
        // A random name: two runs on one state can only meet if the lock failed, and then neither
        // may overwrite the journal of the other.
        let run = uuid::Uuid::new_v4().to_string();
        let path = folder.join(format!("{run}.wal"));
        let failed = |error| JournalError::io_error("begin", &path)(error);
        // Checked before the folder is created: `create` with `recursive` accepts a link to any
        // folder of the machine, which a checkout may contain.
        permissions::refuse_linked_folder(folder).map_err(failed)?;
        create_private_dir(folder).map_err(failed)?;
        remove_journals_not_begun(folder);
        // Under another name until its first record is durable: a journal without one is damaged.
        let unfinished = path.with_extension(NOT_BEGUN_EXTENSION);
        let file = OpenOptions::new().appending().create_new(true).owner_only().open(&unfinished);
        let file = file.map_err(failed)?;
        // The name of a file that was just made is still unknown to others.
        let file = locks::lock(file).map_err(|error| {
            remove_journal(&unfinished).ok();
            JournalError::io_error("lock", &path)(error)
        })?;
        let mut journal = Self::in_empty_file(path.clone(), file);
        journal.durability = durability;
        let begun = journal.append_record(&record::run_begin_record(run, begin)).and_then(|()| {
            // Content before name: after a power failure a file with the final name must have its
            // first record, because one without it counts as damaged and stops `apply`.
            durability.sync_file(&journal.file).map_err(failed)?;
            std::fs::rename(&unfinished, &path).map_err(failed)?;
            // A rename is durable only after its directory was synced, and a new directory only
            // after its parent was. Otherwise a crash could lose a journal with announced calls.
            [Some(folder), folder.parent()].into_iter().flatten().try_for_each(|folder| {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                durability.sync_dir(folder).map_err(failed)
            })
        });
        if begun.is_err() {
            // Nothing was announced in it, so it says nothing.
            remove_journal(&unfinished).or_else(|_| remove_journal(&path)).ok();
        }
        begun?;
        // The first record is as durable as it has to be, so the first announcement need not wait for it again.
        journal.durable.set(journal.next.get() - 1);
        Ok(journal)
    }
}
