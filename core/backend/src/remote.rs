//! State stores with remote clients: a server, a table or a bucket stores a state as one object. Each client
//! implements its primitive operations in its own file. The rules of reading and writing are here.

use formwork_core::state::file::{FileError, StateFile};
use formwork_value::Diagnostic;

use crate::cause::Cause;
use crate::encryption::StateCipher;
use crate::known_state::KnownState;
use crate::lock::{LockInfo, StateLock};
use crate::store::{LockEnd, StateStore, StoreError, StoreOperation, WriteOutcome};
use crate::wait_report::wait_with_report;

/// The operations on the state of one workspace.
#[async_trait::async_trait]
pub(crate) trait RemoteClient: Send {
    /// The location of the state, for messages. Contains no secrets.
    fn location(&self) -> String;

    /// The way in which the lock of a dead process ends.
    fn stale_lock_end(&self) -> LockEnd;

    /// Reads the stored content. Returns `None` if there is none.
    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause>;

    /// Replaces the content atomically.
    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError>;

    /// Acquires the lock.
    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause>;

    /// Releases the lock that was acquired under an ID.
    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        self.break_lock(id).await?.of_own_lock()
    }

    /// Reads the holder of the lock. Returns `None` if there is none, or if the service does not
    /// report it.
    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        Ok(None)
    }

    /// Releases the lock of another process.
    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause>;

    /// Whether the content that was last read has to be rewritten, because other programs cannot read it.
    fn needs_rewrite(&self) -> bool {
        false
    }

    /// Warnings of the server that were not returned yet.
    fn take_warnings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}

/// The reason why content was not replaced.
#[derive(Debug)]
pub(crate) enum PutError {
    /// The stored content is not the one that was last read or written.
    #[cfg_attr(
        not(any(
            feature = "azurerm",
            feature = "consul",
            feature = "gcs",
            feature = "kubernetes",
            feature = "s3"
        )),
        expect(dead_code, reason = "other backends have no conditional writes")
    )]
    Changed,
    /// The client failed.
    Failed(Cause),
    /// The content is stored, but related data is not.
    #[cfg_attr(
        not(feature = "s3"),
        expect(dead_code, reason = "other backends store content and its checksum atomically")
    )]
    Unfinished {
        /// The cause.
        cause: Cause,
        /// The remedy, in whole sentences.
        remedy: String,
    },
}

impl<E: Into<Cause>> From<E> for PutError {
    fn from(cause: E) -> Self {
        Self::Failed(cause.into())
    }
}

/// The result of acquiring a lock.
#[derive(Debug)]
pub(crate) enum LockOutcome {
    /// The lock was acquired.
    Taken,
    /// The lock was acquired, with an ID that the server has chosen.
    TakenWithId(String),
    /// Another process holds the lock.
    Held(Option<Box<LockInfo>>),
    /// The server refused it, without reporting whether another process holds it.
    Refused(Cause),
}

/// The result of releasing the lock of another process.
#[derive(Debug)]
pub(crate) enum ForceUnlockOutcome {
    /// The lock was released, or there was none.
    Released,
    /// The lock has another ID, or there is none.
    OtherLock(Option<Box<LockInfo>>),
}

impl ForceUnlockOutcome {
    /// Converts the result for the process that acquired the lock, to which it should still belong.
    ///
    /// # Errors
    /// Returns an error if the lock did not exist any more.
    pub(crate) fn of_own_lock(self) -> Result<(), Cause> {
        match self {
            Self::Released => Ok(()),
            Self::OtherLock(None) => {
                Err("the lock did not exist any more: another program has released it by force"
                    .into())
            }
            Self::OtherLock(Some(holder)) => Err(format!(
                "another program has released the lock by force, and {} holds it now",
                holder.describe_holder()
            )
            .into()),
        }
    }
}

