//! The table on a separate real PostgreSQL server, with Terraform as the other program.

#[path = "../../../../providers/src/postgresql/tests/installed.rs"]
pub(crate) mod installed;
mod lost_connections;
mod rights;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use formwork_core::state::intent_log::StateAccess;
use formwork_value::{Str, Value};

use self::installed::Installed;
use super::*;
use crate::arguments::BackendEnvironment;
use crate::claims::{ClaimConflict, Claims};
use crate::kinds::find_backend_kind;
use crate::lock::StateLock;

#[expect(clippy::disallowed_methods, reason = "the server is a program")]
fn postgres_command(path: &Path) -> Command {
    Command::new(path)
}

fn start_server() -> Option<Installed> {
    Installed::start(postgres_command, &[], &[])
}

fn new_backend(port: u16) -> Arc<dyn Backend> {
    new_backend_with_variables(port, &[])
}

fn new_backend_with_variables(port: u16, variables: &[(&str, &str)]) -> Arc<dyn Backend> {
    let kind = find_backend_kind("pg").unwrap();
    let conn_str = format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable");
    let arguments = Value::object([(Str::new("conn_str"), Value::string(conn_str))]);
    let values = kind.schema().coerce(&arguments).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment = BackendEnvironment { root: "unused".into(), variables: variables.collect() };
    kind.configure(&BackendArguments { values: &values, environment: &environment }).unwrap()
}

/// Opens a workspace, once the server has started.
async fn open_store(backend: &Arc<dyn Backend>) -> Box<dyn StateStore> {
    while backend.workspaces().await.is_err() {
        tokio::task::yield_now().await;
    }
    backend.open_store(DEFAULT_WORKSPACE).await.unwrap()
}

fn test_state(serial: u64) -> StateFile {
    StateFile { serial, lineage: "one".to_owned(), ..StateFile::new_empty() }
}

#[tokio::test]
async fn a_lock_excludes_other_connections_until_it_is_released() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    let (mut first_store, mut second_store) =
        (open_store(&backend).await, open_store(&backend).await);
    // Without a row the creation key is acquired, and with a row its id.
    for _ in 0..2 {
        let lock = first_store.try_lock("test").await.unwrap();
        let error = second_store.try_lock("test").await.unwrap_err();
        assert!(matches!(error, StoreError::Held { .. }), "{error:?}");
        first_store.unlock(lock).await.unwrap();
        let lock = second_store.try_lock("test").await.unwrap();
        second_store.unlock(lock).await.unwrap();
        first_store.overwrite(test_state(1)).await.unwrap();
    }
}

/// A session besides those of the stores.
async fn connect_directly(port: u16) -> tokio_postgres::Client {
    let address = format!("host=127.0.0.1 port={port} user=postgres dbname=postgres");
    let (client, connection) =
        tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn a_connection_is_used_again_unless_something_failed_on_it() {
    let Some(server) = start_server() else { return };
    drop(open_store(&new_backend(server.port)).await);
    let text = format!("postgres://other@127.0.0.1:{}/postgres?sslmode=disable", server.port);
    let direct_client = connect_directly(server.port).await;
    direct_client.batch_execute("CREATE ROLE other LOGIN").await.unwrap();
    let target = ConnectTarget::parse_conn_str(&text, |_| None).unwrap();
    let session_of = async |client: &Connection| -> i32 {
        client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0)
    };
    let first_connection = target.connect().await.unwrap();
    let session = session_of(&first_connection).await;
    idle_connections::keep_idle_connection(&target, first_connection);
    let again = target.connect().await.unwrap();
    assert_eq!(session_of(&again).await, session);
    let error = again.query("SELECT nothing", &[]).await.unwrap_err().to_string();
    assert!(error.starts_with("SELECT nothing: column \"nothing\" does not exist"), "{error}");
    idle_connections::keep_idle_connection(&target, again);
    let another = target.connect().await.unwrap();
    assert_ne!(session_of(&another).await, session);
}

