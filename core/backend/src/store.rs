//! A store for one state: read it, lock it, write it only if no other program has. Each kind of place
//! has its own file.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use formwork_core::addr::ProviderAddr;
use formwork_core::state::file::{FileError, StateFile};
use formwork_core::state::intents::StateAccess;
use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, sentence};

use crate::claims::{ClaimConflict, Claims};
use crate::encryption::StateCipher;
use crate::history::{HistoryPoint, HistoryWrite, StoredObject};
use crate::lock::{LockInfo, LockRequest, StateLock};

/// The pauses between two attempts to take a lock that another process holds: the first, and the
/// longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// A place for one state.
#[async_trait::async_trait]
pub trait StateStore: Send {
    /// The place, as messages name it. Holds no secrets.
    fn location(&self) -> String;

    /// Locks the state, without waiting for another holder.
    ///
    /// # Errors
    /// When another process holds the lock, or the place cannot be written to.
    async fn try_lock(&mut self, operation: &str) -> Result<StateLock, StoreError>;

    /// Locks the state, waiting for another holder as long as requested.
    ///
    /// # Errors
    /// As [`StateStore::try_lock`].
    async fn lock(&mut self, request: LockRequest) -> Result<StateLock, StoreError> {
        let deadline = Instant::now() + request.timeout;
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match self.try_lock(&request.operation).await {
                Err(error @ StoreError::Held { .. }) => error,
                outcome => return outcome,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(error);
            }
            // The last pause ends with the deadline, for one more attempt.
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// When the place does not answer. The lock may then still be held.
    async fn unlock(&mut self, lock: StateLock) -> Result<(), StoreError>;

    /// Releases the lock of another process.
    ///
    /// # Errors
    /// When there is no lock with this id, or the place does not answer.
    async fn force_unlock(&mut self, id: &str) -> Result<(), StoreError>;

    /// Reads the state; `None` if there is none.
    ///
    /// # Errors
    /// When the place does not answer, or does not hold a state.
    async fn read(&mut self) -> Result<Option<StateFile>, StoreError>;

    /// Writes the state if its content differs from what was last read or written, under the next
    /// serial, which is put into `file`. Readers see the old state or the new one, never a part.
    ///
    /// # Errors
    /// When another program changed the state since it was read, or it cannot be written. The state
    /// that was there before is then still there.
    async fn write(&mut self, file: &mut StateFile) -> Result<WriteOutcome, StoreError>;

    /// Replaces the stored state by another one, under that one's lineage and serial. The caller must
    /// have checked that this is wanted.
    ///
    /// # Errors
    /// As [`StateStore::write`].
    async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError>;

    /// Whether a state that replaces the stored one is a new version if only its lineage or serial differs, as in
    /// Terraform's backends with a service.
    fn counts_metadata(&self) -> bool {
        true
    }

    /// Whether the state that was read, or written since, is in the place that is written.
    fn is_in_place(&self) -> bool;

    /// Checks that a state which is written is kept.
    ///
    /// # Errors
    /// When it would not be.
    fn check_writable(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The file that was read in place of the store, if there is one.
    fn read_from(&self) -> Option<&Path> {
        None
    }

    /// Has the state pass through a cipher whenever it is read or written.
    fn set_cipher(&mut self, cipher: StateCipher);

    /// The cipher that the state passes through.
    fn cipher(&self) -> &StateCipher;

    /// Warnings about what was last read.
    fn doubts(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Access of the holder of the lock to the state.
    fn access(&self) -> StateAccess {
        StateAccess::Locked
    }

    /// Takes over the claims of interrupted runs, whose results are in the state that is written next.
    fn adopt(&mut self, _runs: BTreeSet<String>) {}

    /// Claims what a run is about to change, before its first change. Nothing to do for a store that
    /// excludes all other runs.
    ///
    /// # Errors
    /// When other runs have claimed or changed some of it, or the place does not answer.
    async fn claim(&mut self, _claims: Claims) -> Result<(), StoreError> {
        Ok(())
    }

    /// Lists the latest writes of the state, the latest last; `None` if the store keeps no history.
    ///
    /// # Errors
    /// When the place does not answer.
    async fn history(&mut self, _most: u32) -> Result<Option<Vec<HistoryWrite>>, StoreError> {
        Ok(None)
    }

    /// The current object of an instance at a point of the history; `None` if the history does not go
    /// back to it.
    ///
    /// # Errors
    /// When the place does not answer.
    async fn object_at(
        &mut self,
        _address: &str,
        _point: &HistoryPoint,
    ) -> Result<Option<StoredObject>, StoreError> {
        Ok(None)
    }

    /// The providers of everything in the stored state; none if it cannot be read.
    async fn providers(&mut self) -> BTreeSet<ProviderAddr> {
        let file = self.read().await.ok().flatten();
        let held = file.map(|file| file.state.resources).unwrap_or_default();
        held.into_values().map(|held| held.provider.provider.clone()).collect()
    }
}

/// Whether a write was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The content is the same as before: nothing was written.
    Unchanged,
    /// The new content is stored durably.
    Stored,
}

/// The way in which the lock of a dead process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockEnd {
    /// The system releases it with the process.
    WithProcess,
    /// The server releases it with the connection.
    WithConnection,
    /// Only `force-unlock` releases it.
    ByForce,
}

/// Why a state could not be locked, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the lock.
    #[error("the state {location} is locked by another process")]
    Held {
        /// The place of the state.
        location: String,
        /// The holder, if it can be read.
        holder: Option<Box<LockInfo>>,
        /// The way in which the lock ends.
        ends: LockEnd,
    },
    /// There is no lock of this id.
    #[error("the state {location} has no lock with the ID {id:?}")]
    NotLocked {
        /// The place of the state.
        location: String,
        /// The id that was given.
        id: String,
        /// The holder of the lock that there is.
        holder: Option<Box<LockInfo>>,
    },
    /// The backend keeps one state only, and another workspace is selected.
    #[error("{location} has no workspaces, so there is no {workspace:?}")]
    NoWorkspace {
        /// The place of the state.
        location: String,
        /// The selected workspace.
        workspace: String,
    },
    /// The place holds no state that can be used.
    #[error("the state {location} cannot be used: {error}")]
    Unusable {
        /// The place of the state.
        location: String,
        /// Problem of the content.
        error: FileError,
        /// The copy that may replace it, in whole sentences.
        copy: Option<String>,
    },
    /// The place is empty, and once was not.
    #[error("the state {location} is empty, but {} shows that it was not", evidence.join(" and "))]
    Emptied {
        /// The place of the state.
        location: String,
        /// The locations that prove it.
        evidence: Vec<String>,
        /// The copy that may replace it, in whole sentences.
        copy: Option<String>,
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
    /// Other runs have claimed or changed what this one is about to change.
    #[error("other runs work on the same objects of the state")]
    Conflict(Box<ClaimConflict>),
    /// The place was replaced or removed while it was locked.
    #[error("the state {location} was replaced or removed while it was in use")]
    Replaced {
        /// The place of the state.
        location: String,
    },
    /// The state cannot be encrypted.
    #[error("the state {location} cannot be encrypted: {reason}")]
    NotEncryptable {
        /// The place of the state.
        location: String,
        /// The reason, with the key provider that failed.
        reason: String,
    },
    /// The place keeps nothing: a device, a pipe or the like.
    #[error("{location} is no regular file, and only one keeps a state")]
    NotKept {
        /// The place of the state.
        location: String,
    },
    /// The disk, the network or the server failed.
    #[error("cannot {doing} {location}: {cause}")]
    Failed {
        /// The operation.
        doing: StoreOperation,
        /// The place of the state.
        location: String,
        /// The cause.
        cause: Box<dyn Error + Send + Sync>,
        /// The next step, in whole sentences, if it is a special one.
        remedy: Option<String>,
    },
}

/// An operation on a place that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOperation {
    /// Reading a state.
    Read,
    /// Writing a state.
    Write,
    /// Taking a lock.
    Lock,
    /// Releasing a lock.
    Unlock,
    /// Reaching the place, before anything is read.
    Open,
    /// Listing the workspaces.
    List,
    /// Making a workspace.
    Create,
    /// Removing a workspace.
    Delete,
}

