//! Damaged files, and the copies that messages may recommend instead.

use super::*;

#[tokio::test]
async fn an_empty_file_is_damage_only_with_a_backup() {
    let directory = new_dir();
    std::fs::write(state_path_in(&directory), "").unwrap();
    assert_eq!(new_store(&directory).read().await.unwrap(), None);
    std::fs::write(
        directory.path().join("terraform.tfstate.backup"),
        state_with_word("a").to_bytes(),
    )
    .unwrap();
    let error = new_store(&directory).read().await.unwrap_err();
    assert!(matches!(error, StoreError::Emptied { .. }), "{error:?}");
    std::fs::remove_file(state_path_in(&directory)).unwrap();
    assert_eq!(new_store(&directory).read().await.unwrap(), None);
}

#[tokio::test]
async fn a_state_truncated_in_place_is_reported_with_its_complete_copy() {
    let directory = new_dir();
    let complete_text = StateFile { serial: 7, ..state_with_word("b") }.to_bytes();
    let backup = StateFile { serial: 6, ..state_with_word("a") }.to_bytes();
    std::fs::write(directory.path().join("terraform.tfstate.backup"), backup).unwrap();
    std::fs::write(directory.path().join(".terraform.tfstate.next"), &complete_text).unwrap();
    for length in [0, complete_text.len() / 2] {
        std::fs::write(state_path_in(&directory), &complete_text[..length]).unwrap();
        let error = new_store(&directory).read().await.unwrap_err().diagnostic();
        let next = directory.path().join(".terraform.tfstate.next");
        let advice = format!("{} can be copied over it. It is the complete state", next.display());
        assert!(error.detail.contains(&advice), "{}", error.detail);
        std::fs::copy(next, state_path_in(&directory)).unwrap();
        assert_eq!(new_store(&directory).read().await.unwrap().unwrap().serial, 7);
    }
}

#[tokio::test]
async fn a_copy_of_another_state_is_not_recommended_and_one_with_a_spare_name_is() {
    let directory = new_dir();
    let [own_file, other_file] = ["one", "two"].map(|lineage| StateFile {
        serial: 7,
        lineage: lineage.to_owned(),
        ..state_with_word("b")
    });
    let backup =
        StateFile { serial: 6, lineage: "one".to_owned(), ..state_with_word("a") }.to_bytes();
    std::fs::write(directory.path().join("terraform.tfstate.backup"), backup).unwrap();
    std::fs::write(state_path_in(&directory), "").unwrap();
    let [next_path, numbered_path] =
        ["", ".1"].map(|number| directory.path().join(format!(".terraform.tfstate.next{number}")));
    std::fs::write(&next_path, other_file.to_bytes()).unwrap();
    let detail = async || new_store(&directory).read().await.unwrap_err().diagnostic().detail;
    let detail_without_file = detail().await;
    assert!(!detail_without_file.contains(".next"), "{detail_without_file}");
    assert!(detail_without_file.contains("terraform.tfstate.backup"), "{detail_without_file}");
    std::fs::write(&numbered_path, own_file.to_bytes()).unwrap();
    let detail_with_file = detail().await;
    assert!(
        detail_with_file.contains(&format!("{} can be copied over it", numbered_path.display())),
        "{detail_with_file}"
    );
}

#[tokio::test]
async fn a_first_run_killed_before_its_state_was_renamed_is_taken_over() {
    let directory = new_dir();
    std::fs::write(state_path_in(&directory), "").unwrap();
    let next_path = directory.path().join(".terraform.tfstate.next");
    // The state without objects that a first run stores before it changes anything.
    std::fs::write(&next_path, state_with_word("a").to_bytes()).unwrap();
    assert_eq!(new_store(&directory).read().await.unwrap(), None);
    // Without a journal, its objects are those of a state that was truncated while it was written.
    let text = r#"{"version":4,"terraform_version":"1.11.4","serial":2,"lineage":"one","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"x"}}]}],"check_results":null}"#;
    std::fs::write(&next_path, text).unwrap();
    let mut store = new_store(&directory);
    let error = store.read().await.unwrap_err();
    assert!(matches!(error, StoreError::Emptied { .. }), "{error:?}");
    // The journal of a run has all of them.
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
    drop(store.intents.begin_run(header).await.unwrap());
    assert_eq!(store.read().await.unwrap(), None);
}

#[tokio::test]
async fn a_leftover_that_cannot_be_removed_does_not_stop_the_store() {
    let directory = new_dir();
    // A directory simulates the file of another user in a directory with a sticky bit: no file can
    // replace it.
    for leftover in [".terraform.tfstate.next", ".terraform.tfstate.backup.next"] {
        std::fs::create_dir(directory.path().join(leftover)).unwrap();
    }
    new_store(&directory).write(&mut state_with_word("a")).await.unwrap();
    new_store(&directory).write(&mut state_with_word("b")).await.unwrap();
    let leftover_names = [".terraform.tfstate.backup.next", ".terraform.tfstate.next"];
    assert_eq!(
        file_names_in(&directory),
        [leftover_names[0], leftover_names[1], "terraform.tfstate", "terraform.tfstate.backup"]
    );
    assert_eq!(
        load_state_file(&state_path_in(&directory)).unwrap().unwrap().check_results,
        state_with_word("b").check_results
    );
}

