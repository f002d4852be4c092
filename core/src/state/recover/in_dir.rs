//! Journals of interrupted runs in a directory, one file for each run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{JournalContent, Recovery, recover_journals};
use crate::state::file::StateFile;
use crate::state::journal::permissions::refuse_linked_dir;
use crate::state::journal::{self, JournalError, StoredJournalFile};

/// Reads the journals that interrupted runs left in a directory, and applies their results to the
/// state. Ignores the journal of a run that is still in progress. Changes nothing on disk:
/// [`Recovery::archive_journals`] does, once the state is stored.
///
/// # Errors
/// When a journal cannot be read, or belongs to another state. Of a damaged journal, the intact records
/// are used.
pub fn recover_journals_in_dir(
    directory: &Path,
    stored: Option<StateFile>,
) -> Result<Recovery, JournalError> {
    recover_journals(read_interrupted_journals(directory)?, stored)
}

/// The journals in a directory whose runs are no longer in progress.
///
/// # Errors
/// Returns an error if a journal cannot be read.
pub fn read_interrupted_journals(directory: &Path) -> Result<Vec<JournalContent>, JournalError> {
    let mut journals = Vec::new();
    for path in journal_paths(directory)? {
        // With `-lock=false`, or after `force-unlock`, another run may still be writing. Its
        // operations are not interrupted, and taking them over would settle them twice.
        if journal::is_being_written(&path)? {
            continue;
        }
        let bytes = journal::read_journal_file(&path)?;
        let journal = Arc::new(StoredJournalFile { path });
        journals.push(JournalContent { journal, bytes, seal: None });
    }
    Ok(journals)
}

/// Whether a run on this machine still writes a journal; `false` if the file does not exist.
///
/// # Errors
/// When the lock of the journal cannot be checked.
pub fn is_being_written(path: &Path) -> Result<bool, JournalError> {
    Ok(path.exists() && journal::is_being_written(path)?)
}

/// Whether a run has left a journal in a directory, or is still writing one.
#[must_use]
pub fn has_unfinished_journal(directory: &Path) -> bool {
    journal_paths(directory).is_ok_and(|journals| !journals.is_empty())
}

fn journal_paths(directory: &Path) -> Result<Vec<PathBuf>, JournalError> {
    refuse_linked_dir(directory).map_err(JournalError::io_error("read", directory))?;
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        // Only a missing directory means that there are no journals. Any other error must stop the
        // command: it could create objects again that a journal names.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io_error("read", directory)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(JournalError::io_error("read", directory))?.path();
        // Not `.begin`, which is not durable yet and announces nothing, and not `.damaged`, whose
        // valid records were taken over before.
        if path.extension().is_some_and(|extension| extension == "wal") {
            paths.push(path);
        }
    }
    Ok(paths)
}
