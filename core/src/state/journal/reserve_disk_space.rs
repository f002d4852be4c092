//! Space on the disk for the answers to announced calls. It is reserved before a call is sent, so that a
//! disk that fills in the meantime loses no answer.

use super::record::Record;
use super::{Journal, JournalError};

/// Space for the records of a call, besides the parts that grow with the planned value: attributes that only
/// the provider computes, private data, messages.
const RESERVED_BYTES_PER_CALL: u64 = 64 << 10;
/// Size of the records of a call as a multiple of its encoded planned value: the announcement, the answer,
/// and the object twice where steps remain after the call. All of them may be sealed.
const RESERVED_BYTES_PER_PLANNED_BYTE: u64 = 8;

impl Journal {
    /// The space that the records of a call may occupy.
    pub(super) fn space_for_call(intent: &Record) -> u64 {
        let Record::Intent(intent) = intent else { return 0 };
        RESERVED_BYTES_PER_CALL + intent.planned.len() as u64 * RESERVED_BYTES_PER_PLANNED_BYTE
    }

    /// Reserves space for the records of all announced calls and of one that is about to be.
    ///
    /// # Errors
    /// When the disk is full. A file system without reservations is not an error.
    pub(super) fn reserve_for_call(&self, next: u64) -> Result<(), JournalError> {
        // Buffered records are written before the records of these calls, and need space as well.
        let buffered = self.buffer.borrow().len();
        self.sink.reserve_space(buffered + next + self.space_of_open_calls())
    }

    /// Gives back reserved space, except that for the records of open calls.
    pub(super) fn free_unused_space(&self) {
        self.sink.release_space(self.space_of_open_calls());
    }

    fn space_of_open_calls(&self) -> u64 {
        self.open.borrow().values().map(|call| call.space).sum()
    }
}