/// Stores an empty state under a lock, unless a state exists: Terraform lists workspaces by their
/// states.
///
/// # Errors
/// Returns an error if the state is locked, or if the client fails.
pub(crate) async fn create_empty_state(mut client: impl RemoteClient) -> Result<(), Cause> {
    let info = LockInfo::new("init", String::new());
    let id = match client.lock(&info).await? {
        LockOutcome::Taken => info.id,
        LockOutcome::TakenWithId(id) => id,
        LockOutcome::Held(holder) => {
            let holder = holder.map(|holder| holder.describe_holder()).unwrap_or_default();
            return Err(format!("the state is locked by another process: {holder}").into());
        }
        LockOutcome::Refused(cause) => return Err(cause),
    };
    let created = match client.get().await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => {
            match client.put(StateFile { serial: 1, ..StateFile::new_empty() }.to_bytes()).await {
                Ok(()) | Err(PutError::Changed) => Ok(()),
                Err(PutError::Failed(cause) | PutError::Unfinished { cause, .. }) => Err(cause),
            }
        }
        Err(cause) => Err(cause),
    };
    // Before the result is evaluated: a failure must not leave a lock.
    let unlocked = client.unlock(&id).await;
    created.and(unlocked)
}

/// A store that uses a client.
pub(crate) struct RemoteStore<P> {
    client: P,
    known: KnownState<[u8; 32]>,
    cipher: StateCipher,
    /// Whether the state that was read has to be rewritten, because its encryption has changed or it was only
    /// partly written.
    is_outdated: bool,
}

/// Converts a state file to the known state.
fn known_state_of_file(file: &StateFile) -> KnownState<[u8; 32]> {
    let (lineage, serial) = (file.lineage.clone(), file.serial);
    KnownState::Present { lineage, serial, content: file.fingerprint() }
}

impl<P: RemoteClient> RemoteStore<P> {
    /// Creates the store. Sends no request yet.
    pub(crate) fn new(client: P) -> Self {
        let cipher = StateCipher::default();
        Self { client, known: KnownState::NotRead, cipher, is_outdated: false }
    }

    fn store_error(&self, operation: StoreOperation) -> impl FnOnce(Cause) -> StoreError + use<P> {
        let location = self.client.location();
        move |cause| StoreError::failed(operation, location, cause)
    }

    async fn read_text(&mut self, operation: StoreOperation) -> Result<Vec<u8>, StoreError> {
        let read_error = self.store_error(operation);
        let location = self.client.location();
        let loaded = wait_with_report(location, operation, self.client.get()).await;
        Ok(loaded.map_err(read_error)?.unwrap_or_default())
    }

    /// Reads lineage and serial of the stored state, and compares them with the known ones.
    async fn check_unchanged(&mut self) -> Result<(), StoreError> {
        let text = self.read_text(StoreOperation::Write).await?;
        if text.is_empty() {
            return Ok(());
        }
        let stored = self
            .cipher
            .parse_state_header(&text)
            .map_err(|error| self.unusable_state_error(error))?;
        self.known.check_same_lineage_and_serial(&stored.lineage, stored.serial)
    }

    fn unusable_state_error(&self, error: FileError) -> StoreError {
        StoreError::Unusable { location: self.client.location(), error, is_file: false, copy: None }
    }

    fn not_encryptable_error(&self, reason: String) -> StoreError {
        StoreError::NotEncryptable { location: self.client.location(), reason }
    }

    async fn put_state(&mut self, file: &StateFile) -> Result<(), StoreError> {
        // Not every client compares versions itself when it writes.
        self.check_unchanged().await?;
        let failed = self.store_error(StoreOperation::Write);
        let text = self
            .cipher
            .serialize_state(file)
            .map_err(|error| self.not_encryptable_error(error.to_string()))?;
        let location = self.client.location();
        let putting = self.client.put(text);
        match wait_with_report(location, StoreOperation::Write, putting).await {
            Ok(()) => {
                self.is_outdated = false;
                self.known = known_state_of_file(file);
                Ok(())
            }
            Err(PutError::Failed(cause)) => Err(failed(cause)),
            // The content is stored, so a further write has to continue from it.
            Err(PutError::Unfinished { cause, remedy }) => {
                self.known = known_state_of_file(file);
                let (operation, location) = (StoreOperation::Write, self.client.location());
                Err(StoreError::Failed { operation, location, cause, remedy: Some(remedy) })
            }
            Err(PutError::Changed) => {
                // The other program wrote it after the check above.
                self.check_unchanged().await?;
                let read = match &self.known {
                    KnownState::Present { serial, .. } => *serial,
                    KnownState::Absent | KnownState::NotRead => 0,
                };
                // It has the same lineage and serial, but other content, or was deleted.
                Err(StoreError::Changed { stored: read, read })
            }
        }
    }
}

