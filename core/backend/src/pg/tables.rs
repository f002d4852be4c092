//! Formwork's own tables next to Terraform's table of states, which Terraform never uses: journals, claims and
//! the history.

use super::connection::Connection;
use super::{StatesTable, quote_identifier};
use crate::cause::Cause;

/// The first of the two keys of Formwork's advisory locks: "form" in ASCII. Terraform's locks have
/// one key.
pub(super) const ADVISORY_LOCK_CLASS: i32 = 0x666f_726d;

/// A condition on `run`: whether it is active, which the lock that it holds shows.
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
        // `now()` would be the start of the transaction, which may have waited for the lock of
        // another transaction.
        "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace text NOT NULL, lineage text NOT NULL, serial bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), who text NOT NULL, operation text NOT NULL, run text NOT NULL, sum text NOT NULL",
    ),
    (
        "formwork_history_objects",
        "write bigint NOT NULL, workspace text NOT NULL, address text NOT NULL, deposed text NOT NULL, action text NOT NULL, entry text, PRIMARY KEY (workspace, address, deposed, write)",
    ),
];

/// The rights to the tables that an apply requires, and the right to update rows, for later
/// versions.
const OWN_TABLE_RIGHTS: &str = "SELECT, INSERT, UPDATE, DELETE";

/// The availability of the tables to a user.
enum OwnTables {
    /// At least one of them is missing.
    Missing,
    /// They exist, but the user lacks rights.
    Limited {
        /// Whether the user may read them.
        may_read: bool,
        /// The statement that ends the lack.
        grant: String,
    },
    /// They exist, and the user may read and write them.
    Usable,
}

/// The indexes: name, table and columns.
const OWN_INDEXES: [(&str, &str, &str); 3] = [
    ("formwork_claims_by_address", "formwork_claims", "workspace, address"),
    ("formwork_history_by_workspace", "formwork_history", "workspace, id"),
    ("formwork_history_by_write", "formwork_history_objects", "write"),
];

impl StatesTable {
    /// A condition on the journal of a run in the workspace `$1`: that it has ended, or was deleted. An
    /// interrupted deletion may have left records next to the end mark.
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

    /// Formwork's tables as a list in a statement.
    fn own_table_list(&self) -> String {
        let names: Vec<String> =
            OWN_TABLES.iter().map(|(name, _)| self.own_table_name(name)).collect();
        names.join(", ")
    }

    /// Whether Formwork's tables exist, and the user may read and write them.
    pub(super) async fn has_own_tables(&self, client: &Connection) -> Result<bool, Cause> {
        Ok(matches!(self.own_tables(client).await?, OwnTables::Usable))
    }

    /// Whether Formwork's tables exist and can be read.
    ///
    /// # Errors
    /// Returns an error if the user may not read them.
    pub(super) async fn has_readable_own_tables(&self, client: &Connection) -> Result<bool, Cause> {
        match self.own_tables(client).await? {
            OwnTables::Missing => Ok(false),
            OwnTables::Usable | OwnTables::Limited { may_read: true, .. } => Ok(true),
            OwnTables::Limited { grant, .. } => Err(self.lack_of_rights(&grant).into()),
        }
    }

    /// The lack of rights to Formwork's tables, with the statements that end it.
    fn lack_of_rights(&self, statements: &str) -> String {
        format!(
            "The user lacks rights to Formwork's tables in the schema {:?}. Their owner grants them with: {statements}",
            self.schema
        )
    }

    /// The statement that gives the user of a connection the rights to Formwork's tables that an apply needs. Empty
    /// if there are no such tables, or the user has the rights.
    pub(super) async fn missing_own_table_grants(
        &self,
        client: &Connection,
    ) -> Result<String, Cause> {
        Ok(match self.own_tables(client).await? {
            OwnTables::Missing | OwnTables::Usable => String::new(),
            OwnTables::Limited { grant, .. } => grant,
        })
    }

