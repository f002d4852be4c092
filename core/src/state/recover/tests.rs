//! Whole runs, cut off anywhere.

mod creations;
mod damaged;

use bytes::Bytes;
use formwork_value::Type;
use tempfile::TempDir;

use super::journal::{Intent, Journal, ProviderAnswer, RunHeader};
use super::*;
use crate::state::{Attributes, InstanceState, State, Status};

const PROVIDER: &str = "provider[\"example.com/acme/t\"]";

fn addr(text: &str) -> InstanceAddr {
    text.parse().unwrap()
}

fn object(word: &str) -> Object {
    Object {
        status: Status::Ready,
        schema_version: 1,
        attributes: Attributes::Json(format!("{{\"id\":\"{word}\"}}").into()),
        sensitive: Arc::default(),
        private: Bytes::from_static(b"secret"),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    }
}

/// A state with the given current objects.
fn state_of(objects: &[(&str, &str)]) -> StateFile {
    let mut file = StateFile { lineage: "one".to_owned(), serial: 3, ..StateFile::fresh() };
    for (at, word) in objects {
        let addr = addr(at);
        let resource = file.state.resource_mut(addr.of(), &PROVIDER.parse().unwrap());
        let current = Some(Arc::new(object(word)));
        resource.instances.insert(addr.key, InstanceState { current, ..InstanceState::default() });
    }
    file
}

/// No state: one that was never stored.
fn none() -> StateFile {
    StateFile { serial: 0, ..state_of(&[]) }
}

/// The same as another program stored it since.
fn later(file: StateFile) -> StateFile {
    StateFile { serial: file.serial + 1, ..file }
}

/// Lists the objects of a state: `t.a=x`, deposed ones as `t.a#00000001=x`.
fn listed(state: &State) -> Vec<String> {
    let mut list = Vec::new();
    for (addr, resource) in &state.resources {
        for (key, instance) in &resource.instances {
            let addr = addr.instance(key.clone());
            let word = |object: &Object| {
                let text = object.attributes.members().to_string();
                text.trim_matches(['{', '}']).replace("\"", "").replace("id:", "")
            };
            list.extend(instance.current.iter().map(|o| format!("{addr}={}", word(o))));
            list.extend(instance.deposed.iter().map(|(k, o)| format!("{addr}#{k}={}", word(o))));
        }
    }
    list
}

/// Remains of a killed run.
struct Killed {
    folder: TempDir,
}

impl Killed {
    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }
}

/// A run in the making, with what is to be known of it after each byte of its journal.
struct Run {
    folder: TempDir,
    journal: Journal,
    provider: ProviderConfigAddr,
    /// The length of the journal, and what the state holds and what is open when it has that length.
    steps: Vec<(usize, Vec<String>, Vec<String>)>,
}

