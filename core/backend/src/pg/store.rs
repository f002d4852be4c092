//! The store of one workspace. Applies hold the advisory lock of the state in shared mode, so that
//! several can run concurrently. Each write merges the changes of the run into the row, in one
//! transaction with the history.

mod row_change;

use std::collections::BTreeSet;

use futures_util::try_join;

use formwork_core::state::file::{FileError, StateFile};
use formwork_core::state::intent_log::StateAccess;

use self::row_change::RowChange;
use super::StatesTable;
use super::call_error::{CallAttempts, is_lost_connection};
use super::claims::claim_attempt::ClaimAttempt;
use super::claims::delete_claims;
use super::client::{HeldAdvisoryLock, LockMode, PgClient};
use super::history::{self, open_entry};
use crate::cause::Cause;
use crate::claims::{ClaimConflict, Claims};
use crate::encryption::StateCipher;
use crate::history::{HistoryPoint, HistoryWrite, StoredObject};
use crate::known_state::KnownState;
use crate::lock::{LockInfo, StateLock};
use crate::store::{LockEnd, StateStore, StoreError, StoreOperation, WriteOutcome};
use crate::wait_report::wait_with_report;

/// The operation that may run concurrently with others of its kind.
const APPLY_OPERATION: &str = "OperationTypeApply";

/// The operation that needs no lock: it reads the row in one statement, and writes nothing.
const PLAN_OPERATION: &str = "OperationTypePlan";

/// The remedy after a failed unlock.
const UNLOCK_REMEDY: &str = "Nothing needs to be released: the lock ends with the connection of this command, and the next apply deletes the claims of this one.";

/// The store of a workspace.
pub(super) struct PgStore {
    table: StatesTable,
    workspace: String,
    client: PgClient,
    known: KnownState<()>,
    /// The state that the caller has read or written last. Its changes since then are merged.
    base: StateFile,
    /// The state in the row as it was last read.
    stored: StateFile,
    /// The lock that is held, and the operation.
    held_lock: Option<(LockMode, String)>,
    /// The run that writes, once it has claimed something. Before that, the ID of the lock.
    run: String,
    claims: Option<Claims>,
    /// The interrupted runs that this one has taken over.
    adopted: Vec<String>,
    cipher: StateCipher,
    /// Whether the state that was read has to be rewritten, because its encryption has changed.
    is_outdated: bool,
}

impl PgStore {
    /// Creates the store. Connects on first use.
    pub(super) fn new(table: StatesTable, workspace: &str) -> Self {
        Self {
            client: PgClient::new(table.clone(), workspace),
            table,
            workspace: workspace.to_owned(),
            known: KnownState::NotRead,
            base: StateFile::new_empty(),
            stored: StateFile::new_empty(),
            held_lock: None,
            run: String::new(),
            claims: None,
            adopted: Vec::new(),
            cipher: StateCipher::default(),
            is_outdated: false,
        }
    }

    fn store_error(&self, operation: StoreOperation) -> impl FnOnce(Cause) -> StoreError + use<> {
        let location = self.client.location();
        move |cause| StoreError::failed(operation, location, cause)
    }

    fn unusable_state_error(&self, error: FileError) -> StoreError {
        StoreError::Unusable { location: self.client.location(), error, is_file: false, copy: None }
    }

    fn not_encryptable_error(&self, reason: String) -> StoreError {
        StoreError::NotEncryptable { location: self.client.location(), reason }
    }