#[tokio::test]
async fn a_lock_ends_with_the_store_that_holds_it() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    let mut first_store = open_store(&backend).await;
    let _lock = first_store.try_lock("test").await.unwrap();
    // From a separate connection, because the same connection can acquire the lock twice.
    let direct_client = connect_directly(server.port).await;
    let n_locks = async || -> i64 {
        let count = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
        direct_client.query_one(count, &[]).await.unwrap().get(0)
    };
    assert_ne!(n_locks().await, 0);
    drop(first_store);
    // The server may take a moment to detect the end of the connection.
    while n_locks().await != 0 {
        tokio::task::yield_now().await;
    }
    drop(open_store(&backend).await.try_lock("test").await.unwrap());
}

#[tokio::test]
async fn a_creation_key_that_is_briefly_held_is_waited_for() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    let mut store = open_store(&backend).await;
    let direct_client = connect_directly(server.port).await;
    let started = "SELECT query_start::text FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%advisory%'";
    // Without a row, with one exclusively, and shared.
    for operation in ["test", "test", "OperationTypeApply"] {
        direct_client.batch_execute("SELECT pg_advisory_lock(-1)").await.unwrap();
        let release = async {
            // The first attempt sends at most four messages. Each has a timeout.
            let mut times = BTreeSet::new();
            while times.len() < 5 {
                let rows = direct_client.query(started, &[]).await.unwrap();
                times.extend(rows.iter().map(|row| row.get::<_, String>(0)));
            }
            direct_client.batch_execute("SELECT pg_advisory_unlock(-1)").await.unwrap();
            Ok::<(), StoreError>(())
        };
        let (lock, ()) = tokio::try_join!(store.try_lock(operation), release).unwrap();
        store.unlock(lock).await.unwrap();
        store.overwrite(test_state(1)).await.unwrap();
    }
    // A run that creates a state of the database excludes all others.
    direct_client.batch_execute("SELECT pg_advisory_lock(-1)").await.unwrap();
    let error = store.try_lock("test").await.unwrap_err();
    assert!(matches!(error, StoreError::Held { .. }), "{error:?}");
    let detail = store.force_unlock("any").await.unwrap_err().diagnostic().detail.to_string();
    assert!(detail.contains("session ") && detail.contains("pg_terminate_backend"), "{detail}");
}

#[tokio::test]
async fn sessions_in_other_databases_hold_no_lock_of_a_state() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    let mut store = open_store(&backend).await;
    store.overwrite(test_state(1)).await.unwrap();
    let direct_client = connect_directly(server.port).await;
    direct_client.batch_execute("CREATE DATABASE other").await.unwrap();
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=other", server.port);
    let (direct_client, connection) =
        tokio_postgres::connect(&address, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    direct_client
        .batch_execute("SELECT pg_advisory_lock(id) FROM generate_series(-1, 9) id")
        .await
        .unwrap();
    store.force_unlock("any").await.unwrap();
    let lock = store.try_lock("test").await.unwrap();
    store.unlock(lock).await.unwrap();
}

#[tokio::test]
async fn a_state_that_another_program_changed_is_not_overwritten() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    let (mut first_store, mut second_store) =
        (open_store(&backend).await, open_store(&backend).await);
    assert_eq!(first_store.read().await.unwrap(), None);
    first_store.overwrite(test_state(1)).await.unwrap();
    assert_eq!(second_store.read().await.unwrap().unwrap().serial, 1);
    first_store.overwrite(test_state(2)).await.unwrap();
    let mut own_file = test_state(1);
    own_file.check_results = Some(b"[\"x\"]".to_vec().into());
    let error = second_store.write(&mut own_file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");
    assert_eq!(first_store.read().await.unwrap().unwrap().serial, 2);
}

