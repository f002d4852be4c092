//! The place of the records of one run, while the run writes them: a file, the memory of this process, or
//! the place of a program that embeds the engine. The meaning of records and their order are in `journal`.

use std::rc::Rc;

use futures_util::future::LocalBoxFuture;

use super::JournalError;

/// A place for the records of one run. A journal hands over the bytes of whole records, in their order.
pub trait RecordSink {
    /// The place, as messages name it. Holds no secrets.
    fn location(&self) -> String;

    /// Appends records, all of them or none. They survive the end of this process, if anything in the
    /// place does.
    ///
    /// # Errors
    /// When the place refuses them.
    fn append_records(&self, records: &[u8]) -> Result<(), AppendError>;

    /// Makes everything durable that was appended before the call. The work begins when the result is
    /// polled.
    fn sync_records(&self) -> LocalBoxFuture<'static, Result<(), JournalError>>;

    /// Reserves space for a number of bytes behind the records. A place without a limit reserves nothing.
    ///
    /// # Errors
    /// When the place has no room for them.
    fn reserve_space(&self, _bytes: u64) -> Result<(), JournalError> {
        Ok(())
    }

    /// Gives reserved space back, except for a number of bytes behind the records.
    fn release_space(&self, _keep: u64) {}

    /// Reads the records until now.
    ///
    /// # Errors
    /// When the place cannot be read.
    fn read_records(&self) -> Result<Vec<u8>, JournalError>;

    /// Removes the records: no later run needs them.
    ///
    /// # Errors
    /// When they cannot be removed.
    fn remove_records(self: Rc<Self>) -> Result<(), JournalError>;
}

/// Records that a place has refused.
#[derive(Debug)]
pub struct AppendError {
    /// The reason.
    pub error: JournalError,
    /// Whether a part of them stays in the place, so that nothing may follow it.
    pub is_torn: bool,
}
