//! Changes the row of a state: merges the changes of a run into it, and records the history, in one
//! transaction of three round trips.

use formwork_core::state::file::StateFile;
use formwork_core::state::merge::{StateDifference, find_overtaken_instance, merge_states};
use formwork_core::state::operator::user_and_host;
use futures_util::try_join;

use super::PgStore;
use crate::cause::Cause;
use crate::known_state::KnownState;
use crate::pg::call_error::CallAttempts;
use crate::pg::claims::HeldClaims;
use crate::pg::client::md5_hex;
use crate::pg::connection::{Connection, StatementParameter, Transaction};
use crate::pg::history::{self, RecordedWrite};
use crate::store::{StoreError, StoreOperation};
use crate::wait_report::wait_with_report;

/// A change of the row.
#[derive(Clone, Copy)]
pub(super) enum RowChange<'a> {
    /// The changes of the caller since its last read or write.
    Merge(&'a StateFile),
    /// A replacement by another state.
    Replace(&'a StateFile),
}

/// A row that was changed.
#[derive(Clone)]
struct ChangedRow {
    /// The checksum of its text.
    sum: String,
    base: StateFile,
    stored: StateFile,
}

/// A row to store.
struct NextRow {
    text: String,
    row: ChangedRow,
}

/// The locked row of the state, and the other inputs of a write.
struct LockedRow {
    /// The text of the row, if it is not the known one.
    text: Option<String>,
    /// The checksum of its text, or `None` if the row does not exist.
    sum: Option<String>,
    claims: HeldClaims,
    /// The checksum of the last state in the history.
    last_state_checksum: Option<String>,
}

/// The reason why a row was not changed.
enum ChangeError {
    Store(StoreError),
    Cause(Cause),
}

impl<E: Into<Cause>> From<E> for ChangeError {
    fn from(cause: E) -> Self {
        Self::Cause(cause.into())
    }
}

impl PgStore {
    /// Changes the row in one transaction. If the connection is lost during this, it is replaced.
    pub(super) async fn change_row(&mut self, change: RowChange<'_>) -> Result<(), StoreError> {
        let location = self.client.location();
        let storing = self.change_row_with_retries(change);
        match wait_with_report(location, StoreOperation::Write, storing).await {
            Ok(ChangedRow { sum, base, stored }) => {
                self.client.set_known_checksum(sum);
                self.is_outdated = false;
                self.remember_stored_state(base, stored);
                Ok(())
            }
            Err(ChangeError::Store(error)) => Err(error),
            Err(ChangeError::Cause(cause)) => Err(self.store_error(StoreOperation::Write)(cause)),
        }
    }

    async fn change_row_with_retries(
        &mut self,
        change: RowChange<'_>,
    ) -> Result<ChangedRow, ChangeError> {
        let mut attempts = CallAttempts::begin("write the state");
        // The row of an attempt that may have been stored although its response was lost.
        let mut unconfirmed = None;
        loop {
            match self.try_to_change_row(change, &mut unconfirmed).await {
                Err(ChangeError::Cause(cause)) => attempts.wait_after(cause).await?,
                outcome => return outcome,
            }
        }
    }

    async fn try_to_change_row(
        &mut self,
        change: RowChange<'_>,
        unconfirmed: &mut Option<ChangedRow>,
    ) -> Result<ChangedRow, ChangeError> {
        let mut client = self.client.take_connection().await?;
        let outcome = self.change_row_in_transaction(&mut client, change, unconfirmed).await;
        // Put back even after a failure, because the lock belongs to this connection.
        self.client.return_connection(client);
        self.client.set_unconfirmed_checksum(unconfirmed.as_ref().map(|row| row.sum.clone()));
        outcome
    }

    async fn change_row_in_transaction(
        &self,
        client: &mut Connection,
        change: RowChange<'_>,
        unconfirmed: &mut Option<ChangedRow>,
    ) -> Result<ChangedRow, ChangeError> {
        // The history contains addresses, which an encrypted state may hide.
        let has_own = !self.cipher.hides_addresses() && self.table.has_own_tables(client).await?;
        let transaction = client.transaction();
        let locked = self.begin_and_lock_row(&transaction, change, has_own).await?;
        if let Some(row) = unconfirmed.as_ref()
            && self.is_stored(&transaction, row).await?
        {
            return Ok(row.clone());
        }
        let LockedRow { text, sum: stored_sum, claims, last_state_checksum } = locked;
        let changed_state = text.filter(|text| !text.is_empty());
        let changed_state = changed_state.map(|text| self.read_changed_state(&text)).transpose();
        let changed_state = changed_state.map_err(ChangeError::Store)?;
        let current = changed_state.as_ref().unwrap_or(&self.stored);
        let changed = self.changed_row(change, current, &claims)?;
        let statement = format!(
            // Without a row there was nothing to lock, so another program may have created one
            // since then.
            "INSERT INTO {} AS stored (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = $2 WHERE stored.data IS NULL OR md5(stored.data) = $3",
            self.table.name()
        );
        let operation = self.held_lock.as_ref().map_or("", |(_, operation)| operation.as_str());
        let (row, text) = (&changed.row, &changed.text);
        let write = RecordedWrite {
            workspace: &self.workspace,
            who: &user_and_host(),
            before: stored_sum.as_deref().map(|sum| (current, sum)),
            last_state_checksum: last_state_checksum.as_deref(),
            after: &row.stored,
            sum: &row.sum,
            operation,
            run: &self.run,
            cipher: &self.cipher,
        };
        let recorded = async {
            match has_own {
                true => history::record_history_write(&transaction, &self.table, &write).await,
                false => Ok(()),
            }
        };
        let parameters: [&dyn StatementParameter; 3] = [&self.workspace, text, &stored_sum];
        let (n_written, ()) = try_join!(transaction.execute(&statement, &parameters), recorded)?;
        if n_written == 0 {
            // An earlier attempt may have created the row, which could not be locked before it
            // existed.
            if let Some(row) = unconfirmed.as_ref()
                && self.is_stored(&transaction, row).await?
            {
                return Ok(row.clone());
            }
            let read = self.stored.serial;
            return Err(ChangeError::Store(StoreError::Changed { stored: read, read }));
        }
        if let Err(cause) = transaction.commit().await {
            *unconfirmed = Some(changed.row);
            return Err(cause.into());
        }
        Ok(changed.row)
    }

    /// Computes the row that results from a change of the stored state.
    fn changed_row(
        &self,
        change: RowChange<'_>,
        current: &StateFile,
        claims: &HeldClaims,
    ) -> Result<NextRow, ChangeError> {
        let (base, mut next_file) = match change {
            RowChange::Merge(file) if self.is_shared() => {
                // A program without a lock may have changed an instance in spite of the claim. Its change
                // and ours conflict, so the operator has to decide.
                if find_overtaken_instance(&self.base, file, current, claims).is_some() {
                    let (stored, read) = (current.serial, self.stored.serial);
                    return Err(ChangeError::Store(StoreError::Changed { stored, read }));
                }
                (file.clone(), merge_states(&self.base, file, current, claims))
            }
            RowChange::Merge(file) | RowChange::Replace(file) => (file.clone(), file.clone()),
        };
        if let RowChange::Merge(file) = change {
            // Other runs may have increased it since this one read it.
            next_file.serial = current.serial.max(file.serial);
            self.known.increment_serial(&mut next_file);
        }
        let text = self.cipher.serialize_state(&next_file);
        let text = text
            .map_err(|error| ChangeError::Store(self.not_encryptable_error(error.to_string())))?;
        let text = String::from_utf8(text)?;
        let sum = md5_hex(text.as_bytes());
        let base = StateFile { serial: next_file.serial, ..base };
        Ok(NextRow { text, row: ChangedRow { sum, base, stored: next_file } })
    }

    /// Whether the row of an earlier attempt, whose response was lost, is stored.
    async fn is_stored(
        &self,
        transaction: &Transaction<'_>,
        row: &ChangedRow,
    ) -> Result<bool, Cause> {
        // Another run may have merged its changes into that row since then, but the history has
        // both.
        let in_history = match self.is_shared() {
            true => format!(
                "EXISTS (SELECT FROM {} WHERE workspace = $1 AND sum = $2 AND run = $3)",
                self.table.own_table_name("formwork_history")
            ),
            false => "$3 IS NULL".to_owned(),
        };
        let query = format!(
            "SELECT {in_history} OR EXISTS (SELECT FROM {} WHERE name = $1 AND md5(data) = $2)",
            self.table.name()
        );
        let updated_row =
            transaction.query_one(&query, &[&self.workspace, &row.sum, &self.run]).await?;
        Ok(updated_row.get(0))
    }

    /// Begins a transaction, locks the row, and reads the inputs of a write, in one round trip.
    async fn begin_and_lock_row(
        &self,
        transaction: &Transaction<'_>,
        change: RowChange<'_>,
        has_own: bool,
    ) -> Result<LockedRow, Cause> {
        let query = format!(
            // A state can be long, so its text is fetched only if it is not the known one.
            // The lock on the row prevents other writes between this read and the merge.
            "SELECT CASE WHEN md5(data) = $2 THEN NULL ELSE data END, md5(data) FROM {} WHERE name = $1 FOR UPDATE",
            self.table.name()
        );
        let known_sum = self.client.known_checksum();
        let parameters: [&dyn StatementParameter; 2] = [&self.workspace, &known_sum];
        let claims = async {
            match change {
                RowChange::Merge(file) if self.is_shared() => {
                    self.claims_for_merge(transaction, file).await
                }
                _ => Ok(HeldClaims::default()),
            }
        };
        let last_state_checksum = async {
            match has_own {
                true => {
                    history::last_state_checksum(transaction, &self.table, &self.workspace).await
                }
                false => Ok(None),
            }
        };
        // The server locks the row before it reads the claims.
        let ((), row, claims, last_state_checksum) = try_join!(
            transaction.begin(),
            transaction.query_opt(&query, &parameters),
            claims,
            last_state_checksum
        )?;
        let (text, sum) = row.map_or((None, None), |row| (row.get(0), row.get(1)));
        Ok(LockedRow { text, sum, claims, last_state_checksum })
    }

    /// Reads the state that another process has stored since then.
    ///
    /// # Errors
    /// Returns an error if no other process may store one, because this one holds the lock
    /// exclusively or not at all.
    fn read_changed_state(&self, text: &str) -> Result<StateFile, StoreError> {
        let unusable = |error| self.unusable_state_error(error);
        let (text, _) = self.cipher.decrypt(text.as_bytes()).map_err(unusable)?;
        let header = StateFile::read_header(&text).map_err(unusable)?;
        if self.is_shared()
            && matches!(&self.known, KnownState::Present { lineage, .. } if *lineage == header.lineage)
        {
            return StateFile::parse(&text).map_err(unusable);
        }
        self.known.check_same_lineage_and_serial(&header.lineage, header.serial)?;
        // The serial is the known one, but the text is not: another program has written without
        // increasing it.
        Err(StoreError::Changed { stored: header.serial, read: header.serial })
    }

    /// Returns the claims, which determine the changes of this run that go into the stored state.
    async fn claims_for_merge(
        &self,
        transaction: &Transaction<'_>,
        file: &StateFile,
    ) -> Result<HeldClaims, Cause> {
        let changed = StateDifference::between(&self.base.state, &file.state).instances;
        let changed: Vec<String> = changed.iter().map(ToString::to_string).collect();
        let own_runs = self.claimed_runs();
        let held_claims =
            self.table.held_claims(transaction, &self.workspace, &own_runs, &changed).await?;
        if self.claims.as_ref().is_some_and(|claims| held_claims.is_missing_claim(claims)) {
            return Err(
                "another process has taken over this run, and its claims were deleted".into()
            );
        }
        Ok(held_claims)
    }
}