#[tokio::test]
async fn workspaces_are_rows() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    drop(open_store(&backend).await);
    backend.create_workspace("b").await.unwrap();
    assert!(matches!(backend.create_workspace("b").await, Err(WorkspaceError::Exists(_))));
    assert_eq!(backend.workspaces().await.unwrap(), ["default", "b"]);
    assert!(backend.open_store("b").await.unwrap().read().await.unwrap().is_some());
    backend.delete_workspace("b").await.unwrap();
    assert!(matches!(backend.delete_workspace("b").await, Err(WorkspaceError::Missing(_))));
    assert!(matches!(backend.delete_workspace("default").await, Err(WorkspaceError::Default)));
}

#[tokio::test]
async fn a_server_that_accepts_and_never_answers_times_out() {
    // The system accepts connections for a listener that never does.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let backend = new_backend_with_variables(port, &[("PGCONNECT_TIMEOUT", "1")]);
    let mut store = backend.open_store(DEFAULT_WORKSPACE).await.unwrap();
    let error = store.read().await.unwrap_err().to_string();
    for expected in [
        "cannot read postgres://127.0.0.1:",
        "connecting: the server did not respond within 1 seconds",
        "`connect_timeout` in conn_str sets another limit",
    ] {
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_statement_without_an_answer_ends_at_its_limit_and_the_next_one_has_a_new_connection() {
    let Some(server) = start_server() else { return };
    let backend =
        new_backend_with_variables(server.port, &[("FORMWORK_PG_STATEMENT_TIMEOUT", "1")]);
    let mut store = open_store(&backend).await;
    store.overwrite(test_state(1)).await.unwrap();
    let direct_client = connect_directly(server.port).await;
    let lock = "BEGIN; LOCK TABLE terraform_remote_state.states IN ACCESS EXCLUSIVE MODE";
    direct_client.batch_execute(lock).await.unwrap();
    let error = store.read().await.unwrap_err().to_string();
    for expected in [
        "cannot read postgres://127.0.0.1:",
        "SELECT data FROM \"terraform_remote_state\".states WHERE name = $1: the server did not respond within 1 seconds",
        "FORMWORK_PG_STATEMENT_TIMEOUT sets another limit",
    ] {
        assert!(error.contains(expected), "{error}");
    }
    // The same holds for a statement in a transaction, and the transaction is rolled back.
    let error = store.overwrite(test_state(2)).await.unwrap_err().to_string();
    for expected in ["cannot write postgres://127.0.0.1:", "did not respond within 1 seconds"] {
        assert!(error.contains(expected), "{error}");
    }
    direct_client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(store.read().await.unwrap().unwrap().serial, 1);
    store.overwrite(test_state(3)).await.unwrap();
    assert_eq!(store.read().await.unwrap().unwrap().serial, 3);
}

/// The claims of a run on one instance.
fn claims_of_run(run: &str) -> Claims {
    let changes = BTreeSet::from(["t.a".parse().unwrap()]);
    Claims { run: run.to_owned(), changes, ..Claims::default() }
}

/// A store that holds the lock in shared mode, and has read the state.
async fn open_locked_for_apply(backend: &Arc<dyn Backend>) -> Box<dyn StateStore> {
    let mut store = open_store(backend).await;
    // The connections of the store hold the lock.
    drop(store.try_lock("OperationTypeApply").await.unwrap());
    store.read().await.unwrap();
    assert_eq!(store.state_access(), StateAccess::Shared);
    store
}

#[tokio::test]
async fn claims_stay_until_the_journal_of_their_run_has_ended() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(test_state(1)).await.unwrap();
    let mut first_store = open_locked_for_apply(&backend).await;
    first_store.claim_changes(claims_of_run("first")).await.unwrap();
    let client = connect_directly(server.port).await;
    let write = async |part: i64, data: &str| {
        let statement = format!(
            "INSERT INTO terraform_remote_state.formwork_journal VALUES ('default', 'first', {part}, '{data}')"
        );
        client.batch_execute(&statement).await.unwrap();
    };
    write(0, "r").await;
    // The first run is lost with its connections.
    drop(first_store);
    let mut second_store = open_locked_for_apply(&backend).await;
    let error = second_store.claim_changes(claims_of_run("second")).await.unwrap_err();
    let StoreError::Conflict(conflict) = &error else { panic!("{error:?}") };
    let ClaimConflict::Claimed(claims) = &**conflict else { panic!("{conflict:?}") };
    let [claim] = &claims[..] else { panic!("{claims:?}") };
    assert_eq!(
        (claim.address.as_str(), claim.run.as_str(), claim.is_live),
        ("t.a", "first", false)
    );
    // A run that has taken it over has its claims.
    let mut third_store = open_locked_for_apply(&backend).await;
    third_store.adopt_claims_of_runs(BTreeSet::from(["first".to_owned()]));
    third_store.claim_changes(claims_of_run("third")).await.unwrap();
    let lock = third_store.try_lock("OperationTypeApply").await.unwrap();
    third_store.unlock(lock).await.unwrap();
    // The deletion of its journal was interrupted after the end mark.
    write(7, "e").await;
    second_store.claim_changes(claims_of_run("second")).await.unwrap();
}

/// A state with one instance with the given id.
fn state_with_object(serial: u64, id: &str) -> StateFile {
    let text = format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"one","outputs":{{}},"resources":[{{"mode":"managed","type":"t","name":"a","provider":"provider[\"example.com/acme/t\"]","instances":[{{"schema_version":0,"attributes":{{"id":"{id}"}}}}]}}]}}"#
    );
    StateFile::parse(text.as_bytes()).unwrap()
}

