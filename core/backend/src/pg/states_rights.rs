//! The rights of a user to the table of states. An apply needs them before its first change: without them its results
//! could not be stored, and the next run would create the same objects again.

use super::StatesTable;
use super::connection::Connection;
use crate::cause::Cause;

impl StatesTable {
    /// Returns the statements that grant the user of a connection the missing rights to write the table of states, or
    /// an empty string if no right is missing.
    pub(super) async fn missing_states_grants(&self, client: &Connection) -> Result<String, Cause> {
        // The number of a row comes from a sequence, which has rights of its own. `CASE` prevents the server from
        // checking sequence rights of another kind of relation, which is an error.
        let query = "WITH states AS (SELECT to_regclass($1)::oid AS id) SELECT coalesce(has_any_column_privilege(id, 'SELECT') AND has_any_column_privilege(id, 'INSERT') AND has_any_column_privilege(id, 'UPDATE'), true), (SELECT string_agg(DISTINCT format('%I.%I', nspname, relname), ', ') FROM pg_attrdef def JOIN pg_depend dep ON dep.classid = 'pg_attrdef'::regclass AND dep.objid = def.oid AND dep.refclassid = 'pg_class'::regclass JOIN pg_class seq ON seq.oid = dep.refobjid JOIN pg_namespace ON pg_namespace.oid = seq.relnamespace WHERE def.adrelid = states.id AND CASE WHEN seq.relkind = 'S' THEN NOT has_sequence_privilege(seq.oid, 'USAGE, UPDATE') ELSE false END), quote_ident(current_user) FROM states";
        let row = client.query_one(query, &[&self.name()]).await?;
        let (may_write, sequences): (bool, Option<String>) = (row.get(0), row.get(1));
        let user: String = row.get(2);
        let mut statements = String::new();
        if !may_write {
            let states = self.name();
            statements.push_str(&format!("GRANT SELECT, INSERT, UPDATE ON {states} TO {user};"));
        }
        if let Some(sequences) = sequences {
            statements.push_str(&format!("GRANT USAGE ON SEQUENCE {sequences} TO {user};"));
        }
        Ok(statements)
    }

    /// Checks that the user of a connection may write the table of states.
    ///
    /// # Errors
    /// Returns an error if a right is missing, with the statements that grant all rights that an apply needs.
    pub(super) async fn check_states_are_writable(&self, client: &Connection) -> Result<(), Cause> {
        let mut statements = self.missing_states_grants(client).await?;
        if statements.is_empty() {
            return Ok(());
        }
        statements.push_str(&self.missing_own_table_grants(client).await?);
        let states = self.name();
        Err(format!("The user lacks rights to write the table {states}, so the results of a run could not be stored. The owner of the table grants them with: {statements}").into())
    }
}
