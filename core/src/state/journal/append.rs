//! Appends records to the sink of a journal: immediately, or buffered for a moment.
//!
//! The records of a call that changes nothing outside this process are buffered: an apply may have
//! thousands of such calls, and a request to the system for each record takes longer than the call. A
//! buffer is lost with the process. The next run repeats the call then, and nothing outside this process
//! can observe the difference:
//!
//! - Any other record is written after the buffer, so no changing call of a provider is announced and no
//!   provisioner of a new object runs before the system has the results that it depends on.
//! - The records of an object with provisioners are not buffered, so no provisioner runs twice.
//! - The buffer is written whenever the apply waits, so no result waits for a slow call.

use std::future::Future;
use std::pin::pin;

use super::record::{self, Record};
use super::record_sink::AppendError;
use super::{Journal, JournalError, JournalWritability};

/// Number of buffered bytes above which the buffer is written.
const MAX_BUFFER_LEN: usize = 256 << 10;

/// Time at which the system gets the records of a call that changes nothing outside this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InternalRecordTiming {
    /// Together with those of other calls. If this process dies before, the call is repeated.
    Buffered,
    /// At once: provisioners run beside the object, and would be repeated with the call.
    AtOnce,
}

/// Records that the system does not have yet, in their frames. All of them are of calls that
/// change nothing outside this process.
#[derive(Debug, Default)]
pub(super) struct RecordBuffer {
    frames: Vec<u8>,
    n_records: u64,
}

impl RecordBuffer {
    /// Number of bytes that the records will occupy.
    pub(super) fn len(&self) -> u64 {
        self.frames.len() as u64
    }
}

impl Journal {
    /// Appends a record after all buffered records.
    pub(super) fn append_record(&self, record: &Record) -> Result<(), JournalError> {
        self.write_buffer();
        let number = self.next.get();
        self.write_frames(self.frame_record(number, record)?, number)?;
        // Not before: the number of a refused record is used again, because a missing number would
        // count as a lost record.
        self.next.set(number + 1);
        Ok(())
    }

    /// Buffers a record of a call that changes nothing outside this process. The system gets it with the
    /// next record of another kind, or when the apply waits.
    pub(super) fn buffer_record(&self, record: &Record) -> Result<(), JournalError> {
        let number = self.next.get();
        let frame = self.frame_record(number, record)?;
        let mut buffer = self.buffer.borrow_mut();
        buffer.frames.extend(frame);
        buffer.n_records += 1;
        self.next.set(number + 1);
        Ok(())
    }

    /// Writes a buffer that has become long. Must come before the next record is built, which may be of
    /// a call that is dropped with the buffer.
    pub(super) fn write_full_buffer(&self) {
        if self.buffer.borrow().frames.len() > MAX_BUFFER_LEN {
            self.write_buffer();
        }
    }

    /// Runs the apply, and writes the buffer whenever it waits. Also returns the first failure to write
    /// it.
    pub(crate) async fn run_and_write_buffer<F: Future>(
        &self,
        apply: F,
    ) -> (F::Output, Option<JournalError>) {
        let mut apply = pin!(apply);
        let output = std::future::poll_fn(|context| {
            let polled = apply.as_mut().poll(context);
            self.write_buffer();
            polled
        })
        .await;
        (output, self.buffer_failure.take())
    }

    /// Hands the buffered records to the system. If it refuses them, they are dropped together with
    /// their calls, whose results still reach the state: an answer that is the only record of an object
    /// may be shorter, and must not wait for room for them.
    pub(super) fn write_buffer(&self) {
        let RecordBuffer { frames, n_records } = self.buffer.take();
        if n_records == 0 {
            return;
        }
        if let Err(error) = self.write_frames(frames, self.next.get() - 1) {
            let first = self.next.get() - n_records;
            self.next.set(first);
            // Their results cannot be recorded in the journal without the announcements.
            self.open.borrow_mut().retain(|op, _| op.0 < first);
            // The first failure has the cause, and later ones follow from it.
            self.buffer_failure.borrow_mut().get_or_insert(error);
        }
    }

    /// The number of the last record that the system has.
    pub(super) fn last_written_number(&self) -> u64 {
        self.next.get() - 1 - self.buffer.borrow().n_records
    }

    /// Encodes a record as it is stored in the journal.
    fn frame_record(&self, number: u64, record: &Record) -> Result<Vec<u8>, JournalError> {
        if self.health.get() == JournalWritability::Closed {
            return Err(self.broken_error());
        }
        let sealed = self.seal.as_deref().map(|seal| self.seal_record(record, seal)).transpose()?;
        Ok(record::frame_record(number, sealed.flatten().as_ref().unwrap_or(record)))
    }

    /// Hands framed records up to a number to the system: all of them, or none.
    fn write_frames(&self, frames: Vec<u8>, last: u64) -> Result<(), JournalError> {
        if self.health.get() == JournalWritability::Closed {
            return Err(self.broken_error());
        }
        if let Err(AppendError { error, is_torn }) = self.append_bytes(&frames, last) {
            self.health.set(match (is_torn, self.health.get()) {
                // Records after half a record would be unreadable.
                (true, _) => JournalWritability::Closed,
                (false, JournalWritability::Sound) => JournalWritability::Failing,
                (false, health) => health,
            });
            // A sink that removed a part of them may have released the space for the answers, too.
            self.reserve_for_call(0).ok();
            return Err(error);
        }
        if let Some(copy) = &self.copy {
            copy.push_records(frames);
        }
        Ok(())
    }

    #[cfg_attr(not(test), expect(unused_variables, reason = "only tests have a disk that is full"))]
    fn append_bytes(&self, bytes: &[u8], last: u64) -> Result<(), AppendError> {
        #[cfg(test)]
        if last > self.room.get() {
            let full = std::io::ErrorKind::StorageFull.into();
            let error = JournalError::io_error("write", self.path())(full);
            return Err(AppendError { error, is_torn: false });
        }
        self.sink.append_records(bytes)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A panic of the apply ends here. Otherwise nothing is buffered, or it cannot be written.
        self.write_buffer();
    }
}

#[cfg(test)]
mod tests;
