//! The claims of runs in a table: the objects that a run changes, and those that it depends on. They remain
//! after an interrupted run, until its journal has been taken over.

pub(super) mod claim_attempt;

use std::collections::BTreeSet;

use super::connection::{Connection, Transaction};
use formwork_core::addr::InstanceAddr;
use formwork_core::state::merge::StateOwnership;

use super::StatesTable;
use crate::cause::Cause;
use crate::claims::Claims;

/// The claims in the table that are relevant for a merge.
#[derive(Default)]
pub(super) struct HeldClaims {
    own: BTreeSet<String>,
    others: BTreeSet<String>,
}

impl StatesTable {
    /// Reads the claims of some runs, and those of other runs on some instances.
    pub(super) async fn held_claims(
        &self,
        transaction: &Transaction<'_>,
        workspace: &str,
        own_runs: &[String],
        changed_addresses: &[String],
    ) -> Result<HeldClaims, Cause> {
        let query = format!(
            "SELECT address, run = ANY($2) FROM {} WHERE workspace = $1 AND changes AND (run = ANY($2) OR address = ANY($3))",
            self.own_table_name("formwork_claims")
        );
        let rows = transaction.query(&query, &[&workspace, &own_runs, &changed_addresses]).await;
        let mut held_claims = HeldClaims { own: BTreeSet::new(), others: BTreeSet::new() };
        for row in rows? {
            match row.get(1) {
                true => held_claims.own.insert(row.get(0)),
                false => held_claims.others.insert(row.get(0)),
            };
        }
        Ok(held_claims)
    }
}

impl HeldClaims {
    /// Whether a claim that was made does not exist any more.
    pub(super) fn is_missing_claim(&self, claims: &Claims) -> bool {
        let instances = claims.changes.iter().map(ToString::to_string);
        let outputs = claims.outputs.iter().map(|name| output_address(name));
        instances.chain(outputs).any(|address| !self.own.contains(&address))
    }
}

/// Deletes the claims of a run that has ended. If its journal remains, because the outcome of a call is
/// unknown or the state could not be stored, the claims remain until another run has taken it over.
pub(super) async fn delete_claims(
    client: &Connection,
    table: &StatesTable,
    workspace: &str,
    run: &str,
) -> Result<(), Cause> {
    // Without the tables no run can have claimed anything.
    if !table.has_own_tables(client).await? {
        return Ok(());
    }
    let statement = format!(
        "DELETE FROM {} WHERE workspace = $1 AND run = $2 AND {}",
        table.own_table_name("formwork_claims"),
        table.journal_ended_condition("$2")
    );
    client.execute(&statement, &[&workspace, &run]).await.map(drop)
}

/// The address of an output among claims.
pub(super) fn output_address(name: &str) -> String {
    format!("output.{name}")
}

impl StateOwnership for HeldClaims {
    fn has_claimed(&self, addr: &InstanceAddr) -> bool {
        self.own.contains(&addr.to_string())
    }

    fn has_claimed_output(&self, name: &str) -> bool {
        self.own.contains(&output_address(name))
    }

    fn is_claimed_by_others(&self, addr: &InstanceAddr) -> bool {
        self.others.contains(&addr.to_string())
    }
}
