//! A state in a file on this machine. Knows nothing of what happened during a run; that is in
//! `journal`.

mod errored;
mod evidence;
mod lock;
mod replace;
#[cfg(test)]
mod tests;
mod workspaces;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use self::errored::{ERRORED_FILE, Errored, Standing};
pub use self::evidence::BackupCopy;
use self::lock::Held;
pub(super) use self::lock::{lock, who};
use self::replace::Disk;
pub(in crate::state) use self::replace::share_like;
pub use self::workspaces::{BadWorkspace, Workspaces};
use super::file::{FileError, StateFile};
use super::store::{LockRequest, Store, StoreError, Written};
use crate::addr::ProviderAddr;
use crate::disk::{MAX_STATE, read_file, read_named};

/// How long to wait before asking again for a lock that somebody holds: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// Where the parts of a local state are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The file that is locked and written.
    pub state: PathBuf,
    /// The file that is read instead, as long as nothing was written. Where a run was cut off before it
    /// wrote anything, it is the one that that run has read.
    pub read_from: Option<PathBuf>,
    /// Where the previous content is kept; `None` to keep none.
    pub backup: Option<PathBuf>,
}

impl Files {
    /// The usual places for a state file: the backup stands beside it.
    #[must_use]
    pub fn of(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        let mut backup = state.clone().into_os_string();
        backup.push(".backup");
        Self { state, read_from: None, backup: Some(backup.into()) }
    }

    /// The file name with a dot before it and `suffix` behind: where our own files go.
    fn beside(&self, suffix: &str) -> PathBuf {
        let name = self.state.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix('.').unwrap_or(&name);
        self.state.with_file_name(format!(".{name}{suffix}"))
    }
}

/// A state in a local file.
#[derive(Debug)]
pub struct LocalStore {
    files: Files,
    journals: PathBuf,
    held: Option<Held>,
    /// What was last read or written.
    known: Known,
    disk: Disk,
}

/// What is known about the stored state.
#[derive(Debug, Default)]
enum Known {
    /// Nothing yet.
    #[default]
    NotRead,
    /// There is none.
    Absent,
    /// This one.
    Present { lineage: String, serial: u64, content: Stored },
}

/// What the stored state holds.
#[derive(Debug)]
enum Stored {
    /// What was read, sharing its resources with whoever works with them. The first write makes a
    /// backup of it.
    Read(Box<StateFile>),
    /// A fingerprint of what was written.
    Written([u8; 32]),
}

impl LocalStore {
    /// Makes the store; touches nothing yet.
    #[must_use]
    pub fn new(files: Files) -> Self {
        let journals = Files::of(behind_links(&files.state)).beside(".journal");
        let disk = Disk::default();
        Self { files, journals, held: None, known: Known::NotRead, disk }
    }

    /// Whether a state that is written is kept: it can be read, but not kept, in a pipe.
    ///
    /// # Errors
    /// When it would not be.
    pub fn check_place(&self) -> Result<(), StoreError> {
        let state = &self.files.state;
        if is_no_file(state) { Err(StoreError::NoFile(state.clone())) } else { Ok(()) }
    }

    /// The file without content from which nothing could be read.
    #[must_use]
    pub fn empty_file(&self) -> Option<&Path> {
        let source = self.source();
        (self.is_absent() && self.was_there(source)).then_some(source)
    }

    /// Whether nothing was read, because there is no state.
    fn is_absent(&self) -> bool {
        matches!(self.known, Known::Absent)
    }

