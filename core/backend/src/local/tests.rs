//! The local file with locks, crashes and disk failures. The effect of the locks on Terraform is
//! tested elsewhere with its binary.

mod damage;
mod permissions;
mod pipes;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::time::Duration;

use formwork_value::Value;
use tempfile::TempDir;

use super::*;
use crate::lock::{LockInfo, LockRequest};
use formwork_core::disk::locks::{is_lock_held_error, lock};
use formwork_core::state::journal::{CallAction, Intent, RunHeader};

fn load_state_file(path: &Path) -> Result<Option<StateFile>, StoreError> {
    load_state(path, &StateCipher::default())
}

fn new_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn new_store(directory: &TempDir) -> LocalStore {
    LocalStore::new(StateFilePaths::from_state_path(directory.path().join("terraform.tfstate")))
}

fn state_path_in(directory: &TempDir) -> PathBuf {
    directory.path().join("terraform.tfstate")
}

fn lock_request() -> LockRequest {
    LockRequest { operation: "OperationTypeApply".to_owned(), timeout: Duration::ZERO }
}

/// A state whose content is identified by a word.
fn state_with_word(word: &str) -> StateFile {
    let check_results = Some(format!("[\"{word}\"]").into_bytes().into());
    StateFile { lineage: "one".to_owned(), check_results, ..StateFile::new_empty() }
}

fn file_names_in(directory: &TempDir) -> Vec<String> {
    let entries = directory.path().read_dir().unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_lock_without_a_write_leaves_no_files() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let lock = store.lock(lock_request()).await.unwrap();
    assert_eq!(file_names_in(&directory), [".terraform.tfstate.lock.info", "terraform.tfstate"]);
    assert_eq!(store.read().await.unwrap(), None);
    store.unlock(lock).await.unwrap();
    assert!(file_names_in(&directory).is_empty());
}

#[tokio::test]
async fn the_first_write_makes_serial_one_and_no_backup() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let lock = store.lock(lock_request()).await.unwrap();
    let mut file = state_with_word("a");
    assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Stored);
    assert_eq!(file.serial, 1);
    store.unlock(lock).await.unwrap();
    assert_eq!(file_names_in(&directory), ["terraform.tfstate"]);
    assert_eq!(load_state_file(&state_path_in(&directory)).unwrap(), Some(file));
}

#[tokio::test]
async fn the_same_content_is_not_written_again() {
    let directory = new_dir();
    let mut file = state_with_word("a");
    new_store(&directory).write(&mut file).await.unwrap();
    let mut store = new_store(&directory);
    let mut file = store.read().await.unwrap().unwrap();
    assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Unchanged);
    assert_eq!(file.serial, 1);
    file.check_results = state_with_word("b").check_results;
    assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Stored);
    assert_eq!(store.write(&mut file).await.unwrap(), WriteOutcome::Unchanged);
    assert_eq!(file.serial, 2);
}

#[tokio::test]
async fn the_backup_is_the_state_before_the_run() {
    let directory = new_dir();
    let text = "{\"version\":4,  \"lineage\":\"one\",\"serial\":7}";
    std::fs::write(state_path_in(&directory), text).unwrap();
    let mut store = new_store(&directory);
    store.read().await.unwrap();
    for word in ["a", "b"] {
        store.write(&mut state_with_word(word)).await.unwrap();
    }
    let backup =
        std::fs::read_to_string(directory.path().join("terraform.tfstate.backup")).unwrap();
    assert_eq!(backup, text);
    assert_eq!(load_state_file(&state_path_in(&directory)).unwrap().unwrap().serial, 9);
}

