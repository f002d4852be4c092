//! Interrupted runs: their operations are settled, and their state file is copied, with the library
//! only.

use formwork_backend::encryption::StateCipher;
use formwork_core::addr::ProviderConfigAddr;
use formwork_core::state::journal::{CallAction, Intent, RunHeader};
use formwork_value::{Type, Value};

use super::*;
use crate::journal_checks::{check_no_misplaced_journals, check_no_unfinished_run};
use crate::recover::{AdoptSelectedRequest, AdoptedOrDestroyed, Decision, OperationSelection};

const TWO_RESOURCES: &str = "
resource \"terraform_data\" \"a\" {}
resource \"terraform_data\" \"b\" {}
";

fn parse_addr(text: &str) -> InstanceAddr {
    text.parse().unwrap()
}

/// Writes the journal of a run that was interrupted while it created the two resources. Returns the state
/// that the run began with.
async fn leave_interrupted_run(directory: &ConfigDir) -> StateFile {
    let mut diags = Diagnostics::new();
    let mut session = directory.open_session().await;
    session.write_state_and_archive_journals(&mut diags).await.unwrap();
    leave_open_operations(&session).await;
    let file = session.file.clone();
    session.unlock(&mut diags).await;
    assert!(!diags.has_errors(), "{diags:?}");
    file
}

/// Writes the journal of a run on a state that was interrupted while it created the two resources.
async fn leave_open_operations(session: &StateSession) {
    let operation = "OperationTypeApply";
    let header = RunHeader { operation, base: &session.file, read_from: None };
    let journal = session.intents.begin_run(header).await.unwrap();
    // Creations of the built-in provider change nothing outside of the process, and are simply repeated.
    let provider: ProviderConfigAddr =
        "provider[\"registry.terraform.io/hashicorp/null\"]".parse().unwrap();
    for addr in ["terraform_data.a", "terraform_data.b"].map(parse_addr) {
        let intent = Intent {
            addr: &addr,
            provider: &provider,
            deposed: None,
            deposes: None,
            action: CallAction::Create,
            prior: None,
            planned: &Value::Null(Type::Dynamic),
        };
        journal.announce_operation(intent).await.unwrap();
    }
}

/// The addresses of operations that are open for a new session.
async fn open_addresses(directory: &ConfigDir) -> Vec<String> {
    let session = directory.open_session().await;
    let open =
        session.unresolved_needing_decision().map(|operation| operation.addr.to_string()).collect();
    session.unlock(&mut Diagnostics::new()).await;
    open
}

