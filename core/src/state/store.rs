//! Where a state lives: read it, lock it, write it only if nobody else did. What is in it is in
//! `state`; how each place does it, in that place's file.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use formwork_value::Diagnostic;
use formwork_value::diag::Blame;
use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::file::{FileError, StateFile};
use super::local::BackupCopy;

/// A place for a state.
#[async_trait::async_trait(?Send)]
pub trait Store {
    /// Locks the state, waiting for another holder as long as asked.
    ///
    /// # Errors
    /// When somebody else holds the lock, or the place cannot be written to.
    async fn lock(&mut self, request: LockRequest) -> Result<(), StoreError>;

    /// Gives the lock back. Does nothing if it is not held.
    ///
    /// # Errors
    /// When the place does not answer; the lock may then still be held.
    async fn unlock(&mut self) -> Result<(), StoreError>;

    /// Reads the state; `None` if there is none.
    ///
    /// # Errors
    /// When what is there cannot be read, or is not a state.
    async fn read(&mut self) -> Result<Option<StateFile>, StoreError>;

    /// Writes the state if its content is not what was last read or written, under the next serial,
    /// which is put into `file`. Readers see the old state or the new one, never a part.
    ///
    /// # Errors
    /// When the state was changed by somebody else since it was read, or cannot be written. What was
    /// there before then is still there.
    async fn write(&mut self, file: &mut StateFile) -> Result<Written, StoreError>;

    /// The folder for the journals of this state. It is always on this machine.
    fn journals(&self) -> &Path;
}

/// Whether a write was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The content is the same as before: nothing was written.
    Unchanged,
    /// The new content is stored durably.
    Stored,
}

/// Why a lock is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// What is going on, as others are told: `OperationTypeApply`.
    pub operation: String,
    /// How long to wait for another holder.
    pub timeout: Duration,
}

/// What the holder of a lock says about itself, in the form that the reference reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// Tells this lock from all others.
    #[serde(rename = "ID")]
    pub id: String,
    /// What is going on.
    pub operation: String,
    /// More words.
    pub info: String,
    /// The user and host.
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// Since when: RFC 3339, UTC.
    pub created: String,
    /// The state, as the holder named it.
    pub path: String,
}

/// Why a state could not be locked, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else holds the lock.
    #[error("the state {} is locked by somebody else", state.display())]
    Held {
        /// The state.
        state: PathBuf,
        /// What the holder says about itself, if that could be read.
        holder: Option<Box<LockInfo>>,
    },
    /// What is there is not a state that can be used.
    #[error("the state {} cannot be used: {error}", state.display())]
    Unusable {
        /// The state.
        state: PathBuf,
        /// What is wrong with it.
        error: FileError,
        /// The backup, if it can be read.
        backup: Option<Box<BackupCopy>>,
    },
    /// There is nothing, but there was something.
    #[error("the state {} is empty, but {} shows that it was not", state.display(), listed(evidence))]
    Emptied {
        /// The state.
        state: PathBuf,
        /// The files that prove it.
        evidence: Vec<PathBuf>,
        /// The backup, if it can be read.
        backup: Option<Box<BackupCopy>>,
    },
    /// The stored state is another one than the one to write.
    #[error("the lineage of the stored state is {stored:?}, of the one to write {ours:?}")]
    OtherLineage {
        /// The lineage in the store.
        stored: String,
        /// The lineage to write.
        ours: String,
    },
    /// The stored state was changed since it was read.
    #[error("the stored state has serial {stored}, but serial {read} was read before")]
    Changed {
        /// The serial in the store.
        stored: u64,
        /// The serial that was read.
        read: u64,
    },
    /// The file was replaced or removed while it was locked.
    #[error("the state {} was replaced or removed while it was in use", .0.display())]
    Replaced(PathBuf),
    /// What is there is a device, a pipe or the like.
    #[error("{} is no regular file, and only one keeps a state", .0.display())]
    NoFile(PathBuf),
    /// The machine did not do it.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was to be done: `read`, `write`, `lock`.
        what: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl StoreError {
    pub(super) fn io(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    /// Tells the reader what went wrong and what to do.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (summary, remedy) = match self {
            Self::Unusable { state, error, backup } => {
                let mut diagnostic = error.diagnostic(&state.display().to_string());
                if let Some(backup) = backup {
                    diagnostic.detail.push_str(&format!("\n\n{}", backup.describe()));
                }
                return diagnostic;
            }
            Self::Held { holder, .. } => {
                let about = holder.as_deref().map(LockInfo::describe).unwrap_or_default();
                let remedy = format!(
                    "{about}The lock keeps two runs from changing the state at once. Wait until the \
                     other run has ended, or give -lock-timeout to wait for it. The lock ends with \
                     the process that holds it."
                );
                ("Error acquiring the state lock", remedy)
            }
            Self::Emptied { state, evidence, backup } => (
                "State file is empty",
                format!(
                    "A state file never becomes empty by itself: it was cut off, perhaps when \
                     another program was killed while writing it. Going on would create everything \
                     a second time. Restore it from a copy. Nothing was changed.\n\n{}Only if none \
                     of its objects exist any more, remove {} and {}, and run the command again.",
                    backup.as_ref().map(|backup| backup.describe() + " ").unwrap_or_default(),
                    state.display(),
                    listed(evidence)
                ),
            ),
            Self::OtherLineage { .. } => (
                "State belongs to another lineage",
                "The two were begun apart, so one would overwrite what the other knows. The stored \
                 state was not changed. If this run has changed real objects, their results are in \
                 its journal, and the next command says how to keep both."
                    .to_owned(),
            ),
            Self::Changed { .. } => (
                "State was changed by somebody else",
                "Another run wrote it in the meantime, perhaps with -lock=false. Nothing was \
                 overwritten. Run the command again: if this one has changed real objects, their \
                 results are in its journal and are taken over."
                    .to_owned(),
            ),
            Self::Replaced(_) => (
                "State file was replaced",
                "The lock does not cover the file that is there, so another run may be using it. \
                 Nothing was overwritten. Run the command again: if this one has changed real \
                 objects, their results are in its journal and are taken over."
                    .to_owned(),
            ),
            Self::NoFile(_) => (
                "Failed to save the state",
                "Without a state nobody would know afterwards what was made. Name a file, with the \
                 backend's `path` or -state-out."
                    .to_owned(),
            ),
            Self::Io { what: "lock", source, .. } if knows_no_locks(source) => (
                "Error acquiring the state lock",
                NO_LOCKS.to_owned(),
            ),
            Self::Io { what: "lock", .. } => (
                "Error acquiring the state lock",
                "The state must be writable before anything is changed. Check the permissions of \
                 the file and its folder, or choose another place."
                    .to_owned(),
            ),
            Self::Io { what: "read", .. } => {
                ("Failed to read the state", "Check the file and its permissions.".to_owned())
            }
            Self::Io { .. } => (
                "Failed to save the state",
                "The state that was there before is still there, and the journal holds everything \
                 done since. Free space or correct the permissions, then run any command: it takes \
                 over what the journal holds."
                    .to_owned(),
            ),
        };
        Diagnostic::error(summary, format!("{}\n\n{remedy}", sentence(self)))
            .blame(Blame::Environment)
    }
}

