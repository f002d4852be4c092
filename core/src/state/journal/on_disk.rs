//! Journal files in their folder: whether a run still writes one, and their removal.

use std::fs::OpenOptions;
use std::path::Path;

use super::JournalError;
use crate::disk::{FileOptions as _, locks};

/// Whether the run that writes a journal is still going on.
pub(in crate::state) fn is_being_written(path: &Path) -> Result<bool, JournalError> {
    // Without `O_NONBLOCK`, opening a pipe waits for a reader.
    // Write access is required for an exclusive record lock (`F_OFD_SETLK`).
    let file = OpenOptions::new().write(true).without_waiting().open(path);
    let file = file.map_err(JournalError::io_error("read", path))?;
    locks::is_locked(file).map_err(JournalError::io_error("lock", path))
}

/// The extension of a journal whose first record is not durable yet.
pub(in crate::state) const NOT_BEGUN_EXTENSION: &str = "begin";

/// Removes journals that killed runs left before they had begun.
pub(super) fn remove_journals_not_begun(folder: &Path) {
    let entries = folder.read_dir().into_iter().flatten().filter_map(Result::ok);
    let unfinished = entries.map(|entry| entry.path()).filter(|path| {
        path.extension().is_some_and(|extension| extension == NOT_BEGUN_EXTENSION)
            // The run that creates it holds its lock from the beginning, so an unlocked one belongs
            // to a dead process.
            && is_being_written(path).is_ok_and(|is_written| !is_written)
    });
    // Best effort: the next run tries again.
    unfinished.for_each(|path| drop(std::fs::remove_file(path)));
}

/// Removes a journal, and its folder if it was the last one in it.
pub(in crate::state) fn remove_journal(path: &Path) -> Result<(), JournalError> {
    std::fs::remove_file(path).map_err(JournalError::io_error("remove", path))?;
    if let Some(folder) = path.parent() {
        // Fails if there are others in it, and then it has to stay.
        std::fs::remove_dir(folder).ok();
    }
    Ok(())
}
