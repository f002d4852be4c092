//! Acquires all claims of a run in one transaction, or none, so that two runs never wait for each other. The
//! row of the state is locked during the transaction, so that no write interferes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures_util::try_join;

use crate::pg::connection::{Connection, StatementParameter, Transaction};
use formwork_core::addr::{ConfigResourceAddr, InstanceAddr, ResourceMode};
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::merge::StateDifference;
use formwork_core::state::operator::user_and_host;

use super::output_address;
use crate::cause::Cause;
use crate::claims::{ClaimConflict, Claims, ForeignClaim, PartChangedByOtherRun};
use crate::encryption::StateCipher;
use crate::pg::StatesTable;
use crate::pg::tables::IS_LIVE_CONDITION;

/// The pause between two attempts while other runs have conflicting claims.
const CLAIM_RETRY_PAUSE: Duration = Duration::from_millis(200);

/// An attempt to claim.
pub(in crate::pg) struct ClaimAttempt<'a> {
    pub(in crate::pg) table: &'a StatesTable,
    pub(in crate::pg) workspace: &'a str,
    /// The checksum of the row that was read, and the state in it.
    pub(in crate::pg) known_sum: Option<&'a str>,
    pub(in crate::pg) base: &'a StateFile,
    pub(in crate::pg) cipher: &'a StateCipher,
    /// The interrupted runs that this one has taken over, with their claims.
    pub(in crate::pg) adopted: &'a [String],
    /// Whether other runs may be active concurrently.
    pub(in crate::pg) is_shared: bool,
}

/// Addresses in the form of the table.
struct ClaimAddresses {
    /// The instances and outputs to change, each with its resource.
    changes: BTreeMap<String, String>,
    /// The resources that must not change.
    reads: BTreeSet<String>,
}

impl ClaimAddresses {
    fn from_claims(claims: &Claims) -> Self {
        let instances = claims.changes.iter();
        let instances = instances
            .map(|addr| (addr.to_string(), addr.resource_addr().config_addr().to_string()));
        let outputs =
            claims.outputs.iter().map(|name| (output_address(name), output_address(name)));
        let reads = claims.reads.iter().map(ToString::to_string).collect();
        Self { changes: instances.chain(outputs).collect(), reads }
    }

    fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl ClaimAttempt<'_> {
    /// Acquires the claims, and waits for other runs as long as they allow. Returns the remaining
    /// conflict.
    pub(in crate::pg) async fn claim_with_retries(
        self,
        client: &mut Connection,
        claims: &Claims,
    ) -> Result<Option<ClaimConflict>, Cause> {
        let addresses = ClaimAddresses::from_claims(claims);
        // A run that changes nothing conflicts with no other run.
        if addresses.is_empty() || !self.table.has_own_tables(client).await? {
            return Ok(None);
        }
        let deadline = Instant::now() + claims.timeout;
        loop {
            let transaction = client.transaction();
            let conflict = self.try_claim(&transaction, claims, &addresses).await?;
            // Waiting does not end an interrupted run.
            let waits = matches!(&conflict, Some(ClaimConflict::Claimed(claims)) if claims.iter().all(|claim| claim.is_live));
            if conflict.is_none() {
                return Ok(None);
            }
            // Rolled back before the pause. Otherwise the lock on the row would prevent the other
            // runs from ending.
            drop(transaction);
            if !waits || Instant::now() >= deadline {
                return Ok(conflict);
            }
            tokio::time::sleep(CLAIM_RETRY_PAUSE).await;
        }
    }

