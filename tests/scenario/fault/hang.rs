//! Providers that do not answer: the call that is waited for is named. One interrupt ends a run whose
//! call changes nothing; otherwise it lets everything else finish, and a second one ends the run, with
//! the journal whole. A run that did not end would be waited for in vain, so no clock is looked at.

use nix::sys::signal::Signal;

use super::passing::config_of;
use super::*;

/// Fault, the moments at which the provider hangs, the unanswered call with its subject, and the
/// outcome of the object.
type Hang = (Fault, &'static str, &'static str, Outcome);

pub(super) const HANGS: &[Hang] = &[
    (Fault::ConfigureHangs, "hangs:configure", "ConfigureProvider for provider[", Nothing),
    (Fault::ReadHangs, "hangs:a", "ReadResource for bad_thing.a", Ready),
    (Fault::PlanHangs, "hangs:a", "PlanResourceChange for bad_thing.a", Nothing),
    (Fault::ApplyHangs, "hangs:a", "ApplyResourceChange for bad_thing.a", Unresolved),
    (Fault::FunctionHangs, "hangs:function", "CallFunction for its function say", Nothing),
    (Fault::OpenHangs, "hangs:open", "OpenEphemeralResource for ephemeral.bad_token.t", Nothing),
    // Something has to take so long that there is time for a renewal.
    (
        Fault::RenewHangs,
        "before:a,renew:token",
        "RenewEphemeralResource for ephemeral.bad_token.t",
        Outcome::PossiblyExists,
    ),
    (Fault::CloseHangs, "hangs:close", "CloseEphemeralResource for ephemeral.bad_token.t", Nothing),
];

/// Calls that change nothing, so that one interrupt ends the run.
const READ_ONLY: [Fault; 4] =
    [Fault::ConfigureHangs, Fault::ReadHangs, Fault::PlanHangs, Fault::FunctionHangs];

/// Calls whose long duration a run reports by itself.
const CALLS_REPORTED_WHEN_SLOW: [Fault; 4] =
    [Fault::ApplyHangs, Fault::OpenHangs, Fault::RenewHangs, Fault::CloseHangs];

#[test]
fn a_provider_that_does_not_respond_is_named_and_abandoned_after_interrupts() {
    let pairs = [
        (Signal::SIGINT, Signal::SIGINT),
        (Signal::SIGTERM, Signal::SIGINT),
        (Signal::SIGHUP, Signal::SIGTERM),
        (Signal::SIGINT, Signal::SIGHUP),
    ];
    let hangs = HANGS.iter().zip(pairs.into_iter().cycle());
    for ((fault, moment, call, outcome), (first, second)) in hangs {
        let workdir = Workdir::new(&config_of(*fault));
        if *fault == Fault::ReadHangs {
            workdir.formwork("apply -auto-approve").succeed();
        }
        let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name());
        let command = command.env("BAD_FAULT_OF", "a").env("FORMWORK_PLUGIN_PATIENCE", "1");
        let running = command.env("BAD_HOLD", moment).start();
        let paused: Vec<_> = moment.split(',').map(|_| workdir.service.wait_for_pause()).collect();
        let waited_for = format!("provider formwork/bad has not answered {call}");
        if !CALLS_REPORTED_WHEN_SLOW.contains(fault) {
            running.wait_for_output(&waited_for);
        }
        running.signal(first);
        running.wait_for_output("Gracefully shutting down");
        let changes = matches!(fault, Fault::ApplyHangs | Fault::RenewHangs);
        running.wait_for_output("second interrupt exits immediately");
        if READ_ONLY.contains(fault) {
            let result = running.wait();
            result.code(1).says("the run was interrupted, and the call changes nothing");
            result.says(&waited_for).says("No change is in progress").says_not("Two interrupts");
        } else {
            running.signal(second);
            let result = running.wait_with_short_timeout();
            result.code(1).says("Two interrupts received").says(&waited_for);
            // One or two changes, as far as the run had come.
            let expected_words =
                if changes { "in the journal" } else { "No change was in progress" };
            result.says(expected_words);
        }
        drop(paused);
        workdir.service.assert_no_provider_runs();
        // The journal can be read, and contains the open operations.
        let next = workdir.formwork("plan").run();
        assert_eq!(observe(&workdir, &next), *outcome, "{fault:?}: {}", next.text());
        next.code(0);
    }
}

#[test]
fn a_call_ends_at_the_timeout_of_its_kind() {
    let cases = [
        (Fault::PlanHangs, "plan=1s", "not answered PlanResourceChange for bad_thing.a", Nothing),
        (Fault::PlanHangs, "apply=1h,1s", "its deadline of 1 s has passed", Nothing),
        (Fault::ApplyHangs, "apply=1s", "Outcome of an operation is unknown", Unresolved),
    ];
    for (fault, deadlines, words, outcome) in cases {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name());
        let command = command.env("FORMWORK_PLUGIN_DEADLINES", deadlines);
        let result = command.env("BAD_FAULT_OF", "a").run();
        result.code(1).says("Provider call was given up").says(words);
        workdir.service.assert_no_provider_runs();
        let next = workdir.formwork("plan").run();
        assert_eq!(observe(&workdir, &next), outcome, "{}", next.text());
    }
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("plan").env("FORMWORK_PLUGIN_DEADLINES", "destroy=1s");
    command.run().code(1).says("Invalid deadline").says("there is no kind of call \"destroy\"");
}

