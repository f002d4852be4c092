//! Archives of both forms, and what `unzip` and `tar` find in them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use formwork_sdk::testing::{PlannedAction, Refusal, TestObject, read_data};
use formwork_sdk::value::{Path as Place, Type, Value};

use super::provider;
use crate::test_program::run_test_program;

type Set = (&'static str, Value);

fn text(name: &'static str, text: &str) -> Set {
    (name, Value::string(text))
}

fn path(name: &'static str, path: &Path) -> Set {
    text(name, path.to_str().unwrap())
}

fn set(name: &'static str, items: &[&str]) -> Set {
    (name, Value::set(Type::String, items.iter().map(|item| Value::string(*item)).collect()))
}

fn sources(files: &[(&str, &str)]) -> Set {
    let source = |(name, content): &(&str, &str)| {
        Value::object([("content", Value::string(*content)), ("filename", Value::string(*name))])
    };
    let ty = Type::object([("content", Type::String), ("filename", Type::String)]);
    ("source", Value::set(ty, files.iter().map(source).collect()))
}

async fn pack(config: Vec<Set>) -> Result<Value, Refusal> {
    read_data(provider(), "archive_file", config).await
}

fn get(answer: &Value, name: &str) -> Value {
    Place::root().attribute(name).find(answer).unwrap().clone()
}

/// A directory with files, links and subdirectories.
fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let files = ["a.txt", "b.md", "sub/c.txt", "sub/deep/d.txt", "sub/deep/e.md", "other/f.txt"];
    for name in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, name.repeat(100)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    }
    symlink(directory.path().join("other"), directory.path().join("linked")).unwrap();
    symlink(directory.path().join("a.txt"), directory.path().join("z.txt")).unwrap();
    directory
}

/// Modes and names that common programs list for an archive.
fn listed(directory: &Path, form: &str, file: &str) -> Option<String> {
    let command = match form {
        "zip" => vec!["unzip", "-Z", "-s", file],
        _ => vec!["tar", "-tvzf", file],
    };
    let output = run_test_program(directory, &command, "")?;
    let files = output.lines().filter(|line| line.starts_with('-'));
    let entries = files.map(|line| {
        let command: Vec<_> = line.split_whitespace().collect();
        format!("{} {}", command[0], command[command.len() - 1])
    });
    Some(entries.collect::<Vec<_>>().join("\n"))
}

#[tokio::test]
async fn excluded_files_are_not_packed() {
    let (tree, out) = (tree(), tempfile::tempdir().unwrap());
    let all_files =
        "a.txt b.md linked/f.txt other/f.txt sub/c.txt sub/deep/d.txt sub/deep/e.md z.txt";
    let table: [(&[&str], bool, &str); 6] = [
        (&[], false, all_files),
        (&[], true, "a.txt b.md other/f.txt sub/c.txt sub/deep/d.txt sub/deep/e.md z.txt"),
        (&["sub/**", "linked"], false, "a.txt b.md other/f.txt z.txt"),
        (&["*.txt"], true, "b.md other/f.txt sub/c.txt sub/deep/d.txt sub/deep/e.md"),
        (&["**/*.md", "", "l*", "o*"], false, "a.txt sub/c.txt sub/deep/d.txt z.txt"),
        (&["{sub,linked,other}", "[ab]*"], false, "z.txt"),
    ];
    for form in ["zip", "tar.gz"] {
        for (excludes, linked, expected) in table {
            let config = vec![
                text("type", form),
                path("source_dir", tree.path()),
                set("excludes", excludes),
                ("exclude_symlink_directories", Value::Bool(linked)),
                path("output_path", &out.path().join("new/out")),
            ];
            let first = pack(config.clone()).await.unwrap();
            assert_eq!(pack(config).await, Ok(first));
            let Some(listing) = listed(out.path(), form, "new/out") else { return };
            let expected: Vec<_> =
                expected.split(' ').map(|name| format!("-rw-r----- {name}")).collect();
            assert_eq!(listing, expected.join("\n"), "{form} {excludes:?}");
        }
    }
}

