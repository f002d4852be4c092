//! A store for one state: it is read, locked, and written only if no other program has written it.
//! Each kind of store has its own file.

mod diagnostic;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use formwork_core::addr::ProviderAddr;
use formwork_core::state::file::{FileError, StateFile};
use formwork_core::state::intent_log::StateAccess;
use formwork_value::Diagnostic;

use crate::claims::{ClaimConflict, Claims};
use crate::encryption::StateCipher;
use crate::history::{HistoryPoint, HistoryWrite, StoredObject};
use crate::lock::{LockInfo, LockRequest, StateLock};

/// The pauses between attempts to acquire a lock that another process holds: the first, and the
/// maximum.
const FIRST_LOCK_RETRY_PAUSE: Duration = Duration::from_secs(1);
const MAX_LOCK_RETRY_PAUSE: Duration = Duration::from_secs(16);

/// A store for one state.
///
/// ```
/// use formwork_backend::local::{LocalStore, StateFilePaths};
/// use formwork_backend::{StateStore as _, WriteOutcome};
/// use formwork_core::state::file::StateFile;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let path = directory.path().join("terraform.tfstate");
/// let mut store = LocalStore::new(StateFilePaths::from_state_path(path));
/// let lock = store.try_lock("inspect").await.unwrap();
/// assert!(store.read().await.unwrap().is_none());
/// let mut file = StateFile::new_empty();
/// assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Stored);
/// assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Unchanged);
/// store.unlock(lock).await.unwrap();
/// # }
/// ```
#[async_trait::async_trait]
pub trait StateStore: Send {
    /// The location of the state, for messages. Contains no secrets.
    fn location(&self) -> String;

    /// Locks the state, without waiting for another holder.
    ///
    /// # Errors
    /// Returns an error if another process holds the lock, or if the store cannot be written to.
    async fn try_lock(&mut self, operation: &str) -> Result<StateLock, StoreError>;

    /// Locks the state, and waits for another holder as long as requested.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`StateStore::try_lock`].
    async fn lock(&mut self, request: LockRequest) -> Result<StateLock, StoreError> {
        let deadline = Instant::now() + request.timeout;
        let mut pause = FIRST_LOCK_RETRY_PAUSE;
        loop {
            let error = match self.try_lock(&request.operation).await {
                Err(error) if error.is_lock_taken() => error,
                outcome => return outcome,
            };
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Err(error);
            }
            // The last pause ends at the deadline, for one more attempt.
            tokio::time::sleep(pause.min(remaining)).await;
            pause = (pause * 2).min(MAX_LOCK_RETRY_PAUSE);
        }
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// Returns an error if the store does not respond. The lock may still be held in this case.
    async fn unlock(&mut self, lock: StateLock) -> Result<(), StoreError>;

    /// Returns the holder of the lock, or `None` if there is none, or if the store does not report
    /// it.
    ///
    /// # Errors
    /// Returns an error if the store does not respond.
    async fn current_lock_holder(&mut self) -> Result<Option<LockInfo>, StoreError> {
        Ok(None)
    }

    /// Releases the lock of another process.
    ///
    /// # Errors
    /// Returns an error if no lock has this ID, or if the store does not respond.
    async fn force_unlock(&mut self, id: &str) -> Result<(), StoreError>;

    /// Reads the state. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the store does not respond, or does not contain a valid state.
    async fn read(&mut self) -> Result<Option<StateFile>, StoreError>;

    /// Writes the state if its content differs from the one that was last read or written. The
    /// serial is incremented, and set in `file`. Readers see the old state or the new one, never a
    /// mixture.
    ///
    /// # Errors
    /// Returns an error if another program changed the state since it was read, or if it cannot be
    /// written. The previous state still exists in this case.
    async fn write(&mut self, file: &mut StateFile) -> Result<WriteOutcome, StoreError>;

    /// Replaces the stored state with another one, including its lineage and serial. The caller must
    /// have checked that this is intended.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`StateStore::write`].
    async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError>;

    /// Whether a state that replaces the stored one is a new version even if only its lineage or serial
    /// differs, as in Terraform's remote backends.
    fn counts_metadata_as_change(&self) -> bool {
        true
    }