#[test]
fn a_provider_that_is_never_ready_ends_with_one_interrupt() {
    let cases = [
        (Fault::SchemaHangs.name(), "hangs:schema", "apply -auto-approve"),
        (Fault::SchemaHangs.name(), "hangs:schema", "plan"),
        ("none", "start:process", "apply -auto-approve"),
        ("none", "start:process", "destroy -auto-approve"),
        ("none", "start:process", "import bad_thing.a a-1"),
    ];
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    for ((fault, moment, line), signal) in cases.into_iter().zip(signals.into_iter().cycle()) {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        let command = workdir.formwork(line).env("BAD_FAULT", fault);
        let running = command.env("BAD_HOLD", moment).start();
        let (_, paused) = workdir.service.wait_for_pause();
        running.signal(signal);
        running.wait_for_output("Gracefully shutting down");
        let result = running.wait();
        result.code(1).says("the run was interrupted before it was ready").says("formwork/bad");
        result.says_not("Two interrupts");
        // The provider was not resumed: it was ended.
        workdir.service.assert_no_provider_runs();
        drop(paused);
        assert_eq!(workdir.service.objects(), [""; 0]);
        workdir.formwork("apply -auto-approve").succeed().says("3 added");
    }
}

#[test]
fn a_restart_that_resolves_a_lost_change_is_waited_for_until_the_second_interrupt() {
    for waits in [false, true] {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        workdir.formwork("apply -auto-approve").succeed();
        workdir.write("main.tf", &CONFIG.replace("SIZE", "2"));
        let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT_OF", "a");
        let command = command.env("BAD_FAULT", Fault::ApplyExits.name()).env("BAD_FAULT_ONCE", "1");
        let running = command.env("BAD_HOLD", "start:process").start();
        let (_, first) = workdir.service.wait_for_pause();
        first.resume();
        // The change was made, and its provider has ended.
        let (_, second) = workdir.service.wait_for_pause();
        running.signal(Signal::SIGINT);
        running.wait_for_output("Gracefully shutting down");
        if waits {
            second.resume();
            let result = running.wait();
            result.code(1).says("An interrupted operation was resolved").says_not("Two interrupts");
        } else {
            running.signal(Signal::SIGINT);
            running.wait_with_short_timeout().code(1).says("Two interrupts received");
            drop(second);
        }
        workdir.service.assert_no_provider_runs();
        let next = workdir.formwork("plan").run();
        assert_eq!(observe(&workdir, &next), Ready, "{}", next.text());
    }
}

#[test]
fn a_provider_whose_stop_call_hangs_loses_nothing() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve");
    let running =
        command.env("BAD_FAULT", Fault::StopHangs.name()).env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGINT);
    running.wait_for_output("Gracefully shutting down");
    paused.resume();
    running.wait().code(1).says("execution halted");
    workdir.service.assert_no_provider_runs();
    let next = workdir.formwork("plan").run();
    assert_eq!(observe(&workdir, &next), Ready, "{}", next.text());
    assert!(!has(&workdir, "dependent"), "nothing new was to be started");
}

#[test]
fn an_aborted_creation_leaves_nothing_open() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT_OF", "a");
    let running = command.env("BAD_FAULT", Fault::ApplyAborts.name()).start();
    running.wait_for_output("bad_thing.a: Creating...");
    running.signal(Signal::SIGINT);
    let result = running.wait();
    result.code(1).says("The work was aborted").says_not("Two interrupts");
    workdir.service.assert_no_provider_runs();
    workdir.formwork("recover list").succeed().says("No open operations.");
    workdir.formwork("apply -auto-approve").succeed().says_not("was being created");
    assert_eq!(workdir.service.objects().len(), 3);
}

#[test]
fn a_provider_that_hangs_in_stop_and_apply_is_abandoned_after_two_interrupts() {
    let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
    let command = workdir.formwork("apply -auto-approve");
    let running =
        command.env("BAD_FAULT", Fault::StopHangs.name()).env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGTERM);
    running.wait_for_output("Gracefully shutting down");
    running.signal(Signal::SIGTERM);
    running
        .wait_with_short_timeout()
        .code(1)
        .says("Two interrupts")
        .says("ApplyResourceChange for bad_thing.a");
    drop(paused);
    workdir.service.assert_no_provider_runs();
    let next = workdir.formwork("plan").run();
    assert_eq!(observe(&workdir, &next), Unresolved, "{}", next.text());
}