impl std::fmt::Display for StoreOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Open => "reach",
            Self::List => "list the workspaces in",
            Self::Create => "make the workspace in",
            Self::Delete => "remove the workspace in",
        })
    }
}

impl StoreError {
    /// A failure of a place, with its cause.
    pub fn failed(
        doing: StoreOperation,
        location: impl Into<String>,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { doing, location: location.into(), cause: cause.into(), remedy: None }
    }

    /// Describes what went wrong and what to do.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        if let Self::Unusable { location, error, copy } = self {
            let mut diagnostic = error.diagnostic(location);
            if let Some(copy) = copy {
                diagnostic.detail.push_str(&format!("\n\n{copy}"));
            }
            return diagnostic;
        }
        if let Self::Conflict(conflict) = self {
            return conflict.diagnostic();
        }
        let (summary, remedy) = self.summary_and_remedy();
        Diagnostic::error(summary, format!("{}\n\n{remedy}", sentence(self)))
            .blame(Blame::Environment)
    }

    fn summary_and_remedy(&self) -> (&'static str, String) {
        match self {
            Self::Unusable { .. } | Self::Conflict(_) => ("Failed to read the state", String::new()),
            Self::Held { holder, ends, .. } => {
                ("Error acquiring the state lock", held(holder.as_deref(), *ends))
            }
            Self::NoWorkspace { .. } => (
                "workspaces not supported",
                "This backend keeps one state only, that of the workspace \"default\". Unset \
                 TF_WORKSPACE, or run:\n  formwork workspace select default"
                    .to_owned(),
            ),
            Self::NotLocked { holder, .. } => {
                let about = holder.as_deref().map(LockInfo::describe).unwrap_or_default();
                let next = match holder {
                    Some(_) => "Give the ID of this lock, if its holder is gone.",
                    None => "The state may not be locked any more. Run the command that needs it.",
                };
                ("Failed to unlock state", format!("{about}{next} Nothing was changed."))
            }
            Self::Emptied { location, evidence, copy } => (
                "State file is empty",
                format!(
                    "A state file never becomes empty by itself: it was cut off, perhaps when \
                     another program was killed while writing it. Going on would create everything \
                     a second time. Restore it from a copy. Nothing was changed.\n\n{}Only if none \
                     of its objects exist any more, remove {location} and {}, and run the command \
                     again.",
                    copy.as_ref().map(|copy| format!("{copy} ")).unwrap_or_default(),
                    evidence.join(" and ")
                ),
            ),
            Self::OtherLineage { .. } => (
                "State belongs to another lineage",
                "The two have different origins, so one would overwrite the objects of the other. The stored \
                 state was not changed. If this run has changed real objects, their results are in \
                 its journal, and the next command says how to keep both."
                    .to_owned(),
            ),
            Self::Changed { .. } => (
                "State was changed by another program",
                "Another run wrote it in the meantime, perhaps with -lock=false. Nothing was \
                 overwritten. Run the command again: if this one has changed real objects, their \
                 results are in its journal and are taken over."
                    .to_owned(),
            ),
            Self::Replaced { .. } => (
                "State file was replaced",
                "The lock does not cover the file that is there, so another run may be using it. \
                 Nothing was overwritten. Run the command again: if this one has changed real \
                 objects, their results are in its journal and are taken over."
                    .to_owned(),
            ),
            Self::NotEncryptable { .. } => (
                "Failed to encrypt the state",
                "Nothing was changed. Correct the key provider or its arguments in the `encryption` \
                 block or TF_ENCRYPTION."
                    .to_owned(),
            ),
            Self::NotKept { .. } => (
                "Failed to save the state",
                "Without a state it would be unknown afterwards what was made. Name a file, with \
                 the backend's `path` or -state-out."
                    .to_owned(),
            ),
            Self::Failed { doing, remedy, .. } => {
                let (summary, usual) = doing.summary_and_remedy();
                (summary, remedy.clone().unwrap_or_else(|| usual.to_owned()))
            }
        }
    }
}

