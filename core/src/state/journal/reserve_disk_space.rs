//! Space on the disk for the answers to announced calls. It is reserved before a call is sent, so that a
//! disk that fills meanwhile costs no answer.

use super::record::Record;
use super::{Journal, JournalError};
use crate::disk;

/// Space for the records of a call beside those that grow with the planned value: attributes that only
/// the provider knows, private data, messages.
const RESERVED_BYTES_PER_CALL: u64 = 64 << 10;
/// Size of the records of a call as a multiple of its encoded planned value: the announcement, the answer,
/// and the object twice where steps remain after the call. All of them may be sealed.
const RESERVED_BYTES_PER_PLANNED_BYTE: u64 = 8;
/// Reserved at a time, where the disk has it: a request to the system is spared for most calls.
const RESERVATION_STEP: u64 = 1 << 20;

impl Journal {
    /// Space that the records of a call may take.
    pub(super) fn space_for_call(intent: &Record) -> u64 {
        let Record::Intent(intent) = intent else { return 0 };
        RESERVED_BYTES_PER_CALL + intent.planned.len() as u64 * RESERVED_BYTES_PER_PLANNED_BYTE
    }

    /// Reserves space for the records of all announced calls and of one that is about to be.
    ///
    /// # Errors
    /// When the disk is full. File systems that reserve nothing are no error.
    pub(super) fn reserve_for_call(&self, next: u64) -> Result<(), JournalError> {
        let open = next + self.open.borrow().values().map(|call| call.space).sum::<u64>();
        // What is buffered is written before the records of these calls, and needs space as well.
        let buffered = self.buffer.borrow().len();
        let (reserved, needed) = (self.reserved.get(), self.length.get() + buffered + open);
        if needed <= reserved {
            return Ok(());
        }
        let from = reserved.max(self.length.get());
        // A file system that reserves nothing is not asked again.
        let reserve_up_to =
            |end| disk::reserve_disk_space(&self.file, from..end).map(|_| self.reserved.set(end));
        // A disk that has no room for a whole step may have enough for the calls.
        let reserved = reserve_up_to(needed + RESERVATION_STEP).or_else(|_| reserve_up_to(needed));
        reserved.map_err(JournalError::io_error("reserve space in", &self.path))
    }

    /// Gives back reserved space, except that for the records of open calls.
    pub(super) fn free_unused_space(&self) {
        if self.reserved.get() <= self.length.get() {
            return;
        }
        self.release_reserved_space();
        let open: u64 = self.open.borrow().values().map(|call| call.space).sum();
        let end = self.length.get() + open;
        // Space that another program has taken at this moment is reserved again before the next call.
        if open > 0 && disk::reserve_disk_space(&self.file, self.length.get()..end).is_ok() {
            self.reserved.set(end);
        }
    }

    /// Gives all reserved space back.
    pub(super) fn release_reserved_space(&self) {
        // Blocks behind the end of the file are freed when the length is set, even to the same one.
        self.file.set_len(self.length.get()).ok();
        self.reserved.set(0);
    }
}
