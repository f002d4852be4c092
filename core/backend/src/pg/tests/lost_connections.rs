//! Connections that are cut at any byte: the run continues with another connection, and does
//! nothing twice.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use formwork_core::state::intent_log::StateAccess;

use super::{
    claims_of_run, connect_directly, new_backend, open_locked_for_apply, open_store, start_server,
    state_with_object, test_state,
};
use crate::journals::{AppendOutcome, JournalStore};
use crate::lock::StateLock;
use crate::pg::connect::ConnectTarget;
use crate::pg::journals::PgJournals;
use crate::pg::{PgStore, StatesTable};
use crate::store::StateStore;

/// A position to cut at: after so many bytes to the server (0) or to the client (1).
#[derive(Clone, Copy, Debug)]
struct Cut {
    direction: usize,
    position: usize,
}

/// A proxy that cuts one connection, and forwards all others.
struct CuttingProxy {
    port: u16,
    /// The numbers of bytes for the server and for the client.
    n_bytes: Arc<[AtomicUsize; 2]>,
}

impl CuttingProxy {
    fn start(server: u16, cut: Option<Cut>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let n_bytes: Arc<[AtomicUsize; 2]> = Arc::default();
        let count = n_bytes.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(end) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                for direction in 0..2 {
                    let (client, end) = (client.try_clone().unwrap(), end.try_clone().unwrap());
                    let count = count.clone();
                    std::thread::spawn(move || match direction {
                        0 => pass(&client, &end, &count[0], cut.filter(|cut| cut.direction == 0)),
                        _ => pass(&end, &client, &count[1], cut.filter(|cut| cut.direction == 1)),
                    });
                }
            }
        });
        Self { port, n_bytes }
    }

    fn byte_count(&self, direction: usize) -> usize {
        self.n_bytes[direction].load(Ordering::SeqCst)
    }
}

/// Forwards bytes until one side ends or the connection is cut.
fn pass(
    mut source: &TcpStream,
    mut destination: &TcpStream,
    count: &AtomicUsize,
    cut: Option<Cut>,
) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = source.read(&mut buffer) {
        let before = count.fetch_add(n, Ordering::SeqCst);
        // The bytes of all connections are counted, so only one of them is cut.
        let cut = cut.filter(|cut| (before..before + n).contains(&cut.position));
        let n = cut.map_or(n, |cut| cut.position - before);
        if destination.write_all(&buffer[..n]).is_err() || cut.is_some() {
            break;
        }
    }
    // A side that is already closed cannot be shut down.
    source.shutdown(Shutdown::Both).ok();
    destination.shutdown(Shutdown::Both).ok();
}

/// The table of states for a user.
pub(super) fn states_table(user: &str, port: u16) -> StatesTable {
    let text = format!("postgres://{user}@127.0.0.1:{port}/postgres?sslmode=disable");
    StatesTable {
        target: ConnectTarget::parse_conn_str(&text, |_| None).unwrap(),
        schema: "terraform_remote_state".to_owned(),
        skip_schema: false,
        skip_table: false,
        skip_index: false,
    }
}

/// Makes the calls of an apply on the state of a workspace. Its run has the same name.
async fn apply_through(port: u16, operation: &str, run: &str) {
    let table = states_table("postgres", port);
    let journals = PgJournals::new(table.clone(), run);
    let mut store = PgStore::new(table, run);
    let lock = store.try_lock(operation).await.unwrap();
    let serial = store.read().await.unwrap().map_or(0, |file| file.serial);
    assert!(journals.read_runs(store.state_access()).await.unwrap().is_empty());
    assert_eq!(journals.begin_run(run).await.unwrap(), None);
    let stored = Ok(AppendOutcome::Stored);
    let append = async |number: u64, bytes: &[u8]| {
        journals.append_part(run, number, bytes).await.map_err(|error| error.to_string())
    };
    assert_eq!(append(0, b"r").await, stored);
    store.claim_changes(claims_of_run(run)).await.unwrap();
    store.write(&mut state_with_object(serial, "new")).await.unwrap();
    assert_eq!(append(1, b"e").await, stored);
    journals.remove_parts_below(run, 2).await.unwrap();
    store.unlock(lock).await.unwrap();
}

