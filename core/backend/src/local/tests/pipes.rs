//! Paths that lead to something other than a regular file, or through a link.

use super::*;
use crate::local::replace_file::PipeHandling;

/// A pipe, and a link to it.
fn create_pipe_and_link(directory: &TempDir) -> [PathBuf; 2] {
    let (pipe, link) = (directory.path().join("pipe"), directory.path().join("link"));
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink(&pipe, &link).unwrap();
    [pipe, link]
}

#[tokio::test]
async fn a_backup_is_written_into_a_pipe_without_replacing_it() {
    let directory = new_dir();
    let [pipe, link] = create_pipe_and_link(&directory);
    let text = |writer: &mut dyn io::Write| writer.write_all(b"text");
    for path in [&pipe, &link] {
        // Opened without waiting for a writer.
        let flags = nix::libc::O_NONBLOCK;
        let reader = OpenOptions::new().read(true).custom_flags(flags).open(&pipe).unwrap();
        DiskOperations::default()
            .replace_file_without_lock(path, PipeHandling::WriteInto, None, &text)
            .unwrap();
        assert_eq!(io::read_to_string(reader).unwrap(), "text");
        assert!(!pipe.metadata().unwrap().is_file(), "the pipe was replaced");
        assert!(link.is_symlink(), "the link was replaced");
    }
}

#[tokio::test]
async fn a_pipe_without_a_reader_at_the_default_backup_path_is_replaced() {
    let directory = new_dir();
    let [pipe, link] = create_pipe_and_link(&directory);
    let text = |writer: &mut dyn io::Write| writer.write_all(b"text");
    for path in [&link, &pipe] {
        DiskOperations::default()
            .replace_file_without_lock(path, PipeHandling::Replace, None, &text)
            .unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "text");
    }
    // Content that is written to a device is not stored, and writing it does not block.
    let device = directory.path().join("device");
    symlink("/dev/null", &device).unwrap();
    DiskOperations::default()
        .replace_file_without_lock(&device, PipeHandling::Replace, None, &text)
        .unwrap();
    assert!(device.is_symlink());
}

#[test]
fn a_path_that_is_not_a_file_does_not_receive_an_errored_state() {
    let directory = new_dir();
    let errored = directory.path().join(ERRORED_FILE);
    for target in ["/dev/null", "/dev/zero", "pipe"] {
        if target == "pipe" {
            nix::unistd::mkfifo(&errored, nix::sys::stat::Mode::S_IRWXU).unwrap();
        } else {
            symlink(target, &errored).unwrap();
        }
        let (path, former) =
            save_errored_state(&StateFile::new_empty(), &StateCipher::default(), directory.path())
                .unwrap();
        assert!(path.is_file() && !path.is_symlink(), "{target}");
        assert!(!former.unwrap().is_file(), "{target}");
        std::fs::remove_file(path).unwrap();
    }
}

#[tokio::test]
async fn no_directory_is_created_for_a_state_through_a_planted_link() {
    let (directory, victim) = (new_dir(), new_dir());
    let link = directory.path().join("terraform.tfstate.d");
    symlink(victim.path(), &link).unwrap();
    let mut store =
        LocalStore::new(StateFilePaths::from_state_path(link.join("other/terraform.tfstate")));
    let error = store.try_lock("plan").await.unwrap_err().to_string();
    assert!(error.contains("through a symbolic link"), "{error}");
    assert_eq!(victim.path().read_dir().unwrap().count(), 0);
    // Paths that the user created can be used.
    std::fs::create_dir(victim.path().join("other")).unwrap();
    let lock = store.try_lock("plan").await.unwrap();
    store.unlock(lock).await.unwrap();
}

#[tokio::test]
async fn a_pipe_at_the_default_state_path_is_refused_immediately() {
    let directory = new_dir();
    let [pipe, link] = create_pipe_and_link(&directory);
    for path in [pipe, link] {
        let result = LocalStore::new(StateFilePaths::from_state_path(&path)).read().await;
        assert!(result.unwrap_err().to_string().contains("it is a pipe, not a file"));
        assert!(load_state_file(&path).is_err());
    }
}

#[tokio::test]
async fn a_state_is_read_from_a_pipe_but_not_kept_in_one() {
    let directory = new_dir();
    for path in create_pipe_and_link(&directory) {
        let named = UserNamedPaths { source: true, backup: false };
        let mut store =
            LocalStore::new(StateFilePaths { named, ..StateFilePaths::from_state_path(&path) });
        let request = LockRequest { operation: "plan".into(), timeout: Duration::ZERO };
        let lock = store.lock(request).await.unwrap();
        let text = state_with_word("a").to_bytes();
        let writing = std::thread::scope(|scope| {
            let write = scope.spawn(|| std::fs::write(&path, text));
            let file = store.read_state_file().unwrap();
            assert_eq!(file.unwrap().state, state_with_word("a").state);
            write.join().unwrap()
        });
        writing.unwrap();
        assert!(
            store.stored_providers().await.is_empty(),
            "what can be read only once was read again"
        );
        let error = store.write(&mut state_with_word("b")).await.unwrap_err();
        assert!(matches!(error, StoreError::NotPersistent { .. }), "{error:?}");
        store.unlock(lock).await.unwrap();
    }
    assert_eq!(
        directory.path().read_dir().unwrap().count(),
        2,
        "something was left beside the pipe"
    );
}