    /// Formwork's tables, as the user of a connection may use them.
    async fn own_tables(&self, client: &Connection) -> Result<OwnTables, Cause> {
        if client.has_own_tables(&self.schema) {
            return Ok(OwnTables::Usable);
        }
        let names: Vec<String> =
            OWN_TABLES.iter().map(|(name, _)| self.own_table_name(name)).collect();
        // `to_regclass` returns null for a missing table, where any other use would fail.
        let query = "SELECT coalesce(bool_and(id IS NOT NULL), false), coalesce(bool_and(has_table_privilege(id, 'SELECT')), false), coalesce(bool_and(has_table_privilege(id, 'INSERT') AND has_table_privilege(id, 'DELETE')), false), quote_ident(current_user) FROM (SELECT to_regclass(name)::oid AS id FROM unnest($1::text[]) name) own";
        let row = client.query_one(query, &[&names]).await?;
        let (are_there, may_read, may_write): (bool, bool, bool) =
            (row.get(0), row.get(1), row.get(2));
        if !are_there {
            return Ok(OwnTables::Missing);
        }
        if may_read && may_write {
            client.set_has_own_tables(&self.schema);
            return Ok(OwnTables::Usable);
        }
        let (tables, user) = (self.own_table_list(), row.get::<_, String>(3));
        let grant = format!("GRANT {OWN_TABLE_RIGHTS} ON {tables} TO {user};");
        Ok(OwnTables::Limited { may_read, grant })
    }

    /// Returns the statements that grant the users of the table of states the required rights to
    /// Formwork's tables: an apply of another user fails or continues without journal and claims if it
    /// lacks them.
    async fn grant_statements(&self, client: &Connection) -> Result<String, Cause> {
        // Without an entry the owner has all rights. The owner can be another user than the creator of our tables.
        let query = "SELECT DISTINCT CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(rolname) END, acl.privilege_type = 'SELECT' FROM pg_class CROSS JOIN LATERAL aclexplode(coalesce(relacl, acldefault('r', relowner))) acl LEFT JOIN pg_roles ON pg_roles.oid = acl.grantee WHERE pg_class.oid = to_regclass($1)::oid AND acl.privilege_type IN ('SELECT', 'INSERT', 'UPDATE') AND (acl.grantee = 0 OR rolname IS NOT NULL) ORDER BY 1, 2";
        let rows = client.query(query, &[&self.name()]).await?;
        let tables = self.own_table_list();
        let grant = |row: &tokio_postgres::Row| {
            let (role, only_reads): (String, bool) = (row.get(0), row.get(1));
            let rights = if only_reads { "SELECT" } else { OWN_TABLE_RIGHTS };
            format!("GRANT {rights} ON {tables} TO {role};")
        };
        Ok(rows.iter().map(grant).collect())
    }

    /// Creates Formwork's tables if they do not exist. Returns the reason if they cannot be
    /// created.
    pub(super) async fn create_own_tables(
        &self,
        client: &Connection,
    ) -> Result<Option<String>, Cause> {
        match self.own_tables(client).await? {
            OwnTables::Usable => return Ok(None),
            OwnTables::Limited { grant, .. } => {
                // A run that may write these tables only could not store its results either.
                let states = self.missing_states_grants(client).await?;
                return Ok(Some(self.lack_of_rights(&format!("{states}{grant}"))));
            }
            OwnTables::Missing => {}
        }
        if self.skip_table {
            return Ok(Some(format!(
                "`skip_table_creation` is set, and the schema {:?} lacks Formwork's tables",
                self.schema
            )));
        }
        // One at a time, because `IF NOT EXISTS` does not prevent conflicts between two processes
        // that create a table concurrently.
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
        statements.push_str(&self.grant_statements(client).await?);
        // One batch is one transaction, so the lock of its first statement is held to its end.
        if client.execute_if_permitted(&statements).await? {
            return Ok(None);
        }
        let schema = &self.schema;
        Ok(Some(format!("The user may not create Formwork's tables in the schema {schema:?}")))
    }

    /// Deletes the rows of a workspace from Formwork's tables.
    pub(super) async fn delete_workspace_rows(
        &self,
        client: &Connection,
        workspace: &str,
    ) -> Result<(), Cause> {
        match self.own_tables(client).await? {
            OwnTables::Missing => return Ok(()),
            OwnTables::Limited { grant, .. } => return Err(self.lack_of_rights(&grant).into()),
            OwnTables::Usable => {}
        }
        for (name, _) in OWN_TABLES {
            let statement =
                format!("DELETE FROM {} WHERE workspace = $1", self.own_table_name(name));
            client.execute(&statement, &[&workspace]).await?;
        }
        Ok(())
    }
}
