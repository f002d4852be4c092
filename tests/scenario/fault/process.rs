//! Plugins that answer well and are bad company.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;

pub(super) const CASES: &[Case] = &[
    (Fault::ProcessStderr, Create, 0, "3 added", Ready),
    (Fault::ProcessStdout, Create, 0, "3 added", Ready),
    (Fault::ProcessChild, Create, 0, "3 added", Ready),
    (Fault::ProcessForks, Create, 0, "3 added", Ready),
    (Fault::ProcessStays, Create, 0, "3 added", Ready),
];

#[test]
fn noisy_and_unresponsive_providers_do_not_delay_others() {
    check(CASES);
}

#[test]
fn a_provider_that_dies_in_an_update_is_restarted_and_the_operation_resolved() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &CONFIG.replace("SIZE", "2"));
    let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT_OF", "a");
    let result = command.env("BAD_FAULT", Fault::ApplyExits.name()).run();
    result.code(1).says("An interrupted operation was resolved").says("bad_thing.a");
    workdir.service.assert_no_provider_runs();
    assert!(!workdir.has(".terraform.tfstate.journal"), "nothing is left open");
    let next = workdir.formwork("plan -detailed-exitcode").succeed();
    next.says("No changes").says_not("was being updated");
}

/// All calls of a provider that change nothing.
const QUESTIONS: &str = r#"
data "bad_data" "d" {
  name = provider::bad::say("d")
}
import {
  to = bad_thing.found
  id = "found-1"
}
resource "bad_thing" "found" {
  name = "found"
}
"#;

#[test]
fn a_read_only_call_in_which_a_provider_dies_is_repeated_once() {
    let questions = [
        (Fault::SchemaDies, "GetProviderSchema"),
        (Fault::ValidateDies, "ValidateResourceConfig for bad_thing."),
        (Fault::UpgradeDies, "UpgradeResourceState for bad_thing."),
        (Fault::ReadDies, "ReadResource for bad_thing."),
        (Fault::ImportDies, "ImportResourceState for bad_thing.found"),
        (Fault::PlanDies, "PlanResourceChange for bad_thing."),
        (Fault::DataDies, "ReadDataSource for data.bad_data.d"),
        (Fault::FunctionDies, "CallFunction for its function say"),
    ];
    for (fault, call) in questions {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        workdir.formwork("apply -auto-approve").succeed();
        workdir
            .service
            .set_object("found-1", &workdir.service.object("other-1").replace("other", "found"));
        workdir.write("main.tf", &format!("{}{QUESTIONS}", CONFIG.replace("SIZE", "2")));
        workdir.service.take_calls();
        let command = workdir.formwork("apply -auto-approve -parallelism=1");
        let command = command.env("BAD_FAULT", fault.name()).env("BAD_FAULT_ONCE", "1");
        let result = command.succeed();
        result.says("1 imported").says("0 added").says("0 destroyed");
        result.says("Provider was asked a second time").says(call);
        let calls = workdir.service.take_calls();
        let starts = calls.iter().filter(|call| *call == "start").count();
        assert_eq!(starts, 2, "{fault:?}: {calls:?}");
        workdir.service.assert_no_provider_runs();
        workdir.formwork("plan -detailed-exitcode").succeed().says_not("a second time");
    }
}

#[test]
fn a_changing_call_in_which_a_provider_dies_is_not_repeated() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT_OF", "a");
    let command = command.env("BAD_FAULT", Fault::ApplyExits.name()).env("BAD_FAULT_ONCE", "1");
    command.run().code(1).says_not("a second time").says("ApplyResourceChange");
    let objects = workdir.service.objects();
    assert_eq!(objects.iter().filter(|id| id.starts_with("a-")).count(), 1, "{objects:?}");
    let next = workdir.formwork("plan").run();
    assert_eq!(observe(&workdir, &next), Unresolved, "{}", next.text());
}

#[test]
fn a_provider_that_dies_while_no_call_is_pending_is_started_again() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let mut running = workdir.formwork("apply").with_open_stdin().env("BAD_TELL", "pid").start();
    running.wait_for_output("Only 'yes' will be accepted");
    let pid = workdir.service.provider();
    kill(pid, Signal::SIGKILL).expect("it exists");
    running.answer("yes\n");
    running.wait().code(0).says("3 added");
    workdir.service.assert_no_provider_runs();
    let next = workdir.formwork("plan -detailed-exitcode").succeed();
    assert_eq!(observe(&workdir, &next), Ready, "{}", next.text());
}

#[test]
fn a_child_process_that_leaves_the_session_is_reported() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve");
    let result = command.env("BAD_FAULT", Fault::ProcessDetaches.name()).run();
    result.code(0).says("3 added").says("Provider left a process running").says("formwork/bad");
    let words = result.words();
    let pid = words.split("sleep 1000 (process ").nth(1).and_then(|rest| rest.split(')').next());
    let pid = pid.and_then(|pid| pid.parse().ok()).map(Pid::from_raw);
    kill(pid.unwrap_or_else(|| panic!("{words}")), Signal::SIGKILL).expect("it exists");
    workdir.service.assert_no_provider_runs();
}

#[test]
fn a_process_with_the_id_of_an_attached_provider_is_not_ended() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let mut bystander = std::process::Command::new("sleep");
    let mut bystander = bystander.arg("1000").stdin(Stdio::null()).spawn().expect("a sleep");
    let (mut provider, socket) = workdir.attachable();
    let attach = format!(
        r#"{{"registry.terraform.io/formwork/bad":{{"Protocol":"grpc","ProtocolVersion":6,"Pid":{},"Test":true,"Addr":{{"Network":"unix","String":"{socket}"}}}}}}"#,
        bystander.id()
    );
    let command = workdir.formwork("apply -auto-approve").env("TF_REATTACH_PROVIDERS", &attach);
    command.succeed().says("3 added");
    let running = workdir.formwork("destroy -auto-approve").env("TF_REATTACH_PROVIDERS", &attach);
    running.succeed();
    assert!(bystander.try_wait().expect("this test owns it").is_none(), "it was ended");
    assert!(provider.try_wait().expect("this test owns it").is_none(), "it was not ours to end");
    for child in [&mut bystander, &mut provider] {
        child.kill().and_then(|()| child.wait()).expect("this test owns it");
    }
    workdir.service.assert_no_provider_runs();
}
