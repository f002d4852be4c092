//! Planted links, pipes and endless files.

use std::os::unix::fs::symlink;

use nix::errno::Errno;

use super::system::DirHandle;
use super::*;

/// A directory with a victim beside it.
struct Planted {
    directory: tempfile::TempDir,
}

impl Planted {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("data")).unwrap();
        std::fs::create_dir_all(directory.path().join("victim/inside")).unwrap();
        std::fs::write(directory.path().join("victim/inside/file"), "precious").unwrap();
        Self { directory }
    }

    fn data(&self) -> Dir {
        Dir::open(&self.directory.path().join("data")).unwrap()
    }

    fn is_whole(&self) -> bool {
        let victim = self.directory.path().join("victim");
        let names = std::fs::read_dir(&victim).unwrap().count();
        let text = std::fs::read_to_string(victim.join("inside/file"));
        names == 1 && text.is_ok_and(|text| text == "precious")
    }
}

#[test]
fn no_operation_follows_a_link() {
    let planted = Planted::new();
    let dir = planted.data();
    let path_of = |name: &str| dir.path().join(name);
    symlink("../victim", path_of("directory")).unwrap();
    symlink("../victim/inside/file", path_of("file")).unwrap();
    for error in [
        dir.subdir("directory").unwrap_err(),
        dir.open_or_create_subdir("directory").unwrap_err(),
        dir.read("file", MAX_SMALL_FILE_LEN).unwrap_err(),
        dir.open_lock_file("file").unwrap_err(),
        dir.open_existing_lock_file("file").unwrap_err(),
        dir.refuse_link("file").unwrap_err(),
        dir.refuse_link("directory").unwrap_err(),
    ] {
        assert!(error.to_string().contains("is a symbolic link to ../victim"), "{error}");
    }
    assert!(dir.remove_empty_subdir("directory").is_err() && path_of("directory").is_symlink());
    dir.replace("file", b"new", 0o644).unwrap();
    assert_eq!(std::fs::read(path_of("file")).unwrap(), b"new");
    assert!(!path_of("file").is_symlink());
    dir.refuse_link("file").unwrap();
    dir.rename("directory", &dir, "moved").unwrap();
    assert!(path_of("moved").is_symlink());
    dir.remove("moved").unwrap();
    assert!(!dir.has_entry("moved") && planted.is_whole());
}

#[test]
fn a_tree_is_removed_without_the_targets_of_its_links() {
    let planted = Planted::new();
    let dir = planted.data();
    let scratch = planted.data().create_temp_dir(".new-").unwrap();
    let within =
        scratch.dir().open_or_create_subdir("a").unwrap().open_or_create_subdir("b").unwrap();
    within.replace("file", b"", 0o600).unwrap();
    within.symlink(&planted.directory.path().join("victim"), "link").unwrap();
    scratch.dir().symlink(Path::new("../../victim"), "link").unwrap();
    assert_eq!(dir.entry_names().unwrap().len(), 1);
    drop(scratch);
    assert_eq!(dir.entry_names().unwrap().len(), 0);
    assert!(planted.is_whole());
}