    /// Acquires the claims and commits the transaction, unless there is a conflict.
    async fn try_claim(
        &self,
        transaction: &Transaction<'_>,
        claims: &Claims,
        addresses: &ClaimAddresses,
    ) -> Result<Option<ClaimConflict>, Cause> {
        // The lock on the row prevents writes until everything is claimed. The content is fetched
        // only if it has changed.
        let query = format!(
            "SELECT CASE WHEN md5(data) = $2 THEN NULL ELSE data END FROM {} WHERE name = $1 FOR UPDATE",
            self.table.name()
        );
        let parameters: [&dyn StatementParameter; 2] = [&self.workspace, &self.known_sum];
        let foreign_claims = async {
            // An exclusive lock excludes all other runs, so there cannot be a conflict.
            if !self.is_shared {
                return Ok(Vec::new());
            }
            let removed = self.remove_orphaned_claims(transaction);
            let ((), foreign_claims) =
                try_join!(removed, self.conflicting_claims(transaction, &claims.run, addresses))?;
            Ok(foreign_claims)
        };
        // Sent together. The server searches for claims once it has the lock on the row.
        let locked_row = transaction.query_opt(&query, &parameters);
        let ((), row, foreign_claims) = try_join!(transaction.begin(), locked_row, foreign_claims)?;
        let text: Option<String> = row.and_then(|row| row.get(0));
        if !foreign_claims.is_empty() {
            return Ok(Some(ClaimConflict::Claimed(foreign_claims)));
        }
        let changed_addresses = self.moved_parts(claims, text.as_deref())?;
        if !changed_addresses.is_empty() {
            let changed_parts = self.last_writers_of_moved(transaction, changed_addresses).await?;
            return Ok(Some(ClaimConflict::Moved(changed_parts)));
        }
        let inserted = self.insert_claims(transaction, &claims.run, addresses);
        try_join!(inserted, transaction.commit())?;
        Ok(None)
    }

    /// Returns the claimed parts that other runs have changed since the plan was created. `text` is the row if
    /// it is not the one that this run has read.
    fn moved_parts(&self, claims: &Claims, text: Option<&str>) -> Result<BTreeSet<String>, Cause> {
        let is_known = text.is_none() && claims.planned_on.is_none();
        // An exclusive lock excludes all other runs, and a plan for an earlier state is refused before.
        if !self.is_shared || is_known {
            return Ok(BTreeSet::new());
        }
        let current = text.map(|text| self.cipher.parse_state(text.as_bytes())).transpose()?;
        let current = current.as_ref().unwrap_or(self.base);
        let base = claims.planned_on.as_deref().unwrap_or(&self.base.state);
        Ok(claims_changed_between(base, &current.state, claims))
    }

    /// Deletes the claims of runs that have completed normally, but could not delete them.
    async fn remove_orphaned_claims(&self, transaction: &Transaction<'_>) -> Result<(), Cause> {
        let statement = format!(
            "DELETE FROM {} WHERE workspace = $1 AND NOT {IS_LIVE_CONDITION} AND {}",
            self.table.own_table_name("formwork_claims"),
            self.table.journal_ended_condition("formwork_claims.run")
        );
        transaction.execute(&statement, &[&self.workspace]).await?;
        Ok(())
    }

    /// Returns the conflicting claims of other runs.
    async fn conflicting_claims(
        &self,
        transaction: &Transaction<'_>,
        run: &str,
        addresses: &ClaimAddresses,
    ) -> Result<Vec<ForeignClaim>, Cause> {
        // Includes the run itself: an earlier attempt may have claimed although its response was
        // lost.
        let own_runs: Vec<&str> = self.adopted.iter().map(String::as_str).chain([run]).collect();
        let changes: Vec<&str> = addresses.changes.keys().map(String::as_str).collect();
        let changed: BTreeSet<&str> = addresses.changes.values().map(String::as_str).collect();
        let changed: Vec<&str> = changed.into_iter().collect();
        let reads: Vec<&str> = addresses.reads.iter().map(String::as_str).collect();
        let query = format!(
            "SELECT DISTINCT address, who, run, to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), {IS_LIVE_CONDITION} FROM {} WHERE workspace = $1 AND run <> ALL($2) AND CASE WHEN changes THEN address = ANY($3) OR resource = ANY($4) ELSE resource = ANY($5) END ORDER BY address LIMIT 100",
            self.table.own_table_name("formwork_claims")
        );
        let rows = transaction
            .query(&query, &[&self.workspace, &own_runs, &changes, &reads, &changed])
            .await?;
        let claim = |row: &tokio_postgres::Row| ForeignClaim {
            address: row.get(0),
            who: row.get(1),
            run: row.get(2),
            since: row.get(3),
            is_live: row.get(4),
        };
        Ok(rows.iter().map(claim).collect())
    }

