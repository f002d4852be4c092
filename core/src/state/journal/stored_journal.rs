//! The journal of an interrupted run in the place that keeps it: read, continued, replaced and removed. The
//! meaning of its records is in `recover`.

use std::fmt;

use super::JournalError;

/// The journal of a run that does not go on, in the place that keeps it.
pub trait StoredJournal: fmt::Debug + Send + Sync {
    /// The place, as messages name it. Holds no secrets.
    fn location(&self) -> String;

    /// The id of the run, if the name of the journal has it.
    fn run_id(&self) -> Option<String>;

    /// Reads the bytes.
    ///
    /// # Errors
    /// When the place cannot be read.
    fn read_bytes(&self) -> Result<Vec<u8>, JournalError>;

    /// Drops the bytes from `end` on, and writes others in their place. When this returns, they are
    /// durable.
    ///
    /// # Errors
    /// When the place refuses them.
    fn append_bytes(&self, end: usize, bytes: &[u8]) -> Result<(), JournalError>;

    /// Replaces the bytes of a damaged journal, durably and in one step. Keeps the damaged ones in
    /// [`StoredJournal::damaged_copy_location`].
    ///
    /// # Errors
    /// When the place refuses them.
    fn replace_damaged_bytes(&self, bytes: &[u8]) -> Result<(), JournalError>;

    /// Moves a damaged journal to [`StoredJournal::damaged_copy_location`], where no run reads it.
    ///
    /// # Errors
    /// When it cannot be moved.
    fn set_damaged_aside(&self) -> Result<(), JournalError>;

    /// The place of a damaged journal that was set aside, as messages name it.
    fn damaged_copy_location(&self) -> String;

    /// Removes it: the state has all of its results.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove_journal(&self) -> Result<(), JournalError>;
}