    /// Whether the state that was last read or written is in the file or object that is written to.
    fn is_read_from_write_location(&self) -> bool;

    /// Checks that a state will be preserved when it is written.
    ///
    /// # Errors
    /// Returns an error if it would not be.
    fn check_writable(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The file that was read instead of the store, if there is one.
    fn file_read_instead(&self) -> Option<&Path> {
        None
    }

    /// Applies a cipher to the state whenever it is read or written.
    fn set_cipher(&mut self, cipher: StateCipher);

    /// The cipher that is applied to the state.
    fn cipher(&self) -> &StateCipher;

    /// Warnings about the state that was last read.
    fn take_warnings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// The access to the state that the held lock grants.
    fn state_access(&self) -> StateAccess {
        StateAccess::Locked
    }

    /// Takes over the claims of interrupted runs, whose results are in the state that is written next.
    fn adopt_claims_of_runs(&mut self, _runs: BTreeSet<String>) {}

    /// Claims the objects of a planned change, before its first change. Does nothing for a store that
    /// excludes all other runs.
    ///
    /// # Errors
    /// Returns an error if other runs have claimed or changed some of the objects, or if the store
    /// does not respond.
    async fn claim_changes(&mut self, _claims: Claims) -> Result<(), StoreError> {
        Ok(())
    }

    /// Lists the latest writes of the state, with the latest one last. Returns `None` if the store
    /// keeps no history.
    ///
    /// # Errors
    /// Returns an error if the store does not respond.
    async fn history(&mut self, _most: u32) -> Result<Option<Vec<HistoryWrite>>, StoreError> {
        Ok(None)
    }

    /// Returns the current object of an instance at a point of the history, or `None` if the history
    /// does not go back that far.
    ///
    /// # Errors
    /// Returns an error if the store does not respond.
    async fn object_at(
        &mut self,
        _address: &str,
        _point: &HistoryPoint,
    ) -> Result<Option<StoredObject>, StoreError> {
        Ok(None)
    }

    /// Returns the providers of all objects in the stored state, or none if it cannot be read.
    async fn stored_providers(&mut self) -> BTreeSet<ProviderAddr> {
        let file = self.read().await.ok().flatten();
        let resources = file.map(|file| file.state.resources).unwrap_or_default();
        resources.into_values().map(|resource| resource.provider.provider.clone()).collect()
    }
}

/// Whether a write was needed.
///
/// See [`StateStore`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The content has not changed, so nothing was written.
    Unchanged,
    /// The new content is stored durably.
    Stored,
}

/// The way in which the lock of a dead process ends.
///
/// ```
/// use formwork_backend::store::LockEnd;
///
/// fn ends_by_itself(end: LockEnd) -> bool {
///     match end {
///         LockEnd::WithProcess | LockEnd::WithConnection { .. } => true,
///         LockEnd::ByForce => false,
///     }
/// }
///
/// assert!(!ends_by_itself(LockEnd::ByForce));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockEnd {
    /// The system releases it with the process.
    WithProcess,
    /// The server releases it with the connection.
    WithConnection {
        /// The reason, as a sentence, why no other run may be active concurrently with the refused
        /// one.
        exclusive_reason: Option<&'static str>,
    },
    /// Only `force-unlock` releases it.
    ByForce,
}

