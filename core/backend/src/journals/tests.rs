//! Journals in a table of a real PostgreSQL server: each folder is a machine, and a lost machine is a folder
//! that is removed.

use std::path::Path;
use std::process::Command;

use formwork_core::addr::{InstanceAddr, ProviderConfigAddr};
use formwork_core::state::journal::{Action, Intent, Op, ProviderAnswer};
use formwork_value::{Str, Type, Value};
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use super::*;
use crate::kind::{Arguments, BackendEnvironment};
use crate::kinds::find;
use crate::pg::tests::installed::Installed;
use crate::{Backend, DEFAULT_WORKSPACE, StateStore};

#[expect(clippy::disallowed_methods, reason = "the server is a program")]
fn program(path: &Path) -> Command {
    Command::new(path)
}

/// A machine with a folder.
struct Machine {
    folder: TempDir,
    backend: Arc<dyn Backend>,
    intents: Arc<dyn IntentLog>,
}

impl Machine {
    fn of(server: &Installed) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kind = find("pg").unwrap();
        let conn_str =
            format!("postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable", server.port);
        let given = Value::object([(Str::new("conn_str"), Value::string(conn_str))]);
        let values = kind.schema().coerce(&given).unwrap();
        let (root, variables) = (folder.path().to_owned(), BTreeMap::new());
        let environment = BackendEnvironment { root, variables, ..BackendEnvironment::default() };
        let arguments = Arguments { values: &values, environment: &environment };
        let backend = kind.configure(&arguments).unwrap();
        let intents = backend.intent_log(DEFAULT_WORKSPACE);
        Self { folder, backend, intents }
    }

    /// The store, once the server has started.
    async fn store(&self) -> Box<dyn StateStore> {
        while self.backend.workspaces().await.is_err() {
            tokio::task::yield_now().await;
        }
        self.backend.open(DEFAULT_WORKSPACE).await.unwrap()
    }

    async fn begin(&self, base: &StateFile) -> Journal {
        let header = RunHeader { operation: "OperationTypeApply", base, read_from: None };
        self.intents.begin(header).await.unwrap()
    }

    /// Takes over what so many runs have left.
    async fn recover(&self, n_runs: usize) -> Recovery {
        self.recover_into(None, n_runs).await
    }

    async fn recover_into(&self, stored: Option<StateFile>, n_runs: usize) -> Recovery {
        let recovery = self.intents.recover(stored, StateAccess::Locked).await.unwrap();
        assert_eq!(recovery.runs.len(), n_runs);
        recovery
    }
}

const PROVIDER: &str = "provider[\"example.com/acme/t\"]";

/// A call that creates an object.
fn create<'a>(addr: &'a InstanceAddr, provider: &'a ProviderConfigAddr) -> Intent<'a> {
    const PLANNED: &Value = &Value::Null(Type::Dynamic);
    let (action, planned) = (Action::Create, PLANNED);
    Intent { addr, provider, deposed: None, deposes: None, action, prior: None, planned }
}

async fn announce(journal: &Journal, name: &str) -> Result<Op, JournalError> {
    let (addr, provider): (InstanceAddr, ProviderConfigAddr) =
        (format!("t.{name}").parse().unwrap(), PROVIDER.parse().unwrap());
    journal.announce(create(&addr, &provider)).await
}

fn open(recovery: &Recovery) -> Vec<String> {
    recovery.unresolved.iter().map(|one| one.addr.to_string()).collect()
}

/// Ends the sessions that hold the lock of a run.
const END_SESSIONS: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2";