#[tokio::test]
async fn a_file_created_for_its_lock_is_no_state_even_with_a_backup() {
    let directory = new_dir();
    std::fs::write(
        directory.path().join("terraform.tfstate.backup"),
        state_with_word("a").to_bytes(),
    )
    .unwrap();
    let mut store = new_store(&directory);
    let lock = store.lock(lock_request()).await.unwrap();
    assert!(state_path_in(&directory).exists());
    assert_eq!(store.read().await.unwrap(), None);
    store.unlock(lock).await.unwrap();
    assert!(!state_path_in(&directory).exists());
}

#[tokio::test]
async fn an_empty_file_is_damage_only_if_the_journal_began_with_a_state() {
    let directory = new_dir();
    std::fs::write(state_path_in(&directory), "").unwrap();
    let mut store = new_store(&directory);
    let begin_run = async |base: &StateFile| {
        let header = RunHeader { operation: "OperationTypeApply", base, read_from: None };
        store.intents.begin_run(header).await.unwrap()
    };
    // A run that began without a state has nothing to lose.
    drop(begin_run(&StateFile::new_empty()).await);
    let journal = begin_run(&StateFile { serial: 3, ..StateFile::new_empty() }).await;
    let path = PathBuf::from(journal.location());
    drop(journal);
    let error = store.read().await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Emptied { evidence, .. } if *evidence == [path.clone()]),
        "{error:?}"
    );
    std::fs::remove_file(path).unwrap();
    assert_eq!(store.read().await.unwrap(), None);
}

#[tokio::test]
async fn a_state_file_without_content_is_distinguished_from_none() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    assert_eq!(store.read().await.unwrap(), None);
    assert_eq!(store.empty_state_file(), None);
    let path = state_path_in(&directory);
    std::fs::write(&path, "").unwrap();
    assert_eq!(store.read().await.unwrap(), None);
    assert_eq!(store.empty_state_file(), Some(path.as_path()));
    std::fs::remove_file(&path).unwrap();
    let request = LockRequest { operation: "plan".into(), timeout: Duration::ZERO };
    let _lock = store.lock(request).await.unwrap();
    assert_eq!(store.read().await.unwrap(), None);
    assert_eq!(store.empty_state_file(), None, "this one was made for the lock");
}

#[tokio::test]
async fn a_damaged_file_is_neither_read_nor_overwritten() {
    let directory = new_dir();
    std::fs::write(state_path_in(&directory), "{\"version\": 4, \"reso").unwrap();
    let mut store = new_store(&directory);
    assert!(store.read().await.is_err());
    assert!(store.write(&mut state_with_word("a")).await.is_err());
    let current_text = std::fs::read_to_string(state_path_in(&directory)).unwrap();
    assert_eq!(current_text, "{\"version\": 4, \"reso");
}

#[tokio::test]
async fn an_empty_state_with_an_unreadable_journal_is_damage() {
    let directory = new_dir();
    std::fs::write(state_path_in(&directory), "").unwrap();
    let mut store = new_store(&directory);
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "test", base: &base, read_from: None };
    let journal = store.intents.begin_run(header).await.unwrap();
    let path = journal.location().to_owned();
    drop(journal);
    assert_eq!(store.read().await.unwrap(), None, "a first run that was cut off at once");
    let bytes = std::fs::read(&path).unwrap();
    for text in [&[][..], &bytes[..40], &[0; 100]] {
        std::fs::write(&path, text).unwrap();
        let error = store.read().await.unwrap_err();
        let StoreError::Emptied { evidence, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*evidence, std::slice::from_ref(&path));
        let detail = error.diagnostic().detail;
        assert!(
            detail.contains(&format!("delete {}", state_path_in(&directory).display())),
            "{detail}"
        );
    }
}

#[tokio::test]
async fn only_a_readable_backup_is_recommended_with_its_age() {
    let directory = new_dir();
    let mut store = new_store(&directory);
    let backup = directory.path().join("terraform.tfstate.backup");
    let base = StateFile { serial: 3, ..state_with_word("a") };
    let header = RunHeader { operation: "test", base: &base, read_from: None };
    drop(store.intents.begin_run(header).await.unwrap());
    for state in ["", "{\"version\": 4, "] {
        std::fs::write(state_path_in(&directory), state).unwrap();
        std::fs::write(&backup, "{\"version").unwrap();
        let detail = store.read().await.unwrap_err().diagnostic().detail;
        assert!(!detail.contains("can be copied"), "{detail}");
        for (serial, is_outdated) in [(2, true), (3, false)] {
            let file = StateFile { serial, ..state_with_word("a") };
            std::fs::write(&backup, file.to_bytes()).unwrap();
            let detail = store.read().await.unwrap_err().diagnostic().detail;
            assert!(detail.contains("can be copied over it"), "{detail}");
            let expected = "which began with serial 3";
            assert_eq!(detail.contains(expected), is_outdated, "{detail}");
        }
    }
}
