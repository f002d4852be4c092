//! Journals in a table of a real PostgreSQL server: each directory is a machine, and a lost machine is a
//! directory that is deleted.

use std::path::Path;
use std::process::Command;

use formwork_core::addr::{InstanceAddr, ProviderConfigAddr};
use formwork_core::state::journal::{CallAction, Intent, OperationId, ProviderAnswer};
use formwork_value::{Str, Type, Value};
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use super::*;
use crate::arguments::{BackendArguments, BackendEnvironment};
use crate::kinds::find_backend_kind;
use crate::pg::tests::installed::Installed;
use crate::{Backend, DEFAULT_WORKSPACE, StateStore};

#[expect(clippy::disallowed_methods, reason = "the server is a program")]
fn postgres_command(path: &Path) -> Command {
    Command::new(path)
}

/// A machine with a directory.
struct TestMachine {
    directory: TempDir,
    backend: Arc<dyn Backend>,
    intents: Arc<dyn IntentLog>,
}

impl TestMachine {
    fn new(server: &Installed) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let kind = find_backend_kind("pg").unwrap();
        let conn_str =
            format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", server.port);
        let given = Value::object([(Str::new("conn_str"), Value::string(conn_str))]);
        let values = kind.schema().coerce(&given).unwrap();
        let (root, variables) = (directory.path().to_owned(), BTreeMap::new());
        let environment = BackendEnvironment { root, variables };
        let arguments = BackendArguments { values: &values, environment: &environment };
        let backend = kind.configure(&arguments).unwrap();
        let intents = backend.intent_log(DEFAULT_WORKSPACE);
        Self { directory, backend, intents }
    }

    /// The store, once the server has started.
    async fn open_store(&self) -> Box<dyn StateStore> {
        while self.backend.workspaces().await.is_err() {
            tokio::task::yield_now().await;
        }
        self.backend.open_store(DEFAULT_WORKSPACE).await.unwrap()
    }

    async fn begin_run(&self, base: &StateFile) -> Journal {
        let header = RunHeader { operation: "OperationTypeApply", base, read_from: None };
        self.intents.begin_run(header).await.unwrap()
    }

    /// Takes over the journals of the given number of runs.
    async fn recover_runs(&self, n_runs: usize) -> Recovery {
        self.recover_runs_into(None, n_runs).await
    }

    async fn recover_runs_into(&self, stored: Option<StateFile>, n_runs: usize) -> Recovery {
        let recovery = self.intents.recover_runs(stored, StateAccess::Locked).await.unwrap();
        assert_eq!(recovery.runs.len(), n_runs);
        recovery
    }
}

const PROVIDER: &str = "provider[\"example.com/acme/t\"]";

/// A call that creates an object.
fn create_intent<'a>(addr: &'a InstanceAddr, provider: &'a ProviderConfigAddr) -> Intent<'a> {
    const PLANNED: &Value = &Value::Null(Type::Dynamic);
    let (action, planned) = (CallAction::Create, PLANNED);
    Intent { addr, provider, deposed: None, deposes: None, action, prior: None, planned }
}

async fn announce_creation(journal: &Journal, name: &str) -> Result<OperationId, JournalError> {
    let (addr, provider): (InstanceAddr, ProviderConfigAddr) =
        (format!("t.{name}").parse().unwrap(), PROVIDER.parse().unwrap());
    journal.announce_operation(create_intent(&addr, &provider)).await
}

fn unresolved_addresses(recovery: &Recovery) -> Vec<String> {
    recovery.unresolved.iter().map(|operation| operation.addr.to_string()).collect()
}

/// Ends the sessions that hold the lock of a run.
const END_SESSIONS: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2";

/// Runs a statement. Returns the first value of the first row.
async fn run_sql(server: &Installed, statement: &str) -> String {
    let address = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", server.port);
    let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(connection);
    let answers = client.simple_query(statement).await.unwrap();
    let mut values = answers.iter().filter_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    values.next().unwrap_or_default()
}

fn start_server() -> Option<Installed> {
    Installed::start(postgres_command, &[], &[])
}

#[tokio::test]
async fn the_run_of_a_lost_machine_is_taken_over_by_another_machine() {
    let Some(server) = start_server() else { return };
    let [lost, second, third] = [0; 3].map(|_| TestMachine::new(&server));
    lost.open_store().await;
    let journal = lost.begin_run(&StateFile::new_empty()).await;
    let settled = announce_creation(&journal, "settled").await.unwrap();
    journal.record_answer(settled, ProviderAnswer::default()).unwrap();
    journal.settle_operation(settled, None).unwrap();
    announce_creation(&journal, "open").await.unwrap();
    drop(journal);
    drop(lost);

    let recovery = second.recover_runs(1).await;
    assert_eq!(unresolved_addresses(&recovery), ["t.open"]);
    let stored = recovery.file.clone();
    second.intents.finish_recovery(&recovery).await.unwrap();
    assert_eq!(second.directory.path().read_dir().unwrap().count(), 0, "the place has it");

    // Open operations wait for a decision on any machine.
    let mut recovery = third.recover_runs_into(stored.clone(), 1).await;
    assert_eq!(unresolved_addresses(&recovery), ["t.open"]);
    recovery.mark_decided(&"t.open".parse().unwrap(), "forgotten");
    third.intents.finish_recovery(&recovery).await.unwrap();
    assert!(second.recover_runs_into(stored, 0).await.is_empty());
    assert!(!second.intents.has_unfinished_run().await);
}

