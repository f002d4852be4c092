//! A state in a file on this machine. This module does not record the events of a run, which is the
//! task of `journal`.

mod backup;
mod errored_state;
mod lock;
mod lost_state;
mod replace_file;
#[cfg(test)]
mod tests;
mod workspaces;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::locks::{NO_LOCKS_REMEDY, is_lock_unsupported_error};
use formwork_core::disk::{Durability, MAX_STATE_LEN, read_file, read_user_file};
use formwork_core::state::file::{FileError, StateFile};
use formwork_core::state::intent_log::{IntentLog, LocalIntentLog};
use formwork_value::Diagnostic;
use formwork_value::diag::Blame;

pub use self::errored_state::{
    ERRORED_FILE, ErroredStateFile, ErroredStateRelation, save_errored_state,
};
use self::lock::HeldLock;
use self::lost_state::empty_file_warning;
use self::replace_file::{DiskOperations, follow_links};
pub use self::workspaces::{LocalBackend, Workspaces};
use crate::OpenState;
use crate::encryption::StateCipher;
use crate::known_state::KnownState;
use crate::lock::StateLock;
use crate::messages;
use crate::store::{StateStore, StoreError, StoreOperation, WriteOutcome};

/// The paths of a local state's files.
///
/// ```
/// let paths = formwork_backend::local::StateFilePaths::from_state_path("a.tfstate");
/// assert_eq!(paths.backup, Some("a.tfstate.backup".into()));
/// assert!(!paths.named.source);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFilePaths {
    /// The file that is locked and written.
    pub state: PathBuf,
    /// The file that is read instead, as long as nothing was written. After a run that was
    /// interrupted before it wrote anything, this is the file that that run has read.
    pub read_from: Option<PathBuf>,
    /// Path of the backup, or `None` for no backup.
    pub backup: Option<PathBuf>,
    /// Files that the user specified on the command line.
    pub named: UserNamedPaths,
    /// The failures that the state and the journals of its runs have to survive.
    pub durability: Durability,
}

/// Files that the user specified on the command line. Only these may be pipes, because one from a
/// checkout would block the command.
///
/// See [`StateFilePaths`] for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserNamedPaths {
    /// The file that is read.
    pub source: bool,
    /// The backup.
    pub backup: bool,
}

impl StateFilePaths {
    /// Returns the default paths for a state file, with the backup next to it.
    #[must_use]
    pub fn from_state_path(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        let mut backup = state.clone().into_os_string();
        backup.push(".backup");
        Self {
            state,
            read_from: None,
            backup: Some(backup.into()),
            named: UserNamedPaths::default(),
            durability: Durability::default(),
        }
    }

    /// Returns the intents of the runs that write this state, in a directory next to it, even if
    /// the path of the state is a link.
    #[must_use]
    pub fn intent_log(&self) -> Arc<dyn IntentLog> {
        let log = LocalIntentLog::in_dir(self.journal_dir());
        Arc::new(log.with_state_file(self.state.clone()).with_durability(self.durability))
    }

    fn journal_dir(&self) -> PathBuf {
        Self::from_state_path(follow_links(&self.state)).sibling_path(".journal")
    }

    /// Returns the file name with a leading dot and a `suffix`, for files that only Formwork uses.
    fn sibling_path(&self, suffix: &str) -> PathBuf {
        let name = self.state.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix('.').unwrap_or(&name);
        self.state.with_file_name(format!(".{name}{suffix}"))
    }
}

/// A state in a local file.
///
/// See [`StateStore`] for an example.
pub struct LocalStore {
    files: StateFilePaths,
    intents: Arc<dyn IntentLog>,
    held_lock: Option<HeldLock>,
    /// Content that was last read or written.
    known: KnownState<StoredContent>,
    disk: DiskOperations,
    cipher: StateCipher,
    /// Whether the state that was read has to be rewritten, because its encryption has changed.
    is_outdated: bool,
}

/// Content of the stored state.
#[derive(Debug)]
enum StoredContent {
    /// Content as it was read, which shares its resources with the caller. The first write makes a
    /// backup of it.
    Read(Box<StateFile>),
    /// A fingerprint of the written content.
    Written([u8; 32]),
}

impl From<StateFilePaths> for OpenState {
    fn from(files: StateFilePaths) -> Self {
        let intents = files.intent_log();
        Self { store: Box::new(LocalStore::new(files)), intents }
    }
}