    /// Whether the state is stored in the file that is written, so that a run which is cut off does not
    /// leave an empty file there.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        matches!(self.known, Known::Present { .. }) && self.files.read_from.is_none()
    }

    /// Where the parts of this state are.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The providers of all that is stored, without reading more than that. Nothing, if the state
    /// cannot be read: whoever reads it in earnest says why.
    #[must_use]
    pub fn providers(&self) -> BTreeSet<ProviderAddr> {
        let source = self.source();
        // What can be read only once is left to them, too.
        let text = if is_no_file(source) { Ok(Vec::new()) } else { read_file(source, MAX_STATE) };
        let text = text.unwrap_or_default();
        StateFile::read_providers(&text).unwrap_or_default()
    }

    /// The file to read.
    fn source(&self) -> &Path {
        self.files.read_from.as_ref().unwrap_or(&self.files.state)
    }

    fn read_now(&mut self) -> Result<Option<StateFile>, StoreError> {
        let mut text = read_if_present(self.source())?.unwrap_or_default();
        if text.is_empty()
            && self.files.read_from.is_none()
            && let Some(begun_from) = self.begun_from()
        {
            text = read_if_present(&begun_from)?.unwrap_or_default();
            self.files.read_from = Some(begun_from);
        }
        let source = self.source();
        let (file, known) = match StateFile::read(&text) {
            Ok(file) => {
                let (lineage, serial) = (file.lineage.clone(), file.serial);
                let content = Stored::Read(Box::new(file.clone()));
                (Some(file), Known::Present { lineage, serial, content })
            }
            // A file without content is one that was made only to be locked: by this run, if there was
            // none, or by another one that was cut off.
            Err(FileError::Empty) => {
                let evidence = if self.was_there(source) { self.evidence() } else { Vec::new() };
                if !evidence.is_empty() {
                    let (state, backup) = (source.to_owned(), self.backup_copy());
                    return Err(StoreError::Emptied { state, evidence, backup });
                }
                (None, Known::Absent)
            }
            Err(error) => {
                let (state, backup) = (source.to_owned(), self.backup_copy());
                return Err(StoreError::Unusable { state, error, backup });
            }
        };
        self.known = known;
        Ok(file)
    }

    /// Whether a file was there before this run.
    fn was_there(&self, source: &Path) -> bool {
        let made_it = self.held.as_ref().is_some_and(|held| held.is_ours);
        source.is_file() && !(made_it && source == self.files.state)
    }

    /// Makes sure that the stored state is still the one that was read.
    fn check_unchanged(&self) -> Result<(), StoreError> {
        let path = &self.files.state;
        if let Some(held) = &self.held {
            held.check_in_place(path)?;
        }
        if self.files.read_from.is_some() {
            return Ok(());
        }
        let text = read_if_present(path)?.unwrap_or_default();
        if text.is_empty() {
            return Ok(());
        }
        let stored = StateFile::read_header(&text).map_err(|error| StoreError::Unusable {
            state: path.clone(),
            error,
            backup: None,
        })?;
        let (lineage, serial) = match &self.known {
            Known::Present { lineage, serial, .. } => (lineage.as_str(), *serial),
            // Somebody made a state where there was none.
            Known::Absent | Known::NotRead => (stored.lineage.as_str(), 0),
        };
        if stored.lineage != lineage {
            let ours = lineage.to_owned();
            return Err(StoreError::OtherLineage { stored: stored.lineage, ours });
        }
        if stored.serial != serial {
            return Err(StoreError::Changed { stored: stored.serial, read: serial });
        }
        Ok(())
    }

    /// Whether the content is the stored one.
    fn is_stored(&self, content: &[u8; 32]) -> bool {
        match &self.known {
            // It is stored, but elsewhere.
            _ if self.files.read_from.is_some() => false,
            Known::Present { content: Stored::Written(stored), .. } => stored == content,
            // The stored text may be laid out differently, so it is compared as we would write it.
            Known::Present { content: Stored::Read(stored), .. } => {
                stored.fingerprint() == *content
            }
            Known::Absent | Known::NotRead => false,
        }
    }

    /// Keeps what the file that is written held before the first write of this run.
    fn back_up(&self) -> Result<(), StoreError> {
        let Some(backup) = &self.files.backup else { return Ok(()) };
        let stored = &self.files.state;
        let holds_something = match &self.files.read_from {
            Some(_) => stored.metadata().is_ok_and(|about| about.len() > 0),
            None => matches!(&self.known, Known::Present { content: Stored::Read(_), .. }),
        };
        if !holds_something {
            return Ok(());
        }
        let from = File::open(stored).map_err(StoreError::io("read", stored))?;
        let about = from.metadata().map_err(StoreError::io("read", stored))?;
        replace::write_aside(&self.disk, backup, Some(&about), &|to| {
            io::copy(&mut &from, to).map(drop)
        })
    }
}

