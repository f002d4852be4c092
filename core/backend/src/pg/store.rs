//! The store of one workspace. Applies hold the advisory lock of the state shared, so that several run at
//! once; each write merges what the run has changed into the row, in one transaction with the history.

use std::collections::BTreeSet;

use super::connection::{Connection, Transaction};
use formwork_core::state::file::{FileError, StateFile};
use formwork_core::state::intents::StateAccess;
use formwork_core::state::merge::{StateDifference, merge};
use formwork_core::state::operator::who;

use super::Table;
use super::claims::release;
use super::claims::take::Attempt;
use super::client::{LockMode, PgClient, sum};
use super::history::{self, Write};
use crate::cause::Cause;
use crate::claims::Claims;
use crate::encryption::StateCipher;
use crate::history::{HistoryPoint, HistoryWrite, StoredObject};
use crate::known::Known;
use crate::lock::{LockInfo, StateLock};
use crate::store::{LockEnd, StateStore, StoreError, StoreOperation, WriteOutcome};
use crate::wait::reported;

/// The operation that may run beside others of its kind.
const APPLY: &str = "OperationTypeApply";

/// The operation that needs no lock: it reads the row in one statement, and writes nothing.
const PLAN: &str = "OperationTypePlan";

/// The store of a workspace.
pub(super) struct PgStore {
    table: Table,
    workspace: String,
    client: PgClient,
    known: Known<()>,
    /// The state that the caller has read or written last. What it has changed since is merged.
    base: StateFile,
    /// The state in the row as it was last seen.
    stored: StateFile,
    /// The lock that is held, and the operation.
    held: Option<(LockMode, String)>,
    /// The run that writes, once it has claimed something; before, the id of the lock.
    run: String,
    claims: Option<Claims>,
    /// The interrupted runs that this one has taken over.
    adopted: Vec<String>,
    cipher: StateCipher,
    /// Whether what was read has to be written again, because it is encrypted otherwise.
    is_outdated: bool,
}

