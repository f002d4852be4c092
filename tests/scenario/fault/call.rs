//! Plugins that answer calls badly, or die over them.

use super::*;

const UNUSABLE: &str = "Provider broke the plugin protocol";
const CONTRACT_VIOLATION: &str = "This is a bug in the provider";

pub(super) const SCHEMA: &[Case] = &[
    (Fault::SchemaDies, Create, 1, "about to die in the schema", Nothing),
    (Fault::SchemaPanics, Create, 1, "the schema is lost", Nothing),
    (Fault::SchemaError, Create, 1, "No schema today", Nothing),
    (Fault::SchemaStatus, Create, 1, "no schema on Sundays", Nothing),
    (Fault::SchemaUnimplemented, Create, 1, "does not implement GetProviderSchema", Nothing),
    // Some old providers have such names, and hosts load them; the attribute cannot be set.
    (Fault::SchemaBadName, Create, 0, "Apply complete! Resources: 3 added", Ready),
    (
        Fault::SchemaMinAboveMax,
        Create,
        1,
        "the least number of blocks is above the greatest",
        Nothing,
    ),
    (Fault::SchemaHuge, Create, 1, "the limit for messages is 64 MiB", Nothing),
    (
        Fault::SchemaTypeNotJson,
        Create,
        1,
        "attribute `generation`: `{number\"` is not a type",
        Nothing,
    ),
    (Fault::SchemaTypeUnknown, Create, 1, "there is no primitive type \"nosuch\"", Nothing),
    (Fault::SchemaTypeDeep, Create, 1, "nested too deep", Nothing),
    (Fault::SchemaNoBlock, Create, 1, "the schema has no block", Nothing),
    (Fault::SchemaDuplicate, Create, 1, UNUSABLE, Nothing),
    (Fault::SchemaBlocksDeep, Create, 1, "recursion limit reached", Nothing),
    (Fault::SchemaNoProvider, Create, 1, "no schema of the provider itself", Nothing),
    (Fault::SchemaRoles, Create, 1, "roles", Nothing),
    (Fault::SchemaNoType, Create, 1, "typeless", Nothing),
    (Fault::SchemaSetOfAny, Create, 1, "parts.any", Nothing),
    // Hosts load them; the attribute cannot be set.
    (Fault::SchemaReservedName, Create, 0, "Apply complete! Resources: 3 added", Ready),
];

pub(super) const CONFIGURE: &[Case] = &[
    (Fault::ConfigureError, Create, 1, "Error: The region is closed", Nothing),
    (Fault::ConfigureDies, Create, 1, "about to die in the configuration", Nothing),
    (Fault::ConfigureStatus, Create, 1, "no configuration on Sundays", Nothing),
    (Fault::ValidateError, Create, 1, "Error: The name is not free with bad_thing.a", Nothing),
    (Fault::ValidateWarning, Create, 0, "Warning: Watch", Ready),
    (Fault::ValidateDies, Create, 1, "about to die in a validation", Nothing),
];