/// Runs a statement. Returns the first value of the first row.
async fn sql(server: &Installed, statement: &str) -> String {
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

fn start() -> Option<Installed> {
    Installed::start(program, &[], &[])
}

#[tokio::test]
async fn the_run_of_a_lost_machine_is_taken_over_by_another_one() {
    let Some(server) = start() else { return };
    let [lost, second, third] = [0; 3].map(|_| Machine::of(&server));
    lost.store().await;
    let journal = lost.begin(&StateFile::fresh()).await;
    let settled = announce(&journal, "settled").await.unwrap();
    journal.answer(settled, ProviderAnswer::default()).unwrap();
    journal.settle(settled, None).unwrap();
    announce(&journal, "open").await.unwrap();
    drop(journal);
    drop(lost);

    let recovery = second.recover(1).await;
    assert_eq!(open(&recovery), ["t.open"]);
    let stored = recovery.file.clone();
    second.intents.finish(&recovery).await.unwrap();
    assert_eq!(second.folder.path().read_dir().unwrap().count(), 0, "the place has it");

    // What is open waits for a decision on any machine.
    let mut recovery = third.recover_into(stored.clone(), 1).await;
    assert_eq!(open(&recovery), ["t.open"]);
    recovery.decide(&"t.open".parse().unwrap(), "forgotten");
    third.intents.finish(&recovery).await.unwrap();
    assert!(second.recover_into(stored, 0).await.is_nothing());
    assert!(!second.intents.is_pending().await);
}

#[tokio::test]
async fn a_run_that_goes_on_is_left_alone_and_leaves_nothing() {
    let Some(server) = start() else { return };
    let [first, second] = [0; 2].map(|_| Machine::of(&server));
    first.store().await;
    let journal = first.begin(&StateFile::fresh()).await;
    let op = announce(&journal, "a").await.unwrap();
    let recovery = second.intents.recover(None, StateAccess::ReadOnly).await.unwrap();
    assert!(recovery.is_nothing());
    // Also one without the lock is left alone on its own machine.
    let recovery = first.intents.recover(None, StateAccess::Locked).await.unwrap();
    assert!(recovery.is_nothing());
    assert!(second.intents.is_pending().await);
    journal.answer(op, ProviderAnswer::default()).unwrap();
    journal.settle(op, None).unwrap();
    journal.snapshot(&StateFile::fresh()).await.unwrap();
    journal.end().await.unwrap();
    assert!(!second.intents.is_pending().await);
    assert_eq!(first.folder.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn answers_that_never_left_the_machine_are_added_there() {
    let Some(server) = start() else { return };
    let [first, second] = [0; 2].map(|_| Machine::of(&server));
    first.store().await;
    let journal = first.begin(&StateFile::fresh()).await;
    let op = announce(&journal, "a").await.unwrap();
    let (path, before) = (journal.path().to_owned(), journal.content().unwrap());
    journal.answer(op, ProviderAnswer::default()).unwrap();
    journal.settle(op, None).unwrap();
    let after = journal.content().unwrap();
    drop(journal);
    // The network was lost before the answer came.
    sql(&server, "DELETE FROM terraform_remote_state.formwork_journal WHERE part > 1").await;
    assert_eq!(open(&second.recover(1).await), ["t.a"], "elsewhere it is open");
    assert_eq!(std::fs::read(&path).unwrap(), after);
    assert!(before.len() < after.len());
    assert!(open(&first.recover(1).await).is_empty());
}

#[tokio::test]
async fn a_run_that_was_taken_over_announces_nothing_more() {
    let Some(server) = start() else { return };
    let [first, second] = [0; 2].map(|_| Machine::of(&server));
    first.store().await;
    let journal = first.begin(&StateFile::fresh()).await;
    announce(&journal, "a").await.unwrap();
    // It has lost the lock of the state, and does not know that.
    let recovery = second.recover(1).await;
    second.intents.finish(&recovery).await.unwrap();
    let error = announce(&journal, "b").await.unwrap_err();
    assert!(matches!(error, JournalError::Copy(CopyError::TakenOver { .. })), "{error:?}");
    assert!(!journal.takes_calls());
}

#[tokio::test]
async fn a_lost_connection_is_replaced() {
    let Some(server) = start() else { return };
    let machine = Machine::of(&server);
    machine.store().await;
    let journal = machine.begin(&StateFile::fresh()).await;
    announce(&journal, "a").await.unwrap();
    sql(&server, END_SESSIONS).await;
    announce(&journal, "b").await.unwrap();
    let count = sql(&server, "SELECT count(*) FROM terraform_remote_state.formwork_journal").await;
    assert_eq!(count, "3", "the first record, and two announcements");
}

#[tokio::test]
async fn records_that_wait_together_share_a_part() {
    let Some(server) = start() else { return };
    let machine = Machine::of(&server);
    machine.store().await;
    let journal = machine.begin(&StateFile::fresh()).await;
    for at in 0..50 {
        let (addr, provider): (InstanceAddr, ProviderConfigAddr) =
            (format!("t.a{at}").parse().unwrap(), PROVIDER.parse().unwrap());
        journal.note(create(&addr, &provider)).unwrap();
    }
    journal.commit().await.unwrap();
    let count = sql(&server, "SELECT count(*) FROM terraform_remote_state.formwork_journal").await;
    assert_eq!(count, "2", "the first record, and all announcements");
}
