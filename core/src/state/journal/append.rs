//! Appends records to the file of a journal: at once, or buffered for a moment.
//!
//! The records of a call that changes nothing outside this process are buffered: an apply may have
//! thousands of such calls, and a request to the system for each record takes longer than the call. A
//! buffer is lost with the process. The next run repeats the call then, and nothing outside this process
//! can tell. Nothing may build on a buffered result:
//!
//! - Any other record is written behind the buffer in the same request, so no call leaves this process
//!   and no provisioner of a new object runs before the system has the results that it depends on.
//! - The buffer is written whenever the apply waits, so no result waits for a slow call.

use std::future::Future;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::pin::pin;

use super::record::{self, Record};
use super::{Journal, JournalError, JournalHealth};

/// Number of buffered bytes above which the buffer is written.
const MAX_BUFFER_LEN: usize = 256 << 10;

impl Journal {
    /// Appends a record, behind everything that is buffered.
    pub(super) fn append_record(&self, record: &Record) -> Result<(), JournalError> {
        let bytes = self.frame_next_record(record)?;
        let n_buffered = self.buffer.borrow().len();
        self.buffer.borrow_mut().extend_from_slice(&bytes);
        self.next.set(self.next.get() + 1);
        let written = self.write_buffer();
        if written.is_err() {
            // The caller treats it as not appended. Its number is used again, because a missing number
            // would count as a lost record.
            self.buffer.borrow_mut().truncate(n_buffered);
            self.next.set(self.next.get() - 1);
        }
        written
    }

    /// Appends a record of a call that changes nothing outside this process. The system gets it with the
    /// next record of another kind, or when the apply waits.
    pub(super) fn buffer_record(&self, record: &Record) -> Result<(), JournalError> {
        let bytes = self.frame_next_record(record)?;
        self.buffer.borrow_mut().extend_from_slice(&bytes);
        self.next.set(self.next.get() + 1);
        let is_full = self.buffer.borrow().len() > MAX_BUFFER_LEN;
        if is_full { self.write_buffer() } else { Ok(()) }
    }

    /// Runs the apply, and writes the buffer whenever it waits. Also returns the first failure to write
    /// it.
    pub(crate) async fn run_and_write_buffer<F: Future>(
        &self,
        apply: F,
    ) -> (F::Output, Option<JournalError>) {
        let mut apply = pin!(apply);
        let mut failure = None;
        let output = std::future::poll_fn(|context| {
            let polled = apply.as_mut().poll(context);
            if let Err(error) = self.write_buffer() {
                failure.get_or_insert(error);
            }
            polled
        })
        .await;
        (output, failure)
    }

    /// The next record as it stands in the file.
    fn frame_next_record(&self, record: &Record) -> Result<Vec<u8>, JournalError> {
        if self.health.get() == JournalHealth::Closed {
            return Err(JournalError::Broken(self.path.clone()));
        }
        let sealed = self.seal.as_deref().map(|seal| self.seal_record(record, seal)).transpose()?;
        Ok(record::frame_record(self.next.get(), sealed.flatten().as_ref().unwrap_or(record)))
    }

    /// Hands the buffered records to the system. After a failure they stay buffered, so that the records
    /// of the file have no gap.
    pub(super) fn write_buffer(&self) -> Result<(), JournalError> {
        if self.buffer.borrow().is_empty() {
            return Ok(());
        }
        if self.health.get() == JournalHealth::Closed {
            return Err(JournalError::Broken(self.path.clone()));
        }
        let bytes = self.buffer.take();
        if let Err(error) = self.write_bytes(&bytes) {
            self.buffer.replace(bytes);
            // Records after half a record would be unreadable.
            // A full disk accepts a part of a record. Truncating it makes room for the answers of
            // calls in flight, which may be shorter than the refused record.
            let health = match self.truncate_file(self.length.get()) {
                Ok(()) if self.health.get() == JournalHealth::Sound => JournalHealth::Failing,
                Ok(()) => self.health.get(),
                Err(_) => JournalHealth::Closed,
            };
            self.health.set(health);
            // The truncation has given back the space for the other answers.
            self.reserved.set(0);
            self.reserve(0).ok();
            return Err(JournalError::io_error("write", &self.path)(error));
        }
        self.length.set(self.length.get() + bytes.len() as u64);
        if let Some(copy) = &self.copy {
            copy.push_records(bytes);
        }
        Ok(())
    }

    /// Cuts the file to a length, and goes on from there.
    fn truncate_file(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        (&**self.file).seek(SeekFrom::Start(length)).map(drop)
    }

    fn write_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        if self.next.get() - 1 > self.room.get() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        (&**self.file).write_all(bytes)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A panic of the apply ends here. Otherwise nothing is buffered, or it cannot be written.
        self.write_buffer().ok();
    }
}

#[cfg(test)]
mod tests;