/// Faults of calls about objects that exist: nothing is lost, nothing is changed.
pub(super) const STORED: &[Case] = &[
    (Fault::UpgradeGarbage, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::UpgradeAbsent, Update, 1, "in its answer to UpgradeResourceState", Ready),
    (Fault::UpgradeDies, Update, 1, "about to die in an upgrade", Ready),
    (Fault::ReadGarbage, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ReadWrongType, Update, 1, ".name: string is required", Ready),
    (Fault::ReadUnknown, Update, 1, ".text", Ready),
    (Fault::ReadStatus, Update, 1, "no read on Sundays", Ready),
    (Fault::ReadBusy, Update, 0, "Provider was asked a second time", Ready),
    (Fault::ReadError, Update, 1, "Error: The network is down with bad_thing.a", Ready),
    (Fault::ReadDies, Update, 1, "about to die in a read", Ready),
    (Fault::ReadDefers, Update, 1, "deferrals are not allowed", Ready),
    (Fault::ReadIdentity, Update, 1, "has no identities", Ready),
    // A null is accepted; the plan shows that another object is created.
    (Fault::ReadNull, Update, 0, "bad_thing.a will be created", Ready),
    (Fault::ReadAbsent, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::PlanDies, Update, 1, "about to die in a plan", Ready),
    (Fault::PlanChangesConfig, Update, 1, "\"another\" does not match config value \"a\"", Ready),
    (Fault::PlanReplaceNowhere, Update, 1, "nowhere", Ready),
    (Fault::ApplyRefuses, Update, 1, "Error: The quota is used up", Ready),
    (Fault::ApplyErrorNull, Update, 1, "Error: The power went out", Ready),
    (Fault::ApplyErrorPartial, Update, 1, "Error: The power went out", Ready),
    (Fault::ApplyNull, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ApplyAbsent, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ApplyErrorAbsent, Update, 1, "Error: The power went out", Ready),
    (Fault::ApplyNoId, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ApplyWrongId, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ApplyUnknownId, Update, 1, ".id: the value is unknown", Ready),
    (Fault::ApplyErrorNoId, Update, 1, "Error: The power went out", Ready),
    (Fault::ApplyCut, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ApplyGarbage, Update, 1, CONTRACT_VIOLATION, Ready),
    (Fault::ApplyExits, Update, 1, "about to die in an apply", Ready),
];

pub(super) const PLAN: &[Case] = &[
    (Fault::PlanGarbage, Create, 1, CONTRACT_VIOLATION, Nothing),
    (Fault::PlanBomb, Create, 1, CONTRACT_VIOLATION, Nothing),
    (Fault::PlanDeep, Create, 1, CONTRACT_VIOLATION, Nothing),
    (Fault::PlanAbsent, Create, 1, "Provider produced invalid plan", Nothing),
    (Fault::PlanNull, Create, 1, "Provider produced invalid plan", Nothing),
    (Fault::PlanWrongType, Create, 1, ".name: string is required", Nothing),
    (Fault::PlanChangesConfig, Create, 1, "\"another\" does not match config value \"a\"", Nothing),
    (Fault::PlanSetsUnset, Create, 1, "\"unasked\" for a non-computed attribute", Nothing),
    (Fault::PlanWriteOnly, Create, 1, ".secret: write-only attribute is not null", Nothing),
    // Nothing is replaced when nothing exists; Terraform ignores it as well.
    (Fault::PlanReplaceNowhere, Create, 0, "3 added", Ready),
    // Only who plans again finds out; `sdk/testing` does.
    (Fault::PlanRestless, Create, 0, "3 added", Ready),
    (Fault::PlanFickle, Create, 1, "Provider produced inconsistent final plan", Nothing),
    (Fault::PlanError, Create, 1, "Error: There is no room for it with bad_thing.a", Nothing),
    (Fault::PlanStatus, Create, 1, "no plan on Sundays", Nothing),
    (Fault::PlanPanics, Create, 1, "the plan is lost", Nothing),
    (Fault::PlanDies, Create, 1, "about to die in a plan", Nothing),
    (Fault::PlanDefers, Create, 1, "deferrals are not allowed", Nothing),
];

