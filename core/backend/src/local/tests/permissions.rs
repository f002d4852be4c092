//! Permissions of states and of their backups.

use super::*;
use crate::local::replace_file::PipeHandling;

/// The permissions of a file in the directory.
fn mode_of(directory: &TempDir, name: &str) -> u32 {
    directory.path().join(name).metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(directory: &TempDir, name: &str, mode: u32) {
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(directory.path().join(name), permissions).unwrap();
}

#[tokio::test]
async fn links_and_permissions_survive_a_write() {
    let directory = new_dir();
    let real = directory.path().join("real.tfstate");
    std::fs::write(&real, state_with_word("a").to_bytes()).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real.tfstate", state_path_in(&directory)).unwrap();
    for locked in [false, true] {
        let mut store = new_store(&directory);
        if locked {
            drop(store.lock(lock_request()).await.unwrap());
        }
        let mut file = store.read().await.unwrap().unwrap();
        file.check_results = state_with_word(if locked { "b" } else { "c" }).check_results;
        store.write(&mut file).await.unwrap();
        assert!(state_path_in(&directory).is_symlink());
        assert_eq!(load_state_file(&real).unwrap(), Some(file));
        assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn new_files_are_created_with_access_for_their_owner_only() {
    for locked in [false, true] {
        let directory = new_dir();
        let mut store = new_store(&directory);
        if locked {
            drop(store.lock(lock_request()).await.unwrap());
            assert_eq!(mode_of(&directory, "terraform.tfstate"), 0o600);
            assert_eq!(mode_of(&directory, ".terraform.tfstate.lock.info"), 0o600);
        }
        store.write(&mut state_with_word("a")).await.unwrap();
        assert_eq!(mode_of(&directory, "terraform.tfstate"), 0o600);
        let mut store = new_store(&directory);
        store.write(&mut state_with_word("b")).await.unwrap();
        assert_eq!(mode_of(&directory, "terraform.tfstate.backup"), 0o600);
        save_errored_state(&state_with_word("a"), &StateCipher::default(), directory.path())
            .unwrap();
        assert_eq!(mode_of(&directory, "errored.tfstate"), 0o600);
    }
    // From the start: before the file has content, and before another mode is set.
    let directory = new_dir();
    let new_path = directory.path().join("made");
    DiskOperations::default()
        .replace_file_without_lock(&new_path, PipeHandling::Replace, None, &|_| {
            assert_eq!(mode_of(&directory, ".made.next"), 0o600);
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn the_mode_of_a_state_is_kept_and_its_backup_is_never_more_accessible() {
    for (state, backup, expected) in [
        (0o660, None, 0o660),
        (0o644, None, 0o644),
        (0o600, None, 0o600),
        (0o600, Some(0o644), 0o600),
        (0o640, Some(0o660), 0o640),
        (0o644, Some(0o600), 0o600),
    ] {
        for locked in [false, true] {
            let directory = new_dir();
            new_store(&directory).write(&mut state_with_word("a")).await.unwrap();
            set_mode(&directory, "terraform.tfstate", state);
            if let Some(mode) = backup {
                std::fs::write(directory.path().join("terraform.tfstate.backup"), "old").unwrap();
                set_mode(&directory, "terraform.tfstate.backup", mode);
            }
            let mut store = new_store(&directory);
            if locked {
                drop(store.lock(lock_request()).await.unwrap());
                assert_eq!(mode_of(&directory, ".terraform.tfstate.lock.info"), state & 0o644);
            }
            store.write(&mut state_with_word("b")).await.unwrap();
            assert_eq!(mode_of(&directory, "terraform.tfstate"), state);
            let mode = mode_of(&directory, "terraform.tfstate.backup");
            assert_eq!(mode, expected, "{state:o} {backup:?}");
        }
    }
}
