//! The bad provider through its whole menu. Whatever it does there is an error or a result, never a
//! hang, a crash, a process that lives on, or an object that nobody knows of any more.

mod call;
mod launch;
mod process;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use formwork_tests::fault::Fault;

use crate::harness::{Ended, Workdir, bad_provider, instances};

/// What is going on when the fault comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    /// Objects are made for the first time.
    Create,
    /// An object is changed.
    Update,
    /// Everything is destroyed.
    Destroy,
}
use Scene::{Create, Destroy, Update};

/// What has become of the object that the fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It exists nowhere.
    Nothing,
    /// It exists, and the state says so.
    Ready,
    /// It exists, and the state says so, and that it must be replaced.
    Tainted,
    /// It exists, and the next command names it as something that must be looked at.
    Doubted,
    /// It exists, and nobody knows.
    Forgotten,
    /// It does not exist, and the state says it does.
    Missing,
    /// It does not exist, and the next command says that it may.
    Feared,
}
use Outcome::{Doubted, Nothing, Ready, Tainted};

/// Fault, scene, exit code, words that must be said, and what becomes of `bad_thing.a`.
type Case = (Fault, Scene, i32, &'static str, Outcome);

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
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong_with(*case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Plays one case; says what was not as it should be.
fn wrong_with((fault, scene, code, words, outcome): Case) -> Option<String> {
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
    let ended = command.run();
    workdir.world.assert_deserted();
    let next = workdir.formwork("plan").run();
    let found = observe(&workdir, &next);
    let right = ended.code == Some(code)
        && ended.words().contains(words)
        && !ended.words().contains("panicked at core")
        && found == outcome
        && (scene != Create || found == Ready || !has(&workdir, "dependent"));
    (!right).then(|| {
        format!(
            "{fault:?}: expected exit {code}, {words:?} and {outcome:?}, found {found:?} and\n{}",
            ended.text()
        )
    })
}

/// Compares state, world and what the next command says.
fn observe(workdir: &Workdir, next: &Ended) -> Outcome {
    let instances = instances(workdir);
    for id in workdir.world.objects() {
        let name = id.split('-').next().unwrap_or_default();
        // The state may still be in the journal, from which the next command reads it.
        let known = instances.iter().any(|instance| instance.id == id)
            || next.words().contains(&format!("[id={id}]"));
        let named = next.words().contains(&format!("bad_thing.{name} was being"));
        if !known && !named && name != "a" {
            return Outcome::Forgotten;
        }
    }
    let stored = instances.iter().find(|instance| instance.addr == "bad_thing.a");
    let doubted = next.words().contains("bad_thing.a was being");
    match (has(workdir, "a"), stored) {
        (true, Some(instance)) if instance.tainted => Tainted,
        (true, Some(_)) => Ready,
        (true, None) if doubted => Doubted,
        (true, None) => Outcome::Forgotten,
        (false, Some(_)) => Outcome::Missing,
        (false, None) if doubted => Outcome::Feared,
        (false, None) => Nothing,
    }
}

fn has(workdir: &Workdir, name: &str) -> bool {
    workdir.world.objects().iter().any(|id| id.split('-').next() == Some(name))
}

/// Makes `program` the provider.
fn replace_plugin(workdir: &Workdir, program: impl FnOnce(&Path)) {
    let place = workdir.plugins().join(bad_provider().file_name().expect("a name"));
    fs::remove_file(&place).expect("the good one is there");
    program(&place);
}

#[test]
fn every_fault_on_the_menu_has_its_expected_outcome() {
    let tables = [launch::CASES, call::SCHEMA, call::CONFIGURE, call::STORED, call::PLAN];
    let tables = tables.into_iter().chain([call::APPLY, call::DESTROY, process::CASES]);
    let cases: Vec<&Case> = tables.flatten().collect();
    println!(
        "| fault | while | exit | what is said | the object then |\n| --- | --- | --- | --- | --- |"
    );
    for (fault, scene, code, words, outcome) in &cases {
        println!("| {} | {scene:?} | {code} | {words} | {outcome:?} |", fault.name());
    }
    for (fault, words) in call::DATA.iter().chain(call::IMPORT) {
        println!("| {} | Data or import | 1 | {words} | Nothing |", fault.name());
    }
    for fault in process::ELSEWHERE {
        println!("| {} | Interrupted | 1 | Two interrupts received | as it was |", fault.name());
    }
    let mut covered: BTreeSet<Fault> = cases.iter().map(|case| case.0).collect();
    covered.extend(call::DATA.iter().chain(call::IMPORT).map(|case| case.0));
    covered.extend(process::ELSEWHERE);
    let missing: Vec<_> = Fault::ALL.iter().filter(|fault| !covered.contains(fault)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
