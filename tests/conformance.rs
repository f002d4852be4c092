//! The conformance suite against the table of seeded faults: each fault trips the rule that it breaks,
//! and the sound provider trips none.

#[path = "conformance/release.rs"]
mod release;
#[path = "conformance/service.rs"]
mod service;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use formwork_conformance::finding::Verdict;
use formwork_conformance::offer::Kind;
use formwork_conformance::rules;
use formwork_conformance::{Example, Options, Report, check_with_options};
use formwork_tests::programs;
use formwork_tests::seeded::{self, Fault, Row};
use formwork_value::Value;

use service::Service;

const SOUND: &str = env!("CARGO_BIN_EXE_terraform-provider-sound");
const BAD: &str = env!("CARGO_BIN_EXE_terraform-provider-bad");

/// The number of concurrent runs.
const AT_ONCE: usize = 4;

/// A run over the sound provider, with examples, a configuration and a previous release.
fn options(directory: &Path, rule: Option<&str>, fault: Option<Fault>, level: u8) -> Options {
    let bad_fault = match fault {
        Some(Fault::Bad(name)) => Some(name),
        _ => None,
    };
    let mut options = Options::new(if bad_fault.is_some() { BAD } else { SOUND });
    options.level = level;
    options.only = rule.into_iter().map(str::to_owned).collect();
    options.time = Duration::from_secs(300);
    let variables = match (bad_fault, rule) {
        (Some(name), _) => {
            vec![("BAD_OBJECTS", directory.as_os_str().to_owned()), ("BAD_FAULT", name.into())]
        }
        (None, Some(rule)) if fault.is_some() => {
            vec![("SOUND_OBJECTS", directory.into()), ("SOUND_FAULT", rule.into())]
        }
        _ => vec![("SOUND_OBJECTS", OsString::from(directory)), ("BAD_OBJECTS", directory.into())],
    };
    options.env = variables.into_iter().map(|(name, value)| (name.into(), value)).collect();
    if bad_fault.is_some() {
        return options;
    }
    let object = |pairs: [(&str, &str); 1]| {
        Value::object(pairs.map(|(name, text)| (name, Value::string(text))))
    };
    if level >= 3 {
        options.env.push(("SOUND_SERVICE".into(), Service::start().url.into()));
    }
    options.config = Some(object([("endpoint", "http://127.0.0.1:9/")]));
    options.examples = vec![Example {
        kind: Kind::DataSource,
        name: "sound_lookup".to_owned(),
        file: "data-source.tf".to_owned(),
        value: object([("name", "alpha")]),
    }];
    let previous = directory.join("terraform-provider-sound-previous");
    std::fs::copy(SOUND, &previous).expect("the program can be copied");
    options.previous = Some(previous);
    options.release = match (rule, fault) {
        (_, Some(Fault::Release(bug))) => Some(release::make(directory, Some(bug))),
        (None, None) => Some(release::make(directory, None)),
        _ => None,
    };
    options
}

fn checked(rule: Option<&str>, fault: Option<Fault>, level: u8) -> Report {
    let directory = tempfile::tempdir().expect("a directory can be made");
    check_with_options(options(directory.path(), rule, fault, level))
}

/// Whether a fault is found; the failure if it is not.
fn tripped(row: &Row) -> Result<(), String> {
    let report = checked(Some(row.rule), Some(row.fault), row.level);
    let rules: BTreeSet<&str> = report.findings.iter().map(|it| it.rule).collect();
    if report.verdict_on_rule(row.rule) != Some(&Verdict::Broken)
        || rules != BTreeSet::from([row.rule])
    {
        let (verdict, stopped) = (report.verdict_on_rule(row.rule), &report.stopped);
        return Err(format!("{}: not found: {verdict:?}, {stopped:?}, {rules:?}", row.rule));
    }
    Ok(())
}

/// Calls `check` for each item, several concurrently, and collects the failures.
fn each<T: Sync + ?Sized>(
    items: &[&T],
    check: impl Fn(&T) -> Result<(), String> + Sync,
) -> Vec<String> {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = check(item) {
                        failures.lock().expect("no check panics").push(reason);
                    }
                }
            });
        }
    });
    failures.into_inner().expect("no check panics")
}

/// The rows to try: all, or those that `CONFORMANCE_RULES=P-01,P-02` names.
fn rows() -> Vec<&'static Row> {
    let named = std::env::var("CONFORMANCE_RULES").unwrap_or_default();
    let is_named = |row: &&Row| named.is_empty() || named.split(',').any(|it| it == row.rule);
    seeded::rows().filter(is_named).collect()
}