/// The reason why a state could not be locked, read or written.
///
/// ```
/// use formwork_backend::StoreError;
/// use formwork_backend::store::StoreOperation;
///
/// let error = StoreError::failed(StoreOperation::Read, "a.tfstate", "the disk is gone");
/// assert_eq!(error.to_string(), "cannot read a.tfstate: the disk is gone");
/// assert!(!error.is_lock_taken());
/// ```
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the lock.
    #[error("the state {location} is locked by another process")]
    Held {
        /// The location of the state.
        location: String,
        /// The holder, if it can be read.
        holder: Option<Box<LockInfo>>,
        /// The way in which the lock ends.
        ends: LockEnd,
    },
    /// The store refused the lock, without reporting whether another process holds it.
    #[error("the lock of the state {location} was refused: {cause}")]
    LockRefused {
        /// The location of the state.
        location: String,
        /// The cause.
        cause: Box<dyn Error + Send + Sync>,
    },
    /// No lock has this ID.
    #[error("the state {location} has no lock with the ID {id:?}")]
    NotLocked {
        /// The location of the state.
        location: String,
        /// The id that was given.
        id: String,
        /// The holder of the existing lock.
        holder: Option<Box<LockInfo>>,
    },
    /// The backend supports one state only, and another workspace is selected.
    #[error("the backend at {location} has no workspaces, so there is no {workspace:?}")]
    NoWorkspace {
        /// The location of the state.
        location: String,
        /// The selected workspace.
        workspace: String,
    },
    /// The store does not contain a usable state.
    #[error("the state {location} cannot be used: {error}")]
    Unusable {
        /// The location of the state.
        location: String,
        /// Problem of the content.
        error: FileError,
        /// Whether the location is a file.
        is_file: bool,
        /// The copy that may replace it, in whole sentences.
        copy: Option<String>,
    },
    /// The store is empty, but was not always empty.
    #[error("the state {location} is empty, but {} shows that it was not", evidence.join(" and "))]
    Emptied {
        /// The location of the state.
        location: String,
        /// The locations that prove it.
        evidence: Vec<String>,
        /// The copy that may replace it, in whole sentences.
        copy: Option<String>,
    },
    /// The lineages of the stored state and the state to write differ.
    #[error(
        "the lineage of the stored state is {stored:?}, but that of the state to write is {ours:?}"
    )]
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
    /// Other runs have claimed or changed objects that this one is about to change.
    #[error("other runs work on the same objects of the state")]
    Conflict(Box<ClaimConflict>),
    /// The state was replaced or deleted while it was locked.
    #[error("the state {location} was replaced or removed while it was in use")]
    Replaced {
        /// The location of the state.
        location: String,
    },
    /// The state cannot be encrypted.
    #[error("the state {location} cannot be encrypted: {reason}")]
    NotEncryptable {
        /// The location of the state.
        location: String,
        /// The reason, with the key provider that failed.
        reason: String,
    },
    /// The location cannot store content: a device, a pipe or the like.
    #[error("{location} is not a regular file, so it cannot store a state")]
    NotPersistent {
        /// The location of the state.
        location: String,
    },
    /// The disk, the network or the server failed.
    #[error("cannot {operation} {location}: {cause}")]
    Failed {
        /// The operation.
        operation: StoreOperation,
        /// The location of the state.
        location: String,
        /// The cause.
        cause: Box<dyn Error + Send + Sync>,
        /// The remedy, in whole sentences, if there is a specific one.
        remedy: Option<String>,
    },
}

/// A failed operation on a store.
///
/// ```
/// use formwork_backend::store::StoreOperation;
///
/// assert_eq!(StoreOperation::Open.to_string(), "reach");
/// assert_eq!(StoreOperation::List.to_string(), "list the workspaces in");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOperation {
    /// Reading a state.
    Read,
    /// Writing a state.
    Write,
    /// Overwriting the stored state, if it cannot be replaced atomically.
    Overwrite,
    /// Acquiring a lock.
    Lock,
    /// Releasing a lock.
    Unlock,
    /// Connecting to the store, before anything is read.
    Open,
    /// Listing the workspaces.
    List,
    /// Creating a workspace.
    Create,
    /// Deleting a workspace.
    Delete,
}

impl std::fmt::Display for StoreOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Overwrite => "overwrite",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Open => "reach",
            Self::List => "list the workspaces in",
            Self::Create => "create the workspace in",
            Self::Delete => "delete the workspace in",
        })
    }
}

impl StoreError {
    /// Whether another process holds the lock, or may hold it, so that a later attempt may succeed.
    #[must_use]
    pub fn is_lock_taken(&self) -> bool {
        matches!(self, Self::Held { .. } | Self::LockRefused { .. })
    }

    /// The holder of the lock, if the store reports it.
    #[must_use]
    pub fn lock_holder(&self) -> Option<String> {
        match self {
            Self::Held { holder, .. } => holder.as_ref().map(|holder| holder.describe_holder()),
            _ => None,
        }
    }

    /// A failure of a store, with its cause.
    pub fn failed(
        operation: StoreOperation,
        location: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { operation, location: location.into(), cause: cause.into(), remedy: None }
    }
}
