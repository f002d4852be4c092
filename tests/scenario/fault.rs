//! Every fault of the bad provider. Each leads to an error or a result, never to a hang, a crash, a
//! remaining process, or a lost object.

mod call;
mod hang;
mod launch;
mod passing;
mod process;
mod table;

use std::fs;
use std::path::Path;

use formwork_tests::fault::Fault;

use crate::harness::{CommandResult, Workdir, bad_provider, instances};

/// Operation during which the fault comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultedOperation {
    /// Objects are created.
    Create,
    /// An object is changed.
    Update,
    /// Everything is destroyed.
    Destroy,
}
use FaultedOperation::{Create, Destroy, Update};

/// Result for the object that the fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It exists nowhere.
    Nothing,
    /// It exists, and is in the state.
    Ready,
    /// It exists, and is tainted in the state.
    Tainted,
    /// It exists, and the next command names it as an open operation.
    Unresolved,
    /// It exists, and is in no state.
    Lost,
    /// It does not exist, and is in the state.
    Missing,
    /// It does not exist, and the next command reports that it may.
    PossiblyExists,
}
use Outcome::{Nothing, Ready, Tainted, Unresolved};

/// Fault, scene, exit code, required words, and the outcome of `bad_thing.a`.
type Case = (Fault, FaultedOperation, i32, &'static str, Outcome);

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

resource "bad_thing" "dependent" {
  name = "dependent"
  link = bad_thing.a.id
}

resource "bad_thing" "other" {
  name = "other"
}
"#;

fn check(cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(|case| failure_of(*case)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Runs one case. Returns the failure, if any.
fn failure_of(case: Case) -> Option<String> {
    let (fault, scene, code, words, outcome) = case;
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    if scene != Create {
        workdir.formwork("apply -auto-approve").succeed();
        workdir.write("main.tf", &CONFIG.replace("SIZE", "2"));
    }
    let command = match scene {
        Create | Update => workdir.formwork("apply -auto-approve"),
        Destroy => workdir.formwork("destroy -auto-approve"),
    };
    let mut command = command
        .env("BAD_FAULT", fault.name())
        .env("BAD_FAULT_OF", "a")
        .env("FORMWORK_PLUGIN_START_TIMEOUT", "2");
    if fault.needs_plain_text() {
        command = command.env("TF_DISABLE_PLUGIN_TLS", "1");
    }
    let result = command.run();
    workdir.service.assert_no_provider_runs();
    let next = workdir.formwork("plan").run();
    let actual = observe(&workdir, &next);
    let is_expected = result.code == Some(code)
        && (code == 0 || is_named(fault, &result.words()))
        && result.words().contains(words)
        && !result.words().contains("panicked at core")
        && actual == outcome
        && (scene != Create || actual == Ready || !has(&workdir, "dependent"));
    (!is_expected).then(|| {
        format!(
            "{fault:?}: expected exit {code}, {words:?} and {outcome:?}, found {actual:?} and\n{}",
            result.text()
        )
    })
}

/// Whether the message names the provider, the call that it answered badly, and the subject. A
/// message in a provider's own words needs only the last.
fn is_named(fault: Fault, words: &str) -> bool {
    let call = match fault.name().split('-').next() {
        Some("start" | "schema") => return words.contains("formwork/bad"),
        Some("configure") => return words.contains("formwork/bad"),
        Some("validate") => "ValidateResourceConfig",
        Some("upgrade") => "UpgradeResourceState",
        Some("read") => "ReadResource",
        Some("plan") => "PlanResourceChange",
        Some("apply" | "destroy") => "ApplyResourceChange",
        _ => return true,
    };
    let provider = words.contains("formwork/bad") && words.contains(call);
    let own_words = words.contains("The bad provider says so");
    words.contains("bad_thing.a") && (provider || own_words)
}

/// Compares the state, the real objects and the output of the next command.
fn observe(workdir: &Workdir, next: &CommandResult) -> Outcome {
    let instances = instances(workdir);
    for id in workdir.service.objects() {
        let name = id.split('-').next().unwrap_or_default();
        // The state may still be in the journal, from which the next command reads it.
        let is_known = instances.iter().any(|instance| instance.id == id)
            || next.words().contains(&format!("[id={id}]"));
        let named = next.words().contains(&format!("bad_thing.{name} was being"));
        if !is_known && !named && name != "a" {
            return Outcome::Lost;
        }
    }
    let stored = instances.iter().find(|instance| instance.addr == "bad_thing.a");
    let doubted = next.words().contains("bad_thing.a was being");
    match (has(workdir, "a"), stored) {
        (true, Some(instance)) if instance.tainted => Tainted,
        (true, Some(_)) => Ready,
        (true, None) if doubted => Unresolved,
        (true, None) => Outcome::Lost,
        (false, Some(_)) => Outcome::Missing,
        (false, None) if doubted => Outcome::PossiblyExists,
        (false, None) => Nothing,
    }
}

fn has(workdir: &Workdir, name: &str) -> bool {
    workdir.service.objects().iter().any(|id| id.split('-').next() == Some(name))
}

/// Makes `program` the provider.
fn replace_plugin(workdir: &Workdir, program: impl FnOnce(&Path)) {
    let path = workdir.plugins().join(bad_provider().file_name().expect("a name"));
    fs::remove_file(&path).expect("the good one is there");
    program(&path);
}