impl LocalStore {
    /// Creates the store. Does not access any file yet.
    #[must_use]
    pub fn new(files: StateFilePaths) -> Self {
        let (intents, disk) = (files.intent_log(), DiskOperations::new(files.durability));
        let (known, cipher) = (KnownState::NotRead, StateCipher::default());
        Self { files, intents, held_lock: None, known, disk, cipher, is_outdated: false }
    }

    /// The file without content, which could not be read.
    fn empty_state_file(&self) -> Option<&Path> {
        let source = self.path_to_read();
        (self.is_state_missing() && self.existed_before_run(source)).then_some(source)
    }

    /// Whether nothing was read, because no state exists.
    fn is_state_missing(&self) -> bool {
        matches!(self.known, KnownState::Absent)
    }

    /// Returns the file to read.
    fn path_to_read(&self) -> &Path {
        self.files.read_from.as_ref().unwrap_or(&self.files.state)
    }

    fn read_state_file(&mut self) -> Result<Option<StateFile>, StoreError> {
        let mut text = if self.files.named.source {
            read_if_present(read_user_file, self.path_to_read())?.unwrap_or_default()
        } else {
            read_if_present(read_file, self.path_to_read())?.unwrap_or_default()
        };
        if text.is_empty()
            && self.files.read_from.is_none()
            && let Some(begun_from) = self.interrupted_run_base_file()
        {
            text = read_if_present(read_file, &begun_from)?.unwrap_or_default();
            self.files.read_from = Some(begun_from);
        }
        let source = self.path_to_read();
        let mut is_outdated = false;
        let (file, known_state) = match self.cipher.parse_checking_current_form(&text) {
            Ok((file, is_current)) => {
                is_outdated = !is_current;
                let (lineage, serial) = (file.lineage.clone(), file.serial);
                let content = StoredContent::Read(Box::new(file.clone()));
                (Some(file), KnownState::Present { lineage, serial, content })
            }
            // An empty file was created only to be locked: by this run, if it did not exist, or by an
            // earlier run that was interrupted.
            Err(FileError::Empty) => {
                let evidence = if self.existed_before_run(source) {
                    self.evidence_of_lost_state()
                } else {
                    Vec::new()
                };
                if !evidence.is_empty() {
                    let (location, copy) = (display_path(source), self.describe_best_copy());
                    return Err(StoreError::Emptied { location, evidence, copy });
                }
                (None, KnownState::Absent)
            }
            Err(error) => {
                let (location, copy) = (display_path(source), self.describe_best_copy());
                return Err(StoreError::Unusable { location, error, is_file: true, copy });
            }
        };
        self.known = known_state;
        self.is_outdated = is_outdated;
        Ok(file)
    }

    /// Whether the file existed before this run.
    fn existed_before_run(&self, source: &Path) -> bool {
        let made_it = self.held_lock.as_ref().is_some_and(|lock| lock.is_ours);
        source.is_file() && !(made_it && source == self.files.state)
    }

    /// Checks that the stored state is still the one that was read.
    fn check_unchanged(&self) -> Result<(), StoreError> {
        let path = &self.files.state;
        if let Some(held_lock) = &self.held_lock {
            held_lock.check_not_replaced(path)?;
        }
        if self.files.read_from.is_some() {
            return Ok(());
        }
        let text = read_if_present(read_file, path)?.unwrap_or_default();
        // An empty file was created for the lock, and replaces no state.
        if text.is_empty() {
            return Ok(());
        }
        let stored = self.cipher.parse_state_header(&text).map_err(|error| {
            StoreError::Unusable { location: display_path(path), error, is_file: true, copy: None }
        })?;
        self.known.check_same_lineage_and_serial(&stored.lineage, stored.serial)
    }

    /// Whether the content equals the stored one.
    fn is_known_content(&self, content: &[u8; 32]) -> bool {
        match &self.known {
            // It is stored, but in another file.
            _ if self.files.read_from.is_some() || self.is_outdated => false,
            KnownState::Present { content: StoredContent::Written(stored), .. } => {
                stored == content
            }
            // The stored text may be formatted differently, so it is compared in this program's
            // format.
            KnownState::Present { content: StoredContent::Read(stored), .. } => {
                stored.fingerprint() == *content
            }
            KnownState::Absent | KnownState::NotRead => false,
        }
    }
}

