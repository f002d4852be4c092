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
fn noise_and_stubbornness_hold_nobody_up() {
    check(CASES);
}

#[test]
fn a_provider_that_dies_over_an_update_is_started_again_and_asked_at_once() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &CONFIG.replace("SIZE", "2"));
    let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT_OF", "a");
    let ended = command.env("BAD_FAULT", Fault::ApplyExits.name()).run();
    ended.code(1).says("An interrupted operation was resolved").says("bad_thing.a");
    workdir.world.assert_deserted();
    assert!(!workdir.has(".terraform.tfstate.journal"), "nothing is left open");
    let next = workdir.formwork("plan -detailed-exitcode").succeed();
    next.says("No changes").says_not("was being updated");
}

#[test]
fn a_provider_that_dies_while_nobody_asks_it_anything_is_started_again() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let mut running = workdir.formwork("apply").unanswered().env("BAD_TELL", "pid").start();
    running.wait_for_words("Only 'yes' will be accepted");
    let pid = workdir.world.provider();
    kill(pid, Signal::SIGKILL).expect("it is there");
    running.answer("yes\n");
    running.wait().code(0).says("3 added");
    workdir.world.assert_deserted();
    let next = workdir.formwork("plan -detailed-exitcode").succeed();
    assert_eq!(observe(&workdir, &next), Ready, "{}", next.text());
}

#[test]
fn a_child_that_leaves_the_session_is_reported() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve");
    let ended = command.env("BAD_FAULT", Fault::ProcessDetaches.name()).run();
    ended.code(0).says("3 added").says("Provider left a process running").says("formwork/bad");
    let words = ended.words();
    let pid = words.split("sleep 1000 (process ").nth(1).and_then(|rest| rest.split(')').next());
    let pid = pid.and_then(|pid| pid.parse().ok()).map(Pid::from_raw);
    kill(pid.unwrap_or_else(|| panic!("{words}")), Signal::SIGKILL).expect("it is there");
    workdir.world.assert_deserted();
}

#[test]
fn a_process_that_has_the_number_of_a_provider_that_was_attached_to_is_left_alone() {
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
    assert!(bystander.try_wait().expect("it is ours").is_none(), "it was ended");
    assert!(provider.try_wait().expect("it is ours").is_none(), "it was not ours to end");
    for child in [&mut bystander, &mut provider] {
        child.kill().and_then(|()| child.wait()).expect("it is ours");
    }
    workdir.world.assert_deserted();
}
