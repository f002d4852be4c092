//! Two programs concurrently on one state, of which one is Terraform or both are Formwork: the second is
//! refused or waits, with the same exit code and the same first words, in either order.

use super::engine::terraform_is_installed;
use crate::harness::{Command, CommandResult, Workdir, instances};

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

resource "bad_thing" "a" {
  name = "a"
  size = SIZE
}

resource "bad_thing" "b" {
  name = "b"
}
"#;

/// Commands that run while another run holds the lock.
const COMMANDS: &[&str] = &[
    "plan",
    "plan -lock-timeout=1s",
    "plan -lock=false",
    "apply -auto-approve",
    "apply -auto-approve -lock-timeout=1s",
    "apply -refresh-only -auto-approve",
    "destroy -auto-approve",
    "refresh",
    "import bad_thing.b b-1",
    "taint bad_thing.a",
    "untaint bad_thing.a",
    "state list",
    "state show bad_thing.a",
    "state pull",
    "state mv bad_thing.a bad_thing.c",
    "state rm bad_thing.a",
    "state push pulled.tfstate",
    "state push -force pulled.tfstate",
    "state replace-provider -auto-approve formwork/bad formwork/test",
    "show",
    "output",
    "validate",
    "workspace list",
    "workspace new other",
    "workspace select default",
    "workspace delete other",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramKind {
    Theirs,
    Ours,
}
use ProgramKind::{Ours, Theirs};

impl ProgramKind {
    fn command<'w>(self, workdir: &'w Workdir, line: &str) -> Command<'w> {
        match self {
            Ours => workdir.formwork(line),
            Theirs => workdir.terraform(line),
        }
    }
}

/// A directory with two objects, one of which is about to change.
fn directory() -> Workdir {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    workdir.formwork("apply -auto-approve").succeed();
    let state = workdir.read("terraform.tfstate");
    workdir.write("pulled.tfstate", &state);
    workdir.write("main.tf", &CONFIG.replace("SIZE", "2"));
    workdir
}

/// Exit code, and the first words of the first error.
fn outcome(result: &CommandResult) -> String {
    let text = without_colour(&result.text());
    let lines = text.lines().map(|line| line.trim_start_matches(['│', '╷', '╵', ' ']));
    let mut errors = lines.filter(|line| line.starts_with("Error"));
    let error = errors.next().unwrap_or_default();
    // After it, each program prints the system error or the lock holder in its own words.
    let error = error.split(" (").next().unwrap_or_default();
    format!("{:?} {error}", result.code)
}

/// A string without what only a terminal reads.
fn without_colour(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |so_far, part| so_far + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn commands_on_a_locked_state_end_the_same_in_both_programs() {
    if !terraform_is_installed() {
        return;
    }
    let mut differences = Vec::new();
    for holder in [Ours, Theirs] {
        let workdir = directory();
        let running = holder.command(&workdir, "apply -auto-approve").env("BAD_HOLD", "after:a");
        let running = running.start();
        let (_, paused) = workdir.service.wait_for_pause();
        println!("| beside {holder:?} | both |\n| --- | --- |");
        for line in COMMANDS {
            let expected = outcome(&Theirs.command(&workdir, line).run());
            // A created workspace is deleted again, so that the command can be repeated.
            if line.starts_with("workspace new") {
                Theirs.command(&workdir, "workspace select default").succeed();
                Theirs.command(&workdir, "workspace delete other").succeed();
            }
            if line.starts_with("workspace delete") {
                Theirs.command(&workdir, "workspace new other").succeed();
                Theirs.command(&workdir, "workspace select default").succeed();
            }
            let actual = outcome(&Ours.command(&workdir, line).run());
            println!("| {line} | {expected} |");
            if actual != expected {
                differences
                    .push(format!("{line} beside {holder:?}: {actual:?} and not {expected:?}"));
            }
        }
        // Terraform prints "LocalState not locked", although the state is locked.
        for program in [Ours, Theirs] {
            let refused = program.command(&workdir, "force-unlock -force 00000000-0000").run();
            refused.code(1).says("unlock");
        }
        paused.resume();
        assert_eq!(running.wait().code, Some(0), "{holder:?} was disturbed");
        assert_eq!(instances(&workdir).len(), 2, "{holder:?}");
        Ours.command(&workdir, "plan -detailed-exitcode").succeed();
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn a_command_that_waits_for_the_lock_uses_the_state_of_the_other_run() {
    for holder in [Ours, Theirs] {
        for waiter in [Ours, Theirs] {
            if (holder == Theirs || waiter == Theirs) && !terraform_is_installed() {
                continue;
            }
            let workdir = directory();
            let running =
                holder.command(&workdir, "apply -auto-approve").env("BAD_HOLD", "after:a");
            let running = running.start();
            let (_, paused) = workdir.service.wait_for_pause();
            let line = "plan -lock-timeout=60s -detailed-exitcode";
            let waiting = waiter.command(&workdir, line).start();
            waiting.wait_until_idle();
            paused.resume();
            assert_eq!(running.wait().code, Some(0), "{holder:?}");
            waiting.wait().code(0).says("No changes");
            workdir.service.assert_no_provider_runs();
        }
    }
}

#[test]
fn locks_of_workspaces_are_independent() {
    for holder in [Ours, Theirs] {
        for other in [Ours, Theirs] {
            if (holder == Theirs || other == Theirs) && !terraform_is_installed() {
                continue;
            }
            let workdir = directory();
            other.command(&workdir, "workspace new other").succeed();
            let running = holder.command(&workdir, "apply -auto-approve");
            let running = running.env("TF_WORKSPACE", "default").env("BAD_HOLD", "after:a").start();
            let (_, paused) = workdir.service.wait_for_pause();
            other.command(&workdir, "apply -auto-approve").succeed().says("2 added");
            paused.resume();
            assert_eq!(running.wait().code, Some(0), "{holder:?}");
            assert_eq!(workdir.service.objects(), ["a-1", "a-2", "b-1", "b-2"]);
        }
    }
}
