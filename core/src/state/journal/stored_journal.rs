//! The stored journal of an interrupted run: read, continued, replaced and removed. The
//! meaning of its records is in `recover`.

use std::fmt;

use super::JournalError;

/// The stored journal of a run that is no longer in progress.
pub trait StoredJournal: fmt::Debug + Send + Sync {
    /// The location, for messages. Contains no secrets.
    fn location(&self) -> String;

    /// The id of the run, if the name of the journal has it.
    fn run_id(&self) -> Option<String>;

    /// Reads the bytes.
    ///
    /// # Errors
    /// When the journal cannot be read.
    fn read_bytes(&self) -> Result<Vec<u8>, JournalError>;

    /// Replaces the bytes from `end` on. When this returns, the new bytes are
    /// durable.
    ///
    /// # Errors
    /// When the storage refuses the bytes.
    fn append_bytes(&self, end: usize, bytes: &[u8]) -> Result<(), JournalError>;

    /// Replaces the bytes of a damaged journal, durably and in one step. Keeps the damaged ones in
    /// [`StoredJournal::damaged_copy_location`].
    ///
    /// # Errors
    /// When the storage refuses the bytes.
    fn replace_damaged_bytes(&self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Moves a damaged journal to [`StoredJournal::damaged_copy_location`], where no run reads it.
    ///
    /// # Errors
    /// When the journal cannot be moved.
    fn set_damaged_aside(&self) -> Result<(), JournalError>;

    /// The location of a damaged journal that was set aside, for messages.
    fn damaged_copy_location(&self) -> String;

    /// Removes the journal: the state contains all of its results.
    ///
    /// # Errors
    /// When the journal cannot be removed.
    fn remove_journal(&self) -> Result<(), JournalError>;
}
