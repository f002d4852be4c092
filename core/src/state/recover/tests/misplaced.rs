//! Journals beside a state that was moved or copied.

use super::*;
use crate::state::intent_log::{IntentLog as _, LocalIntentLog};

fn find_misplaced(own_dir: &Path, state: &StateFile) -> Vec<MisplacedJournals> {
    MisplacedSearch { own_dir, seal: None, state, known_runs: &BTreeSet::new() }.find()
}

/// Kills a run on the state file `old` when it has created `t.a` and is creating `t.b`.
async fn kill_run_on_old(directory: &Path, base: &StateFile) {
    let begin = RunHeader { operation: "OperationTypeApply", base, read_from: None };
    let journal = Journal::begin_run(&directory.join(".old.journal"), begin).unwrap();
    let provider: ProviderConfigAddr = PROVIDER.parse().unwrap();
    let (a, b, planned) = (parse_addr("t.a"), parse_addr("t.b"), Value::Null(Type::Dynamic));
    let create = |addr| Intent {
        addr,
        provider: &provider,
        deposed: None,
        deposes: None,
        action: CallAction::Create,
        prior: None,
        planned: &planned,
    };
    let op = journal.announce_operation(create(&a)).await.unwrap();
    journal.settle_operation(op, Some(&object_with_word("made"))).unwrap();
    journal.announce_operation(create(&b)).await.unwrap();
}

#[tokio::test]
async fn the_journal_of_a_state_that_was_moved_is_found_under_its_former_name() {
    let base = state_with_objects(&[("t.c", "old")]);
    let directory = tempfile::tempdir().unwrap();
    let own_dir = directory.path().join(".new.journal");
    let find = |state: &StateFile| find_misplaced(&own_dir, state);
    assert!(find(&base).is_empty());
    kill_run_on_old(directory.path(), &base).await;
    let former_location =
        |exists| JournaledPlace::File { path: directory.path().join("old"), exists };
    let mut expected = MisplacedJournals {
        directory: directory.path().join(".old.journal"),
        own_dir: own_dir.clone(),
        place: former_location(false),
        is_of_lineage: true,
        n_results: 1,
        open: vec![parse_addr("t.b")],
    };
    assert_eq!(find(&base), [expected.clone()]);
    // Copied instead of moved.
    std::fs::write(directory.path().join("old"), "{}").unwrap();
    expected.place = former_location(true);
    assert_eq!(find(&base), [expected.clone()]);
    // The journal of the state itself is taken over.
    assert!(find_misplaced(&expected.directory, &base).is_empty());
    let other = StateFile { lineage: "two".to_owned(), ..base.clone() };
    assert!(find(&other).is_empty());
    // All of it is settled under the former name.
    let mut recovery = recover_journals_in_dir(&expected.directory, Some(base)).unwrap();
    recovery.mark_decided(&parse_addr("t.b"), "looked");
    recovery.archive_journals().unwrap();
    assert!(find(&recovery.file.unwrap()).is_empty());
}

#[tokio::test]
async fn a_journal_in_the_former_directory_of_a_state_is_not_misplaced() {
    let base = state_with_objects(&[]);
    let directory = tempfile::tempdir().unwrap();
    kill_run_on_old(directory.path(), &base).await;
    let log = LocalIntentLog::in_dir(directory.path().join(".new.journal"));
    assert_eq!(log.misplaced_journals(&base).len(), 1);
    let log = log.with_former_dir(directory.path().join(".old.journal"));
    assert!(log.misplaced_journals(&base).is_empty());
}

#[tokio::test]
async fn a_journal_without_newer_results_does_not_block_a_copied_state() {
    let base = state_with_objects(&[]);
    let directory = tempfile::tempdir().unwrap();
    kill_run_on_old(directory.path(), &base).await;
    // The results, and an object that may be the one that was being created.
    let made = state_with_objects(&[("t.a", "made"), ("t.b", "imported")]);
    let made = rewritten_by_other_program(made);
    assert!(find_misplaced(&directory.path().join(".new.journal"), &made).is_empty());
}

#[tokio::test]
async fn the_journal_of_a_remote_state_is_found_under_another_address() {
    let base = state_with_objects(&[("t.c", "old")]);
    let directory = tempfile::tempdir().unwrap();
    let path_of = |name: &str| directory.path().join(name);
    kill_run_on_old(directory.path(), &base).await;
    let remote = path_of(".state-fedcba9876543210.journal");
    let find = |state: &StateFile| find_misplaced(&remote, state);
    // A remote state is not a renamed file.
    assert!(find(&base).is_empty());
    let former = path_of(".state-0123456789abcdef.journal");
    std::fs::rename(path_of(".old.journal"), &former).unwrap();
    let expected = MisplacedJournals {
        directory: former.clone(),
        own_dir: remote.clone(),
        place: JournaledPlace::Remote,
        is_of_lineage: true,
        n_results: 1,
        open: vec![parse_addr("t.b")],
    };
    assert_eq!(find(&base), [expected]);
    // The state may have been copied from the remote location to a file.
    let of_file = find_misplaced(&path_of(".new.journal"), &base);
    assert_eq!(of_file.len(), 1, "{of_file:?}");
    // The states of other workspaces and configurations have another lineage.
    assert!(find(&StateFile { lineage: "two".to_owned(), ..base.clone() }).is_empty());
    // A run that a shared store has is taken over from there, or was.
    let mut names = former.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let run = names.next().unwrap().file_stem().unwrap().to_str().unwrap().to_owned();
    let known_runs = &BTreeSet::from([run]);
    let search = MisplacedSearch { own_dir: &remote, seal: None, state: &base, known_runs };
    assert!(search.find().is_empty());
    // Under the name of the state itself it is taken over.
    std::fs::rename(&former, &remote).unwrap();
    assert!(find(&base).is_empty());
}

#[test]
fn a_journal_of_unknown_lineage_belongs_to_a_state_only_if_its_own_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let own_dir = directory.path().join(".new.journal");
    for (name, is_found) in [(".old.journal", true), (".state-0123456789abcdef.journal", false)] {
        let journals = directory.path().join(name);
        std::fs::create_dir(&journals).unwrap();
        std::fs::write(journals.join("run.wal"), "").unwrap();
        let misplaced = find_misplaced(&own_dir, &state_with_objects(&[]));
        assert_eq!(misplaced.len(), usize::from(is_found), "{misplaced:?}");
        assert!(misplaced.iter().all(|journals| !journals.is_of_lineage), "{misplaced:?}");
        std::fs::write(directory.path().join("old"), "{}").unwrap();
        assert!(find_misplaced(&own_dir, &state_with_objects(&[])).is_empty(), "{name}");
        std::fs::remove_dir_all(&journals).unwrap();
        std::fs::remove_file(directory.path().join("old")).unwrap();
    }
}