#[tokio::test]
async fn a_backup_that_is_the_state_itself_never_replaces_it() {
    let text = "{\"version\":4,  \"lineage\":\"one\",\"serial\":7}";
    for (is_locked, is_link) in [(true, false), (false, false), (true, true), (false, true)] {
        for name in ["terraform.tfstate", "./terraform.tfstate", "real", "link", "hard"] {
            let directory = new_dir();
            let [state, real, link, hard] = ["terraform.tfstate", "real", "link", "hard"]
                .map(|name| directory.path().join(name));
            if is_link {
                std::fs::write(&real, text).unwrap();
                symlink("real", &state).unwrap();
            } else {
                std::fs::write(&state, text).unwrap();
                symlink("terraform.tfstate", &real).unwrap();
            }
            symlink(&state, &link).unwrap();
            std::fs::hard_link(state.canonicalize().unwrap(), &hard).unwrap();
            let mut store = LocalStore::new(StateFilePaths {
                backup: Some(directory.path().join(name)),
                named: UserNamedPaths { backup: true, ..UserNamedPaths::default() },
                ..StateFilePaths::from_state_path(&state)
            });
            if is_locked {
                drop(store.lock(lock_request()).await.unwrap());
            }
            store.read().await.unwrap();
            for word in ["a", "b"] {
                store.write(&mut state_with_word(word)).await.unwrap();
            }
            for path in [&state, &real] {
                let serial = load_state_file(path).unwrap().unwrap().serial;
                assert_eq!(serial, 9, "{name} {path:?} {is_locked} {is_link}");
            }
        }
    }
}

#[tokio::test]
async fn a_backup_at_the_path_of_the_read_state_is_refused() {
    let directory = new_dir();
    let [state, out] = ["terraform.tfstate", "out"].map(|name| directory.path().join(name));
    let store = || {
        LocalStore::new(StateFilePaths {
            read_from: Some(state.clone()),
            backup: Some(directory.path().join("./terraform.tfstate")),
            ..StateFilePaths::from_state_path(&out)
        })
    };
    std::fs::write(&state, "{\"version\":4,\"lineage\":\"one\",\"serial\":7}").unwrap();
    assert!(store().check_writable().is_ok(), "nothing is backed up");
    std::fs::write(&out, "{\"version\":4,\"lineage\":\"two\",\"serial\":1}").unwrap();
    let error = store().check_writable().unwrap_err();
    assert!(error.diagnostic().detail.contains("-backup"), "{error:?}");
}

#[tokio::test]
async fn a_second_holder_gets_the_description_of_the_first() {
    let directory = new_dir();
    let mut first = new_store(&directory);
    let lock = first.lock(lock_request()).await.unwrap();
    let error = new_store(&directory).lock(lock_request()).await.unwrap_err();
    let StoreError::Held { holder: Some(holder), .. } = &error else { panic!("{error:?}") };
    let LockInfo { operation, version, path, .. } = &**holder;
    assert_eq!((operation.as_str(), version.as_str()), ("OperationTypeApply", "1.11.4"));
    assert_eq!(*path, state_path_in(&directory).display().to_string());
    let diagnostic = error.diagnostic();
    assert_eq!(diagnostic.summary, "Error acquiring the state lock");
    assert!(diagnostic.detail.contains(&holder.id), "{}", diagnostic.detail);

    first.unlock(lock).await.unwrap();
    drop(new_store(&directory).lock(lock_request()).await.unwrap());
}

#[tokio::test]
async fn a_lock_is_waited_for() {
    let directory = new_dir();
    let mut first_store = new_store(&directory);
    let lock = first_store.lock(lock_request()).await.unwrap();
    let mut second = new_store(&directory);
    // The last attempt is made when the time is over, after the first holder has released the lock.
    let patient_request = LockRequest { timeout: Duration::from_millis(5), ..lock_request() };
    let (locked, unlocked) = tokio::join!(second.lock(patient_request), first_store.unlock(lock));
    unlocked.unwrap();
    second.unlock(locked.unwrap()).await.unwrap();
}

#[tokio::test]
async fn an_early_opener_of_the_file_finds_it_locked_and_then_the_new_text() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let state_lock = store.lock(lock_request()).await.unwrap();
    // Terraform opens the file before it has the lock, and must not read the old content
    // afterwards.
    let waiting = File::options().read(true).write(true).open(state_path_in(&directory)).unwrap();
    for word in ["a", "a longer word", "b"] {
        store.write(&mut state_with_word(word)).await.unwrap();
        assert!(is_lock_held_error(&lock(waiting.try_clone().unwrap()).unwrap_err()));
        let later = File::options().read(true).write(true).open(state_path_in(&directory)).unwrap();
        assert!(is_lock_held_error(&lock(later).unwrap_err()));
    }
    store.unlock(state_lock).await.unwrap();
    let waiting = lock(waiting).unwrap();
    let text = io::read_to_string(&*waiting).unwrap();
    assert_eq!(text, std::fs::read_to_string(state_path_in(&directory)).unwrap());
    assert!(lock::is_file_at_path(&waiting, &state_path_in(&directory)).unwrap());
}

