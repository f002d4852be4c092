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
pub(super) const ELSEWHERE: [Fault; 2] = [Fault::ApplyHangs, Fault::StopHangs];

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
