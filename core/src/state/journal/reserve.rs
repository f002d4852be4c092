//! Space on the disk for the answers to announced calls. It is reserved before a call is sent, so that a
//! disk that fills meanwhile costs no answer.

use std::fs::File;
use std::io;

use super::record::Record;
use super::{Journal, JournalError};

/// Space for the records of a call beside those that grow with the planned value: attributes that only
/// the provider knows, private data, messages.
const FOR_EACH_CALL: u64 = 64 << 10;
/// Size of the records of a call as a multiple of its encoded planned value: the announcement, the answer,
/// and the object twice where steps remain after the call. All of them may be sealed.
const FOR_EACH_BYTE: u64 = 8;
/// Reserved at a time, where the disk has it: a request to the system is spared for most calls.
const STEP: u64 = 1 << 20;

impl Journal {
    /// Space that the records of a call may take.
    pub(super) fn space_for(intent: &Record) -> u64 {
        let Record::Intent(intent) = intent else { return 0 };
        FOR_EACH_CALL + intent.planned.len() as u64 * FOR_EACH_BYTE
    }

    /// Reserves space for the records of all announced calls and of one that is about to be.
    ///
    /// # Errors
    /// When the disk is full. File systems that reserve nothing are no error.
    pub(super) fn reserve(&self, next: u64) -> Result<(), JournalError> {
        let open = next + self.open.borrow().values().map(|call| call.space).sum::<u64>();
        let (reserved, needed) = (self.reserved.get(), self.length.get() + open);
        if needed <= reserved {
            return Ok(());
        }
        let from = reserved.max(self.length.get());
        let reserve_up_to = |end: u64| match keep_free(&self.file, from, end - from) {
            Err(error) if is_full(&error) => Err(error),
            // Not every file system reserves space.
            _ => {
                self.reserved.set(end);
                Ok(())
            }
        };
        // A disk that has no room for a whole step may have enough for the calls.
        let reserved = reserve_up_to(needed + STEP).or_else(|_| reserve_up_to(needed));
        reserved.map_err(JournalError::io("reserve space in", &self.path))
    }

    /// Gives back what is reserved, but for the records of open calls.
    pub(super) fn give_back(&self) {
        if self.reserved.get() <= self.length.get() {
            return;
        }
        self.release();
        self.reserved.set(0);
        let open: u64 = self.open.borrow().values().map(|call| call.space).sum();
        let end = self.length.get() + open;
        // Space that another program has taken at this moment is reserved again before the next call.
        if open > 0 && keep_free(&self.file, self.length.get(), open).is_ok() {
            self.reserved.set(end);
        }
    }

    /// Gives reserved space back. Nothing more is written.
    pub(super) fn release(&self) {
        // Blocks behind the end of the file are freed when the length is set, even to the same one.
        self.file.set_len(self.length.get()).ok();
    }
}

/// Whether an error says that there is no more space.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Allocates blocks of a file behind its end, which keeps its length: readers see no gap.
#[cfg(target_os = "linux")]
pub(super) fn keep_free(file: &File, from: u64, length: u64) -> io::Result<()> {
    use nix::fcntl::{FallocateFlags, fallocate};
    let (from, length) = (i64::try_from(from), i64::try_from(length));
    let (Ok(from), Ok(length)) = (from, length) else { return Ok(()) };
    Ok(fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from, length)?)
}

/// Other systems have no call that keeps the length.
#[cfg(not(target_os = "linux"))]
pub(super) fn keep_free(_file: &File, _from: u64, _length: u64) -> io::Result<()> {
    Ok(())
}