    /// Whether an operation may run concurrently with others. This requires the table of claims.
    async fn may_run_beside_others(&mut self, operation: &str) -> Result<bool, Cause> {
        if operation != APPLY_OPERATION || self.cipher.exclusive_write_reason().is_some() {
            return Ok(false);
        }
        let mut attempts = CallAttempts::begin("make the tables");
        loop {
            match self.try_to_create_own_tables().await {
                Ok(reason) => return Ok(reason.is_none()),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn try_to_create_own_tables(&mut self) -> Result<Option<String>, Cause> {
        let client = self.client.connection().await?;
        self.table.create_own_tables(client).await
    }

    fn is_shared(&self) -> bool {
        matches!(self.held_lock, Some((LockMode::Shared, _)))
    }

    fn remember_stored_state(&mut self, base: StateFile, stored: StateFile) {
        let (lineage, serial) = (stored.lineage.clone(), stored.serial);
        self.known = KnownState::Present { lineage, serial, content: () };
        (self.base, self.stored) = (base, stored);
    }

    /// The runs whose claims belong to this one.
    fn claimed_runs(&self) -> Vec<String> {
        let own_runs = self.claims.iter().map(|claims| claims.run.clone());
        own_runs.chain(self.adopted.iter().cloned()).collect()
    }

    /// Deletes the claims of the run, and releases its lock, in one round trip.
    async fn remove_claims_and_lock(&mut self) -> Result<(), Cause> {
        let (claims, mut lock) = (self.claims.take(), self.client.take_lock_to_release());
        let mut attempts = CallAttempts::begin("unlock the state");
        loop {
            // In a later attempt the lock does not exist any more, because it has ended with its
            // connection.
            match self.try_to_remove(claims.as_ref(), lock.take()).await {
                Ok(()) => return Ok(()),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn try_to_remove(
        &mut self,
        claims: Option<&Claims>,
        lock: Option<HeldAdvisoryLock>,
    ) -> Result<(), Cause> {
        if claims.is_none() && lock.is_none() {
            return Ok(());
        }
        let client = self.client.connection().await?;
        let claims_removed = async {
            match claims {
                Some(claims) => {
                    delete_claims(client, &self.table, &self.workspace, &claims.run).await
                }
                None => Ok(()),
            }
        };
        let lock_removed = async {
            match lock {
                Some(lock) => lock.release(client).await,
                None => Ok(()),
            }
        };
        try_join!(claims_removed, lock_removed).map(drop)
    }

    /// Acquires the claims. The connection may be lost and replaced during this.
    async fn claim_with_retries(
        &mut self,
        claims: &Claims,
    ) -> Result<Option<ClaimConflict>, Cause> {
        let mut attempts = CallAttempts::begin("claim the changes");
        loop {
            match self.try_to_claim(claims).await {
                Ok(conflict) => return Ok(conflict),
                Err(cause) => attempts.wait_after(cause).await?,
            }
        }
    }

    async fn try_to_claim(&mut self, claims: &Claims) -> Result<Option<ClaimConflict>, Cause> {
        let stores_something =
            claims.stores_other_changes || !claims.changes.is_empty() || !claims.outputs.is_empty();
        if stores_something {
            let client = self.client.connection().await?;
            // Real objects are made next, and what cannot be stored would be made again.
            self.table.check_states_are_writable(client).await?;
        }
        // Claims would show the addresses of a state that is encrypted as a whole. Its lock is exclusive, so
        // no other run can conflict. But its lock may have ended with its connection.
        if self.cipher.hides_addresses() {
            return self.client.connection().await.map(|_| None);
        }
        let known_sum = self.client.known_checksum();
        let mut client = self.client.take_connection().await?;
        let attempt = ClaimAttempt {
            table: &self.table,
            workspace: &self.workspace,
            known_sum: known_sum.as_deref(),
            base: &self.base,
            cipher: &self.cipher,
            adopted: &self.adopted,
            is_shared: self.is_shared(),
        };
        let outcome = attempt.claim_with_retries(&mut client, claims).await;
        self.client.return_connection(client);
        outcome
    }

    async fn try_to_list_writes(&mut self, max_count: u32) -> Result<Vec<HistoryWrite>, Cause> {
        let client = self.client.connection().await?;
        match self.table.has_readable_own_tables(client).await? {
            false => Ok(Vec::new()),
            true => {
                history::list_writes(client, &self.table, &self.workspace, max_count.into()).await
            }
        }
    }

    fn open_stored_object(&self, stored_object: StoredObject) -> Result<StoredObject, StoreError> {
        let entry = stored_object.entry.map(|entry| open_entry(&self.cipher, &entry)).transpose();
        let entry = entry.map_err(|error| {
            let location = format!("the history of {}", self.client.location());
            StoreError::Unusable { location, error, is_file: false, copy: None }
        })?;
        Ok(StoredObject { serial: stored_object.serial, entry })
    }

    async fn try_to_read_object(
        &mut self,
        address: &str,
        point: &HistoryPoint,
    ) -> Result<Option<StoredObject>, Cause> {
        let client = self.client.connection().await?;
        match self.table.has_readable_own_tables(client).await? {
            false => Ok(None),
            true => self.table.object_at(client, &self.workspace, address, point).await,
        }
    }
}

#[async_trait::async_trait]
impl StateStore for PgStore {
    fn location(&self) -> String {
        self.client.location()
    }

    async fn try_lock(&mut self, operation: &str) -> Result<StateLock, StoreError> {
        // A key provider that fails must do so before anything is locked or changed.
        self.cipher.prepare_key().map_err(|reason| self.not_encryptable_error(reason))?;
        let info = LockInfo::new(operation, String::new());
        // A lock would make plans wait for applies, and applies wait for plans.
        if operation == PLAN_OPERATION {
            return Ok(StateLock::new(info.id));
        }
        let location = self.client.location();
        let asking = self.may_run_beside_others(operation);
        let may_share = wait_with_report(location.clone(), StoreOperation::Lock, asking).await;
        let may_share = may_share.map_err(self.store_error(StoreOperation::Lock))?;
        let locking = self.client.lock(may_share);
        let locked = wait_with_report(location, StoreOperation::Lock, locking).await;
        match locked.map_err(self.store_error(StoreOperation::Lock))? {
            Some(mode) => {
                self.held_lock = Some((mode, operation.to_owned()));
                self.run.clone_from(&info.id);
                Ok(StateLock::new(info.id))
            }
            None => {
                let exclusive_reason = self.cipher.exclusive_write_reason();
                let exclusive_reason = exclusive_reason.filter(|_| operation == APPLY_OPERATION);
                let ends = LockEnd::WithConnection { exclusive_reason };
                Err(StoreError::Held { location: self.client.location(), holder: None, ends })
            }
        }
    }

    async fn unlock(&mut self, lock: StateLock) -> Result<(), StoreError> {
        drop(lock.take_back());
        let location = self.client.location();
        // Before connecting, because a new connection would acquire the lock again.
        self.client.forget_lost_lock();
        let unlocking = self.remove_claims_and_lock();
        let unlocked = wait_with_report(location.clone(), StoreOperation::Unlock, unlocking).await;
        self.held_lock = None;
        let Err(cause) = unlocked else { return Ok(()) };
        if is_lost_connection(&cause) {
            // The lock has ended with its connection, and other runs delete the claims.
            tracing::warn!(location, %cause, "the claims of this run were not removed");
            return Ok(());
        }
        let (operation, remedy) = (StoreOperation::Unlock, Some(UNLOCK_REMEDY.to_owned()));
        Err(StoreError::Failed { operation, location, cause, remedy })
    }

    async fn force_unlock(&mut self, _id: &str) -> Result<(), StoreError> {
        let location = self.client.location();
        let breaking = self.client.break_lock();
        let broken = wait_with_report(location.clone(), StoreOperation::Unlock, breaking).await;
        broken.map_err(|cause| StoreError::Failed {
            operation: StoreOperation::Unlock,
            location,
            cause,
            remedy: Some("Nothing was changed: no ID releases this lock.".to_owned()),
        })
    }

    async fn read(&mut self) -> Result<Option<StateFile>, StoreError> {
        let failed = self.store_error(StoreOperation::Read);
        let location = self.client.location();
        let text = wait_with_report(location, StoreOperation::Read, self.client.get()).await;
        let Some(text) = text.map_err(failed)? else {
            self.known = KnownState::Absent;
            return Ok(None);
        };
        match self.cipher.parse_checking_current_form(&text) {
            Ok((file, is_current)) => {
                self.is_outdated = !is_current;
                self.remember_stored_state(file.clone(), file.clone());
                Ok(Some(file))
            }
            Err(error) => Err(self.unusable_state_error(error)),
        }
    }

    async fn write(&mut self, file: &mut StateFile) -> Result<WriteOutcome, StoreError> {
        if let KnownState::NotRead = self.known {
            self.read().await?;
        }
        let is_stored = !self.is_outdated && matches!(self.known, KnownState::Present { .. });
        if is_stored && self.base.has_same_content(file) {
            return Ok(WriteOutcome::Unchanged);
        }
        self.known.check_same_lineage(file)?;
        self.change_row(RowChange::Merge(file)).await?;
        // Other runs may have increased the serial, and the next write of the caller continues from
        // this serial.
        file.serial = self.stored.serial;
        file.terraform_version.clone_from(&self.stored.terraform_version);
        Ok(WriteOutcome::Stored)
    }

    async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError> {
        if let KnownState::NotRead = self.known {
            self.read().await?;
        }
        self.change_row(RowChange::Replace(&file)).await
    }

    fn is_read_from_write_location(&self) -> bool {
        matches!(self.known, KnownState::Present { .. })
    }

    fn set_cipher(&mut self, cipher: StateCipher) {
        self.cipher = cipher;
    }

    fn cipher(&self) -> &StateCipher {
        &self.cipher
    }

    fn state_access(&self) -> StateAccess {
        match &self.held_lock {
            None => StateAccess::ReadOnly,
            Some((LockMode::Exclusive, _)) => StateAccess::Locked,
            Some((LockMode::Shared, _)) => StateAccess::Shared,
        }
    }

    fn adopt_claims_of_runs(&mut self, runs: BTreeSet<String>) {
        self.adopted = runs.into_iter().collect();
    }

    async fn claim_changes(&mut self, claims: Claims) -> Result<(), StoreError> {
        let location = self.client.location();
        let claiming = self.claim_with_retries(&claims);
        let outcome = wait_with_report(location, StoreOperation::Lock, claiming).await;
        match outcome.map_err(self.store_error(StoreOperation::Lock))? {
            Some(conflict) => Err(StoreError::Conflict(Box::new(conflict))),
            // No claims were made.
            None if self.cipher.hides_addresses() => Ok(()),
            None => {
                self.run.clone_from(&claims.run);
                self.claims = Some(claims);
                Ok(())
            }
        }
    }

    async fn history(&mut self, max_count: u32) -> Result<Option<Vec<HistoryWrite>>, StoreError> {
        if self.cipher.hides_addresses() {
            return Ok(None);
        }
        let mut attempts = CallAttempts::begin("read the history");
        loop {
            match self.try_to_list_writes(max_count).await {
                Ok(writes) => return Ok(Some(writes)),
                Err(cause) => {
                    let failed = self.store_error(StoreOperation::Read);
                    attempts.wait_after(cause).await.map_err(failed)?;
                }
            }
        }
    }

    async fn object_at(
        &mut self,
        address: &str,
        point: &HistoryPoint,
    ) -> Result<Option<StoredObject>, StoreError> {
        // The history is one from before the encryption.
        if self.cipher.hides_addresses() {
            return Ok(None);
        }
        let mut attempts = CallAttempts::begin("read the history");
        loop {
            match self.try_to_read_object(address, point).await {
                Ok(stored_object) => {
                    return stored_object.map(|object| self.open_stored_object(object)).transpose();
                }
                Err(cause) => {
                    let failed = self.store_error(StoreOperation::Read);
                    attempts.wait_after(cause).await.map_err(failed)?;
                }
            }
        }
    }
}