impl Run {
    fn begin(base: &StateFile) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let begin = RunHeader { operation: "OperationTypeApply", base, read_from: None };
        let journal = Journal::begin(&folder.path().join("journal"), begin).unwrap();
        let run = Self { folder, journal, provider: PROVIDER.parse().unwrap(), steps: Vec::new() };
        Self { steps: vec![(run.length(), listed(&base.state), Vec::new())], ..run }
    }

    /// Ends the run without a word. The folder with its journal remains.
    fn kill(self) -> Killed {
        // The lock goes with the journal, and only a run without one is taken over.
        Killed { folder: self.folder }
    }

    fn length(&self) -> usize {
        usize::try_from(self.journal.path().metadata().unwrap().len()).unwrap()
    }

    fn call<'a>(&'a self, addr: &'a InstanceAddr, action: Action) -> Intent<'a> {
        const NULL: &Value = &Value::Null(Type::Dynamic);
        let provider = &self.provider;
        Intent { addr, provider, deposed: None, deposes: None, action, prior: None, planned: NULL }
    }

    /// Says what must be known when the journal goes no further.
    fn then(&mut self, state: &[&str], open: &[&str]) {
        let own = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        self.steps.push((self.length(), own(state), own(open)));
    }

    /// Cuts the journal around the end of every record and at many places between, and recovers.
    /// That a cut within a record is one before it, the journal's own tests say of every byte.
    fn check_every_cut(self, base: Option<&StateFile>) {
        let (steps, journal) = (self.steps.clone(), self.journal.path().to_owned());
        let killed = self.kill();
        let bytes = std::fs::read(&journal).unwrap();
        let is_near_an_end = |cut: usize| steps.iter().any(|step| step.0.abs_diff(cut) < 2);
        for cut in (0..=bytes.len()).filter(|&cut| cut % 16 == 0 || is_near_an_end(cut)) {
            std::fs::write(&journal, &bytes[..cut]).unwrap();
            let recovery = recover(&killed.path(), base.cloned());
            // A journal gets its name with its first record, so one without it was cut by another hand.
            let is_headless = cut < steps[0].0;
            if is_headless && base.is_none() {
                assert!(matches!(recovery, Err(JournalError::Headless(_))), "cut at {cut}");
                continue;
            }
            let recovery = recovery.unwrap();
            let is_damaged = recovery.runs.iter().any(|run| run.damage.is_some());
            // A record that is cut off at the end is no damage: every run that is killed may leave
            // one.
            assert_eq!(is_damaged, is_headless, "cut at {cut}");
            let state = recovery.file.as_ref().map(|file| listed(&file.state)).unwrap_or_default();
            let open: Vec<String> = recovery
                .unresolved
                .iter()
                .map(|one| format!("{:?} {}", one.action, one.addr))
                .collect();
            let begun = steps.iter().rfind(|step| step.0 <= cut);
            let nothing = (0, base.map(|file| listed(&file.state)).unwrap_or_default(), Vec::new());
            let (_, expected, expected_open) = begun.unwrap_or(&nothing);
            assert_eq!((&state, &open), (expected, expected_open), "cut at {cut}");
        }
    }
}

#[tokio::test]
async fn a_run_cut_off_anywhere_loses_no_result_and_names_what_was_in_flight() {
    let base = state_of(&[("t.b", "old"), ("t.c", "old"), ("t.d", "old")]);
    let mut run = Run::begin(&base);
    let [a, b, c, d] = ["t.a", "t.b", "t.c", "t.d"].map(addr);
    let old = object("old");
    let key = DeposedKey("00000001".into());

    let op_a = run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    run.then(&["t.b=old", "t.c=old", "t.d=old"], &["Create t.a"]);
    let update = Intent { prior: Some(&old), ..run.call(&b, Action::Update) };
    let op_b = run.journal.announce(update).await.unwrap();
    run.then(&["t.b=old", "t.c=old", "t.d=old"], &["Create t.a", "Update t.b"]);
    run.journal.answer(op_b, ProviderAnswer::default()).unwrap();
    run.journal.settle(op_b, Some(&object("new"))).unwrap();
    run.then(&["t.b=new", "t.c=old", "t.d=old"], &["Create t.a"]);
    // In another order than they were announced, as answers come.
    run.journal.settle(op_a, Some(&object("made"))).unwrap();
    run.then(&["t.a=made", "t.b=new", "t.c=old", "t.d=old"], &[]);

    let delete = Intent { prior: Some(&old), ..run.call(&c, Action::Delete) };
    let op_c = run.journal.announce(delete).await.unwrap();
    run.then(&["t.a=made", "t.b=new", "t.c=old", "t.d=old"], &["Delete t.c"]);
    run.journal.settle(op_c, None).unwrap();
    run.then(&["t.a=made", "t.b=new", "t.d=old"], &[]);

    let replace = Intent { prior: Some(&old), deposes: Some(&key), ..run.call(&d, Action::Create) };
    let op_d = run.journal.announce(replace).await.unwrap();
    run.then(&["t.a=made", "t.b=new", "t.d=old"], &["Create t.d"]);
    // Tainted while its provisioners run: cut off here, it must not pass for whole.
    let half_made = Object { status: Status::Tainted, ..object("half made") };
    run.journal.settle_for_now(op_d, Some(&half_made)).unwrap();
    run.then(&["t.a=made", "t.b=new", "t.d=half made", "t.d#00000001=old"], &[]);
    run.journal.settle(op_d, Some(&object("new"))).unwrap();
    run.then(&["t.a=made", "t.b=new", "t.d=new", "t.d#00000001=old"], &[]);
    let old_one = Intent { prior: Some(&old), deposed: Some(&key), ..run.call(&d, Action::Delete) };
    let op = run.journal.announce(old_one).await.unwrap();
    run.then(&["t.a=made", "t.b=new", "t.d=new", "t.d#00000001=old"], &["Delete t.d"]);
    run.journal.settle(op, None).unwrap();
    run.then(&["t.a=made", "t.b=new", "t.d=new"], &[]);
    run.check_every_cut(Some(&base));
}