#[tokio::test]
async fn a_disk_failure_leaves_the_old_or_the_new_content() {
    for locked in [false, true] {
        let mut n_failures = 0;
        loop {
            let directory = new_dir();
            let mut store = new_store(&directory);
            let old_text = {
                let mut file = state_with_word("old");
                store.write(&mut file).await.unwrap();
                std::fs::read_to_string(state_path_in(&directory)).unwrap()
            };
            if locked {
                drop(store.lock(lock_request()).await.unwrap());
            }
            let waiting_file = File::open(state_path_in(&directory)).unwrap();
            let mut file = store.read().await.unwrap().unwrap();
            file.check_results = state_with_word("new and longer").check_results;
            *store.disk.fail_at.lock().unwrap() = Some(n_failures);
            let result = store.write(&mut file).await;
            // If some remain, the write used the disk fewer times, so a failure was tested at each
            // point.
            let spent = store.disk.fail_at.lock().unwrap().is_some_and(|remaining| remaining > 0);
            *store.disk.fail_at.lock().unwrap() = None;

            let current_text = std::fs::read_to_string(state_path_in(&directory)).unwrap();
            let current_file = StateFile::parse(current_text.as_bytes()).unwrap();
            match &result {
                Ok(_) => assert_eq!(current_file, file),
                Err(_) => assert!(
                    current_text == old_text || current_file.check_results == file.check_results
                ),
            }
            assert_eq!(file.serial, current_file.serial, "the serial is taken back");
            if locked && current_text != old_text {
                let text = io::read_to_string(&waiting_file).unwrap();
                assert!(
                    !text.is_empty() && text != old_text,
                    "a waiting program sees the old state"
                );
            }
            let other_store =
                LocalStore::new(StateFilePaths::from_state_path(state_path_in(&directory)))
                    .lock(lock_request())
                    .await;
            assert_eq!(other_store.is_err(), locked, "the lock holds whatever happened");
            drop(store);
            let leftover_names: Vec<String> = file_names_in(&directory)
                .into_iter()
                .filter(|name| name.starts_with('.'))
                .collect();
            assert!(leftover_names.is_empty(), "left over: {leftover_names:?}");
            if spent {
                break;
            }
            n_failures += 1;
        }
        assert!(n_failures >= 5, "the disk was asked {n_failures} times");
    }
}

#[tokio::test]
async fn leftovers_of_a_killed_run_do_not_block_the_next_run() {
    let directory = new_dir();
    for name in [".terraform.tfstate.next", ".terraform.tfstate.previous"] {
        std::fs::write(directory.path().join(name), "torn").unwrap();
    }
    std::fs::write(directory.path().join(".terraform.tfstate.lock.info"), "{").unwrap();
    let mut store = new_store(&directory);
    let lock = store.lock(lock_request()).await.unwrap();
    store.write(&mut state_with_word("a")).await.unwrap();
    store.unlock(lock).await.unwrap();
    assert_eq!(file_names_in(&directory), ["terraform.tfstate"]);
}

#[tokio::test]
async fn a_file_that_another_program_put_there_is_not_overwritten() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let _lock = store.lock(lock_request()).await.unwrap();
    store.write(&mut state_with_word("a")).await.unwrap();
    std::fs::remove_file(state_path_in(&directory)).unwrap();
    std::fs::write(state_path_in(&directory), state_with_word("other").to_bytes()).unwrap();
    let error = store.write(&mut state_with_word("b")).await.unwrap_err();
    assert!(matches!(error, StoreError::Replaced { .. }), "{error:?}");
}

#[tokio::test]
async fn a_write_of_another_program_without_lock_is_noticed() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let mut file = state_with_word("a");
    store.write(&mut file).await.unwrap();
    let mut other_store = new_store(&directory);
    let mut other_file = other_store.read().await.unwrap().unwrap();
    other_file.check_results = None;
    other_store.write(&mut other_file).await.unwrap();
    file.check_results = state_with_word("b").check_results;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");
    assert_eq!(load_state_file(&state_path_in(&directory)).unwrap(), Some(other_file));
}

