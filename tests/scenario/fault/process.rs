//! Plugins that answer well and are bad company.

use nix::sys::signal::Signal;

use super::*;

pub(super) const CASES: &[Case] = &[
    (Fault::ProcessStderr, Create, 0, "3 added", Ready),
    (Fault::ProcessStdout, Create, 0, "3 added", Ready),
    (Fault::ProcessChild, Create, 0, "3 added", Ready),
    (Fault::ProcessStays, Create, 0, "3 added", Ready),
];

/// Faults that show only when the command is interrupted.
pub(super) const ELSEWHERE: [Fault; 5] = [
    Fault::ApplyHangs,
    Fault::StopHangs,
    Fault::ConfigureHangs,
    Fault::PlanHangs,
    Fault::ReadHangs,
];

#[test]
fn noise_and_stubbornness_hold_nobody_up() {
    check(CASES);
}

#[test]
fn a_provider_that_does_not_answer_is_left_with_two_interrupts() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve");
    let running = command
        .env("BAD_FAULT", Fault::ApplyHangs.name())
        .env("BAD_FAULT_OF", "a")
        .env("BAD_HOLD", "hangs:a")
        .start();
    let (_, held) = workdir.world.wait_for_held();
    running.signal(Signal::SIGINT);
    running.wait_for_words("Gracefully shutting down");
    running.signal(Signal::SIGINT);
    running.wait().code(1).says("Two interrupts received");
    drop(held);
    workdir.world.assert_deserted();
    let next = workdir.formwork("plan").run();
    assert_eq!(observe(&workdir, &next), Doubted, "{}", next.text());
}

#[test]
fn a_provider_that_hangs_before_anything_is_done_is_left_with_two_interrupts() {
    for (fault, moment) in [
        (Fault::ConfigureHangs, "hangs:configure"),
        (Fault::PlanHangs, "hangs:a"),
        (Fault::ReadHangs, "hangs:a"),
    ] {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        let exists = fault == Fault::ReadHangs;
        if exists {
            workdir.formwork("apply -auto-approve").succeed();
        }
        let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name());
        let running = command.env("BAD_FAULT_OF", "a").env("BAD_HOLD", moment).start();
        let (_, held) = workdir.world.wait_for_held();
        running.signal(Signal::SIGINT);
        running.wait_for_words("Gracefully shutting down");
        running.signal(Signal::SIGTERM);
        running.wait().code(1).says("Two interrupts received");
        drop(held);
        workdir.world.assert_deserted();
        let next = workdir.formwork("plan").run();
        assert_eq!(observe(&workdir, &next), if exists { Ready } else { Nothing });
    }
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
fn a_provider_that_does_not_hear_of_stopping_loses_nothing() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve");
    let running =
        command.env("BAD_FAULT", Fault::StopHangs.name()).env("BAD_HOLD", "after:a").start();
    let (_, held) = workdir.world.wait_for_held();
    running.signal(Signal::SIGINT);
    running.wait_for_words("Gracefully shutting down");
    held.let_go();
    running.wait().code(1).says("execution halted");
    workdir.world.assert_deserted();
    let next = workdir.formwork("plan").run();
    assert_eq!(observe(&workdir, &next), Ready, "{}", next.text());
    assert!(!has(&workdir, "dependent"), "nothing new was to be started");
}
