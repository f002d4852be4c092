//! The storage of the records of one run, while the run writes them: a file, the memory of this process, or
//! that of a program that embeds the engine. The meaning of records and their order are in `journal`.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::JournalError;

/// The storage for the records of one run. A journal appends the bytes of whole records, in their order.
pub trait RecordSink {
    /// The location, for messages. Contains no secrets.
    fn location(&self) -> String;

    /// Appends all of the records or none. They survive the end of this process, if anything in the
    /// sink does.
    ///
    /// # Errors
    /// When the sink refuses the records.
    fn append_records(&self, records: &[u8]) -> Result<(), AppendError>;

    /// Makes all records durable that were appended before the call. The work begins when the result is
    /// polled.
    fn sync_records(&self) -> LocalBoxFuture<'static, Result<(), JournalError>>;

    /// Reserves space for a number of bytes after the records. A sink without a limit reserves nothing.
    ///
    /// # Errors
    /// When the sink has no space for them.
    fn reserve_space(&self, _bytes: u64) -> Result<(), JournalError> {
        Ok(())
    }

    /// Releases reserved space, except for a number of bytes after the records.
    fn release_space(&self, _keep: u64) {}

    /// Reads the records so far.
    ///
    /// # Errors
    /// When the sink cannot be read.
    fn read_records(&self) -> Result<Vec<u8>, JournalError>;

    /// Removes the records: no later run needs them.
    ///
    /// # Errors
    /// When the records cannot be removed.
    fn remove_records(self: Rc<Self>) -> Result<(), JournalError>;
}

/// The error for records that a sink has refused.
#[derive(Debug)]
pub struct AppendError {
    /// The reason.
    pub error: JournalError,
    /// Whether a part of them remains in the sink, so that nothing may follow it.
    pub is_torn: bool,
}