#[async_trait::async_trait(?Send)]
impl Store for LocalStore {
    async fn lock(&mut self, request: LockRequest) -> Result<(), StoreError> {
        let deadline = Instant::now() + request.timeout;
        let mut pause = FIRST_PAUSE;
        loop {
            match Held::take(&self.files, &request.operation) {
                Ok(held) => {
                    self.held = held;
                    return Ok(());
                }
                Err(error @ StoreError::Held { .. }) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(error);
                    }
                    tokio::time::sleep(pause.min(left)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn unlock(&mut self) -> Result<(), StoreError> {
        self.held = None;
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<StateFile>, StoreError> {
        self.read_now()
    }

    async fn write(&mut self, file: &mut StateFile) -> Result<Written, StoreError> {
        if let Known::NotRead = self.known {
            self.read_now()?;
        }
        let print = file.fingerprint();
        if self.is_stored(&print) {
            return Ok(Written::Unchanged);
        }
        if let Known::Present { lineage, .. } = &self.known
            && *lineage != file.lineage
        {
            let (stored, ours) = (lineage.clone(), file.lineage.clone());
            return Err(StoreError::OtherLineage { stored, ours });
        }
        self.check_place()?;
        self.check_unchanged()?;
        self.back_up()?;

        let before = file.serial;
        if let Known::Present { serial, .. } = &self.known {
            file.serial = file.serial.max(*serial);
        }
        file.serial += 1;
        file.terraform_version = crate::version::LANGUAGE_VERSION.to_string();
        self.put(file.clone(), print).await.inspect_err(|_| file.serial = before)??;
        Ok(Written::Stored)
    }

    fn journals(&self) -> &Path {
        &self.journals
    }
}

impl LocalStore {
    /// Puts another state in the place of the stored one, under its own lineage and serial. Whether
    /// that may be is for the caller to know.
    ///
    /// # Errors
    /// When the state was changed by somebody else since it was read, or cannot be written. What was
    /// there before then is still there.
    pub async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError> {
        if let Known::NotRead = self.known {
            self.read_now()?;
        }
        self.check_place()?;
        self.check_unchanged()?;
        self.back_up()?;
        let print = file.fingerprint();
        self.put(file, print).await?
    }

    /// Puts a new state in the place of the state file. The disk is waited for on another thread, so
    /// that operations under way go on. Returns whether the text is there for good.
    async fn put(
        &mut self,
        file: StateFile,
        print: [u8; 32],
    ) -> Result<Result<(), StoreError>, StoreError> {
        let (lineage, serial) = (file.lineage.clone(), file.serial);
        let path = self.files.state.clone();
        let failed = StoreError::io("write", &path);
        let original = match &self.held {
            Some(held) => Some(held.file.try_clone().map_err(StoreError::io("write", &path))?),
            None => None,
        };
        let disk = self.disk.clone();
        let put =
            move || replace::replace(&disk, &path, &|to| file.write_to(to), original.as_ref());
        let placed = match tokio::task::spawn_blocking(put).await {
            Ok(placed) => placed?,
            Err(error) => return Err(failed(io::Error::other(error))),
        };
        if let (Some(held), Some(file)) = (&mut self.held, placed.file) {
            held.move_to(file);
        }
        self.known = Known::Present { lineage, serial, content: Stored::Written(print) };
        self.files.read_from = None;
        Ok(placed.durable.map_err(StoreError::io("write", &self.files.state)))
    }
}

impl StateFile {
    /// Reads the state file at a path, without locking it; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be read, or is not a state.
    pub fn load(path: &Path) -> Result<Option<Self>, StoreError> {
        let Some(text) = read_if_present(path)? else { return Ok(None) };
        match Self::read(&text) {
            Ok(file) => Ok(Some(file)),
            Err(FileError::Empty) => Ok(None),
            Err(error) => Err(StoreError::Unusable { state: path.to_owned(), error, backup: None }),
        }
    }
}

/// Where a path that may be a link leads, be there something or not. The journals of a state stand beside
/// it, so that whoever comes to it in another way finds them.
fn behind_links(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    // As many as the system follows.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&at) else { break };
        at = at.with_file_name("").join(target);
    }
    at
}

/// Whether something else than a file or folder is there, such as a device or a pipe.
fn is_no_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn read_if_present(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match read_named(path, MAX_STATE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}
