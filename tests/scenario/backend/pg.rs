//! States in a table of PostgreSQL, with Terraform on the same server.

use super::both;
use crate::harness::Postgres;

#[test]
fn either_program_goes_on_where_the_other_stopped_over_pg() {
    let Some(server) = Postgres::start() else { return };
    both::take_turns(&|resource| server.config(resource));
    both::locks_exclude(&|resource| server.config(resource));
    both::nothing_is_overwritten(&|resource| server.config(resource));
}

#[test]
fn workspaces_and_outputs_of_pg_are_seen_by_both_programs() {
    let Some(server) = Postgres::start() else { return };
    both::workspaces_are_shared(&|resource| server.config(resource));
    let conn_str = server.conn_str();
    both::outputs_are_read(
        &|resource| server.config(resource),
        &format!("backend = \"pg\"\n  config = {{ conn_str = \"{conn_str}\" }}"),
    );
}
