//! The first record of a journal, which is durable before anything is announced. In a directory the journal
//! is a file, under its final name.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::rc::Rc;

use super::journal_file::JournalFile;
use super::on_disk::{NOT_BEGUN_EXTENSION, remove_journal, remove_journals_not_begun};
use super::record_sink::RecordSink;
use super::{Journal, JournalError, RunHeader, permissions, record};
use crate::disk::{Durability, FileOptions as _, create_private_dir, locks};

/// The id of a new run.
#[must_use]
pub fn new_run_id() -> String {
    // Random: two runs on one state can only meet if the lock failed, and then neither may overwrite
    // the journal of the other.
    uuid::Uuid::new_v4().to_string()
}

impl Journal {
    /// Begins the journal of a run in an empty sink. When this returns, the first record
    /// is durable. This also proves that the sink can be written to.
    ///
    /// # Errors
    /// When the first record cannot be made durable.
    pub async fn begin_in_sink(
        sink: Rc<dyn RecordSink>,
        run: String,
        begin: RunHeader<'_>,
    ) -> Result<Self, JournalError> {
        let journal = Self::write_first_record(sink, run, begin)?;
        if let Err(error) = journal.make_durable().await {
            // Nothing was announced in it, so it contains no information.
            journal.abandon_journal();
            return Err(error);
        }
        Ok(journal)
    }

    /// Begins the journal of a run in a directory, as [`Journal::begin_in_sink`].
    ///
    /// # Errors
    /// As [`Journal::begin_in_sink`].
    pub fn begin_run(directory: &Path, begin: RunHeader<'_>) -> Result<Self, JournalError> {
        Ok(JournalInDir::begin_run(directory, Durability::PowerLoss, begin)?.journal)
    }

    fn write_first_record(
        sink: Rc<dyn RecordSink>,
        run: String,
        begin: RunHeader<'_>,
    ) -> Result<Self, JournalError> {
        let journal = Self::in_empty_sink(sink, run.clone());
        journal.append_record(&record::run_begin_record(run, begin))?;
        Ok(journal)
    }
}

/// A journal that was begun in a directory, and its file.
pub(in crate::state) struct JournalInDir {
    pub(in crate::state) journal: Journal,
    pub(in crate::state) file: Rc<JournalFile>,
}

impl JournalInDir {
    /// Begins the journal of a run, whose records have to survive the failures that `durability` names.
    pub(in crate::state) fn begin_run(
        directory: &Path,
        durability: Durability,
        begin: RunHeader<'_>,
    ) -> Result<Self, JournalError> {
        let run = new_run_id();
        let path = directory.join(format!("{run}.wal"));
        let failed = |error| JournalError::io_error("begin", &path)(error);
        // Checked before the directory is created: `create` with `recursive` accepts a link to any
        // directory of the machine, which a checkout may contain.
        permissions::refuse_linked_dir(directory).map_err(failed)?;
        create_private_dir(directory).map_err(failed)?;
        remove_journals_not_begun(directory);
        // Under another name until its first record is durable: a journal without one is damaged.
        let unfinished = path.with_extension(NOT_BEGUN_EXTENSION);
        let file = OpenOptions::new().appending().create_new(true).owner_only().open(&unfinished);
        let file = file.map_err(failed)?;
        // The name of a new file is still unknown to other processes.
        let file = locks::lock(file).map_err(|error| {
            remove_journal(&unfinished).ok();
            JournalError::io_error("lock", &path)(error)
        })?;
        let file = Rc::new(JournalFile::new_empty(path.clone(), file, durability));
        let sink = Rc::clone(&file);
        let begun = Journal::write_first_record(sink, run, begin).and_then(|journal| {
            // Content before name: after a power failure a file with the final name must have its
            // first record, because one without it counts as damaged and stops `apply`.
            file.sync_file().map_err(failed)?;
            std::fs::rename(&unfinished, &path).map_err(failed)?;
            sync_name_of_journal(directory, durability).map_err(failed)?;
            Ok(journal)
        });
        if begun.is_err() {
            // Nothing was announced in it, so it contains no information.
            remove_journal(&unfinished).or_else(|_| remove_journal(&path)).ok();
        }
        let journal = begun?;
        // The first record is as durable as it has to be, so the first announcement need not wait for it again.
        journal.durable.set(journal.last_written_number());
        Ok(Self { journal, file })
    }
}

/// Makes the names in a directory durable, which may be new itself.
fn sync_name_of_journal(directory: &Path, durability: Durability) -> io::Result<()> {
    // A rename is durable only after its directory was synced, and a new directory only
    // after its parent was. Otherwise a crash could lose a journal with announced calls.
    [Some(directory), directory.parent()].into_iter().flatten().try_for_each(|directory| {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        durability.sync_dir(directory)
    })
}