#[tokio::test]
async fn a_decision_about_selected_operations_is_stored() {
    for decision in [Decision::Forget, Decision::Retry] {
        let directory = ConfigDir::with_config(TWO_RESOURCES);
        leave_interrupted_run(&directory).await;
        assert_eq!(open_addresses(&directory).await, ["terraform_data.a", "terraform_data.b"]);
        let (mut diags, mut session) = (Diagnostics::new(), directory.open_session().await);
        let none = OperationSelection::Matching(&[]);
        assert!(session.settle_selected(&mut diags, none, decision).await.is_err());
        let patterns = ["*.a".to_owned()];
        let selection = OperationSelection::Matching(&patterns);
        let settled = session.settle_selected(&mut diags, selection, decision).await.unwrap();
        session.unlock(&mut diags).await;
        assert_eq!(summaries(diags), ["No operation selected"]);
        let settled: Vec<_> = settled
            .iter()
            .map(|operation| (operation.addr.to_string(), operation.displaced.is_some()))
            .collect();
        assert_eq!(settled, [("terraform_data.a".to_owned(), false)]);
        assert_eq!(open_addresses(&directory).await, ["terraform_data.b"]);

        let (mut diags, mut session) = (Diagnostics::new(), directory.open_session().await);
        let selection = OperationSelection::All;
        let settled = session.settle_selected(&mut diags, selection, decision).await.unwrap();
        assert_eq!(settled.len(), 1);
        // Nothing is open any more, which is not an error.
        let settled = session.settle_selected(&mut diags, selection, decision).await.unwrap();
        assert!(settled.is_empty());
        session.unlock(&mut diags).await;
        assert_eq!(summaries(diags), Vec::<String>::new());
        assert_eq!(open_addresses(&directory).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_adoption_of_selected_operations_reports_those_that_fail_and_stores_the_others() {
    let directory = ConfigDir::with_config(TWO_RESOURCES);
    leave_interrupted_run(&directory).await;
    let (pool, mut diags) = (ProviderPool::new(&directory.launcher), Diagnostics::new());
    let operation = directory.new_operation(&pool);
    let mut session = directory.open_session().await;
    let selection = OperationSelection::All;
    let request = AdoptSelectedRequest { selection, id: None, force: false };
    let summary = operation.adopt_selected(&mut diags, &mut session, request).await.unwrap();
    assert_eq!((summary.adopted, summary.is_complete), (vec![], false));
    let request = AdoptSelectedRequest { id: Some("one"), ..request };
    assert!(operation.adopt_selected(&mut diags, &mut session, request).await.is_err());
    let missing = "The id of the object is missing";
    assert_eq!(summaries(diags), [missing, missing, "Too many operations"]);

    let mut diags = Diagnostics::new();
    let patterns = ["terraform_data.a".to_owned()];
    let selection = OperationSelection::Matching(&patterns);
    let request = AdoptSelectedRequest { selection, ..request };
    let summary = operation.adopt_selected(&mut diags, &mut session, request).await.unwrap();
    session.unlock(&mut diags).await;
    assert!(!diags.has_errors(), "{diags:?}");
    let adopted = vec![AdoptedOrDestroyed::InState(parse_addr("terraform_data.a"))];
    assert_eq!((summary.adopted, summary.is_complete), (adopted, true));
    let stored = directory.stored_state().unwrap();
    assert!(stored.state.current_object(&parse_addr("terraform_data.a")).is_some());
    assert_eq!(open_addresses(&directory).await, ["terraform_data.b"]);
}

#[tokio::test]
async fn a_state_file_without_the_results_of_a_run_is_not_copied_under_any_name() {
    let directory = ConfigDir::with_config(TWO_RESOURCES);
    let file = leave_interrupted_run(&directory).await;
    let (copy, cipher) = (directory.path().join("copy.tfstate"), StateCipher::default());
    let mut diags = Diagnostics::new();
    assert!(check_no_unfinished_run(&mut diags, &directory.state_path()).await.is_err());
    assert!(check_no_unfinished_run(&mut diags, &copy).await.is_ok());
    assert!(check_no_misplaced_journals(&mut diags, &copy, &file, &cipher).is_err());
    let lacks = "State lacks results of a run";
    assert_eq!(summaries(diags), [lacks, lacks]);

    let (mut diags, stranger) = (Diagnostics::new(), StateFile::new_empty());
    assert!(check_no_misplaced_journals(&mut diags, &copy, &stranger, &cipher).is_ok());
    assert_eq!(summaries(diags), Vec::<String>::new());
}

#[tokio::test]
async fn a_journal_under_another_name_stops_what_creates_objects_also_beside_an_own_one() {
    let directory = ConfigDir::with_config(TWO_RESOURCES);
    leave_interrupted_run(&directory).await;
    let copy = directory.path().join("copy.tfstate");
    std::fs::copy(directory.state_path(), &copy).unwrap();
    let open_copy = async || {
        let state = StateFilePaths::from_state_path(copy.clone()).into();
        let options = SessionOptions::new("test", directory.path());
        StateSession::open(&mut Diagnostics::new(), state, &options).await.unwrap()
    };
    let details = |diags: Diagnostics| {
        diags.into_iter().map(|diagnostic| diagnostic.detail).collect::<Vec<String>>()
    };
    let session = open_copy().await;
    let mut diags = Diagnostics::new();
    let _ = session.refuse_if_journals_are_misplaced(&mut diags).unwrap_err();
    let said = details(diags);
    let [detail] = &said[..] else { panic!("{said:?}") };
    assert!(!detail.contains("a journal of its own"), "{detail}");
    leave_open_operations(&session).await;
    session.unlock(&mut Diagnostics::new()).await;

    let mut session = open_copy().await;
    assert!(session.recovery.is_some());
    // An edit and the recovery of its own journal are only warned.
    let mut diags = Diagnostics::new();
    session.refuse_if_journals_are_misplaced(&mut diags).unwrap();
    let said = details(diags);
    let [detail] = &said[..] else { panic!("{said:?}") };
    assert!(detail.contains("a journal of its own, in "), "{detail}");
    for journals in [".terraform.tfstate.journal", ".copy.tfstate.journal"] {
        assert!(detail.contains(journals), "{detail}");
    }
    let pool = ProviderPool::new(&directory.launcher);
    let operation = directory.new_operation(&pool);
    for (mode, is_refused) in [(PlanMode::Normal, true), (PlanMode::RefreshOnly, false)] {
        let mut diags = Diagnostics::new();
        let options = PlanOptions { mode, ..PlanOptions::default() };
        let applied = operation.apply(&mut diags, &mut session, PlanSource::New(options)).await;
        let errors = diags.into_iter().filter(|one| one.severity == Severity::Error);
        let errors: Vec<String> = errors.map(|one| one.summary).collect();
        let is_named = errors.iter().any(|summary| summary == "Journal is under another name");
        assert_eq!(is_named, is_refused, "{errors:?}");
        assert!(applied.is_err() || !is_refused);
    }
    session.unlock(&mut Diagnostics::new()).await;
}