#[tokio::test]
async fn a_state_older_than_the_journal_is_warned_of() {
    let run = creating(&state_of(&[]), &["t.a"]).await;
    let older = StateFile { serial: 2, ..state_of(&[]) };
    let summaries = |stored: StateFile| {
        let recovery = recover(&run.path(), Some(stored)).unwrap();
        let said = recovery.diagnostics().into_iter().map(|one| one.summary);
        said.collect::<Vec<_>>().contains(&"State is older than the journal".to_owned())
    };
    assert!(summaries(older));
    assert!(!summaries(state_of(&[])));
    assert!(!summaries(later(state_of(&[]))));
}

#[tokio::test]
async fn the_first_run_of_all_may_be_cut_off_before_there_is_a_state() {
    let base = none();
    let mut run = Run::begin(&base);
    let a = addr("t.a");
    let op = run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    run.then(&[], &["Create t.a"]);
    run.journal.settle(op, Some(&object("made"))).unwrap();
    run.then(&["t.a=made"], &[]);
    run.check_every_cut(None);
}

#[tokio::test]
async fn what_the_stored_state_holds_already_is_not_put_in_again() {
    let base = state_of(&[("t.b", "old")]);
    let run = Run::begin(&base);
    let (a, b, old) = (addr("t.a"), addr("t.b"), object("old"));
    let delete = Intent { prior: Some(&old), ..run.call(&b, Action::Delete) };
    let op = run.journal.announce(delete).await.unwrap();
    run.journal.settle(op, None).unwrap();
    let op = run.journal.announce(run.call(&b, Action::Create)).await.unwrap();
    run.journal.settle(op, Some(&object("new"))).unwrap();
    let stored = state_of(&[("t.b", "new")]);
    run.journal.snapshot(&stored).await.unwrap();
    let op = run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    run.journal.settle(op, Some(&object("made"))).unwrap();

    let run = run.kill();
    // What was done before a snapshot is put in again only where that was not stored.
    for (stored, n_replayed) in [(stored, 1), (base, 3)] {
        let recovery = recover(&run.path(), Some(stored)).unwrap();
        assert_eq!(listed(&recovery.file.unwrap().state), ["t.a=made", "t.b=new"]);
        assert_eq!(recovery.runs[0].n_replayed, n_replayed);
        assert!(recovery.unresolved.is_empty());
    }
}

#[tokio::test]
async fn a_result_is_not_put_over_what_another_program_did() {
    let run = Run::begin(&state_of(&[]));
    let a = addr("t.a");
    let op = run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    run.journal.settle(op, Some(&object("made"))).unwrap();
    let run = run.kill();
    let theirs = state_of(&[("t.a", "made by another program")]);
    // The same a second time: it stays open until it is decided.
    for _ in 0..2 {
        let recovery = recover(&run.path(), Some(theirs.clone())).unwrap();
        assert_eq!(recovery.file.as_ref(), Some(&theirs));
        let [unresolved] = &recovery.unresolved[..] else { panic!("{recovery:?}") };
        let made = OpenQuestion::Place { object: Some(Arc::new(object("made"))) };
        assert_eq!(unresolved.doubt, made);
        assert!(unresolved.needs_decision());
        recovery.finish().unwrap();
    }
    decided(&run, Some(theirs), &a, "looked");
    assert!(!run.path().exists());
}