impl LockInfo {
    /// Returns the holder and its operation as part of a sentence: `root@host (apply, since ...)`.
    #[must_use]
    pub fn holder(&self) -> String {
        let since = self.created.split('.').next().unwrap_or_default();
        format!("{} ({}, since {since})", self.who, operation_name(&self.operation))
    }

    /// Lists what is known about the holder, one line each.
    fn describe(&self) -> String {
        let Self { id, operation, info, who, version, created, path } = self;
        let operation = operation_name(operation);
        format!(
            "Lock Info:\n  ID:        {id}\n  Path:      {path}\n  Operation: {operation}\n  \
             Who:       {who}\n  Version:   {version}\n  Created:   {created}\n  Info:      {info}\n\n"
        )
    }
}

impl BackupCopy {
    /// Says what the backup is good for.
    fn describe(&self) -> String {
        let lacks = match self.outdated_by {
            None => String::new(),
            Some(began_with) => format!(
                " It is too old for the interrupted run, which began with serial {began_with}: objects \
                 that were created in between are in neither of them."
            ),
        };
        format!(
            "{} can be copied over it. It is the state with serial {}, from before the last run that \
             stored one, so compare it with the real objects before anything is applied.{lacks}",
            self.path.display(),
            self.serial
        )
    }
}

/// File names in a sentence.
fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(" and ")
}

/// Returns the name of an operation as people know it. Lock files and journals hold Terraform's name
/// for it, such as `OperationTypeApply`.
#[must_use]
pub fn operation_name(operation: &str) -> String {
    let name = operation.strip_prefix("OperationType").unwrap_or(operation);
    if name == "Invalid" { "unknown".to_owned() } else { name.to_lowercase() }
}

/// What to do where files cannot be locked.
pub(super) const NO_LOCKS: &str = "The file system that this file is on does not lock files: it is mounted without locks, or the service that keeps them for a network file system does not run or has no room. Have it mounted with locks, or put the folder on another file system. Nothing was changed.";

/// Whether an error means that the place has no locks at all, or no more of them.
pub(super) fn knows_no_locks(error: &std::io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL))
}

/// An error as a sentence of its own.
pub(crate) fn sentence(error: &impl Display) -> String {
    let text = error.to_string();
    let mut chars = text.chars();
    let first = chars.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(chars).chain(std::iter::once('.')).collect()
}