#[tokio::test]
async fn an_object_that_a_run_without_a_lock_has_stored_is_not_overwritten() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(state_with_object(1, "old")).await.unwrap();
    let mut claiming = open_locked_for_apply(&backend).await;
    claiming.claim_changes(claims_of_run("claiming")).await.unwrap();
    let mut lockless = open_store(&backend).await;
    lockless.read().await.unwrap();
    lockless.write(&mut state_with_object(1, "theirs")).await.unwrap();
    let error = claiming.write(&mut state_with_object(1, "ours")).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");
    let stored_file = lockless.read().await.unwrap().unwrap();
    assert!(stored_file.has_same_content(&state_with_object(2, "theirs")), "{stored_file:?}");
    // The connection and its lock can be used after the transaction is rolled back.
    assert_eq!(claiming.state_access(), StateAccess::Shared);
    assert_eq!(claiming.read().await.unwrap().unwrap().serial, 2);
    claiming.write(&mut state_with_object(2, "ours")).await.unwrap();
    assert_eq!(lockless.read().await.unwrap().unwrap().serial, 3);
}

#[tokio::test]
async fn a_plan_for_an_earlier_state_is_refused_only_if_its_parts_were_changed_since() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(state_with_object(1, "old")).await.unwrap();
    let planned = |run: &str| Claims {
        planned_on: Some(Box::new(state_with_object(1, "old").state)),
        ..claims_of_run(run)
    };
    let mut first_store = open_locked_for_apply(&backend).await;
    first_store.claim_changes(planned("first")).await.unwrap();
    first_store.write(&mut state_with_object(1, "new")).await.unwrap();
    first_store.unlock(StateLock::new(String::new())).await.unwrap();
    let mut second_store = open_locked_for_apply(&backend).await;
    let error = second_store.claim_changes(planned("second")).await.unwrap_err();
    let text = error.diagnostic().detail.to_string();
    for expected in ["t.a: by ", ", serial 2, in the run first"] {
        assert!(text.contains(expected), "{text}");
    }
    // A claim that was made since then is not.
    second_store.claim_changes(claims_of_run("second")).await.unwrap();
}