/// A change of the row.
enum Change<'a> {
    /// The changes of the caller since it read or wrote last.
    Merge(&'a StateFile),
    /// Another state.
    Replace(&'a StateFile),
}

/// A row that was changed.
struct Stored {
    /// The sum of its text.
    sum: String,
    base: StateFile,
    stored: StateFile,
}

/// Why a row was not changed.
enum Refusal {
    Store(StoreError),
    Cause(Cause),
}

impl<E: Into<Cause>> From<E> for Refusal {
    fn from(cause: E) -> Self {
        Self::Cause(cause.into())
    }
}

impl PgStore {
    /// Makes the store. Connects when it is first used.
    pub(super) fn new(table: Table, workspace: &str) -> Self {
        Self {
            client: PgClient::new(table.clone(), workspace),
            table,
            workspace: workspace.to_owned(),
            known: Known::NotRead,
            base: StateFile::fresh(),
            stored: StateFile::fresh(),
            held: None,
            run: String::new(),
            claims: None,
            adopted: Vec::new(),
            cipher: StateCipher::default(),
            is_outdated: false,
        }
    }

    fn failed(&self, doing: StoreOperation) -> impl FnOnce(Cause) -> StoreError + use<> {
        let location = self.client.location();
        move |cause| StoreError::failed(doing, location, cause)
    }

    fn unusable(&self, error: FileError) -> StoreError {
        StoreError::Unusable { location: self.client.location(), error, copy: None }
    }

    fn not_encryptable(&self, reason: String) -> StoreError {
        StoreError::NotEncryptable { location: self.client.location(), reason }
    }

    /// Whether an operation may run beside others: not without the table of claims. The claims and the
    /// history have values in the clear, so there are none where the state is encrypted.
    async fn may_share(&mut self, operation: &str) -> Result<bool, Cause> {
        if operation != APPLY || self.cipher.encrypts() {
            return Ok(false);
        }
        let client = self.client.connection().await?;
        Ok(self.table.make_own(client).await?.is_none())
    }

    fn is_shared(&self) -> bool {
        matches!(self.held, Some((LockMode::Shared, _)))
    }

    fn keep(&mut self, base: StateFile, stored: StateFile) {
        let (lineage, serial) = (stored.lineage.clone(), stored.serial);
        self.known = Known::Present { lineage, serial, content: () };
        (self.base, self.stored) = (base, stored);
    }

    /// The runs whose claims are this one's.
    fn own_runs(&self) -> Vec<String> {
        let own = self.claims.iter().map(|claims| claims.run.clone());
        own.chain(self.adopted.iter().cloned()).collect()
    }

    /// Changes the row in one transaction.
    async fn store(&mut self, change: Change<'_>) -> Result<(), StoreError> {
        let mut client =
            self.client.take_connection().await.map_err(self.failed(StoreOperation::Write))?;
        let storing = self.transact(&mut client, change);
        let stored = reported(self.client.location(), StoreOperation::Write, storing).await;
        // Given back after a failure, too: the lock is a matter of this connection.
        self.client.give_back(client);
        match stored {
            Ok(Stored { sum, base, stored }) => {
                self.client.know(sum);
                self.is_outdated = false;
                self.keep(base, stored);
                Ok(())
            }
            Err(Refusal::Store(error)) => Err(error),
            Err(Refusal::Cause(cause)) => Err(self.failed(StoreOperation::Write)(cause)),
        }
    }

    async fn transact(
        &self,
        client: &mut Connection,
        change: Change<'_>,
    ) -> Result<Stored, Refusal> {
        let known_sum = self.client.known_sum();
        let has_own = !self.cipher.encrypts() && self.table.has_own(client).await?;
        let transaction = client.transaction().await?;
        let query = format!(
            // A state can be long, so its text is fetched only if it is not the one that is known.
            // The lock on the row keeps what is merged here from being overtaken.
            "SELECT CASE WHEN md5(data) = $2 THEN NULL ELSE data END, md5(data) FROM {} WHERE name = $1 FOR UPDATE",
            self.table.name()
        );
        let row = transaction.query_opt(&query, &[&self.workspace, &known_sum]).await;
        let (text, stored_sum): (Option<String>, Option<String>) = match row? {
            Some(row) => (row.get(0), row.get(1)),
            None => (None, None),
        };
        let moved = text.filter(|text| !text.is_empty());
        let moved =
            moved.map(|text| self.read_changed_state(&text)).transpose().map_err(Refusal::Store)?;
        let current = moved.as_ref().unwrap_or(&self.stored);
        let (base, mut next) = match change {
            Change::Merge(ours) if self.is_shared() => {
                (ours.clone(), self.merge_into_current(&transaction, ours, current).await?)
            }
            Change::Merge(ours) | Change::Replace(ours) => (ours.clone(), ours.clone()),
        };
        if let Change::Merge(ours) = change {
            // Other runs may have raised it since this one read.
            next.serial = current.serial.max(ours.serial);
            self.known.advance(&mut next);
        }
        let text = self.cipher.write(&next);
        let text = text.map_err(|error| Refusal::Store(self.not_encryptable(error.to_string())))?;
        let text = String::from_utf8(text)?;
        let new_sum = sum(text.as_bytes());
        let statement = format!(
            // Without a row there was nothing to lock, so another program may have made one since.
            "INSERT INTO {} AS stored (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = $2 WHERE stored.data IS NULL OR md5(stored.data) = $3",
            self.table.name()
        );
        let written = transaction.execute(&statement, &[&self.workspace, &text, &stored_sum]).await;
        if written? == 0 {
            let read = self.stored.serial;
            return Err(Refusal::Store(StoreError::Changed { stored: read, read }));
        }
        if has_own {
            let operation = self.held.as_ref().map_or("", |(_, operation)| operation.as_str());
            let write = Write {
                workspace: &self.workspace,
                who: &who(),
                before: stored_sum.as_deref().map(|sum| (current, sum)),
                after: &next,
                sum: &new_sum,
                operation,
                run: &self.run,
            };
            history::record(&transaction, &self.table, &write).await?;
        }
        transaction.commit().await?;
        Ok(Stored { sum: new_sum, base: StateFile { serial: next.serial, ..base }, stored: next })
    }

    /// Reads the state that another process has stored since.
    ///
    /// # Errors
    /// When no other process may have: this one holds the lock alone, or none.
    fn read_changed_state(&self, text: &str) -> Result<StateFile, StoreError> {
        let unusable = |error| self.unusable(error);
        let (text, _) = self.cipher.open(text.as_bytes()).map_err(unusable)?;
        let header = StateFile::read_header(&text).map_err(unusable)?;
        if self.is_shared()
            && matches!(&self.known, Known::Present { lineage, .. } if *lineage == header.lineage)
        {
            return StateFile::read(&text).map_err(unusable);
        }
        self.known.check_same(&header.lineage, header.serial)?;
        // The serial is the known one, but the text is not: another program has written without
        // raising it.
        Err(StoreError::Changed { stored: header.serial, read: header.serial })
    }

    /// Merges what this run has changed into the stored state.
    async fn merge_into_current(
        &self,
        transaction: &Transaction<'_>,
        ours: &StateFile,
        current: &StateFile,
    ) -> Result<StateFile, Refusal> {
        let changed = StateDifference::of(&self.base.state, &ours.state).instances;
        let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
        let own = self.own_runs();
        let held = self.table.held_claims(transaction, &self.workspace, &own, &changed).await?;
        if self.claims.as_ref().is_some_and(|claims| held.lacks(claims)) {
            let text = "another process has taken over this run, and its claims are gone";
            return Err(Refusal::Cause(text.into()));
        }
        Ok(merge(&self.base, ours, current, &held))
    }
}

#[async_trait::async_trait]
impl StateStore for PgStore {
    fn location(&self) -> String {
        self.client.location()
    }

    async fn try_lock(&mut self, operation: &str) -> Result<StateLock, StoreError> {
        // A key provider that fails must do so before anything is locked or changed.
        self.cipher.prepare().map_err(|reason| self.not_encryptable(reason))?;
        let info = LockInfo::new(operation, String::new());
        if operation == PLAN {
            return Ok(StateLock { id: info.id });
        }
        let may_share = self.may_share(operation).await;
        let may_share = may_share.map_err(self.failed(StoreOperation::Lock))?;
        let location = self.client.location();
        let locking = self.client.lock(may_share);
        let taken = reported(location, StoreOperation::Lock, locking).await;
        match taken.map_err(self.failed(StoreOperation::Lock))? {
            Some(mode) => {
                self.held = Some((mode, operation.to_owned()));
                self.run.clone_from(&info.id);
                Ok(StateLock { id: info.id })
            }
            None => {
                let (location, ends) = (self.client.location(), LockEnd::WithConnection);
                Err(StoreError::Held { location, holder: None, ends })
            }
        }
    }

    async fn unlock(&mut self, _lock: StateLock) -> Result<(), StoreError> {
        let failed = self.failed(StoreOperation::Unlock);
        let location = self.client.location();
        // Before anything connects, because a new connection would take the lock again.
        self.client.forget_lost_lock();
        let unlocked = async {
            if let Some(claims) = self.claims.take() {
                let client = self.client.connection().await?;
                release(client, &self.table, &self.workspace, &claims.run).await?;
            }
            self.client.unlock().await
        };
        reported(location, StoreOperation::Unlock, unlocked).await.map_err(failed)?;
        self.held = None;
        Ok(())
    }

    async fn force_unlock(&mut self, _id: &str) -> Result<(), StoreError> {
        let failed = self.failed(StoreOperation::Unlock);
        let location = self.client.location();
        let breaking = self.client.break_lock();
        reported(location, StoreOperation::Unlock, breaking).await.map_err(failed)
    }

    async fn read(&mut self) -> Result<Option<StateFile>, StoreError> {
        let failed = self.failed(StoreOperation::Read);
        let location = self.client.location();
        let text = reported(location, StoreOperation::Read, self.client.get()).await;
        let Some(text) = text.map_err(failed)? else {
            self.known = Known::Absent;
            return Ok(None);
        };
        match self.cipher.read_current(&text) {
            Ok((file, is_current)) => {
                self.is_outdated = !is_current;
                self.keep(file.clone(), file.clone());
                Ok(Some(file))
            }
            Err(error) => Err(self.unusable(error)),
        }
    }

    async fn write(&mut self, file: &mut StateFile) -> Result<WriteOutcome, StoreError> {
        if let Known::NotRead = self.known {
            self.read().await?;
        }
        let is_stored = !self.is_outdated && matches!(self.known, Known::Present { .. });
        if is_stored && self.base.has_content_of(file) {
            return Ok(WriteOutcome::Unchanged);
        }
        self.known.check_continued_by(file)?;
        self.store(Change::Merge(file)).await?;
        // Other runs may have raised the serial, and the next write of the caller continues this
        // one.
        file.serial = self.stored.serial;
        file.terraform_version.clone_from(&self.stored.terraform_version);
        Ok(WriteOutcome::Stored)
    }

    async fn overwrite(&mut self, file: StateFile) -> Result<(), StoreError> {
        if let Known::NotRead = self.known {
            self.read().await?;
        }
        self.store(Change::Replace(&file)).await
    }

    fn is_in_place(&self) -> bool {
        matches!(self.known, Known::Present { .. })
    }

    fn set_cipher(&mut self, cipher: StateCipher) {
        self.cipher = cipher;
    }

    fn cipher(&self) -> &StateCipher {
        &self.cipher
    }

    fn access(&self) -> StateAccess {
        match &self.held {
            None => StateAccess::ReadOnly,
            Some((LockMode::Exclusive, _)) => StateAccess::Locked,
            Some((LockMode::Shared, _)) => StateAccess::Shared,
        }
    }

    fn adopt(&mut self, runs: BTreeSet<String>) {
        self.adopted = runs.into_iter().collect();
    }

    async fn claim(&mut self, claims: Claims) -> Result<(), StoreError> {
        // An encrypted state is locked alone, so no other run can be in the way.
        if self.cipher.encrypts() {
            return Ok(());
        }
        let known_sum = self.client.known_sum();
        let mut client =
            self.client.take_connection().await.map_err(self.failed(StoreOperation::Lock))?;
        let attempt = Attempt {
            table: &self.table,
            workspace: &self.workspace,
            known_sum: known_sum.as_deref(),
            base: &self.base,
            adopted: &self.adopted,
            is_shared: self.is_shared(),
        };
        let claiming = attempt.run(&mut client, &claims);
        let outcome = reported(self.client.location(), StoreOperation::Lock, claiming).await;
        self.client.give_back(client);
        match outcome.map_err(self.failed(StoreOperation::Lock))? {
            Some(conflict) => Err(StoreError::Conflict(Box::new(conflict))),
            None => {
                self.run.clone_from(&claims.run);
                self.claims = Some(claims);
                Ok(())
            }
        }
    }

    async fn history(&mut self, most: u32) -> Result<Option<Vec<HistoryWrite>>, StoreError> {
        if self.cipher.encrypts() {
            return Ok(None);
        }
        let failed = self.failed(StoreOperation::Read);
        let read = async {
            let client = self.client.connection().await?;
            match self.table.has_own(client).await? {
                false => Ok(Vec::new()),
                true => history::writes(client, &self.table, &self.workspace, most.into()).await,
            }
        };
        read.await.map(Some).map_err(failed)
    }

    async fn object_at(
        &mut self,
        address: &str,
        point: &HistoryPoint,
    ) -> Result<Option<StoredObject>, StoreError> {
        // The history from before the encryption has values in the clear.
        if self.cipher.encrypts() {
            return Ok(None);
        }
        let failed = self.failed(StoreOperation::Read);
        let read = async {
            let client = self.client.connection().await?;
            match self.table.has_own(client).await? {
                false => Ok(None),
                true => self.table.object_at(client, &self.workspace, address, point).await,
            }
        };
        read.await.map_err(failed)
    }
}