#[tokio::test]
async fn a_state_of_another_lineage_is_not_overwritten() {
    let directory = new_dir();
    new_store(&directory).write(&mut state_with_word("a")).await.unwrap();
    let mut stranger = StateFile { lineage: "two".to_owned(), ..state_with_word("b") };
    let error = new_store(&directory).write(&mut stranger).await.unwrap_err();
    assert!(matches!(error, StoreError::OtherLineage { .. }), "{error:?}");
}

#[tokio::test]
async fn a_run_with_a_separate_output_file_is_recovered_from_its_input_file() {
    let directory = new_dir();
    let old_path = directory.path().join("old.tfstate");
    let base = StateFile { serial: 3, ..state_with_word("a") };
    std::fs::write(&old_path, base.to_bytes()).unwrap();
    let mut store = new_store(&directory);
    let header = RunHeader { operation: "test", base: &base, read_from: Some(&old_path) };
    let journal = store.intents.begin_run(header).await.unwrap();
    // Nothing has begun until it changes something, even if it has created a file to lock it.
    assert_eq!(store.read().await.unwrap(), None);
    std::fs::write(state_path_in(&directory), "").unwrap();
    assert_eq!(store.read().await.unwrap(), None);
    std::fs::remove_file(state_path_in(&directory)).unwrap();
    let a = "test_thing.a".parse().unwrap();
    let provider = "provider[\"example.com/acme/test\"]".parse().unwrap();
    let (planned, action) = (Value::string("new"), CallAction::Create);
    let (deposed, deposes, prior) = (None, None, None);
    let planned = &planned;
    let call = Intent { addr: &a, provider: &provider, deposed, deposes, action, prior, planned };
    journal.announce_operation(call).await.unwrap();
    std::fs::write(state_path_in(&directory), "").unwrap();
    assert_eq!(store.read().await.unwrap(), Some(base));
    assert_eq!(store.files.read_from, Some(old_path));
}

#[tokio::test]
async fn a_run_without_a_base_state_is_not_recovered_from_another_file() {
    let directory = new_dir();
    let old_path = directory.path().join("old.tfstate");
    std::fs::write(&old_path, state_with_word("a").to_bytes()).unwrap();
    let mut store = new_store(&directory);
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "test", base: &base, read_from: Some(&old_path) };
    let journal = store.intents.begin_run(header).await.unwrap();
    let a = "test_thing.a".parse().unwrap();
    let provider = "provider[\"example.com/acme/test\"]".parse().unwrap();
    let planned = Value::string("new");
    let call = Intent {
        addr: &a,
        provider: &provider,
        deposed: None,
        deposes: None,
        action: CallAction::Create,
        prior: None,
        planned: &planned,
    };
    journal.announce_operation(call).await.unwrap();
    assert_eq!(store.read().await.unwrap(), None);
}

#[test]
fn a_lock_that_could_not_be_reported_leaves_nothing() {
    let directory = new_dir();
    let files = StateFilePaths::from_state_path(state_path_in(&directory));
    std::fs::create_dir(files.sibling_path(".lock.info")).unwrap();
    assert!(matches!(HeldLock::try_lock(&files, "test"), Err(StoreError::Failed { .. })));
    assert!(!state_path_in(&directory).exists());
}

#[test]
fn journals_are_next_to_the_target_of_a_link() {
    let directory = new_dir();
    std::fs::create_dir(directory.path().join("real")).unwrap();
    let [first_link, second_link] = ["one", "two"].map(|name| directory.path().join(name));
    symlink("real/s.tfstate", &first_link).unwrap();
    symlink("one", &second_link).unwrap();
    for path in [directory.path().join("real/s.tfstate"), first_link, second_link] {
        let store = LocalStore::new(StateFilePaths::from_state_path(path));
        assert_eq!(store.files.journal_dir(), directory.path().join("real/.s.tfstate.journal"));
    }
}

#[tokio::test]
async fn reading_from_one_file_and_writing_to_another_keeps_the_first() {
    let directory = new_dir();
    let old_path = directory.path().join("old.tfstate");
    std::fs::write(&old_path, state_with_word("a").to_bytes()).unwrap();
    let files = StateFilePaths {
        read_from: Some(old_path.clone()),
        ..StateFilePaths::from_state_path(state_path_in(&directory))
    };
    let mut store = LocalStore::new(files);
    let mut file = store.read().await.unwrap().unwrap();
    file.check_results = state_with_word("b").check_results;
    for _ in 0..2 {
        store.write(&mut file).await.unwrap();
    }
    assert_eq!(std::fs::read(&old_path).unwrap(), state_with_word("a").to_bytes());
    assert_eq!(load_state_file(&state_path_in(&directory)).unwrap(), Some(file));
}

