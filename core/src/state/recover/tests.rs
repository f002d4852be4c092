//! Whole runs, interrupted at any point.

mod creations;
mod damaged;
mod misplaced;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use formwork_value::Type;
use tempfile::TempDir;

use super::*;
use crate::state::journal::{Intent, Journal, ProviderAnswer, RunHeader, StoredJournalFile};
use crate::state::{InstanceState, ObjectAttributes, ObjectStatus, State};

const PROVIDER: &str = "provider[\"example.com/acme/t\"]";

fn parse_addr(text: &str) -> InstanceAddr {
    text.parse().unwrap()
}

fn object_with_word(word: &str) -> ObjectState {
    ObjectState {
        status: ObjectStatus::Ready,
        schema_version: 1,
        attributes: ObjectAttributes::Json(format!("{{\"id\":\"{word}\"}}").into()),
        sensitive: Arc::default(),
        private: Bytes::from_static(b"secret"),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    }
}

/// A state with the given current objects.
fn state_with_objects(objects: &[(&str, &str)]) -> StateFile {
    let mut file = StateFile { lineage: "one".to_owned(), serial: 3, ..StateFile::new_empty() };
    for (at, word) in objects {
        let addr = parse_addr(at);
        let resource =
            file.state.resource_or_insert(addr.resource_addr(), &PROVIDER.parse().unwrap());
        let current = Some(Arc::new(object_with_word(word)));
        resource.instances.insert(addr.key, InstanceState { current, ..InstanceState::default() });
    }
    file
}

/// No state: one that was never stored.
fn no_state() -> StateFile {
    StateFile { serial: 0, ..state_with_objects(&[]) }
}

/// The same as another program stored it since.
fn rewritten_by_other_program(file: StateFile) -> StateFile {
    StateFile { serial: file.serial + 1, ..file }
}

/// Lists the objects of a state: `t.a=x`, deposed ones as `t.a#00000001=x`.
fn list_objects(state: &State) -> Vec<String> {
    let mut list = Vec::new();
    for (addr, resource) in &state.resources {
        for (key, instance) in &resource.instances {
            let addr = addr.instance_addr(key.clone());
            let word = |object: &ObjectState| {
                let text = object.attributes.to_json_value().to_string();
                text.trim_matches(['{', '}']).replace("\"", "").replace("id:", "")
            };
            list.extend(instance.current.iter().map(|o| format!("{addr}={}", word(o))));
            list.extend(instance.deposed.iter().map(|(k, o)| format!("{addr}#{k}={}", word(o))));
        }
    }
    list
}

/// Remains of a killed run.
struct KilledRun {
    directory: TempDir,
}

impl KilledRun {
    fn path(&self) -> PathBuf {
        self.directory.path().join("journal")
    }
}

/// A run in progress, with the expected recovery after each byte of its journal.
struct RunInProgress {
    directory: TempDir,
    journal: Journal,
    provider: ProviderConfigAddr,
    /// The length of the journal, with the objects of the state and the open calls at that length.
    steps: Vec<(usize, Vec<String>, Vec<String>)>,
}