#[test]
fn the_table_of_faults_has_a_row_for_each_rule() {
    let rules: Vec<&str> = rules::all_rules().map(|rule| rule.id).collect();
    let rows: Vec<&str> = seeded::rows().map(|row| row.rule).collect();
    let missing: Vec<_> = rules.iter().filter(|rule| !rows.contains(rule)).collect();
    assert!(missing.is_empty() && rows.len() == rules.len(), "{missing:?}, {} rows", rows.len());
}

#[test]
fn every_seeded_fault_trips_its_rule_and_no_other() {
    let rows = rows();
    let failures = each(&rows, tripped);
    println!(
        "{}/{} seeded faults are found",
        rows.len() - failures.len(),
        rules::all_rules().count()
    );
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_sound_provider_holds_every_rule_that_has_a_fault() {
    let report = checked(None, None, 3);
    let mut failures: Vec<String> = report
        .findings
        .iter()
        .map(|it| {
            format!(
                "{} {} {}: {} / {} / {}",
                it.rule, it.subject, it.path, it.message, it.expected, it.found
            )
        })
        .collect();
    for row in seeded::rows() {
        if let Some(Verdict::Skipped(reason)) = report.verdict_on_rule(row.rule) {
            failures.push(format!("{} is not examined: {reason}", row.rule));
        }
    }
    println!("{} of {} rules hold", report.count_verdicts("held"), rules::all_rules().count());
    assert!(failures.is_empty(), "{failures:#?} {:?}", report.stopped);
}

#[test]
fn a_state_store_on_the_sdk_holds_the_rules_of_state_stores() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let path = directory.path().to_str().expect("its name is text");
    let rules = ["T-01", "T-02", "T-03", "T-04", "T-05"];
    let mut options = Options::new(env!("CARGO_BIN_EXE_terraform-provider-test"));
    options.level = 3;
    options.only = rules.map(str::to_owned).into();
    options.time = Duration::from_secs(300);
    options.examples = vec![Example {
        kind: Kind::Store,
        name: "test_store".to_owned(),
        file: "state-store.tf".to_owned(),
        value: Value::object([("directory", Value::string(path))]),
    }];
    let report = check_with_options(options);
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    for rule in rules {
        assert_eq!(
            report.verdict_on_rule(rule),
            Some(&Verdict::Held),
            "{rule}: {:?}",
            report.stopped
        );
    }
}

#[test]
fn the_bad_provider_without_a_fault_trips_none_of_the_rules_of_its_faults() {
    let all = rows();
    let bad_rows: Vec<_> =
        all.into_iter().filter(|row| matches!(row.fault, Fault::Bad(_))).collect();
    let failures = each(&bad_rows, |row| {
        let report = checked(Some(row.rule), Some(Fault::Bad("")), row.level);
        match report.verdict_on_rule(row.rule) {
            Some(Verdict::Broken) => Err(format!("{}: {:?}", row.rule, report.findings)),
            _ => Ok(()),
        }
    });
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Without its configuration a provider may panic by any plan or read.
#[test]
fn a_call_that_always_crashes_is_not_a_finding_about_malformed_requests() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let mut options = options(directory.path(), None, Some(Fault::Bad("plan-panics")), 0);
    options.only = ["Z-01", "Z-13"].map(str::to_owned).into();
    let report = check_with_options(options);
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    for rule in ["Z-01", "Z-13"] {
        assert_eq!(
            report.verdict_on_rule(rule),
            Some(&Verdict::Held),
            "{rule}: {:?}",
            report.stopped
        );
    }
}

#[test]
fn included_providers_break_no_rule() {
    // The provider for PostgreSQL is left out: without a server, each of its reads waits for one.
    let names = ["archive", "external", "http", "local", "null", "random", "time", "tls"];
    let directory = programs::build(Path::new(BAD));
    let failures = each(&names, |name| {
        let mut options = Options::new(directory.join(format!("terraform-provider-{name}")));
        options.time = Duration::from_secs(900);
        // Functions and large inputs are slow in a debug build on a busy machine.
        options.skip = ["F-04", "H-05", "P-22", "V-08"].map(str::to_owned).into();
        let report = check_with_options(options);
        let mut failures: Vec<String> = report.stopped.iter().cloned().collect();
        let findings = report.findings.iter();
        failures.extend(
            findings.map(|it| format!("{} {} {}: {}", it.rule, it.subject, it.path, it.message)),
        );
        if failures.is_empty() { Ok(()) } else { Err(format!("{name}: {failures:#?}")) }
    });
    assert!(failures.is_empty(), "{failures:#?}");
}
