//! The tables of Formwork beside Terraform's table of states, which Terraform never looks at: journals, claims and
//! the history.

use super::connection::Connection;
use super::{StatesTable, quote_identifier};
use crate::cause::Cause;

/// The first of the two keys of Formwork's advisory locks: "form" in ASCII. Terraform's have one key.
pub(super) const ADVISORY_LOCK_CLASS: i32 = 0x666f_726d;

/// A condition on `run`: whether it goes on, which the lock that it holds shows.
pub(super) const IS_LIVE_CONDITION: &str = "EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND classid::bigint = 1718579821 AND objid::bigint = (hashtext(run)::bigint & 4294967295))";

/// The tables, and their columns.
const OWN_TABLES: [(&str, &str); 4] = [
    (
        "formwork_journal",
        "workspace text NOT NULL, run text NOT NULL, part bigint NOT NULL, data bytea NOT NULL, written timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (workspace, run, part)",
    ),
    (
        "formwork_claims",
        "workspace text NOT NULL, run text NOT NULL, address text NOT NULL, resource text NOT NULL, changes boolean NOT NULL, who text NOT NULL, since timestamptz NOT NULL DEFAULT now()",
    ),
    (
        "formwork_history",
        // `now()` would be the start of the transaction, which may have waited for another one's
        // lock.
        "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace text NOT NULL, lineage text NOT NULL, serial bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), who text NOT NULL, operation text NOT NULL, run text NOT NULL, sum text NOT NULL",
    ),
    (
        "formwork_history_objects",
        "write bigint NOT NULL, workspace text NOT NULL, address text NOT NULL, deposed text NOT NULL, action text NOT NULL, entry text, PRIMARY KEY (workspace, address, deposed, write)",
    ),
];

/// The indexes: name, table and columns.
const OWN_INDEXES: [(&str, &str, &str); 3] = [
    ("formwork_claims_by_address", "formwork_claims", "workspace, address"),
    ("formwork_history_by_workspace", "formwork_history", "workspace, id"),
    ("formwork_history_by_write", "formwork_history_objects", "write"),
];

impl StatesTable {
    /// A condition on the journal of a run in the workspace `$1`: that it has ended, or is gone. A removal
    /// that was cut off may have left records beside the mark of the end.
    pub(super) fn journal_ended_condition(&self, run: &str) -> String {
        let journal = self.own_table_name("formwork_journal");
        format!(
            "(NOT EXISTS (SELECT FROM {journal} part WHERE part.workspace = $1 AND part.run = {run}) OR EXISTS (SELECT FROM {journal} part WHERE part.workspace = $1 AND part.run = {run} AND get_byte(part.data, 0) = 101))"
        )
    }

    /// The name of one of Formwork's tables in a statement.
    pub(super) fn own_table_name(&self, name: &str) -> String {
        format!("{}.{name}", quote_identifier(&self.schema))
    }

    /// Whether Formwork's tables are there.
    pub(super) async fn has_own_tables(&self, client: &Connection) -> Result<bool, Cause> {
        if client.has_own_tables(&self.schema) {
            return Ok(true);
        }
        let names: Vec<String> =
            OWN_TABLES.iter().map(|(name, _)| self.own_table_name(name)).collect();
        // `to_regclass` returns null for a table that is missing, where any use of it would fail.
        let query = "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest($1::text[]) name";
        let row = client.query_one(query, &[&names]).await?;
        let has_own = row.get::<_, Option<bool>>(0).unwrap_or(false);
        if has_own {
            client.set_has_own_tables(&self.schema);
        }
        Ok(has_own)
    }

    /// Makes Formwork's tables that are not there. Returns the reason if they cannot be made.
    pub(super) async fn create_own_tables(
        &self,
        client: &Connection,
    ) -> Result<Option<String>, Cause> {
        if self.has_own_tables(client).await? {
            return Ok(None);
        }
        if self.skip_table {
            return Ok(Some(format!(
                "`skip_table_creation` is set, and the schema {:?} lacks Formwork's tables",
                self.schema
            )));
        }
        // One at a time: `IF NOT EXISTS` alone does not stop two processes that make one at once.
        let mut statements = format!("SELECT pg_advisory_xact_lock({ADVISORY_LOCK_CLASS}, 0);");
        for (name, columns) in OWN_TABLES {
            let name = self.own_table_name(name);
            statements.push_str(&format!("CREATE TABLE IF NOT EXISTS {name} ({columns});"));
        }
        // Compressing takes the server longer than writing, and a part is read once at most.
        let journal = self.own_table_name("formwork_journal");
        statements.push_str(&format!("ALTER TABLE {journal} ALTER data SET STORAGE EXTERNAL;"));
        for (name, table, columns) in OWN_INDEXES {
            let table = self.own_table_name(table);
            statements
                .push_str(&format!("CREATE INDEX IF NOT EXISTS {name} ON {table} ({columns});"));
        }
        // One batch is one transaction, so the lock of its first statement lasts to its end.
        if client.execute_if_permitted(&statements).await? {
            return Ok(None);
        }
        let schema = &self.schema;
        Ok(Some(format!("The user may not make Formwork's tables in the schema {schema:?}")))
    }

    /// Removes what Formwork's tables have of a workspace.
    pub(super) async fn delete_workspace_rows(
        &self,
        client: &Connection,
        workspace: &str,
    ) -> Result<(), Cause> {
        if !self.has_own_tables(client).await? {
            return Ok(());
        }
        for (name, _) in OWN_TABLES {
            let statement =
                format!("DELETE FROM {} WHERE workspace = $1", self.own_table_name(name));
            client.execute(&statement, &[&workspace]).await?;
        }
        Ok(())
    }
}