impl RunInProgress {
    fn begin(base: &StateFile) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let begin = RunHeader { operation: "OperationTypeApply", base, read_from: None };
        let journal = Journal::begin_run(&directory.path().join("journal"), begin).unwrap();
        let run =
            Self { directory, journal, provider: PROVIDER.parse().unwrap(), steps: Vec::new() };
        Self { steps: vec![(run.journal_len(), list_objects(&base.state), Vec::new())], ..run }
    }

    /// Ends the run without a final record. The directory with its journal remains.
    fn kill_run(self) -> KilledRun {
        // The lock is released with the journal, and only a run without one is recovered.
        KilledRun { directory: self.directory }
    }

    fn journal_len(&self) -> usize {
        usize::try_from(self.journal.path().metadata().unwrap().len()).unwrap()
    }

    fn new_intent<'a>(&'a self, addr: &'a InstanceAddr, action: CallAction) -> Intent<'a> {
        const NULL: &Value = &Value::Null(Type::Dynamic);
        let provider = &self.provider;
        Intent { addr, provider, deposed: None, deposes: None, action, prior: None, planned: NULL }
    }

    /// Adds the expected results for a journal that ends here.
    fn expect_after_cut(&mut self, state: &[&str], open: &[&str]) {
        let to_strings = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        self.steps.push((self.journal_len(), to_strings(state), to_strings(open)));
    }

    /// Truncates the journal around the end of every record and at many points between, and recovers.
    /// The journal's own tests check for every byte that a cut within a record equals one before it.
    fn check_every_cut(self, base: Option<&StateFile>) {
        let (steps, journal) = (self.steps.clone(), self.journal.path().to_owned());
        let killed = self.kill_run();
        let bytes = std::fs::read(&journal).unwrap();
        let is_near_an_end = |cut: usize| steps.iter().any(|step| step.0.abs_diff(cut) < 2);
        for cut in (0..=bytes.len()).filter(|&cut| cut % 16 == 0 || is_near_an_end(cut)) {
            std::fs::write(&journal, &bytes[..cut]).unwrap();
            let recovery = recover_journals_in_dir(&killed.path(), base.cloned());
            // A journal gets its name with its first record, so one without it was cut by another hand.
            let is_headless = cut < steps[0].0;
            if is_headless && base.is_none() {
                assert!(matches!(recovery, Err(JournalError::Headless { .. })), "cut at {cut}");
                continue;
            }
            let recovery = recovery.unwrap();
            let is_damaged = recovery.runs.iter().any(|run| run.damage.is_some());
            // A partial record at the end is not damage: every run that is killed may leave
            // one.
            assert_eq!(is_damaged, is_headless, "cut at {cut}");
            let state =
                recovery.file.as_ref().map(|file| list_objects(&file.state)).unwrap_or_default();
            let open: Vec<String> = recovery
                .unresolved
                .iter()
                .map(|operation| format!("{:?} {}", operation.action, operation.addr))
                .collect();
            let begun = steps.iter().rfind(|step| step.0 <= cut);
            let nothing =
                (0, base.map(|file| list_objects(&file.state)).unwrap_or_default(), Vec::new());
            let (_, expected, expected_open) = begun.unwrap_or(&nothing);
            assert_eq!((&state, &open), (expected, expected_open), "cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_run_interrupted_anywhere_loses_no_result_and_names_open_operations() {
    let base = state_with_objects(&[("t.b", "old"), ("t.c", "old"), ("t.d", "old")]);
    let mut run = RunInProgress::begin(&base);
    let [a, b, c, d] = ["t.a", "t.b", "t.c", "t.d"].map(parse_addr);
    let old = object_with_word("old");
    let key = DeposedKey("00000001".into());

    let op_a =
        run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    run.expect_after_cut(&["t.b=old", "t.c=old", "t.d=old"], &["Create t.a"]);
    let update = Intent { prior: Some(&old), ..run.new_intent(&b, CallAction::Update) };
    let op_b = run.journal.announce_operation(update).await.unwrap();
    run.expect_after_cut(&["t.b=old", "t.c=old", "t.d=old"], &["Create t.a", "Update t.b"]);
    run.journal.record_answer(op_b, ProviderAnswer::default()).unwrap();
    run.journal.settle_operation(op_b, Some(&object_with_word("new"))).unwrap();
    run.expect_after_cut(&["t.b=new", "t.c=old", "t.d=old"], &["Create t.a"]);
    // In another order than they were announced, as answers come.
    run.journal.settle_operation(op_a, Some(&object_with_word("made"))).unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.c=old", "t.d=old"], &[]);

    let delete = Intent { prior: Some(&old), ..run.new_intent(&c, CallAction::Delete) };
    let op_c = run.journal.announce_operation(delete).await.unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.c=old", "t.d=old"], &["Delete t.c"]);
    run.journal.settle_operation(op_c, None).unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.d=old"], &[]);

    let replace =
        Intent { prior: Some(&old), deposes: Some(&key), ..run.new_intent(&d, CallAction::Create) };
    let op_d = run.journal.announce_operation(replace).await.unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.d=old"], &["Create t.d"]);
    // Tainted while its provisioners run: if interrupted here, it must not count as complete.
    let half_made = ObjectState { status: ObjectStatus::Tainted, ..object_with_word("half made") };
    run.journal.record_interim_result(op_d, Some(&half_made)).unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.d=half made", "t.d#00000001=old"], &[]);
    run.journal.settle_operation(op_d, Some(&object_with_word("new"))).unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.d=new", "t.d#00000001=old"], &[]);
    let old_one =
        Intent { prior: Some(&old), deposed: Some(&key), ..run.new_intent(&d, CallAction::Delete) };
    let op = run.journal.announce_operation(old_one).await.unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.d=new", "t.d#00000001=old"], &["Delete t.d"]);
    run.journal.settle_operation(op, None).unwrap();
    run.expect_after_cut(&["t.a=made", "t.b=new", "t.d=new"], &[]);
    run.check_every_cut(Some(&base));
}

#[tokio::test]
async fn a_state_older_than_the_journal_causes_a_warning() {
    let run = killed_while_creating(&state_with_objects(&[]), &["t.a"]).await;
    let older = StateFile { serial: 2, ..state_with_objects(&[]) };
    let summaries = |stored: StateFile| {
        let recovery = recover_journals_in_dir(&run.path(), Some(stored)).unwrap();
        let summaries = recovery.diagnostics().into_iter().map(|diagnostic| diagnostic.summary);
        summaries.collect::<Vec<_>>().contains(&"State is older than the journal".to_owned())
    };
    assert!(summaries(older));
    assert!(!summaries(state_with_objects(&[])));
    assert!(!summaries(rewritten_by_other_program(state_with_objects(&[]))));
}

#[tokio::test]
async fn the_first_run_may_be_interrupted_before_a_state_exists() {
    let base = no_state();
    let mut run = RunInProgress::begin(&base);
    let a = parse_addr("t.a");
    let op = run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    run.expect_after_cut(&[], &["Create t.a"]);
    run.journal.settle_operation(op, Some(&object_with_word("made"))).unwrap();
    run.expect_after_cut(&["t.a=made"], &[]);
    run.check_every_cut(None);
}

#[tokio::test]
async fn results_in_the_stored_state_are_not_applied_again() {
    let base = state_with_objects(&[("t.b", "old")]);
    let run = RunInProgress::begin(&base);
    let (a, b, old) = (parse_addr("t.a"), parse_addr("t.b"), object_with_word("old"));
    let delete = Intent { prior: Some(&old), ..run.new_intent(&b, CallAction::Delete) };
    let op = run.journal.announce_operation(delete).await.unwrap();
    run.journal.settle_operation(op, None).unwrap();
    let op = run.journal.announce_operation(run.new_intent(&b, CallAction::Create)).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("new"))).unwrap();
    let stored = state_with_objects(&[("t.b", "new")]);
    run.journal.record_state_fingerprint(&stored).await.unwrap();
    let op = run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("made"))).unwrap();

    let run = run.kill_run();
    // Results before a snapshot are applied again only if the snapshot was not stored.
    for (stored, n_replayed) in [(stored, 1), (base, 3)] {
        let recovery = recover_journals_in_dir(&run.path(), Some(stored)).unwrap();
        assert_eq!(list_objects(&recovery.file.unwrap().state), ["t.a=made", "t.b=new"]);
        assert_eq!(recovery.runs[0].n_replayed, n_replayed);
        assert!(recovery.unresolved.is_empty());
    }
}