#[tokio::test]
async fn files_and_strings_are_packed_with_the_configured_mode() {
    let (tree, out) = (tree(), tempfile::tempdir().unwrap());
    let cases = [
        (vec![path("source_file", &tree.path().join("sub/c.txt"))], "c.txt"),
        (vec![text("source_content", "x"), text("source_content_filename", "d/x")], "d/x"),
        (vec![sources(&[("b", "2"), ("a/c", "1"), ("a", "3")])], "a a/c b"),
    ];
    for form in ["zip", "tar.gz"] {
        for (source, expected) in &cases {
            let to = path("output_path", &out.path().join("out"));
            let config =
                [vec![text("type", form), to, text("output_file_mode", "0755")], source.clone()];
            let answer = pack(config.concat()).await.unwrap();
            let bytes = fs::read(out.path().join("out")).unwrap();
            assert_eq!(
                get(&answer, "output_size"),
                Value::int(i64::try_from(bytes.len()).unwrap())
            );
            assert_eq!(get(&answer, "id"), get(&answer, "output_sha"));
            let Some(listing) = listed(out.path(), form, "out") else { return };
            let expected: Vec<_> =
                expected.split(' ').map(|name| format!("-rwxr-xr-x {name}")).collect();
            assert_eq!(listing, expected.join("\n"), "{form}");
        }
    }
}

#[tokio::test]
async fn a_resource_detects_changes_of_its_sources() {
    let (tree, out) = (tree(), tempfile::tempdir().unwrap());
    let file = out.path().join("out.zip");
    let config = |name: &str| {
        let source = path("source_file", &tree.path().join(name));
        [text("type", "zip"), source, path("output_path", &file)]
    };
    let mut object = TestObject::new(provider(), "archive_file").await.unwrap();
    assert_eq!(object.apply(config("a.txt")).await, Ok(PlannedAction::Create));
    object.upgrade_stored().await.unwrap();
    assert_eq!(object.apply(config("a.txt")).await, Ok(PlannedAction::Nothing));
    let digest = object.get("output_base64sha256").clone();
    fs::write(tree.path().join("a.txt"), "changed").unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(object.apply(config("a.txt")).await, Ok(PlannedAction::Nothing));
    assert_ne!(object.get("output_base64sha256"), &digest);
    assert!(file.exists());
    assert_eq!(object.apply(config("b.md")).await, Ok(PlannedAction::Replace));
    object.destroy().await.unwrap();
    assert!(file.exists(), "what was made from others is left to others");
}

#[tokio::test]
async fn invalid_archive_sources_are_refused() {
    let (tree, out) = (tree(), tempfile::tempdir().unwrap());
    symlink(tree.path(), tree.path().join("sub/round")).unwrap();
    let (source_dir, to) = (tree.path(), path("output_path", &out.path().join("out")));
    let dir = || path("source_dir", source_dir);
    let missing = || path("source_dir", &source_dir.join("no"));
    let table = [
        (vec![], "Invalid Attribute Combination"),
        (vec![dir(), path("source_file", source_dir)], "Invalid Attribute Combination"),
        (vec![dir(), sources(&[("a", "b")])], "Invalid Attribute Combination"),
        (
            vec![path("source_file", source_dir), set("excludes", &["a"])],
            "can be used only with `source_dir`",
        ),
        (vec![text("type", "rar"), missing()], "must be \"zip\" or \"tar.gz\", and is \"rar\""),
        (vec![missing()], "could not archive missing directory"),
        (vec![path("source_dir", &source_dir.join("a.txt"))], "directory that is a file"),
        (vec![path("source_file", &source_dir.join("no"))], "could not archive missing file"),
        (vec![dir(), set("excludes", &["**"])], "would be empty"),
        (vec![dir(), set("excludes", &["[a"])], "`excludes` must have patterns"),
        (vec![dir()], "cycle"),
        (vec![missing(), text("output_file_mode", "rw")], "`output_file_mode` must have octal"),
        (vec![missing(), path("output_path", &source_dir.join("a.txt/b"))], "Output path error"),
    ];
    for (with, expected) in table {
        let config = [vec![text("type", "zip"), to.clone()], with].concat();
        let refusal = pack(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
}