#[async_trait::async_trait]
impl<P: RemoteClient> StateStore for RemoteStore<P> {
    fn location(&self) -> String {
        self.client.location()
    }

    async fn try_lock(&mut self, operation: &str) -> Result<StateLock, StoreError> {
        let failed = self.store_error(StoreOperation::Lock);
        self.cipher.prepare_key().map_err(|reason| self.not_encryptable_error(reason))?;
        let info = LockInfo::new(operation, String::new());
        let location = self.client.location();
        let locking = wait_with_report(location, StoreOperation::Lock, self.client.lock(&info));
        match locking.await.map_err(failed)? {
            LockOutcome::Taken => Ok(StateLock::new(info.id)),
            LockOutcome::TakenWithId(id) => Ok(StateLock::new(id)),
            LockOutcome::Refused(cause) => {
                Err(StoreError::LockRefused { location: self.client.location(), cause })
            }
            LockOutcome::Held(holder) => {
                let (location, ends) = (self.client.location(), self.client.stale_lock_end());
                Err(StoreError::Held { location, holder, ends })
            }
        }
    }

    async fn unlock(&mut self, lock: StateLock) -> Result<(), StoreError> {
        let id = lock.take_back();
        let failed = self.store_error(StoreOperation::Unlock);
        let location = self.client.location();
        let unlocking = wait_with_report(location, StoreOperation::Unlock, self.client.unlock(&id));
        unlocking.await.map_err(failed)
    }

    async fn current_lock_holder(&mut self) -> Result<Option<LockInfo>, StoreError> {
        let failed = self.store_error(StoreOperation::Unlock);
        let location = self.client.location();
        let reading = self.client.read_lock_holder();
        wait_with_report(location, StoreOperation::Unlock, reading).await.map_err(failed)
    }

    async fn force_unlock(&mut self, id: &str) -> Result<(), StoreError> {
        let failed = self.store_error(StoreOperation::Unlock);
        let location = self.client.location();
        let unlocking =
            wait_with_report(location, StoreOperation::Unlock, self.client.break_lock(id));
        match unlocking.await.map_err(failed)? {
            ForceUnlockOutcome::Released => Ok(()),
            ForceUnlockOutcome::OtherLock(holder) => {
                let (location, id) = (self.client.location(), id.to_owned());
                Err(StoreError::NotLocked { location, id, holder })
            }
        }
    }

    async fn read(&mut self) -> Result<Option<StateFile>, StoreError> {
        let text = self.read_text(StoreOperation::Read).await?;
        if text.is_empty() {
            self.known = KnownState::Absent;
            return Ok(None);
        }
        match self.cipher.parse_checking_current_form(&text) {
            Ok((file, is_current)) => {
                self.known = known_state_of_file(&file);
                self.is_outdated = !is_current || self.client.needs_rewrite();
                Ok(Some(file))
            }
            Err(error) => Err(self.unusable_state_error(error)),
        }
    }

    async fn write(&mut self, file: &mut StateFile) -> Result<WriteOutcome, StoreError> {
        if let KnownState::NotRead = self.known {
            self.read().await?;
        }
        // A copy, so that a failed write does not leave the caller with a serial that was never
        // stored.
        let mut next_file = file.clone();
        if let KnownState::Present { content, .. } = &self.known
            && *content == file.fingerprint()
            && !self.is_outdated
        {
            return Ok(WriteOutcome::Unchanged);
        }
        self.known.check_same_lineage(file)?;
        self.known.increment_serial(&mut next_file);
        self.put_state(&next_file).await?;
        file.serial = next_file.serial;
        file.terraform_version = next_file.terraform_version;
        Ok(WriteOutcome::Stored)
    }

    async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError> {
        if let KnownState::NotRead = self.known {
            self.read().await?;
        }
        self.put_state(&file).await
    }

    fn set_cipher(&mut self, cipher: StateCipher) {
        self.cipher = cipher;
    }

    fn cipher(&self) -> &StateCipher {
        &self.cipher
    }

    fn is_read_from_write_location(&self) -> bool {
        matches!(self.known, KnownState::Present { .. })
    }

    fn take_warnings(&self) -> Vec<Diagnostic> {
        self.client.take_warnings()
    }
}