#[tokio::test]
async fn a_result_does_not_overwrite_the_change_of_another_program() {
    let run = RunInProgress::begin(&state_with_objects(&[]));
    let a = parse_addr("t.a");
    let op = run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("made"))).unwrap();
    let run = run.kill_run();
    let theirs = state_with_objects(&[("t.a", "made by another program")]);
    // The same a second time: it stays open until it is decided.
    for _ in 0..2 {
        let recovery = recover_journals_in_dir(&run.path(), Some(theirs.clone())).unwrap();
        assert_eq!(recovery.file.as_ref(), Some(&theirs));
        let [unresolved] = &recovery.unresolved[..] else { panic!("{recovery:?}") };
        let made = OpenQuestion::Destination { object: Some(Arc::new(object_with_word("made"))) };
        assert_eq!(unresolved.doubt, made);
        assert!(unresolved.needs_decision());
        recovery.archive_journals().unwrap();
    }
    decide_and_record(&run, Some(theirs), &a, "looked");
    assert!(!run.path().exists());
}

#[tokio::test]
async fn a_journal_of_another_state_is_refused() {
    let run = RunInProgress::begin(&state_with_objects(&[]));
    let a = parse_addr("t.a");
    run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    let run = run.kill_run();
    let stranger = StateFile { lineage: "two".to_owned(), ..state_with_objects(&[]) };
    let error = recover_journals_in_dir(&run.path(), Some(stranger)).unwrap_err();
    assert!(matches!(error, JournalError::OtherLineage { .. }), "{error:?}");
    let detail = error.diagnostic().detail;
    assert!(detail.contains("\n  t.a, which may have been changed"), "{detail}");
}