/// Faults after the object exists: it is in the state, or the next command reports that it may exist.
pub(super) const APPLY: &[Case] = &[
    (Fault::ApplyRefuses, Create, 1, "Error: The quota is used up with bad_thing.a", Nothing),
    // An error with a null object is how a provider refuses, and is accepted.
    (
        Fault::ApplyErrorNull,
        Create,
        1,
        "The bad provider says so. The provider returned null for bad_thing.a: nothing was created. If an object exists nevertheless, add it to the state: formwork import 'bad_thing.a' ID",
        Outcome::Lost,
    ),
    (Fault::ApplyGarbage, Create, 1, CONTRACT_VIOLATION, Unresolved),
    (Fault::ApplyAbsent, Create, 1, CONTRACT_VIOLATION, Unresolved),
    (Fault::ApplyErrorAbsent, Create, 1, "Outcome of an operation is unknown", Unresolved),
    // A null without an error is an error of the provider, and it is believed likewise.
    (Fault::ApplyNull, Create, 1, "returned null for bad_thing.a", Outcome::Lost),
    // Without its id a new object cannot be found again.
    (Fault::ApplyNoId, Create, 1, "Outcome of an operation is unknown", Unresolved),
    (Fault::ApplyWrongId, Create, 1, ".id: string is required", Unresolved),
    (Fault::ApplyUnknownId, Create, 1, ".id: the value is unknown", Unresolved),
    (Fault::ApplyErrorNoId, Create, 1, "Error: The power went out with bad_thing.a", Unresolved),
    (Fault::ApplyCut, Create, 1, "formwork recover list", Unresolved),
    // The readable part of it is kept, attribute by attribute.
    (Fault::ApplyMissing, Create, 1, CONTRACT_VIOLATION, Tainted),
    (Fault::ApplyWrongType, Create, 1, ".text: string is required", Tainted),
    (Fault::ApplyUnknown, Create, 1, ".text: the value is unknown", Tainted),
    (Fault::ApplyWriteOnly, Create, 1, ".secret: write-only attribute is not null", Tainted),
    (Fault::ApplyDiffers, Create, 1, ".name: was \"a\", but now \"another\"", Tainted),
    (Fault::ApplyErrorPartial, Create, 1, "Error: The power went out with bad_thing.a", Tainted),
    (Fault::ApplyExits, Create, 1, "about to die in an apply", Unresolved),
    (Fault::ApplyPanics, Create, 1, "the result is lost", Unresolved),
    (Fault::ApplyKilled, Create, 1, "killed by SIGKILL", Unresolved),
    (
        Fault::ApplyHangsUp,
        Create,
        1,
        "exited or disconnected during ApplyResourceChange",
        Unresolved,
    ),
    (Fault::ApplyStatus, Create, 1, "no apply on Sundays", Unresolved),
    (Fault::ApplyTooLarge, Create, 1, "the limit for messages is 256 MiB", Unresolved),
    (Fault::ApplyInvalidText, Create, 0, "a string that is not valid UTF-8", Ready),
    (Fault::ApplyStrangeSeverity, Create, 1, "Error: strange with bad_thing.a", Tainted),
    (Fault::ApplyEscapes, Create, 0, "Apply complete! Resources: 3 added", Ready),
    (Fault::ApplyManyWarnings, Create, 0, "19500 more warnings are not shown", Ready),
    (Fault::ApplyLongText, Create, 0, "Apply complete! Resources: 3 added", Ready),
    (Fault::ApplyIdentity, Create, 1, "its type has no identities", Ready),
];

pub(super) const DESTROY: &[Case] = &[
    (Fault::DestroyError, Destroy, 1, "Error: It is still needed with bad_thing.a", Ready),
    (Fault::DestroyDies, Destroy, 1, "about to die in a destruction", Ready),
    // The provider reads the object, and reports that it was deleted.
    (Fault::DestroyAbsent, Destroy, 1, "the object does not exist any more", Nothing),
    // Only the next refresh can find that the object was deleted.
    (Fault::DestroyReturns, Destroy, 1, CONTRACT_VIOLATION, Outcome::Missing),
];

/// Faults of a data source, and the words of their messages.
pub(super) const DATA: &[(Fault, &str)] = &[
    (Fault::DataGarbage, CONTRACT_VIOLATION),
    (Fault::DataNull, CONTRACT_VIOLATION),
    (Fault::DataUnknown, CONTRACT_VIOLATION),
    (Fault::DataDies, "about to die reading data"),
    (Fault::DataDefers, "deferrals are not allowed"),
];

#[test]
fn a_schema_that_cannot_be_used_is_explained() {
    check(SCHEMA);
}

#[test]
fn a_schema_that_differs_between_processes_is_refused() {
    // One process does all the work of a run, so it takes a second configuration to see it.
    let config = CONFIG.replace("SIZE", "1");
    let two = config.replace("  link = bad", "  provider = bad.second\n  link = bad")
        + "provider \"bad\" {\n  alias = \"second\"\n  region = \"there\"\n}\n";
    for (config, code, words) in
        [(config, 0, "3 added"), (two, 1, "another one than that of the process before it")]
    {
        let workdir = Workdir::new(&config);
        let command = workdir.formwork("apply -auto-approve");
        let result = command.env("BAD_FAULT", Fault::SchemaFickle.name()).run();
        result.code(code).says(words);
        if code == 1 {
            result.says("formwork/bad").says("provider[");
            assert_eq!(workdir.service.objects(), [""; 0]);
        }
        workdir.service.assert_no_provider_runs();
    }
}

