//! Either program continues with the modules that the other has installed.

use std::path::Path;
use std::process::Command;

use super::engine::{Engine, terraform_is_installed};

const MANIFEST: &str = ".terraform/modules/modules.json";

fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(directory)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(arguments)
        .output()
        .expect("git is here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A repository with a tag, and a directory for the root module.
fn repository_and_directory() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path().join("repository");
    let calls = "module \"other\" {\n  source = \"../other\"\n}\n";
    write(&repository, "main.tf", "output \"x\" {\n  value = 1\n}\n");
    write(&repository, "sub/main.tf", calls);
    write(&repository, "other/main.tf", "");
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "--message=1"]);
    git(&repository, &["tag", "v1"]);
    let source = format!("git::file://{}", repository.display());
    (directory, source)
}

fn root(directory: &Path, source: &str) {
    let call =
        |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    let calls = [
        call("whole", source),
        call("part", &format!("{source}//sub/?depth=1&ref=v1")),
        call("directory", &format!("{}//other", source.trim_start_matches("git::file://"))),
        call("near", "./near/../near/"),
    ];
    write(directory, "main.tf", &calls.concat());
    write(directory, "near/main.tf", &call("far", &format!("{source}//other?ref=v1")));
}

#[test]
fn both_programs_install_the_same_modules_and_print_the_same() {
    if !terraform_is_installed() {
        return;
    }
    let (repository, source) = repository_and_directory();
    let [theirs, ours] = Engine::BOTH.map(|engine| {
        let directory = repository.path().join(format!("{engine:?}"));
        root(&directory, &source);
        let run = engine.run(&directory, None, &["get", "-no-color"]);
        assert_eq!(run.code, Some(0), "{engine:?}: {}", run.stderr);
        (run.stdout, std::fs::read_to_string(directory.join(MANIFEST)).unwrap())
    });
    assert_eq!(ours, theirs);
}

#[test]
fn either_program_uses_the_modules_of_the_other() {
    if !terraform_is_installed() {
        return;
    }
    let (repository, source) = repository_and_directory();
    for [first, second] in
        [[Engine::Terraform, Engine::Formwork], [Engine::Formwork, Engine::Terraform]]
    {
        let directory = repository.path().join(format!("{first:?}-first"));
        root(&directory, &source);
        let run = |engine: Engine, arguments: &[&str]| {
            let run = engine.run(&directory, None, arguments);
            (run.code, run.stdout + &run.stderr)
        };
        assert_eq!(run(first, &["get", "-no-color"]).0, Some(0));
        let before = std::fs::read_to_string(directory.join(MANIFEST)).unwrap();
        let (code, output) = run(second, &["validate", "-no-color"]);
        assert_eq!(code, Some(0), "{second:?} after {first:?}: {output}");
        // Nothing is missing, so nothing is printed and nothing changes.
        assert_eq!(run(second, &["get", "-no-color"]), (Some(0), String::new()));
        assert_eq!(std::fs::read_to_string(directory.join(MANIFEST)).unwrap(), before);
    }
}
