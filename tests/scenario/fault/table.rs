//! Every fault a host must live with, by number, and where it is seen to: one case or more of the
//! tables in the files of this directory, a test elsewhere, or the reason why nothing is done.

use std::collections::BTreeSet;

use formwork_tests::fault::Fault;

use super::{Case, call, hang, launch, passing, process};
use crate::tidy::is_test_of_the_tree;

/// Place in which a fault is tested.
enum TestLocation {
    /// In cases of the tables.
    Case(&'static [Fault]),
    /// In a test of this name.
    Test(&'static str),
}
use TestLocation::{Case as In, Test};

/// The groups of faults, and how many each has: start and handshake, schema, plan and configuration,
/// apply, read, import, functions, data, the process; and what passes: ephemeral resources.
const GROUPS: [(char, usize); 10] = [
    ('H', 16),
    ('S', 15),
    ('P', 11),
    ('A', 22),
    ('R', 4),
    ('I', 2),
    ('F', 4),
    ('D', 1),
    ('X', 14),
    ('E', 11),
];

const ROWS: &[(&str, &str, TestLocation)] = &[
    ("H01", "never prints", In(&[Fault::StartSilent])),
    ("H02", "half a line", In(&[Fault::StartHalfLine])),
    ("H03", "junk, binary or a very long line", In(&[Fault::StartJunk, Fault::StartLongLine])),
    ("H04", "a log line before the handshake", In(&[Fault::StartLogLine])),
    (
        "H05",
        "ends before the handshake",
        In(&[Fault::StartExit, Fault::StartExitZero, Fault::StartKilled, Fault::StartPanics]),
    ),
    (
        "H06",
        "speaks another version",
        In(&[Fault::StartCoreVersion, Fault::StartProtocol, Fault::StartNetRpc]),
    ),
    ("H07", "listens on a network nobody knows", In(&[Fault::StartNetwork])),
    ("H08", "the socket or port is not there", In(&[Fault::StartNoSocket, Fault::StartDeadPort])),
    ("H09", "accepts and never speaks", In(&[Fault::StartMute])),
    ("H10", "listens on another machine", In(&[Fault::StartRemote])),
    ("H11", "starts slowly", Test("a_plugin_that_starts_slowly_is_waited_for_and_started_once")),
    ("H12", "gives no certificate", In(&[Fault::StartNoCertificate])),
    (
        "H13",
        "gives a wrong certificate",
        In(&[Fault::StartForeignCertificate, Fault::StartBadCertificate]),
    ),
    ("H14", "is run by hand", Test("a_plugin_that_is_run_by_a_user_explains_itself_and_fails")),
    ("H15", "reads stdin", In(&[Fault::StartReadsStdin])),
    ("H16", "sees the whole environment", Test("formwork_variables_are_withheld_from_plugins")),
    ("S01", "a type that is not JSON", In(&[Fault::SchemaTypeNotJson])),
    ("S02", "a type nobody knows", In(&[Fault::SchemaTypeUnknown])),
    ("S03", "a type without measure", In(&[Fault::SchemaTypeDeep])),
    ("S04", "no content", In(&[Fault::SchemaNoBlock])),
    ("S05", "blocks nested without measure", In(&[Fault::SchemaBlocksDeep])),
    ("S06", "no schema for the provider", In(&[Fault::SchemaNoProvider])),
    ("S07", "larger than anybody accepts", In(&[Fault::SchemaHuge])),
    ("S08", "contradicts itself", In(&[Fault::SchemaRoles, Fault::SchemaNoType])),
    ("S09", "one name twice", In(&[Fault::SchemaDuplicate])),
    ("S10", "a reserved name", In(&[Fault::SchemaReservedName])),
    ("S11", "a name that is none", In(&[Fault::SchemaBadName])),
    (
        "S12",
        "another one in each process",
        Test("a_schema_that_differs_between_processes_is_refused"),
    ),
    (
        "S13",
        "no answer, or a refusal",
        In(&[
            Fault::SchemaDies,
            Fault::SchemaPanics,
            Fault::SchemaError,
            Fault::SchemaStatus,
            Fault::SchemaUnimplemented,
            Fault::SchemaHangs,
        ]),
    ),
    ("S14", "nesting that cannot be", In(&[Fault::SchemaMinAboveMax, Fault::SchemaSetOfAny])),
    ("S15", "an identity of a type without", In(&[Fault::ReadIdentity, Fault::ApplyIdentity])),
    ("P01", "no value of the type", In(&[Fault::PlanGarbage, Fault::PlanWrongType])),
    ("P02", "no object", In(&[Fault::PlanAbsent, Fault::PlanNull])),
    ("P03", "not what was configured", In(&[Fault::PlanChangesConfig, Fault::PlanSetsUnset])),
    ("P04", "returns what it may only receive", In(&[Fault::PlanWriteOnly])),
    ("P05", "something else the second time", In(&[Fault::PlanFickle])),
    ("P06", "a replacement because of nothing", In(&[Fault::PlanReplaceNowhere])),
    ("P07", "a value without measure", In(&[Fault::PlanBomb, Fault::PlanDeep])),
    (
        "P08",
        "no answer, or a refusal",
        In(&[
            Fault::PlanDies,
            Fault::PlanPanics,
            Fault::PlanStatus,
            Fault::PlanError,
            Fault::PlanDefers,
            Fault::ValidateError,
            Fault::ValidateWarning,
            Fault::ValidateDies,
        ]),
    ),
    ("P09", "hangs", In(&[Fault::PlanHangs])),
    ("P10", "never content", In(&[Fault::PlanRestless])),
    (
        "P11",
        "the configuration is not taken",
        In(&[
            Fault::ConfigureError,
            Fault::ConfigureStatus,
            Fault::ConfigureDies,
            Fault::ConfigureHangs,
        ]),
    ),
    ("A01", "garbage", In(&[Fault::ApplyGarbage])),
    ("A02", "nothing", In(&[Fault::ApplyAbsent, Fault::ApplyErrorAbsent, Fault::DestroyAbsent])),
    ("A03", "an attribute is missing", In(&[Fault::ApplyMissing])),
    ("A04", "an attribute of another type", In(&[Fault::ApplyWrongType])),
    ("A05", "a value that is unknown", In(&[Fault::ApplyUnknown])),
    ("A06", "null", In(&[Fault::ApplyNull])),
    ("A07", "what it may only receive", In(&[Fault::ApplyWriteOnly])),
    ("A08", "not what was planned", In(&[Fault::ApplyDiffers])),
    ("A09", "an error and half an object", In(&[Fault::ApplyErrorPartial])),
    ("A10", "an error and no object", In(&[Fault::ApplyErrorNull, Fault::ApplyRefuses])),
    ("A11", "ends", In(&[Fault::ApplyExits])),
    ("A12", "panics", In(&[Fault::ApplyPanics])),
    ("A13", "is killed", In(&[Fault::ApplyKilled])),
    ("A14", "a gRPC error", In(&[Fault::ApplyStatus])),
    ("A15", "text that is none", In(&[Fault::ApplyInvalidText])),
    ("A16", "control characters", In(&[Fault::ApplyEscapes])),
    ("A17", "a severity nobody knows", In(&[Fault::ApplyStrangeSeverity])),
    ("A18", "twenty thousand warnings", In(&[Fault::ApplyManyWarnings])),
    ("A19", "more than anybody accepts", In(&[Fault::ApplyLongText, Fault::ApplyTooLarge])),
    ("A20", "an identity of a type without", In(&[Fault::ApplyIdentity])),
    (
        "A21",
        "no usable id",
        In(&[
            Fault::ApplyNoId,
            Fault::ApplyWrongId,
            Fault::ApplyUnknownId,
            Fault::ApplyErrorNoId,
            Fault::ApplyCut,
        ]),
    ),
    ("A22", "aborts when asked to stop", Test("an_aborted_creation_leaves_nothing_open")),
    ("R01", "no object", In(&[Fault::ReadAbsent])),
    ("R02", "gone, although it is there", In(&[Fault::ReadNull])),
    (
        "R03",
        "no object of the type, or no answer",
        In(&[
            Fault::ReadGarbage,
            Fault::ReadWrongType,
            Fault::ReadUnknown,
            Fault::ReadStatus,
            Fault::ReadBusy,
            Fault::ReadError,
            Fault::ReadDies,
            Fault::ReadDefers,
            Fault::ReadHangs,
        ]),
    ),
    (
        "R04",
        "no object from an upgrade",
        In(&[Fault::UpgradeGarbage, Fault::UpgradeAbsent, Fault::UpgradeDies]),
    ),
    (
        "I01",
        "imports nothing, or nothing usable",
        In(&[Fault::ImportNothing, Fault::ImportGarbage, Fault::ImportDies]),
    ),
    ("I02", "imports another type", In(&[Fault::ImportOtherType])),
    ("F01", "something else each time", In(&[Fault::FunctionFickle])),
    (
        "F02",
        "no value of the type",
        In(&[Fault::FunctionGarbage, Fault::FunctionWrongType, Fault::FunctionUnknown]),
    ),
    (
        "F03",
        "no answer, or a refusal",
        In(&[Fault::FunctionError, Fault::FunctionStatus, Fault::FunctionDies]),
    ),
    ("F04", "hangs", In(&[Fault::FunctionHangs])),
    (
        "D01",
        "no data, or no answer",
        In(&[
            Fault::DataNull,
            Fault::DataUnknown,
            Fault::DataGarbage,
            Fault::DataDies,
            Fault::DataDefers,
        ]),
    ),
    ("X01", "floods stderr", In(&[Fault::ProcessStderr])),
    ("X02", "floods stdout", In(&[Fault::ProcessStdout])),
    ("X03", "a child holds its stderr", In(&[Fault::ProcessChild])),
    ("X04", "a child detaches itself", In(&[Fault::ProcessDetaches])),
    ("X05", "does not end when asked", In(&[Fault::ProcessStays])),
    (
        "X06",
        "dies between calls",
        Test("a_provider_that_dies_while_no_call_is_pending_is_started_again"),
    ),
    ("X07", "closes its socket and lives", In(&[Fault::ApplyHangsUp])),
    ("X08", "does not stop when asked", In(&[Fault::ApplyHangs])),
    ("X09", "hangs when asked to stop", In(&[Fault::StopHangs])),
    ("X10", "an interrupt reaches it too", Test("an_interrupt_does_not_end_a_plugin")),
    ("X11", "its host dies", Test("a_plugin_dies_with_its_host")),
    // A limit on its memory and files applies if set, and
    // `a_plugin_has_the_configured_limits_and_environment` tests it. The limit on
    // processes counts all of a user's, and control groups need permission.
    ("X12", "starts processes without end", In(&[Fault::ProcessForks])),
    (
        "X13",
        "floods the stream of its prints",
        Test("endless_output_is_read_in_pieces_and_does_not_delay_other_calls"),
    ),
    (
        "X14",
        "its number is another process's",
        Test("a_process_with_the_id_of_an_attached_provider_is_not_ended"),
    ),
    ("E01", "opening refused", In(&[Fault::OpenError, Fault::OpenStatus, Fault::OpenDefers])),
    (
        "E02",
        "opens nothing of the type",
        In(&[Fault::OpenGarbage, Fault::OpenNull, Fault::OpenUnknown]),
    ),
    ("E03", "opens not what was configured", In(&[Fault::OpenChangesConfig])),
    ("E04", "dies opening", In(&[Fault::OpenDies])),
    ("E05", "hangs opening", In(&[Fault::OpenHangs])),
    ("E06", "renewal refused", In(&[Fault::RenewError, Fault::RenewStatus])),
    ("E07", "dies renewing", In(&[Fault::RenewDies])),
    ("E08", "hangs renewing", In(&[Fault::RenewHangs])),
    ("E09", "closing refused", In(&[Fault::CloseError, Fault::CloseStatus])),
    ("E10", "dies closing", In(&[Fault::CloseDies])),
    ("E11", "hangs closing", In(&[Fault::CloseHangs])),
];

/// Faults with a test of their own.
const TESTED_SEPARATELY: [Fault; 6] = [
    Fault::ApplyAborts,
    Fault::SchemaFickle,
    Fault::SchemaHangs,
    Fault::ProcessDetaches,
    Fault::FunctionFickle,
    Fault::StopHangs,
];

fn cases() -> impl Iterator<Item = &'static Case> {
    let tables = [launch::CASES, call::SCHEMA, call::CONFIGURE, call::STORED, call::PLAN];
    tables.into_iter().chain([call::APPLY, call::DESTROY, process::CASES]).flatten()
}

/// Every fault that some test uses, with its expected results.
fn ordered() -> Vec<(Fault, String)> {
    let mut faults: Vec<(Fault, String)> = Vec::new();
    for (fault, scene, code, words, outcome) in cases() {
        faults.push((*fault, format!("{scene:?} | {code} | {words} | {outcome:?}")));
    }
    let short = [call::DATA, call::IMPORT, passing::FUNCTION, passing::OPEN];
    for (fault, words) in short.into_iter().flatten() {
        faults.push((*fault, format!("Create | 1 | {words} | Nothing")));
    }
    for (fault, code, words, outcome) in passing::RENEW {
        faults.push((*fault, format!("Create | {code} | {words} | {outcome:?}")));
    }
    for (fault, _, call, outcome) in hang::HANGS {
        let words = format!("Two interrupts received … has not answered {call}");
        faults.push((*fault, format!("Interrupted | 1 | {words} | {outcome:?}")));
    }
    faults.extend(TESTED_SEPARATELY.map(|fault| (fault, "in a test of its own | | |".to_owned())));
    faults
}

#[test]
fn every_known_fault_has_a_test() {
    let expected: Vec<String> = GROUPS
        .iter()
        .flat_map(|(group, n)| (1..=*n).map(move |number| format!("{group}{number:02}")))
        .collect();
    let ids: Vec<&str> = ROWS.iter().map(|(id, _, _)| *id).collect();
    assert_eq!(ids, expected);
    let ordered = ordered();
    println!(
        "| | fault | on the menu | while | exit | what is said | the object then |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    for (id, description, coverage) in ROWS {
        match coverage {
            In(faults) => faults.iter().for_each(|fault| {
                let mut results =
                    ordered.iter().filter(|(ordered_fault, _)| ordered_fault == fault).peekable();
                assert!(
                    results.peek().is_some(),
                    "{id}: no call of the table has the fault {fault:?}"
                );
                results.for_each(|(_, result)| {
                    println!("| {id} | {description} | {} | {result} |", fault.name());
                });
            }),
            Test(name) => {
                assert!(is_test_of_the_tree(name), "{id}: there is no test {name}");
                println!("| {id} | {description} | | {name} | | | |");
            }
        }
    }
}

#[test]
fn every_fault_of_the_provider_is_used_in_a_test() {
    let ordered: BTreeSet<Fault> = ordered().into_iter().map(|(fault, _)| fault).collect();
    let missing: Vec<_> = Fault::ALL.iter().filter(|fault| !ordered.contains(fault)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