    async fn insert_claims(
        &self,
        transaction: &Transaction<'_>,
        run: &str,
        addresses: &ClaimAddresses,
    ) -> Result<(), Cause> {
        let changes = addresses.changes.iter().map(|(address, resource)| (address, resource, true));
        let reads = addresses.reads.iter().map(|address| (address, address, false));
        let rows: Vec<_> = changes.chain(reads).collect();
        let names: Vec<&str> = rows.iter().map(|(address, ..)| address.as_str()).collect();
        let resources: Vec<&str> = rows.iter().map(|(_, resource, _)| resource.as_str()).collect();
        let kinds: Vec<bool> = rows.iter().map(|(.., changes)| *changes).collect();
        let statement = format!(
            "INSERT INTO {table} (workspace, run, who, address, resource, changes) SELECT $1, $2, $3, given.* FROM unnest($4::text[], $5::text[], $6::boolean[]) AS given (address, resource, changes) WHERE NOT EXISTS (SELECT FROM {table} held WHERE held.workspace = $1 AND held.run = $2 AND held.address = given.address AND held.changes = given.changes)",
            table = self.table.own_table_name("formwork_claims")
        );
        transaction
            .execute(
                &statement,
                &[&self.workspace, &run, &user_and_host(), &names, &resources, &kinds],
            )
            .await?;
        Ok(())
    }

    /// Returns the last writer of each changed part, as far as the history records it.
    async fn last_writers_of_moved(
        &self,
        transaction: &Transaction<'_>,
        changed_addresses: BTreeSet<String>,
    ) -> Result<Vec<PartChangedByOtherRun>, Cause> {
        let addresses: Vec<&str> = changed_addresses.iter().map(String::as_str).collect();
        let query = format!(
            "SELECT DISTINCT ON (objects.address) objects.address, writes.who || ' at ' || to_char(writes.at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') || ', serial ' || writes.serial || ', in the run ' || writes.run FROM {} objects JOIN {} writes ON writes.id = objects.write WHERE objects.workspace = $1 AND objects.address = ANY($2) ORDER BY objects.address, objects.write DESC",
            self.table.own_table_name("formwork_history_objects"),
            self.table.own_table_name("formwork_history")
        );
        let rows = transaction.query(&query, &[&self.workspace, &addresses]).await;
        let rows = rows?;
        let by: BTreeMap<String, String> =
            rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let part =
            |address: String| PartChangedByOtherRun { by: by.get(&address).cloned(), address };
        Ok(changed_addresses.into_iter().map(part).collect())
    }
}

/// Returns the claimed parts in which two states differ, and the instances that depend on a claimed
/// one since then.
fn claims_changed_between(base: &State, current: &State, claims: &Claims) -> BTreeSet<String> {
    let difference = StateDifference::between(base, current);
    let changed: BTreeSet<ConfigResourceAddr> =
        claims.changes.iter().map(|addr| addr.resource_addr().config_addr()).collect();
    let depends_on_changed = |addr: &InstanceAddr| {
        let object = current.current_object(addr);
        object.is_some_and(|object| object.dependencies.iter().any(|addr| changed.contains(addr)))
    };
    let instances = difference.instances.iter();
    // Every plan reads its data sources itself.
    let instances = instances.filter(|addr| addr.resource.mode() == ResourceMode::Managed);
    let instances = instances.filter(|addr| {
        claims.changes.contains(*addr)
            || claims.reads.contains(&addr.resource_addr().config_addr())
            || depends_on_changed(addr)
    });
    let outputs = difference.outputs.iter().filter(|name| claims.outputs.contains(*name));
    instances.map(ToString::to_string).chain(outputs.map(|name| output_address(name))).collect()
}