impl StoreOperation {
    fn summary_and_remedy(self) -> (&'static str, &'static str) {
        match self {
            Self::Lock => (
                "Error acquiring the state lock",
                "The state must be writable before anything is changed. Check the place, the \
                 credentials for it and its permissions, or choose another place.",
            ),
            Self::Unlock => (
                "Error releasing the state lock",
                "The lock may still be there. Once no run uses the state, `formwork force-unlock` \
                 with the ID that the next command prints releases it.",
            ),
            Self::Read => (
                "Failed to read the state",
                "Check the place, the credentials for it and its permissions. Nothing was changed.",
            ),
            Self::Write => (
                "Failed to save the state",
                "The state that was there before is still there, and the journal holds everything \
                 done since. Correct the cause, then run any command: it takes over what the \
                 journal holds.",
            ),
            Self::Open => (
                "Failed to reach the backend",
                "Check the address, the credentials and the network. Nothing was changed.",
            ),
            Self::List => (
                "Failed to list workspaces",
                "Check the place, the credentials for it and its permissions.",
            ),
            Self::Create | Self::Delete => (
                "Failed to change workspaces",
                "Check the place, the credentials for it and its permissions.",
            ),
        }
    }
}

fn held(holder: Option<&LockInfo>, ends: LockEnd) -> String {
    let about = holder.map(LockInfo::describe).unwrap_or_default();
    let end = match ends {
        LockEnd::WithProcess => "The lock ends with the process that holds it.".to_owned(),
        LockEnd::WithConnection => {
            "The lock ends with the connection of the process that holds it.".to_owned()
        }
        LockEnd::ByForce => {
            let id = holder.map_or("ID", |holder| holder.id.as_str());
            format!("If its holder is gone, run:\n  formwork force-unlock {id}")
        }
    };
    format!(
        "{about}The lock keeps two runs from changing the state at once. Wait until the other run has \
         ended, or give -lock-timeout to wait for it. {end}"
    )
}