#[test]
fn a_provider_that_cannot_be_configured_does_nothing() {
    check(CONFIGURE);
}

#[test]
fn invalid_responses_about_existing_objects_change_nothing() {
    check(STORED);
}

#[test]
fn invalid_plans_are_refused_before_any_change() {
    check(PLAN);
}

#[test]
fn created_objects_are_never_lost() {
    check(APPLY);
}

#[test]
fn an_object_without_a_usable_id_is_not_created_twice() {
    for fault in [
        Fault::ApplyNoId,
        Fault::ApplyWrongId,
        Fault::ApplyUnknownId,
        Fault::ApplyErrorNoId,
        Fault::ApplyCut,
        Fault::ApplyAbsent,
        Fault::ApplyErrorAbsent,
    ] {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        let command = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name());
        command.env("BAD_FAULT_OF", "a").run().code(1);
        // The next run does not change it or its dependents.
        let next = workdir.formwork("apply -auto-approve").run();
        next.code(1).says("An interrupted operation needs a decision").says("recover adopt");
        assert_eq!(workdir.service.objects(), ["a-1", "other-1"], "{fault:?}: {}", next.text());
        workdir.formwork("recover adopt bad_thing.a a-1").succeed();
        workdir.formwork("apply -auto-approve").succeed().says("1 added");
        assert_eq!(workdir.service.objects(), ["a-1", "dependent-1", "other-1"]);
        workdir.formwork("plan -detailed-exitcode").succeed();
    }
}

#[test]
fn objects_that_could_not_be_destroyed_stay_in_the_state() {
    check(DESTROY);
}

#[test]
fn invalid_data_is_refused() {
    for (fault, words) in DATA {
        let workdir = Workdir::new(
            r#"
            terraform {
              required_providers {
                bad = { source = "formwork/bad" }
              }
            }
            data "bad_data" "d" {
              name = "d"
            }
            resource "bad_thing" "a" {
              name = "a"
              text = data.bad_data.d.text
            }
            "#,
        );
        let result = workdir.formwork("apply -auto-approve").env("BAD_FAULT", fault.name()).run();
        result.code(1).says(words).says("data.bad_data.d");
        assert_eq!(workdir.service.objects(), [""; 0]);
        workdir.service.assert_no_provider_runs();
    }
}

/// Faults of an import, and the words of their messages.
pub(super) const IMPORT: &[(Fault, &str)] = &[
    (Fault::ImportNothing, "Import returned no resources"),
    (Fault::ImportGarbage, CONTRACT_VIOLATION),
    (Fault::ImportDies, "about to die in an import"),
    (Fault::ImportOtherType, "it found an object of type \"bad_other\""),
];

#[test]
fn an_invalid_import_response_adds_nothing_to_the_state() {
    for (fault, words) in IMPORT {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        workdir.formwork("apply -auto-approve").succeed();
        workdir.formwork("state rm bad_thing.a").succeed();
        let import = workdir.formwork("import bad_thing.a a-1");
        import.env("BAD_FAULT", fault.name()).run().code(1).says(words).says("bad_thing.a");
        assert!(instances(&workdir).iter().all(|instance| instance.addr != "bad_thing.a"));
        workdir.formwork("import bad_thing.a a-1").succeed().says("Import successful!");
        assert!(instances(&workdir).iter().any(|instance| instance.id == "a-1"));
        workdir.service.assert_no_provider_runs();
    }
}

#[test]
fn control_characters_of_a_provider_do_not_reach_the_terminal() {
    for fault in [Fault::ValidateWarning, Fault::ApplyEscapes] {
        let workdir = Workdir::new(&CONFIG.replace("SIZE", "1"));
        let command = workdir.formwork("apply -auto-approve");
        let text = command.env("BAD_FAULT", fault.name()).succeed().text();
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{text:?}");
    }
}