#[tokio::test]
async fn a_run_survives_a_lost_connection_at_any_point_without_repeating_work() {
    const N_CUTS: usize = 8;
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    drop(open_store(&backend).await);
    let direct_client = connect_directly(server.port).await;
    // In shared mode with an existing row, and exclusively with one that is created.
    for (operation, first_serial) in [("OperationTypeApply", Some(1)), ("test", None)] {
        let mut totals = [0; 2];
        let cuts = (0..N_CUTS).flat_map(|n| [(0_usize, n), (1, n)]).map(Some);
        // The very first run creates the tables, so the second one counts the bytes.
        for (number, cut) in [None, None].into_iter().chain(cuts).enumerate() {
            let run = format!("{operation}-{number}");
            let mut store = backend.open_store(&run).await.unwrap();
            if let Some(serial) = first_serial {
                store.overwrite(state_with_object(serial, "old")).await.unwrap();
            }
            let cut = cut.map(|(direction, n): (usize, usize)| {
                // In the middle of each of the given number of parts.
                let total: usize = totals[direction];
                Cut { direction, position: total * (2 * n + 1) / (2 * N_CUTS) }
            });
            let proxy = CuttingProxy::start(server.port, cut);
            apply_through(proxy.port, operation, &run).await;
            match cut {
                Some(cut) => assert!(proxy.byte_count(cut.direction) > cut.position, "{cut:?}"),
                None => totals = [0, 1].map(|direction| proxy.byte_count(direction)),
            }
            let stored_file = store.read().await.unwrap().unwrap();
            let expected = state_with_object(first_serial.unwrap_or(0) + 1, "new");
            assert!(stored_file.has_same_content(&expected), "{run}, {cut:?}: {stored_file:?}");
            assert_eq!(stored_file.serial, expected.serial, "{run}, {cut:?}");
            let schema = "terraform_remote_state";
            let query = format!(
                "SELECT (SELECT count(*) FROM {schema}.formwork_history WHERE run = $1), (SELECT count(*) FROM {schema}.formwork_claims WHERE run = $1), (SELECT count(*) FROM {schema}.formwork_journal WHERE run = $1)"
            );
            let rows = direct_client.query_one(query.as_str(), &[&run]).await.unwrap();
            let rows: [i64; 3] = [rows.get(0), rows.get(1), rows.get(2)];
            assert_eq!(rows, [1, 0, 0], "{run}, {cut:?}: writes, claims and parts");
        }
    }
}

/// Ends the sessions of Formwork.
const END_SESSIONS: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'formwork'";

#[tokio::test]
async fn a_lost_lock_is_retaken_unless_another_process_has_taken_it() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(test_state(1)).await.unwrap();
    let direct_client = connect_directly(server.port).await;
    let mut changed = test_state(1);
    changed.check_results = Some(b"[\"x\"]".to_vec().into());
    let mut holder = open_store(&backend).await;
    let _lock = holder.try_lock("test").await.unwrap();
    holder.read().await.unwrap();
    // The other session waits until the server has detected the end.
    let take = "SELECT pg_advisory_lock(id) FROM terraform_remote_state.states";
    direct_client.batch_execute(&format!("{END_SESSIONS}; {take}")).await.unwrap();
    let error = holder.write(&mut changed.clone()).await.unwrap_err().to_string();
    assert!(error.contains("another process holds the lock now: session "), "{error}");
    direct_client.batch_execute("SELECT pg_advisory_unlock_all()").await.unwrap();
    holder.write(&mut changed.clone()).await.unwrap();
    let end = format!("{END_SESSIONS}; {take}; SELECT pg_advisory_unlock_all()");
    direct_client.batch_execute(&end).await.unwrap();
    let replace = "UPDATE terraform_remote_state.states SET data = data || ' '";
    direct_client.batch_execute(replace).await.unwrap();
    let error = holder.write(&mut test_state(2)).await.unwrap_err().to_string();
    assert!(error.contains("another process has changed the state since"), "{error}");
}

#[tokio::test]
async fn a_failed_unlock_is_reported_with_the_end_of_the_lock_and_no_command() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(test_state(1)).await.unwrap();
    let mut store = open_locked_for_apply(&backend).await;
    store.claim_changes(claims_of_run("one")).await.unwrap();
    let direct_client = connect_directly(server.port).await;
    direct_client.batch_execute("DROP TABLE terraform_remote_state.formwork_claims").await.unwrap();
    let error = store.unlock(StateLock::new(String::new())).await.unwrap_err();
    let text = error.diagnostic().detail.to_string();
    assert!(text.contains("DELETE FROM \"terraform_remote_state\".formwork_claims"), "{text}");
    assert!(text.contains("the lock ends with the connection of this command"), "{text}");
    assert!(!text.contains("force-unlock"), "{text}");
}

#[tokio::test]
async fn a_lock_that_has_ended_with_its_server_is_released() {
    let Some(server) = start_server() else { return };
    let backend = new_backend(server.port);
    open_store(&backend).await.overwrite(test_state(1)).await.unwrap();
    let mut store = open_locked_for_apply(&backend).await;
    store.claim_changes(claims_of_run("one")).await.unwrap();
    drop(server);
    store.unlock(StateLock::new(String::new())).await.unwrap();
    assert_eq!(store.state_access(), StateAccess::ReadOnly);
}
