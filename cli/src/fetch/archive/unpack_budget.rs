//! A limit on all decoded bytes of an archive, including headers and padding.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use super::{ArchiveError, malformed_archive_error};

/// Maximum size of the headers of one entry, in bytes. A decoder keeps long names and attributes in
/// memory.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The remaining limits. They are shared with the stream, which the decoder owns.
#[derive(Debug)]
pub(super) struct UnpackBudget {
    /// Remaining bytes of the whole stream.
    total: Cell<u64>,
    /// Remaining bytes of the headers of one entry, while they are read.
    headers: Cell<Option<u64>>,
    /// The limit that was reached.
    reached: Cell<Option<(u64, &'static str)>>,
    limit: u64,
}

impl UnpackBudget {
    pub(super) fn new(limit: u64) -> Rc<Self> {
        let (headers, reached) = (Cell::new(None), Cell::new(None));
        Rc::new(Self { total: Cell::new(limit), headers, reached, limit })
    }

    /// Runs an action that reads only the headers of an entry.
    pub(super) fn count_as_headers<T>(&self, read: impl FnOnce() -> T) -> T {
        self.headers.set(Some(MAX_HEADER_BYTES));
        let read = read();
        self.headers.set(None);
        read
    }

    /// Returns the error for a failed read: the limit, if one was reached.
    pub(super) fn io_error_or_limit(&self, error: &io::Error) -> ArchiveError {
        self.archive_error_or_limit(malformed_archive_error(error))
    }

    /// Returns the limit, if one was reached, instead of the error that it caused.
    pub(super) fn archive_error_or_limit(&self, error: ArchiveError) -> ArchiveError {
        match self.reached.get() {
            Some((limit, unit)) => ArchiveError::TooMuch { limit, quantity: unit },
            None => error,
        }
    }

    fn take_bytes(&self, n: u64) -> io::Result<()> {
        let reach = |limit, unit| {
            self.reached.set(Some((limit, unit)));
            Err(io::Error::other("a limit is reached"))
        };
        if let Some(remaining_headers) = self.headers.get() {
            let Some(remaining_headers) = remaining_headers.checked_sub(n) else {
                return reach(MAX_HEADER_BYTES, "bytes of names and attributes of one entry");
            };
            self.headers.set(Some(remaining_headers));
        }
        match self.total.get().checked_sub(n) {
            Some(remaining_headers) => self.total.set(remaining_headers),
            None => return reach(self.limit, "bytes decoded"),
        }
        Ok(())
    }
}

/// A stream that counts its bytes.
pub(super) struct CountedReader<R> {
    pub(super) stream: R,
    pub(super) budget: Rc<UnpackBudget>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.budget.take_bytes(n as u64)?;
        Ok(n)
    }
}