#[test]
fn a_new_directory_has_a_unique_name_and_is_removed_only_if_empty() {
    use std::os::unix::fs::PermissionsExt as _;
    let planted = Planted::new();
    let dir = planted.data();
    let (first, second) =
        (dir.create_unique_subdir("a-").unwrap(), dir.create_unique_subdir("a-").unwrap());
    assert_ne!(first.path(), second.path());
    assert_eq!(first.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(dir.create_unique_subdir("../a-").is_err());
    let name = first.path().file_name().unwrap();
    assert!(first.open_existing_lock_file("file").unwrap().is_none());
    first.open_lock_file("file").unwrap();
    assert!(first.open_existing_lock_file("file").unwrap().is_some());
    assert!(dir.remove_empty_subdir(name).is_err() && dir.is_dir(name));
    first.remove("file").unwrap();
    dir.remove_empty_subdir(name).unwrap();
    assert_eq!(dir.entry_names().unwrap().len(), 1);
}

#[test]
fn names_are_single_components() {
    let planted = Planted::new();
    let dir = planted.data();
    for name in ["", ".", "..", "../victim", "a/b"] {
        assert!(dir.subdir(name).is_err() && dir.remove(name).is_err(), "{name:?}");
        assert!(dir.remove_empty_subdir(name).is_err(), "{name:?}");
        assert!(dir.read(name, 1).is_err() && dir.open_lock_file(name).is_err(), "{name:?}");
    }
    assert!(planted.is_whole());
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let planted = Planted::new();
    let dir = planted.data();
    let pipe = dir.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(dir.read("pipe", MAX_SMALL_FILE_LEN).is_err());
    assert!(dir.open_lock_file("pipe").is_err());
    assert!(dir.open_existing_lock_file("pipe").is_err());
    assert_eq!(
        read_file(&pipe, MAX_CONFIG_FILE_LEN).unwrap_err().to_string(),
        "it is a pipe, not a file"
    );
    let zero = dir.path().join("zero");
    symlink("/dev/zero", &zero).unwrap();
    for error in [read_file(&zero, MAX_CONFIG_FILE_LEN), read_user_file(&zero, MAX_CONFIG_FILE_LEN)]
    {
        assert_eq!(error.unwrap_err().to_string(), "it is a device, not a file");
    }
    assert_eq!(read_user_file(Path::new("/dev/null"), MAX_CONFIG_FILE_LEN).unwrap(), b"");
}

#[test]
fn a_file_beyond_the_limit_is_refused_before_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse");
    let file = File::create(&path).unwrap();
    // Sparse, so that it occupies no space.
    file.set_len(MAX_STATE_LEN + 1).unwrap();
    for read in [read_file, read_user_file] {
        let error = read(&path, MAX_STATE_LEN).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than the limit of 2048 MiB");
    }
    file.set_len(3).unwrap();
    assert_eq!(read_file(&path, 3).unwrap(), [0, 0, 0]);
    assert!(read_file(&path, 2).is_err());
}

#[test]
fn an_entry_of_a_directory_that_cannot_be_written_is_not_emptied() {
    // Linux returns `EACCES` for the outer directory before it checks the kind of the entry.
    for (errno, may_be_dir) in [(Errno::EISDIR, true), (Errno::EPERM, true), (Errno::EACCES, false)]
    {
        assert_eq!(DirHandle::is_maybe_dir_error(&errno.into()), may_be_dir, "{errno}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program ends before the test does")]
fn a_file_that_is_a_mount_point_is_written_in_place() {
    let planted = Planted::new();
    let (dir, path) = (planted.data(), planted.directory.path().join("data/lock"));
    std::fs::write(&path, "a longer text than the new one").unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).arg(&path).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !mount("mount", &["--bind", &path.display().to_string()]) {
        // Only root may mount.
        return;
    }
    let written = dir.replace("lock", b"new", 0o644);
    let read = dir.read_text("lock", MAX_SMALL_FILE_LEN);
    assert!(mount("umount", &["-l"]));
    written.unwrap();
    assert_eq!(read.unwrap().as_deref(), Some("new"));
    assert_eq!(dir.entry_names().unwrap(), ["lock"], "nothing is left beside it");
}

#[test]
fn leftovers_of_killed_writers_are_removed_by_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    let dir = Dir::open(directory.path()).unwrap();
    let leftover = format!(".file.{}", "0a".repeat(16));
    let others = [".file.note", ".file.0a0a", ".other.0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"];
    for name in others.iter().copied().chain([leftover.as_str()]) {
        std::fs::write(directory.path().join(name), "half").unwrap();
    }
    dir.replace("file", b"new", 0o644).unwrap();
    let names: Vec<_> =
        dir.entry_names().unwrap().into_iter().map(|name| name.into_string().unwrap()).collect();
    let expected = [".file.0a0a", ".file.note", others[2], "file"];
    assert_eq!(names, expected);
}

#[test]
fn a_line_longer_than_the_limit_is_refused_before_its_end() {
    let mut input = io::Cursor::new(b"ab\n\ncd".to_vec());
    let mut next_line = || read_line_of_stream(&mut input, 2).unwrap();
    let expected: [&[u8]; 3] = [b"ab", b"", b"cd"];
    for line in expected {
        assert_eq!(next_line().unwrap(), line);
    }
    assert_eq!(next_line(), None);
    let error = read_line_of_stream(&mut io::BufReader::new(io::repeat(b'x')), 1 << 20);
    assert_eq!(error.unwrap_err().to_string(), "it is larger than the limit of 1 MiB");
}
