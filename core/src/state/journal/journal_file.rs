//! The records of a run in a file on the local disk, whose lock shows that the run is in progress.

use std::cell::Cell;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;

use super::on_disk::{read_journal_file, remove_journal};
use super::record_sink::{AppendError, RecordSink};
use super::{JournalError, permissions};
use crate::disk::locks::LockedFile;
use crate::disk::{self, Durability};

/// Reserved at a time, where the disk has it: a request to the system is spared for most calls.
const RESERVATION_STEP: u64 = 1 << 20;

/// The file of a journal, being written.
pub(in crate::state) struct JournalFile {
    path: PathBuf,
    file: Arc<LockedFile>,
    durability: Durability,
    /// End of the last whole record that the system has.
    length: Cell<u64>,
    /// The end of the space that is reserved for this file.
    reserved: Cell<u64>,
}

impl JournalFile {
    /// A file that has nothing in it yet.
    pub(super) fn new_empty(path: PathBuf, file: LockedFile, durability: Durability) -> Self {
        let (length, reserved) = (Cell::new(0), Cell::new(0));
        Self { path, file: Arc::new(file), durability, length, reserved }
    }

    /// Copies the group and mode of the state, if it exists, to the file and its directory.
    pub(in crate::state) fn copy_access_of_state(&self, state: &Path) {
        if let Some(directory) = self.path.parent() {
            permissions::copy_access_of_state(state, directory, &self.file);
        }
    }

    /// Makes the content and the attributes durable.
    pub(super) fn sync_file(&self) -> io::Result<()> {
        self.durability.sync_file(&self.file)
    }

    /// Truncates the file after the last whole record, and continues from there.
    fn truncate_file(&self) -> io::Result<()> {
        self.file.set_len(self.length.get())?;
        (&**self.file).seek(SeekFrom::Start(self.length.get())).map(drop)
    }
}

impl RecordSink for JournalFile {
    fn location(&self) -> String {
        self.path.display().to_string()
    }

    fn append_records(&self, records: &[u8]) -> Result<(), AppendError> {
        let Err(error) = (&**self.file).write_all(records) else {
            self.length.set(self.length.get() + records.len() as u64);
            return Ok(());
        };
        // A full disk accepts a part of a record. Truncating it frees space for the answers to calls in
        // flight, which may be shorter than the refused record.
        let is_torn = self.truncate_file().is_err();
        // The truncation has released the space for the other answers.
        self.reserved.set(0);
        Err(AppendError { error: JournalError::io_error("write", &self.path)(error), is_torn })
    }

    fn sync_records(&self) -> LocalBoxFuture<'static, Result<(), JournalError>> {
        let (file, path, durability) = (Arc::clone(&self.file), self.path.clone(), self.durability);
        let sync = async move {
            // On another thread, so that answers to calls in flight are received during it. `fdatasync` is
            // enough: it also writes the length, which is all that is needed to read the appended
            // records.
            let synced = tokio::task::spawn_blocking(move || durability.sync_content(&file)).await;
            synced
                .map_err(io::Error::other)
                .flatten()
                .map_err(JournalError::io_error("write", &path))
        };
        sync.boxed_local()
    }

    fn reserve_space(&self, bytes: u64) -> Result<(), JournalError> {
        let (reserved, needed) = (self.reserved.get(), self.length.get() + bytes);
        if needed <= reserved {
            return Ok(());
        }
        let from = reserved.max(self.length.get());
        // A file system without reservations is not called again.
        let reserve_up_to =
            |end| disk::reserve_disk_space(&self.file, from..end).map(|_| self.reserved.set(end));
        // A disk that has no room for a whole step may have enough for the calls.
        let reserved = reserve_up_to(needed + RESERVATION_STEP).or_else(|_| reserve_up_to(needed));
        reserved.map_err(JournalError::io_error("reserve space in", &self.path))
    }

    fn release_space(&self, keep: u64) {
        // Blocks after the end of the file are freed when the length is set, even to the same one.
        self.file.set_len(self.length.get()).ok();
        self.reserved.set(0);
        let end = self.length.get() + keep;
        // Space that another program has taken at this moment is reserved again before the next call.
        if keep > 0 && disk::reserve_disk_space(&self.file, self.length.get()..end).is_ok() {
            self.reserved.set(end);
        }
    }

    fn read_records(&self) -> Result<Vec<u8>, JournalError> {
        read_journal_file(&self.path)
    }

    fn remove_records(self: Rc<Self>) -> Result<(), JournalError> {
        remove_journal(&self.path)?;
        let path = self.path.clone();
        drop(self);
        if cfg!(windows) {
            // On Windows the name of a file stays in its directory until the file is closed.
            path.parent().map(std::fs::remove_dir);
        }
        Ok(())
    }
}