#[tokio::test]
async fn an_active_run_is_not_taken_over_and_leaves_no_parts() {
    let Some(server) = start_server() else { return };
    let [first, second] = [0; 2].map(|_| TestMachine::new(&server));
    first.open_store().await;
    let journal = first.begin_run(&StateFile::new_empty()).await;
    let op = announce_creation(&journal, "a").await.unwrap();
    let recovery = second.intents.recover_runs(None, StateAccess::ReadOnly).await.unwrap();
    assert!(recovery.is_empty());
    // A run without the lock is not taken over on its own machine either.
    let recovery = first.intents.recover_runs(None, StateAccess::Locked).await.unwrap();
    assert!(recovery.is_empty());
    assert!(second.intents.has_unfinished_run().await);
    journal.record_answer(op, ProviderAnswer::default()).unwrap();
    journal.settle_operation(op, None).unwrap();
    journal.record_state_fingerprint(&StateFile::new_empty()).await.unwrap();
    journal.end_run().await.unwrap();
    assert!(!second.intents.has_unfinished_run().await);
    assert_eq!(first.directory.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn answers_that_were_not_copied_are_added_on_their_machine() {
    let Some(server) = start_server() else { return };
    let [first, second] = [0; 2].map(|_| TestMachine::new(&server));
    first.open_store().await;
    let journal = first.begin_run(&StateFile::new_empty()).await;
    let op = announce_creation(&journal, "a").await.unwrap();
    let (path, before) = (journal.location().to_owned(), journal.read_content().unwrap());
    journal.record_answer(op, ProviderAnswer::default()).unwrap();
    journal.settle_operation(op, None).unwrap();
    let after = journal.read_content().unwrap();
    drop(journal);
    // The network was lost before the response arrived.
    run_sql(&server, "DELETE FROM terraform_remote_state.formwork_journal WHERE part > 1").await;
    assert_eq!(
        unresolved_addresses(&second.recover_runs(1).await),
        ["t.a"],
        "elsewhere it is open"
    );
    assert_eq!(std::fs::read(&path).unwrap(), after);
    assert!(before.len() < after.len());
    assert!(unresolved_addresses(&first.recover_runs(1).await).is_empty());
}

#[tokio::test]
async fn a_run_that_was_taken_over_announces_no_further_operation() {
    let Some(server) = start_server() else { return };
    let [first, second] = [0; 2].map(|_| TestMachine::new(&server));
    first.open_store().await;
    let journal = first.begin_run(&StateFile::new_empty()).await;
    announce_creation(&journal, "a").await.unwrap();
    // The run has lost the lock of the state, and has not detected it yet.
    let recovery = second.recover_runs(1).await;
    second.intents.finish_recovery(&recovery).await.unwrap();
    let error = announce_creation(&journal, "b").await.unwrap_err();
    assert!(matches!(error, JournalError::Copy(JournalCopyError::TakenOver { .. })), "{error:?}");
    assert!(!journal.can_announce());
}

#[tokio::test]
async fn a_lost_connection_is_replaced() {
    let Some(server) = start_server() else { return };
    let machine = TestMachine::new(&server);
    machine.open_store().await;
    let journal = machine.begin_run(&StateFile::new_empty()).await;
    announce_creation(&journal, "a").await.unwrap();
    run_sql(&server, END_SESSIONS).await;
    announce_creation(&journal, "b").await.unwrap();
    let count =
        run_sql(&server, "SELECT count(*) FROM terraform_remote_state.formwork_journal").await;
    assert_eq!(count, "3", "the first record, and two announcements");
}

#[tokio::test]
async fn records_that_wait_together_share_a_part() {
    let Some(server) = start_server() else { return };
    let machine = TestMachine::new(&server);
    machine.open_store().await;
    let journal = machine.begin_run(&StateFile::new_empty()).await;
    let addresses: Vec<String> = (0..20).map(|at| format!("a{at}")).collect();
    let announced = addresses.iter().map(|name| announce_creation(&journal, name));
    for announced in futures_util::future::join_all(announced).await {
        announced.unwrap();
    }
    let count =
        run_sql(&server, "SELECT count(*) FROM terraform_remote_state.formwork_journal").await;
    assert_eq!(count, "2", "the first record, and all announcements");
}

#[tokio::test]
async fn a_journal_under_another_name_is_misplaced_only_if_the_store_lacks_its_run() {
    let Some(server) = start_server() else { return };
    let machine = TestMachine::new(&server);
    machine.open_store().await;
    let base = StateFile::new_empty();
    let journal = machine.begin_run(&base).await;
    announce_creation(&journal, "a").await.unwrap();
    let directory = Path::new(journal.location()).parent().unwrap().to_owned();
    drop(journal);
    // As if the server had had another address.
    std::fs::rename(&directory, directory.with_file_name(".state-0123456789abcdef.journal"))
        .unwrap();
    machine.recover_runs_into(Some(base.clone()), 1).await;
    assert!(machine.intents.misplaced_journals(&base).is_empty());
    run_sql(&server, "DELETE FROM terraform_remote_state.formwork_journal").await;
    machine.recover_runs_into(Some(base.clone()), 0).await;
    assert_eq!(machine.intents.misplaced_journals(&base).len(), 1);
}

#[tokio::test]
async fn the_local_journal_of_a_run_that_ended_elsewhere_is_removed_by_the_next_run() {
    let Some(server) = start_server() else { return };
    let [first, second] = [0; 2].map(|_| TestMachine::new(&server));
    first.open_store().await;
    let base = StateFile::new_empty();
    let journal = first.begin_run(&base).await;
    announce_creation(&journal, "a").await.unwrap();
    let path = PathBuf::from(journal.location());
    drop(journal);
    let mut recovery = second.recover_runs(1).await;
    recovery.mark_decided(&"t.a".parse().unwrap(), "forgotten");
    second.intents.finish_recovery(&recovery).await.unwrap();
    first.recover_runs(0).await;
    assert!(path.exists(), "reading removes nothing");
    drop(first.begin_run(&base).await);
    assert!(!path.exists());
}