#[tokio::test]
async fn results_of_a_first_run_are_open_after_another_program_began_a_state() {
    let run = RunInProgress::begin(&no_state());
    let [a, b, c] = ["t.a", "t.b", "t.c"].map(parse_addr);
    for (addr, word) in [(&a, "a-1"), (&b, "b-1")] {
        let op =
            run.journal.announce_operation(run.new_intent(addr, CallAction::Create)).await.unwrap();
        run.journal.settle_operation(op, Some(&object_with_word(word))).unwrap();
    }
    run.journal.announce_operation(run.new_intent(&c, CallAction::Create)).await.unwrap();
    let run = run.kill_run();
    let theirs = StateFile {
        lineage: "theirs".to_owned(),
        serial: 2,
        ..state_with_objects(&[("t.a", "a-2"), ("t.c", "c-2")])
    };
    let recovery = recover_journals_in_dir(&run.path(), Some(theirs)).unwrap();
    // Results for addresses that their state lacks are taken over; for the others it is unknown.
    assert_eq!(
        list_objects(&recovery.file.as_ref().unwrap().state),
        ["t.a=a-2", "t.b=b-1", "t.c=c-2"]
    );
    let open: Vec<_> = recovery.unresolved.iter().map(|operation| &operation.addr).collect();
    assert_eq!(open, [&a, &c]);
    assert!(recovery.unresolved.iter().all(UnresolvedOperation::needs_decision));
}

#[tokio::test]
async fn recovery_refuses_a_deleted_state() {
    let run = killed_while_creating(&state_with_objects(&[("t.b", "there")]), &["t.a"]).await;
    let error = recover_journals_in_dir(&run.path(), None).unwrap_err();
    assert!(matches!(error, JournalError::NoBase { .. }), "{error:?}");
    let first = killed_while_creating(&no_state(), &["t.a"]).await;
    let recovery = recover_journals_in_dir(&first.path(), None).unwrap();
    recovery.archive_journals().unwrap();
    // By now it was stored.
    let error = recover_journals_in_dir(&first.path(), None).unwrap_err();
    assert!(matches!(error, JournalError::NoBase { .. }), "{error:?}");
}

#[tokio::test]
async fn a_run_interrupted_before_its_first_call_leaves_nothing() {
    let run = RunInProgress::begin(&state_with_objects(&[])).kill_run();
    let recovery = recover_journals_in_dir(&run.path(), None).unwrap();
    assert!(recovery.file.is_none() && recovery.diagnostics().is_empty());
    recovery.archive_journals().unwrap();
    assert!(!run.path().exists());
}

#[tokio::test]
async fn a_completed_run_leaves_nothing_to_recover() {
    let run = RunInProgress::begin(&state_with_objects(&[]));
    let RunInProgress { directory, journal, .. } = run;
    journal.end_run().await.unwrap();
    assert!(recover_journals_in_dir(&directory.path().join("journal"), None).unwrap().is_empty());
}

#[tokio::test]
async fn a_run_in_progress_is_not_recovered() {
    let run = RunInProgress::begin(&no_state());
    let a = parse_addr("t.a");
    run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    let directory = run.directory.path().join("journal");
    // The lock on its journal shows that the run is still in progress.
    assert!(recover_journals_in_dir(&directory, None).unwrap().is_empty());
    let run = run.kill_run();
    assert_eq!(recover_journals_in_dir(&run.path(), None).unwrap().unresolved.len(), 1);
}

