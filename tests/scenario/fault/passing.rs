//! Failing functions and ephemeral resources: they leave nothing, and what fails
//! with them takes nothing along.

use super::*;

const TOKEN: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

ephemeral "bad_token" "t" {
  name = "t"
}

resource "bad_thing" "a" {
  name   = "a"
  secret = ephemeral.bad_token.t.text
}
"#;

const FUNCTION_CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

resource "bad_thing" "a" {
  name = "a"
  kind = provider::bad::say("hello")
}
"#;

const CONTRACT_VIOLATION: &str = "This is a bug in the provider";

/// Faults of a function, and the words of their messages. No object is created.
pub(super) const FUNCTION: &[(Fault, &str)] = &[
    (Fault::FunctionError, "Nobody says such a thing"),
    (Fault::FunctionStatus, "no function on Sundays"),
    (Fault::FunctionGarbage, "it returned no value of type string"),
    (Fault::FunctionWrongType, "it returned no value of type string"),
    (Fault::FunctionUnknown, "although all arguments are known (rule function-known)"),
    (Fault::FunctionDies, "about to die in a function"),
];

/// Faults of an opening or a closing, and the words of their messages. They come while planning, so
/// nothing is made.
pub(super) const OPEN: &[(Fault, &str)] = &[
    (Fault::OpenError, "Error: The door is stuck with ephemeral.bad_token.t"),
    (Fault::OpenStatus, "no opening on Sundays"),
    (Fault::OpenGarbage, CONTRACT_VIOLATION),
    (Fault::OpenNull, CONTRACT_VIOLATION),
    (Fault::OpenUnknown, CONTRACT_VIOLATION),
    (Fault::OpenChangesConfig, CONTRACT_VIOLATION),
    (Fault::OpenDefers, "deferrals are not allowed"),
    (Fault::OpenDies, "about to die in an opening"),
    (Fault::CloseError, "Error: The key broke off with ephemeral.bad_token.t"),
    (Fault::CloseStatus, "no closing on Sundays"),
    (Fault::CloseDies, "about to die in a closing"),
];

/// Faults of a renewal while an object is created, the exit code and the words of their messages, and the
/// result for the object. An object that was not renewed may last long enough all the same.
pub(super) const RENEW: &[(Fault, i32, &str, Outcome)] = &[
    (Fault::RenewError, 0, "The provider reported: The lock was changed", Ready),
    (Fault::RenewStatus, 0, "no renewal on Sundays", Ready),
    // The death of the process also ends the call that creates the object.
    (Fault::RenewDies, 1, "about to die in a renewal", Outcome::PossiblyExists),
];

#[test]
fn a_failing_function_is_explained_and_no_object_is_created() {
    for (fault, words) in FUNCTION {
        let workdir = Workdir::new(FUNCTION_CONFIG);
        let result = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name()).run();
        result.code(1).says(words).says("provider::bad::say");
        if *fault != Fault::FunctionError {
            result.says("formwork/bad");
        }
        assert_eq!(workdir.service.objects(), [""; 0], "{fault:?}");
        workdir.service.assert_no_provider_runs();
    }
}

#[test]
fn a_function_with_inconsistent_results_is_reported() {
    let workdir = Workdir::new(FUNCTION_CONFIG);
    let command = workdir.formwork("apply -auto-approve");
    let result = command.env("BAD_FAULT", Fault::FunctionFickle.name()).run();
    result.code(1).says(INCONSISTENT).says("bad");
    assert_eq!(workdir.service.objects(), [""; 0], "{}", result.text());
    workdir.service.assert_no_provider_runs();
}

/// Word in the message about a function whose results differ.
pub(super) const INCONSISTENT: &str = "inconsistent";

#[test]
fn an_ephemeral_resource_that_cannot_be_opened_or_closed_is_explained() {
    for (fault, words) in OPEN {
        let workdir = Workdir::new(TOKEN);
        let result = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name()).run();
        result.code(1).says(words).says("ephemeral.bad_token.t");
        let own_words = result.words().contains("The bad provider says so");
        let call = match fault.name().starts_with("open") {
            true => "OpenEphemeralResource",
            false => "CloseEphemeralResource",
        };
        assert!(own_words || result.words().contains(call), "{}", result.text());
        assert!(own_words || result.words().contains("formwork/bad"), "{}", result.text());
        assert_eq!(workdir.service.objects(), [""; 0], "{fault:?}");
        workdir.service.assert_no_provider_runs();
    }
}

#[test]
fn a_failed_renewal_fails_only_operations_of_the_same_process() {
    for (fault, code, words, outcome) in RENEW {
        let workdir = Workdir::new(TOKEN);
        let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name());
        let running = command.env("BAD_HOLD", "before:a,renew:token").start();
        let paused = [workdir.service.wait_for_pause(), workdir.service.wait_for_pause()];
        // The renewal has its response before the object is created.
        let (renewal, object): (Vec<_>, Vec<_>) =
            paused.into_iter().partition(|(moment, _)| moment == "renew:token");
        renewal.into_iter().for_each(|(_, paused)| paused.resume());
        if *fault != Fault::RenewDies {
            object.into_iter().for_each(|(_, paused)| paused.resume());
        }
        let result = running.wait();
        result.code(*code).says(words).says("ephemeral.bad_token.t");
        if *code == 0 {
            result.says("ephemeral.bad_token.t could not be renewed");
        }
        workdir.service.assert_no_provider_runs();
        let next = workdir.formwork("plan").run();
        assert_eq!(observe(&workdir, &next), *outcome, "{fault:?}: {}", result.text());
    }
}

/// The configuration in which a fault that hangs shows.
pub(super) fn config_of(fault: Fault) -> String {
    match fault {
        Fault::FunctionHangs => FUNCTION_CONFIG.to_owned(),
        Fault::OpenHangs | Fault::RenewHangs | Fault::CloseHangs => TOKEN.to_owned(),
        _ => CONFIG.replace("SIZE", "1"),
    }
}