#[async_trait::async_trait]
impl StateStore for LocalStore {
    fn location(&self) -> String {
        display_path(&self.files.state)
    }

    async fn try_lock(&mut self, operation: &str) -> Result<StateLock, StoreError> {
        self.cipher.prepare_key().map_err(|reason| {
            let location = display_path(&self.files.state);
            StoreError::NotEncryptable { location, reason }
        })?;
        self.held_lock = HeldLock::try_lock(&self.files, operation)?;
        let id = self.held_lock.as_ref().map(|lock| lock.id.clone()).unwrap_or_default();
        Ok(StateLock::new(id))
    }

    async fn unlock(&mut self, lock: StateLock) -> Result<(), StoreError> {
        drop(lock.take_back());
        // The lock of the file ends when its handle is closed.
        self.held_lock = None;
        Ok(())
    }

    async fn force_unlock(&mut self, id: &str) -> Result<(), StoreError> {
        let cause = format!(
            "the lock {id} can only be released by the process that holds it, and ends with that process at the latest"
        );
        let remedy = "If a command reports that the state is locked, its message identifies the holder. Wait for that process, or end it.";
        Err(StoreError::Failed {
            operation: StoreOperation::Unlock,
            location: self.location(),
            cause: cause.into(),
            remedy: Some(remedy.to_owned()),
        })
    }

    async fn read(&mut self) -> Result<Option<StateFile>, StoreError> {
        self.read_state_file()
    }

    async fn write(&mut self, file: &mut StateFile) -> Result<WriteOutcome, StoreError> {
        if let KnownState::NotRead = self.known {
            self.read_state_file()?;
        }
        let print = file.fingerprint();
        if self.is_known_content(&print) {
            return Ok(WriteOutcome::Unchanged);
        }
        self.known.check_same_lineage(file)?;
        self.check_writable()?;
        self.check_unchanged()?;
        self.write_backup()?;

        // Reset after a failure, so that another attempt does not skip a serial.
        let before = file.serial;
        self.known.increment_serial(file);
        self.replace_state_file(file.clone(), print)
            .await
            .inspect_err(|_| file.serial = before)??;
        Ok(WriteOutcome::Stored)
    }

    async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError> {
        if let KnownState::NotRead = self.known {
            self.read_state_file()?;
        }
        self.check_writable()?;
        self.check_unchanged()?;
        self.write_backup()?;
        let print = file.fingerprint();
        self.replace_state_file(file, print).await?
    }

    fn counts_metadata_as_change(&self) -> bool {
        false
    }

    fn is_read_from_write_location(&self) -> bool {
        // An interrupted run must not leave an empty state file.
        matches!(self.known, KnownState::Present { .. }) && self.files.read_from.is_none()
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        // A state can be read from a pipe, but not stored there.
        let state = &self.files.state;
        if is_device_or_pipe(state) {
            return Err(StoreError::NotPersistent { location: display_path(state) });
        }
        self.check_backup_is_not_source()
    }

    fn file_read_instead(&self) -> Option<&Path> {
        self.files.read_from.as_deref()
    }

    fn set_cipher(&mut self, cipher: StateCipher) {
        self.cipher = cipher;
    }

    fn cipher(&self) -> &StateCipher {
        &self.cipher
    }

    fn take_warnings(&self) -> Vec<Diagnostic> {
        let empty = self.empty_state_file().map(empty_file_warning);
        let backup = self.backup_without_state();
        let backup =
            backup.map(|(path, n_resources)| self.missing_state_warning(path, n_resources));
        empty.into_iter().chain(backup).collect()
    }

    async fn stored_providers(&mut self) -> BTreeSet<ProviderAddr> {
        let source = self.path_to_read();
        // A pipe can be read only once, and the command reports a state that cannot be read.
        let text = if is_device_or_pipe(source) {
            Ok(Vec::new())
        } else {
            read_file(source, MAX_STATE_LEN)
        };
        let text = text.unwrap_or_default();
        self.cipher.read_providers(&text).unwrap_or_default()
    }
}