#[tokio::test]
async fn a_first_run_without_results_still_determines_the_lineage() {
    let run = RunInProgress::begin(&no_state());
    let a = parse_addr("t.a");
    run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    let run = run.kill_run();
    let recovery = recover_journals_in_dir(&run.path(), None).unwrap();
    assert_eq!(recovery.file.as_ref().unwrap().lineage, "one");
    recovery.archive_journals().unwrap();
    // A call that only waits for a decision is in no run's way, also not in that of another state.
    let stranger = StateFile { lineage: "two".to_owned(), ..state_with_objects(&[]) };
    let recovery = recover_journals_in_dir(&run.path(), Some(stranger.clone())).unwrap();
    assert_eq!((recovery.file, recovery.unresolved.len()), (Some(stranger), 1));
}

#[tokio::test]
async fn a_result_is_applied_even_if_the_run_had_refreshed_the_object() {
    let base = state_with_objects(&[("t.a", "stored")]);
    let run = RunInProgress::begin(&base);
    let (a, refreshed) = (parse_addr("t.a"), object_with_word("refreshed"));
    let update = Intent { prior: Some(&refreshed), ..run.new_intent(&a, CallAction::Update) };
    let op = run.journal.announce_operation(update).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("updated"))).unwrap();
    let run = run.kill_run();
    let recovery = recover_journals_in_dir(&run.path(), Some(base)).unwrap();
    assert_eq!(list_objects(&recovery.file.unwrap().state), ["t.a=updated"]);
    assert!(recovery.unresolved.is_empty());
}

/// Writes a journal of a run that found a state and began at a time.
fn write_journal_of_run(directory: &Path, name: &str, serial: u64, when: &str) {
    let begin = Record::RunBegin(RunBegin {
        operation: name.to_owned(),
        when: when.to_owned(),
        lineage: "one".to_owned(),
        serial,
        ..RunBegin::default()
    });
    std::fs::write(directory.join(format!("{name}.wal")), record::frame_record(1, &begin)).unwrap();
}

#[test]
fn runs_are_recovered_in_the_order_in_which_they_began() {
    let directory = tempfile::tempdir().unwrap();
    // As strings the times would be in another order, and the clock was once set back.
    write_journal_of_run(directory.path(), "d", 3, "2026-01-01T12:00:00.5Z");
    write_journal_of_run(directory.path(), "c", 3, "2026-01-01T12:00:00Z");
    write_journal_of_run(directory.path(), "b", 3, "2026-01-01T13:59:59+02:00");
    write_journal_of_run(directory.path(), "a", 4, "2025-12-31T12:00:00Z");
    let recovery =
        recover_journals_in_dir(directory.path(), Some(state_with_objects(&[]))).unwrap();
    let order: String = recovery.runs.iter().map(|run| run.operation.as_str()).collect();
    assert_eq!(order, "bcda");
}

#[test]
fn a_record_without_an_address_is_not_ignored() {
    let base = state_with_objects(&[]);
    let run = RunInProgress::begin(&base);
    let path = run.journal.path().to_owned();
    let killed = run.kill_run();
    let intent = record::IntentRecord {
        op: 2,
        when: String::new(),
        address: "no address at all!".to_owned(),
        provider: PROVIDER.to_owned(),
        deposed: None,
        deposes: None,
        action: CallAction::Create,
        prior: None,
        planned: Vec::new(),
    };
    let journal = StoredJournalFile { path: path.clone() };
    archive::append_records_to_ended_journal(&journal, &[Record::Intent(intent)]).unwrap();
    // If it were passed over, the object that it is about would be lost.
    let error = recover_journals_in_dir(&killed.path(), Some(base)).unwrap_err();
    let detail = error.diagnostic().detail;
    assert!(detail.starts_with(&format!("Record 2 of the journal {}", path.display())), "{detail}");
    assert!(path.exists());
}

/// A run that was interrupted while it created these objects.
async fn killed_while_creating(base: &StateFile, addrs: &[&str]) -> KilledRun {
    let run = RunInProgress::begin(base);
    for text in addrs {
        run.journal
            .announce_operation(run.new_intent(&parse_addr(text), CallAction::Create))
            .await
            .unwrap();
    }
    run.kill_run()
}

/// Records a decision about an instance.
fn decide_and_record(
    run: &KilledRun,
    stored: Option<StateFile>,
    addr: &InstanceAddr,
    decision: &str,
) {
    let mut recovery = recover_journals_in_dir(&run.path(), stored).unwrap();
    assert_eq!(recovery.mark_decided(addr, decision).len(), 1);
    recovery.archive_journals().unwrap();
}