#[tokio::test]
async fn a_journal_of_another_state_is_refused() {
    let run = Run::begin(&state_of(&[]));
    let a = addr("t.a");
    run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    let run = run.kill();
    let stranger = StateFile { lineage: "two".to_owned(), ..state_of(&[]) };
    let error = recover(&run.path(), Some(stranger)).unwrap_err();
    assert!(matches!(error, JournalError::OtherLineage { .. }), "{error:?}");
    let detail = error.diagnostic().detail;
    assert!(detail.contains("\n  t.a, which may have been changed"), "{detail}");
}

#[tokio::test]
async fn what_a_first_run_did_is_open_once_another_program_has_begun_another_state() {
    let run = Run::begin(&none());
    let [a, b, c] = ["t.a", "t.b", "t.c"].map(addr);
    for (addr, word) in [(&a, "a-1"), (&b, "b-1")] {
        let op = run.journal.announce(run.call(addr, Action::Create)).await.unwrap();
        run.journal.settle(op, Some(&object(word))).unwrap();
    }
    run.journal.announce(run.call(&c, Action::Create)).await.unwrap();
    let run = run.kill();
    let theirs = StateFile {
        lineage: "theirs".to_owned(),
        serial: 2,
        ..state_of(&[("t.a", "a-2"), ("t.c", "c-2")])
    };
    let recovery = recover(&run.path(), Some(theirs)).unwrap();
    // Results for addresses that their state lacks are taken over; for the others it is unknown.
    assert_eq!(listed(&recovery.file.as_ref().unwrap().state), ["t.a=a-2", "t.b=b-1", "t.c=c-2"]);
    let open: Vec<_> = recovery.unresolved.iter().map(|one| &one.addr).collect();
    assert_eq!(open, [&a, &c]);
    assert!(recovery.unresolved.iter().all(Unresolved::needs_decision));
}

#[tokio::test]
async fn nothing_goes_on_from_a_state_that_is_gone() {
    let run = creating(&state_of(&[("t.b", "there")]), &["t.a"]).await;
    let error = recover(&run.path(), None).unwrap_err();
    assert!(matches!(error, JournalError::NoBase { .. }), "{error:?}");
    let first = creating(&none(), &["t.a"]).await;
    let recovery = recover(&first.path(), None).unwrap();
    recovery.finish().unwrap();
    // By now it was stored.
    let error = recover(&first.path(), None).unwrap_err();
    assert!(matches!(error, JournalError::NoBase { .. }), "{error:?}");
}

#[tokio::test]
async fn a_run_that_was_cut_off_before_it_did_anything_leaves_nothing() {
    let run = Run::begin(&state_of(&[])).kill();
    let recovery = recover(&run.path(), None).unwrap();
    assert!(recovery.file.is_none() && recovery.diagnostics().is_empty());
    recovery.finish().unwrap();
    assert!(!run.path().exists());
}

#[tokio::test]
async fn a_run_that_ended_in_order_leaves_nothing_to_take_over() {
    let run = Run::begin(&state_of(&[]));
    let Run { folder, journal, .. } = run;
    journal.end().await.unwrap();
    assert!(recover(&folder.path().join("journal"), None).unwrap().is_nothing());
}

#[tokio::test]
async fn a_run_that_is_still_going_on_is_left_alone() {
    let run = Run::begin(&none());
    let a = addr("t.a");
    run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    let folder = run.folder.path().join("journal");
    // The lock on its journal shows that it still goes on.
    assert!(recover(&folder, None).unwrap().is_nothing());
    let run = run.kill();
    assert_eq!(recover(&run.path(), None).unwrap().unresolved.len(), 1);
}

