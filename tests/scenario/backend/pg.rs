//! States in a table of PostgreSQL, with Terraform on the same server.

use super::shared_scripts;
use crate::harness::{Postgres, Workdir};

#[test]
fn either_program_continues_after_the_other_over_pg() {
    let Some(server) = Postgres::start() else { return };
    shared_scripts::alternate_programs(&|resource| server.config(resource));
    shared_scripts::locks_exclude_a_command(
        &|resource| server.config(resource),
        "apply -auto-approve",
    );
    shared_scripts::nothing_is_overwritten(&|resource| server.config(resource));
}

#[test]
fn workspaces_and_outputs_of_pg_are_seen_by_both_programs() {
    let Some(server) = Postgres::start() else { return };
    shared_scripts::workspaces_are_shared(&|resource| server.config(resource));
    let conn_str = server.conn_str();
    shared_scripts::outputs_are_read(
        &|resource| server.config(resource),
        &format!("backend = \"pg\"\n  config = {{ conn_str = \"{conn_str}\" }}"),
    );
}

#[test]
fn states_over_pg_are_encrypted() {
    let Some(server) = Postgres::start() else { return };
    shared_scripts::states_are_encrypted(
        &|resource| server.config(resource),
        shared_scripts::encrypting_turns(),
    );
    shared_scripts::new_workspaces_are_encrypted(
        &|resource| server.config(resource),
        shared_scripts::encrypting_turns(),
    );
}

#[test]
fn a_server_that_never_responds_is_reported_after_a_timeout() {
    // The system accepts for a listener that never does.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    let conn_str = format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable&connect_timeout=2");
    let config =
        format!("terraform {{\n  backend \"pg\" {{\n    conn_str = \"{conn_str}\"\n  }}\n}}");
    let result = Workdir::new(&config).formwork("init").run();
    result
        .code(1)
        .says(&format!("Waiting to list the workspaces in postgres://127.0.0.1:{port}/d"))
        .says("connecting: the server did not respond within 2 seconds")
        .says("`connect_timeout` in conn_str sets another limit");
}

#[test]
fn a_user_without_rights_to_the_journals_plans_with_a_warning_and_changes_nothing() {
    let Some(server) = Postgres::start() else { return };
    let config = server.config("resource \"terraform_data\" \"a\" {\n}\n");
    let first = Workdir::new(&config);
    first.formwork("init").succeed();
    first.formwork("apply -auto-approve").succeed();
    // A user that existed before the first apply would have got the rights.
    server.execute("CREATE ROLE late LOGIN; GRANT USAGE ON SCHEMA terraform_remote_state TO late; GRANT SELECT, INSERT, UPDATE, DELETE ON terraform_remote_state.states TO late");
    let late = Workdir::new(&config.replace("postgres://postgres@", "postgres://late@"));
    late.formwork("init").succeed();
    let grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON";
    late.formwork("plan -detailed-exitcode").run().code(0).says("No changes").says(grant);
    let refused = late.formwork("apply -auto-approve -replace=terraform_data.a").run();
    refused.code(1).says("Failed to take over the journal").says(grant);
    first.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}
