//! Test files with a provider: no object that a run has created is lost, however the tests end.

use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::harness::{Workdir, test_provider};

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
resource "bad_thing" "a" {
  name = "a"
}
//- a.tftest.hcl
run "one" {
  assert {
    condition     = bad_thing.a.name == "a"
    error_message = "Wrong name."
  }
}
run "two" {
  command = plan
}
//- b.tftest.hcl
run "three" {}
"#;

/// The state files below a directory.
fn states(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path().join("terraform.tfstate"));
    files.filter(|file| file.exists()).collect()
}

/// The directory that has the states of runs.
fn states_directory(workdir: &Workdir) -> PathBuf {
    workdir.root().join(".terraform/test-states")
}

#[test]
fn everything_that_runs_create_is_destroyed_at_the_end() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("test").succeed().says("Success! 3 passed, 0 failed.");
    assert!(workdir.service.objects().is_empty());
    assert!(!states_directory(&workdir).exists());
    assert!(!workdir.has("terraform.tfstate"));
}

#[test]
fn the_state_of_objects_that_cannot_be_destroyed_is_kept_and_named() {
    let workdir = Workdir::new(CONFIG);
    let failing = workdir.formwork("test -filter=a.tftest.hcl").env("BAD_FAULT", "destroy-error");
    let result = failing.run();
    result.code(1).says("bad_thing.a").says("formwork destroy -state=").says("Failure! 2 passed");
    assert_eq!(workdir.service.objects().len(), 1);
    let states = states(&states_directory(&workdir));
    let [state] = &states[..] else { panic!("{states:?}") };
    let state = state.strip_prefix(workdir.root()).expect("it is in the directory");
    assert!(result.words().contains(&state.display().to_string()), "{}", result.text());
    workdir.formwork(&format!("destroy -auto-approve -state={}", state.display())).succeed();
    assert!(workdir.service.objects().is_empty());
}

#[test]
fn an_interrupt_ends_the_tests_after_the_run_and_its_cleanup() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("test").env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGINT);
    running.wait_for_output("Interrupt received");
    running.wait_for_output("Waiting for 1 change in progress. A second interrupt exits");
    paused.resume();
    // The destruction is held as well.
    workdir.service.wait_for_pause().1.resume();
    let result = running.wait();
    result.says("run \"one\"... pass").says("run \"two\"... skip").says("run \"three\"... skip");
    result.says("1 passed, 0 failed, 2 skipped.");
    assert!(workdir.service.objects().is_empty());
}

#[test]
fn an_interrupt_starts_no_further_change_of_the_run() {
    let dependent =
        "resource \"bad_thing\" \"b\" {\n  name = \"b\"\n  link = bad_thing.a.id\n}\n//- a.t";
    let workdir = Workdir::new(&CONFIG.replace("//- a.t", dependent));
    let running = workdir.formwork("test").env("BAD_HOLD", "after:a,before:b").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGINT);
    running.wait_for_output("Gracefully shutting down");
    running.wait_for_output("Waiting for 1 change in progress");
    paused.resume();
    // Not the creation of the other one, but the destruction of this one.
    let (moment, paused) = workdir.service.wait_for_pause();
    assert_eq!(moment, "after:a");
    paused.resume();
    let result = running.wait();
    result.code(1).says("execution halted").says("0 passed, 1 failed, 2 skipped.");
    result.says_not("Two interrupts");
    assert!(workdir.service.objects().is_empty());
    assert!(!states_directory(&workdir).exists());
}

#[test]
fn one_interrupt_ends_a_run_that_waits_for_a_read_only_call_and_destroys_its_objects() {
    let data_source = r#"
variable "more" {
  default = 0
}
resource "bad_thing" "b" {
  count = var.more
  name  = "b"
  fault = "plan-hangs"
}
//- a.t"#;
    let config = CONFIG.replace("//- a.t", data_source);
    let config =
        config.replace("command = plan", "command = plan\n  variables {\n    more = 1\n  }");
    let workdir = Workdir::new(&config);
    let command = workdir.formwork("test").env("FORMWORK_PLUGIN_PATIENCE", "1");
    let running = command.env("BAD_HOLD", "hangs:b").start();
    let (_, paused) = workdir.service.wait_for_pause();
    let waited_for = "provider formwork/bad has not answered PlanResourceChange for bad_thing.b[0]";
    running.wait_for_output(waited_for);
    running.signal(Signal::SIGINT);
    running.wait_for_output("Gracefully shutting down");
    running.wait_for_output("No change is in progress. A second interrupt exits immediately.");
    let result = running.wait();
    result.code(1).says("the run was interrupted, and the call changes nothing");
    result.says("execution halted").says("run \"one\"... pass").says("run \"two\"... fail");
    result.says("run \"three\"... skip").says("1 passed, 1 failed, 1 skipped.");
    result.says_not("Two interrupts");
    drop(paused);
    workdir.service.assert_no_provider_runs();
    assert!(workdir.service.objects().is_empty());
    assert!(!states_directory(&workdir).exists());
}

#[test]
fn a_second_interrupt_leaves_states_from_which_the_objects_can_be_destroyed() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("test").env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGINT);
    running.wait_for_output("Interrupt received");
    running.signal(Signal::SIGINT);
    let result = running.wait();
    result.code(1).says("Two interrupts received").says(".terraform/test-states");
    result
        .says("A change was in progress")
        .says("not answered ApplyResourceChange for bad_thing.a");
    drop(paused);
    // The journal of the state contains the operation, whose result is not known.
    assert_eq!(states(&states_directory(&workdir)).len(), 1);
}

#[test]
fn provider_configurations_of_the_test_file_replace_those_of_the_module() {
    let workdir = Workdir::new(
        r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
provider "test" {
  fails = "of the module"
}
resource "test_thing" "a" {
  name = "a"
}
output "name" {
  value = test_thing.a.name
}
//- a.tftest.hcl
variables {
  why = "of the file"
}
provider "test" {
  fails = var.why == "" ? null : var.why
}
provider "test" {
  alias = "sound"
}
run "sound" {
  providers = {
    test = test.sound
  }
}
run "failing" {
  command = plan
}
//- b.tftest.hcl
provider "other" {
  url = "https://example.com"
}
run "of_module" {
  command = plan
}
"#,
    );
    workdir.link_plugin(test_provider());
    let result = workdir.formwork("test").run();
    result.code(1).says("run \"sound\"... pass").says("run \"failing\"... fail");
    result.says("of the file").says("run \"of_module\"... fail").says("of the module");
    result.says("Failure! 1 passed, 2 failed.");
    assert!(!states_directory(&workdir).exists());
}