#[tokio::test]
async fn an_overwriting_state_keeps_its_serial_and_leaves_a_backup() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let mut stored = state_with_word("a");
    store.write(&mut stored).await.unwrap();
    let mut store = new_store(&directory);
    let pushed = StateFile { serial: 70, lineage: "another".to_owned(), ..state_with_word("b") };
    store.read().await.unwrap();
    store.overwrite(pushed.clone()).await.unwrap();
    assert_eq!(load_state_file(&state_path_in(&directory)).unwrap(), Some(pushed));
    let backup = state_path_in(&directory).with_file_name("terraform.tfstate.backup");
    assert_eq!(load_state_file(&backup).unwrap(), Some(stored));
}

#[test]
fn a_state_that_cannot_be_stored_is_saved_in_errored_tfstate() {
    let directory = new_dir();
    let (path, former) =
        save_errored_state(&state_with_word("a"), &StateCipher::default(), directory.path())
            .unwrap();
    assert_eq!((&path, former), (&directory.path().join("errored.tfstate"), None));
    // In the form in which it is stored next: serial 0 means that a state was never stored.
    let next_file = StateFile { serial: state_with_word("a").serial + 1, ..state_with_word("a") };
    assert_eq!(std::fs::read(path).unwrap(), next_file.to_bytes());
}

#[test]
fn an_errored_state_of_another_run_is_kept_unless_everything_in_it_is_known() {
    let directory = new_dir();
    let file_with_instances = |lineage: &str, names: &[&str]| {
        let resources: Vec<String> = names
            .iter()
            .map(|name| {
                format!(
                    r#"{{"mode":"managed","type":"t","name":"{name}","provider":"provider[\"example.com/acme/t\"]","instances":[{{"schema_version":0,"attributes":{{"id":"{name}-1"}}}}]}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"version":4,"serial":0,"lineage":"{lineage}","outputs":{{}},"resources":[{}]}}"#,
            resources.join(",")
        );
        StateFile::parse(text.as_bytes()).unwrap()
    };
    let save = |file: StateFile| {
        save_errored_state(&file, &StateCipher::default(), directory.path()).unwrap().1
    };
    assert_eq!(save(file_with_instances("one", &["a"])), None);
    assert_eq!(save(file_with_instances("one", &["a", "b"])), None);
    let former_path =
        |number: u32| Some(directory.path().join(format!("errored.{number}.tfstate")));
    assert_eq!(save(file_with_instances("one", &["a"])), former_path(1));
    assert_eq!(save(file_with_instances("two", &["a"])), former_path(2));

    let errored = ErroredStateFile::read(directory.path(), &StateCipher::default()).unwrap();
    let stored = |names: &[&str], serial| StateFile { serial, ..file_with_instances("two", names) };
    let standing = |file: StateFile| errored.compare_with_state(Some(&file));
    let addrs =
        |names: &[&str]| names.iter().map(|name| format!("t.{name}").parse().unwrap()).collect();
    assert_eq!(standing(stored(&["a", "b"], 0)), ErroredStateRelation::Superseded);
    assert_eq!(standing(file_with_instances("one", &["a"])), ErroredStateRelation::OtherLineage);
    assert_eq!(standing(stored(&[], 0)), ErroredStateRelation::Newer { missing: addrs(&["a"]) });
    assert_eq!(
        errored.compare_with_state(None),
        ErroredStateRelation::Newer { missing: addrs(&["a"]) }
    );
    let diverged = |names: &[&str], is_old| ErroredStateRelation::Diverged {
        missing: addrs(&["a"]),
        lacking: addrs(names),
        is_old,
    };
    assert_eq!(standing(stored(&["c"], 0)), diverged(&["c"], false));
    assert_eq!(standing(stored(&["c"], 1)), diverged(&["c"], false));
    assert_eq!(standing(stored(&[], 2)), diverged(&[], true));
    std::fs::write(&errored.path, "{").unwrap();
    let unreadable = ErroredStateFile::read(directory.path(), &StateCipher::default())
        .unwrap()
        .compare_with_state(None);
    assert_eq!(unreadable, ErroredStateRelation::Unreadable);
}