#[tokio::test]
async fn a_first_run_that_did_nothing_known_still_gives_the_state_its_lineage() {
    let run = Run::begin(&none());
    let a = addr("t.a");
    run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    let run = run.kill();
    let recovery = recover(&run.path(), None).unwrap();
    assert_eq!(recovery.file.as_ref().unwrap().lineage, "one");
    recovery.finish().unwrap();
    // A call that only waits for a decision is in no run's way, also not in that of another state.
    let stranger = StateFile { lineage: "two".to_owned(), ..state_of(&[]) };
    let recovery = recover(&run.path(), Some(stranger.clone())).unwrap();
    assert_eq!((recovery.file, recovery.unresolved.len()), (Some(stranger), 1));
}

#[tokio::test]
async fn a_result_is_put_in_also_where_the_run_found_something_else_than_was_stored() {
    let base = state_of(&[("t.a", "stored")]);
    let run = Run::begin(&base);
    let (a, refreshed) = (addr("t.a"), object("refreshed"));
    let update = Intent { prior: Some(&refreshed), ..run.call(&a, Action::Update) };
    let op = run.journal.announce(update).await.unwrap();
    run.journal.settle(op, Some(&object("updated"))).unwrap();
    let run = run.kill();
    let recovery = recover(&run.path(), Some(base)).unwrap();
    assert_eq!(listed(&recovery.file.unwrap().state), ["t.a=updated"]);
    assert!(recovery.unresolved.is_empty());
}

/// Writes a journal of a run that found a state and began at a time.
fn journal_of(folder: &Path, name: &str, serial: u64, when: &str) {
    let begin = Record::RunBegin(RunBegin {
        operation: name.to_owned(),
        when: when.to_owned(),
        lineage: "one".to_owned(),
        serial,
        ..RunBegin::default()
    });
    std::fs::write(folder.join(format!("{name}.wal")), record::frame(1, &begin)).unwrap();
}

#[test]
fn runs_are_taken_over_in_the_order_in_which_they_began() {
    let folder = tempfile::tempdir().unwrap();
    // As strings the times would be in another order, and the clock was once set back.
    journal_of(folder.path(), "d", 3, "2026-01-01T12:00:00.5Z");
    journal_of(folder.path(), "c", 3, "2026-01-01T12:00:00Z");
    journal_of(folder.path(), "b", 3, "2026-01-01T13:59:59+02:00");
    journal_of(folder.path(), "a", 4, "2025-12-31T12:00:00Z");
    let recovery = recover(folder.path(), Some(state_of(&[]))).unwrap();
    let order: String = recovery.runs.iter().map(|run| run.operation.as_str()).collect();
    assert_eq!(order, "bcda");
}

#[test]
fn a_record_that_names_no_address_is_not_passed_over() {
    let base = state_of(&[]);
    let run = Run::begin(&base);
    let path = run.journal.path().to_owned();
    let killed = run.kill();
    let intent = record::IntentRecord {
        op: 2,
        when: String::new(),
        address: "no address at all!".to_owned(),
        provider: PROVIDER.to_owned(),
        deposed: None,
        deposes: None,
        action: Action::Create,
        prior: None,
        planned: Vec::new(),
    };
    archive::append(&path, &[Record::Intent(intent)]).unwrap();
    // If it were passed over, the object that it is about would be lost.
    let error = recover(&killed.path(), Some(base)).unwrap_err();
    let detail = error.diagnostic().detail;
    assert!(detail.starts_with(&format!("Record 2 of the journal {}", path.display())), "{detail}");
    assert!(path.exists());
}

/// A run that was cut off while it created these.
async fn creating(base: &StateFile, addrs: &[&str]) -> Killed {
    let run = Run::begin(base);
    for text in addrs {
        run.journal.announce(run.call(&addr(text), Action::Create)).await.unwrap();
    }
    run.kill()
}

/// Decides about an instance, and takes that down.
fn decided(run: &Killed, stored: Option<StateFile>, addr: &InstanceAddr, how: &str) {
    let mut recovery = recover(&run.path(), stored).unwrap();
    assert_eq!(recovery.decide(addr, how).len(), 1);
    recovery.finish().unwrap();
}
