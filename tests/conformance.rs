//! The conformance suite against the misbehaving provider: a fault trips the rule that it breaks, and
//! the same rules are silent without it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use formwork_conformance::finding::Verdict;
use formwork_conformance::{Options, Report, check_with};

/// Rules with the fault that must trip them and the level at which it shows.
const SEEDED: [(&str, &str, u8); 23] = [
    ("H-02", "start-log-line", 0),
    ("H-03", "start-core-version", 0),
    ("H-06", "start-foreign-certificate", 0),
    ("H-11", "start-reads-stdin", 0),
    ("H-13", "process-stays", 0),
    ("S-01", "schema-error", 0),
    ("S-02", "schema-fickle", 0),
    ("S-06", "schema-min-above-max", 0),
    ("V-01", "validate-dies", 0),
    ("U-01", "upgrade-garbage", 0),
    ("U-06", "upgrade-dies", 0),
    ("U-07", "upgrade-absent", 0),
    ("C-01", "configure-dies", 1),
    ("P-01", "plan-garbage", 1),
    ("P-02", "plan-changes-config", 1),
    ("P-04", "plan-write-only", 1),
    ("P-05", "plan-fickle", 1),
    ("P-09", "plan-replace-nowhere", 1),
    ("P-17", "plan-defers", 1),
    ("R-01", "read-garbage", 1),
    ("R-05", "read-absent", 1),
    ("A-01", "apply-garbage", 3),
    ("A-02", "apply-differs", 3),
];

fn checked(rule: &str, fault: Option<&str>, level: u8) -> Report {
    let world = tempfile::tempdir().expect("a folder can be made");
    let mut options = Options::new(env!("CARGO_BIN_EXE_terraform-provider-bad"));
    options.level = level;
    options.only = BTreeSet::from([rule.to_owned()]);
    options.time = Duration::from_secs(60);
    options.env = vec![("BAD_WORLD".into(), world.path().into())];
    options.env.extend(fault.map(|fault| (OsString::from("BAD_FAULT"), OsString::from(fault))));
    check_with(options)
}

#[test]
fn every_seeded_fault_trips_its_rule_and_nothing_does_without_it() {
    let mut wrong = Vec::new();
    for (rule, fault, level) in SEEDED {
        let broken = checked(rule, Some(fault), level);
        if broken.verdict(rule) != Some(&Verdict::Broken) {
            wrong.push(format!("{rule}: {fault} is not found: {:?}", broken.verdict(rule)));
        }
        let clean = checked(rule, None, level);
        if clean.verdict(rule) == Some(&Verdict::Broken) {
            wrong.push(format!("{rule}: broken without a fault: {:?}", clean.findings));
        }
    }
    println!("{}/{} seeded faults are found", SEEDED.len() - wrong.len(), SEEDED.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