impl LocalStore {
    /// Warns about a state that does not exist although its backup does.
    fn missing_state_warning(&self, backup: &Path, n_resources: Option<usize>) -> Diagnostic {
        let has = match n_resources {
            Some(n_resources) => format!("has one with {n_resources} resources"),
            None => "exists but cannot be read".to_owned(),
        };
        let detail = format!(
            "The state file {} does not exist, but the backup {} {has}. If the state was deleted by mistake, restore a backup and compare it with the real objects. Otherwise the objects are created a second time.",
            self.files.state.display(),
            backup.display()
        );
        Diagnostic::warning(messages::STATE_FILE_IS_MISSING, detail).blamed_on(Blame::Environment)
    }

    /// Replaces the state file with a new state. Another thread waits for the disk, so that running
    /// operations continue. Returns whether the content is stored durably.
    async fn replace_state_file(
        &mut self,
        file: StateFile,
        print: [u8; 32],
    ) -> Result<Result<(), StoreError>, StoreError> {
        let (lineage, serial) = (file.lineage.clone(), file.serial);
        let path = self.files.state.clone();
        let write_failed = store_error(StoreOperation::Write, &path);
        // The write runs on another thread, so it gets its own handle to the locked file.
        let original = match &self.held_lock {
            Some(lock) => {
                Some(lock.file.try_clone().map_err(store_error(StoreOperation::Write, &path))?)
            }
            None => None,
        };
        let (disk, cipher) = (self.disk.clone(), self.cipher.clone());
        let replace = move || {
            replace_file::replace_file(
                &disk,
                &path,
                &|writer| cipher.write_state_to(&file, writer),
                original.as_ref(),
            )
        };
        let replacement = match tokio::task::spawn_blocking(replace).await {
            Ok(replacement) => replacement?,
            Err(error) => return Err(write_failed(io::Error::other(error))),
        };
        if let (Some(held_lock), Some(file)) = (&mut self.held_lock, replacement.file) {
            held_lock.hold_file_instead(file);
        }
        self.known =
            KnownState::Present { lineage, serial, content: StoredContent::Written(print) };
        self.files.read_from = None;
        self.is_outdated = false;
        Ok(replacement.durable.map_err(store_error(StoreOperation::Write, &self.files.state)))
    }
}

/// Reads the state file at a path, without locking it. Returns `None` if it does not exist.
///
/// # Errors
/// Returns an error if the file cannot be read or decrypted, or is not a state.
pub fn load_state(path: &Path, cipher: &StateCipher) -> Result<Option<StateFile>, StoreError> {
    let Some(text) = read_if_present(read_file, path)? else { return Ok(None) };
    match cipher.parse_state(&text) {
        Ok(file) => Ok(Some(file)),
        Err(FileError::Empty) => Ok(None),
        Err(error) => Err(StoreError::Unusable {
            location: display_path(path),
            error,
            is_file: true,
            copy: None,
        }),
    }
}

/// A path as the location of a state.
fn display_path(path: &Path) -> String {
    path.display().to_string()
}

/// Converts a disk failure to an error about a state.
fn store_error(call: StoreOperation, path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let location = display_path(path);
    move |cause| {
        let remedy = match call {
            StoreOperation::Lock if is_lock_unsupported_error(&cause) => Some(NO_LOCKS_REMEDY.to_owned()),
            StoreOperation::Lock => Some(
                "The state must be writable before anything is changed. Check the permissions of \
                 the file and its directory, or choose another location."
                    .to_owned(),
            ),
            StoreOperation::Read => Some("Check the file and its permissions.".to_owned()),
            StoreOperation::Write => Some(
                "The previous state still exists. If this command has changed real \
                 objects, its journal holds the results, unless another error says that it could not \
                 be written: then only this output has the ids of the latest objects, so keep it. \
                 Free space or correct the permissions, then run the command again: it takes over \
                 what a journal holds."
                    .to_owned(),
            ),
            _ => None,
        };
        StoreError::Failed { operation: call, location, cause: cause.into(), remedy }
    }
}

/// Whether the path exists and is neither a file nor a directory, such as a device or a pipe.
fn is_device_or_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn read_if_present(
    read: fn(&Path, u64) -> io::Result<Vec<u8>>,
    path: &Path,
) -> Result<Option<Vec<u8>>, StoreError> {
    match read(path, MAX_STATE_LEN) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(store_error(StoreOperation::Read, path)(error)),
    }
}
