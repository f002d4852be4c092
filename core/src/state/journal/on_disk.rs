//! Journal files in their directory: whether a run still writes one, and how those of interrupted runs are
//! continued, set aside and removed.

use std::fs::OpenOptions;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::JournalError;
use super::permissions::refuse_linked_dir;
use super::stored_journal::StoredJournal;
use crate::disk::{FileOptions as _, MAX_STATE_LEN, create_private_dir, locks, read_file};

/// Whether the run that writes a journal is still in progress.
pub(in crate::state) fn is_being_written(path: &Path) -> Result<bool, JournalError> {
    // Without `O_NONBLOCK`, opening a pipe waits for a reader.
    // Write access is required for an exclusive record lock (`F_OFD_SETLK`).
    let file = OpenOptions::new().write(true).without_waiting().open(path);
    let file = file.map_err(JournalError::io_error("read", path))?;
    locks::is_locked(file).map_err(JournalError::io_error("lock", path))
}

/// The extension of a journal whose first record is not durable yet.
pub(super) const NOT_BEGUN_EXTENSION: &str = "begin";

/// The extension of a damaged journal that was set aside.
const DAMAGED_EXTENSION: &str = "damaged";

/// Removes journals that killed runs left before they had begun.
pub(super) fn remove_journals_not_begun(directory: &Path) {
    let entries = directory.read_dir().into_iter().flatten().filter_map(Result::ok);
    let unfinished = entries.map(|entry| entry.path()).filter(|path| {
        path.extension().is_some_and(|extension| extension == NOT_BEGUN_EXTENSION)
            // The run that creates it holds its lock from the beginning, so an unlocked journal belongs
            // to a dead process.
            && is_being_written(path).is_ok_and(|is_written| !is_written)
    });
    // Best effort: the next run tries again.
    unfinished.for_each(|path| drop(std::fs::remove_file(path)));
}

/// Removes a journal, and its directory if it was the last one in it.
pub(super) fn remove_journal(path: &Path) -> Result<(), JournalError> {
    std::fs::remove_file(path).map_err(JournalError::io_error("remove", path))?;
    if let Some(directory) = path.parent() {
        // Fails if the directory contains other journals, and then it has to stay.
        std::fs::remove_dir(directory).ok();
    }
    Ok(())
}

/// The bytes of a journal.
pub(in crate::state) fn read_journal_file(path: &Path) -> Result<Vec<u8>, JournalError> {
    read_file(path, MAX_STATE_LEN).map_err(JournalError::io_error("read", path))
}

/// Writes the content of a journal, durably and in one step.
pub(in crate::state) fn write_journal_file(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    let failed = |error| JournalError::io_error("write", path)(error);
    if let Some(directory) = path.parent() {
        refuse_linked_dir(directory).map_err(failed)?;
        create_private_dir(directory).map_err(failed)?;
    }
    // Under a name that recovery does not read, until all of it is durable.
    let unfinished = path.with_extension(NOT_BEGUN_EXTENSION);
    // Left by a process that was killed, or a link that a checkout contains: opening it would follow it.
    std::fs::remove_file(&unfinished).ok();
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).owner_only().open(&unfinished);
    file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&unfinished, path))
        .map_err(failed)
}

/// The journal of an interrupted run in a file, or one that will be in a file.
#[derive(Debug)]
pub(in crate::state) struct StoredJournalFile {
    /// The path.
    pub(in crate::state) path: PathBuf,
}

impl StoredJournalFile {
    fn damaged_copy_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(DAMAGED_EXTENSION);
        name.into()
    }
}

impl StoredJournal for StoredJournalFile {
    fn location(&self) -> String {
        self.path.display().to_string()
    }

    fn run_id(&self) -> Option<String> {
        Some(self.path.file_stem()?.to_string_lossy().into_owned())
    }

    fn read_bytes(&self) -> Result<Vec<u8>, JournalError> {
        read_journal_file(&self.path)
    }

    fn append_bytes(&self, end: usize, bytes: &[u8]) -> Result<(), JournalError> {
        let failed = |error| JournalError::io_error("write", &self.path)(error);
        let mut file = OpenOptions::new().appending().open(&self.path).map_err(failed)?;
        file.set_len(end as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
    }

    fn replace_damaged_bytes(&self, bytes: &[u8]) -> Result<(), JournalError> {
        // The damaged bytes are copied before they are replaced.
        keep_damaged_copy(&self.path, &self.damaged_copy_path())
            .map_err(JournalError::io_error("write", &self.path))?;
        // In one step: a crash during the rewrite leaves the damaged journal in force.
        write_journal_file(&self.path, bytes)
    }

    fn set_damaged_aside(&self) -> Result<(), JournalError> {
        std::fs::rename(&self.path, self.damaged_copy_path())
            .map_err(JournalError::io_error("rename", &self.path))
    }

    fn damaged_copy_location(&self) -> String {
        self.damaged_copy_path().display().to_string()
    }

    fn remove_journal(&self) -> Result<(), JournalError> {
        remove_journal(&self.path)
    }
}

/// Keeps the bytes of a damaged journal under another name.
fn keep_damaged_copy(path: &Path, copy_path: &Path) -> io::Result<()> {
    // A checkout may contain one, and a copy would go to the file that it leads to.
    if copy_path.is_symlink() {
        let reason = format!(
            "{} is a symbolic link, which is not followed; remove the link and try again",
            copy_path.display()
        );
        return Err(io::Error::other(reason));
    }
    // An existing copy is from an earlier attempt and has more of the original than this file.
    if !copy_path.exists() && std::fs::hard_link(path, copy_path).is_err() {
        std::fs::copy(path, copy_path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_journal_is_copied_once_and_not_through_a_planted_link() {
        let directory = tempfile::tempdir().unwrap();
        let path_of = |name: &str| directory.path().join(name);
        std::fs::write(path_of("journal"), "one").unwrap();
        std::os::unix::fs::symlink(path_of("victim"), path_of("link")).unwrap();
        let error =
            keep_damaged_copy(&path_of("journal"), &path_of("link")).unwrap_err().to_string();
        assert!(
            error.contains("link is a symbolic link") && !path_of("victim").exists(),
            "{error}"
        );
        keep_damaged_copy(&path_of("journal"), &path_of("kept")).unwrap();
        std::fs::remove_file(path_of("journal")).unwrap();
        std::fs::write(path_of("journal"), "two").unwrap();
        keep_damaged_copy(&path_of("journal"), &path_of("kept")).unwrap();
        assert_eq!(std::fs::read_to_string(path_of("kept")).unwrap(), "one");
    }
}
