//! Completion in shells: the scripts that `-install-autocomplete` writes, run by the shells that this
//! machine has.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Workdir, built};

const CONFIG: &str = r#"
variable "region" {}
resource "terraform_data" "a" {}
"#;

/// The directory of the program.
const DIRECTORY: &str = "my programs";

/// A program in a directory whose name has a space, set up in the files of all shells.
fn installed() -> Workdir {
    let workdir = Workdir::new(CONFIG);
    let directory = workdir.home().join(DIRECTORY);
    fs::create_dir(&directory).expect("a directory");
    let program = directory.join("formwork");
    fs::copy(built("formwork"), &program).expect("a copy");
    for file in [".bashrc", ".zshrc"] {
        fs::write(workdir.home().join(file), "").expect("it can be written");
    }
    fs::create_dir_all(workdir.home().join(".config/fish")).expect("a directory");
    fs::write(workdir.root().join("some.tfvars"), "").expect("it can be written");
    let set_up = command(&workdir, &program.to_string_lossy(), &["-install-autocomplete"]);
    assert_eq!(set_up.matches("Completion was set up").count(), 3, "{set_up}");
    workdir
}

fn command(workdir: &Workdir, program: &str, words: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(words).current_dir(workdir.root()).env_clear();
    // fish completes only programs that it finds.
    let path = format!("{}:/usr/bin:/bin", workdir.home().join(DIRECTORY).display());
    command.env("PATH", path).env("HOME", workdir.home());
    let output = command.output().expect("it can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Runs a script in a shell with a command line as its first argument. Returns the candidates.
fn candidates(workdir: &Workdir, shell: &str, script: &str, line: &str) -> Option<Vec<String>> {
    let path = PathBuf::from("/usr/bin").join(shell);
    if !path.is_file() {
        let notice = format!("NOT TESTED: there is no `{shell}` on this machine\n");
        std::io::stderr().write_all(notice.as_bytes()).expect("it can be written");
        return None;
    }
    let words: &[&str] = if shell == "fish" { &["-c"] } else { &["-f", "-c"] };
    let words = [words, &[script, shell, line]].concat();
    let words = if shell == "fish" { vec![words[0], words[1], line] } else { words };
    let output = command(workdir, &path.to_string_lossy(), &words);
    Some(output.lines().map(str::to_owned).collect())
}

const BASH: &str = r#". ~/.bashrc; COMP_LINE=$1; COMP_POINT=${#1}; COMP_TYPE=9; _formwork; printf '%s\n' "${COMPREPLY[@]}""#;

/// The functions of the line editor exist only there, so these print their candidates.
const ZSH: &str = r#"compdef() { : }; . ~/.zshrc
compset() { : }; _files() { print -l FILES }
compadd() { while [[ $1 != -- ]]; do shift; done; shift; [[ -z $* ]] || print -l -- "$@" }
words=("${(@s: :)1}"); CURRENT=$#words; PREFIX=$words[-1]; _formwork"#;

const FISH: &str = r#"complete -C $argv[1] | string replace -r '\t.*' ''"#;

#[test]
fn every_shell_requests_candidates_from_the_program() {
    let workdir = installed();
    for (line, expected) in [
        ("formwork val", "validate"),
        ("formwork state rm terr", "terraform_data.a"),
        ("formwork plan -target=terr", "-target=terraform_data.a"),
        ("formwork plan -var reg", "region="),
    ] {
        for (shell, script) in [("bash", BASH), ("zsh", ZSH), ("fish", FISH)] {
            let Some(offered) = candidates(&workdir, shell, script, line) else { continue };
            // bash begins a new word at a `=`.
            let expected = match shell {
                "bash" => expected.strip_prefix("-target=").unwrap_or(expected),
                _ => expected,
            };
            assert_eq!(offered, [expected], "{shell}: {line}");
        }
    }
}

#[test]
fn files_are_completed_if_the_program_has_no_candidate() {
    let workdir = installed();
    let line = "formwork plan -var-file=som";
    for (shell, script, expected) in [
        // bash completes files by itself, by `-o default`.
        ("bash", BASH, ""),
        ("zsh", ZSH, "FILES"),
        ("fish", FISH, "-var-file=some.tfvars"),
    ] {
        let Some(offered) = candidates(&workdir, shell, script, line) else { continue };
        assert_eq!(offered, [expected], "{shell}");
    }
}
