//! The file in which an interrupted run keeps its results, so that the next one continues
//! there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::finding::{Finding, Tally};
use crate::report::{file_hash, redact_finding};
use crate::rules;
use crate::suite::{CheckedProvider, Options, Suite};

/// The format of the file.
const CHECKPOINT_FORMAT_VERSION: &str = "formwork-conformance-checkpoint-1";

/// The completed steps, with the checkpoint file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoint {
    completed_steps: BTreeSet<String>,
}

/// The inputs that must be equal for a run to be resumed.
fn resume_conditions(options: &Options) -> Value {
    let provider = match &options.target {
        // By content: a program that was built again is another provider.
        CheckedProvider::Program(path) => file_hash(path),
        CheckedProvider::Running(address, _) => address.to_string(),
    };
    json!({
        // Another version of the suite has other rules.
        "version": env!("CARGO_PKG_VERSION"),
        "provider": provider,
        "level": options.level,
        "seed": options.seed,
        "only": options.only,
        "skip": options.skip,
        // Only whether there is one: the file must not hold the secrets in it.
        "config": format!("{:?}", options.config.is_some()),
        "examples": options.examples.iter().map(|it| &it.file).collect::<Vec<_>>(),
    })
}

impl Checkpoint {
    /// Reads the file of an earlier run into the tallies. The file of a different run, or a missing
    /// one, is ignored.
    pub(crate) fn load_into_suite(suite: &mut Suite) -> Self {
        let none = Self::default();
        let Some(path) = &suite.options.resume else { return none };
        let Ok(text) = fs::read(path) else { return none };
        let Ok(file) = serde_json::from_slice::<Value>(&text) else { return none };
        if file["format"] != CHECKPOINT_FORMAT_VERSION
            || file["key"] != resume_conditions(&suite.options)
        {
            return none;
        }
        for rule in rules::all_rules() {
            // Indexing JSON returns null for absent fields, so a rule that the file lacks counts
            // zero.
            let record = &file["rules"][rule.id];
            let number = |name: &str| record[name].as_u64().unwrap_or(0);
            let findings = record["findings"].as_array().into_iter().flatten();
            let tally = Tally {
                cases: number("cases"),
                broken: number("broken"),
                findings: findings.map(|it| finding_from_json(rule.id, it)).collect(),
                skipped: record["skipped"].as_str().map(str::to_owned),
            };
            suite.tallies.restore_tally(rule.id, tally);
        }
        let completed_steps = file["done"].as_array().into_iter().flatten();
        Self {
            completed_steps: completed_steps
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect(),
        }
    }

    /// Whether a step was completed by an earlier run.
    pub(crate) fn is_step_completed(&self, step: &str) -> bool {
        self.completed_steps.contains(step)
    }

    /// Notes a completed step, and writes the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn record_completed_step(&mut self, suite: &Suite, step: &str) -> io::Result<()> {
        self.completed_steps.insert(step.to_owned());
        let Some(path) = &suite.options.resume else { return Ok(()) };
        let mut rules = serde_json::Map::new();
        for rule in rules::all_rules() {
            let Some(tally) = suite.tallies.of_rule(rule.id) else { continue };
            // Redacted, because the file stays on the disk after the run.
            let findings: Vec<Value> = tally
                .findings
                .iter()
                .map(|it| finding_to_json(&redact_finding(suite, it)))
                .collect();
            rules.insert(
                rule.id.to_owned(),
                json!({
                    "cases": tally.cases,
                    "broken": tally.broken,
                    "skipped": tally.skipped.as_deref().map(|it| suite.secrets.redact(it)),
                    "findings": findings,
                }),
            );
        }
        let file = json!({
            "format": CHECKPOINT_FORMAT_VERSION,
            "key": resume_conditions(&suite.options),
            "done": self.completed_steps,
            "rules": rules,
        });
        replace_file_atomically(path, &file.to_string())
    }

    /// Removes the file after a whole run.
    pub(crate) fn remove_file(suite: &Suite) {
        if let Some(path) = &suite.options.resume {
            // A remaining file is harmless: the next run is then complete immediately.
            drop(fs::remove_file(path));
        }
    }
}

/// Writes a file atomically: first to a temporary file in its directory.
fn replace_file_atomically(path: &Path, text: &str) -> io::Result<()> {
    let temp_path = path.with_extension("part");
    fs::write(&temp_path, text)?;
    // A rename is atomic: after an interruption the old file is still whole.
    fs::rename(&temp_path, path)
}

fn finding_to_json(finding: &Finding) -> Value {
    json!({
        "subject": finding.subject,
        "call": finding.call,
        "path": finding.path,
        "message": finding.message,
        "expected": finding.expected,
        "found": finding.found,
        "input": finding.input,
    })
}

/// The finding without its calls, which the earlier run has written as reproducers.
fn finding_from_json(rule: &'static str, record: &Value) -> Finding {
    let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
    Finding {
        rule,
        subject: text("subject"),
        call: text("call"),
        path: text("path"),
        message: text("message"),
        expected: text("expected"),
        found: text("found"),
        input: text("input"),
        calls: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_is_resumed() {
        let directory = tempfile::tempdir().unwrap();
        let mut options = Options::new("/no/such/provider");
        options.resume = Some(directory.path().join("checkpoint.json"));
        let mut suite = Suite::new(options.clone());
        suite.tallies.record_pass("S-01");
        suite.tallies.add_finding(Finding::new("S-02", "provider", "wrong"));
        let mut checkpoint = Checkpoint::load_into_suite(&mut suite);
        assert!(!checkpoint.is_step_completed("Schema"));
        checkpoint.record_completed_step(&suite, "Schema").unwrap();

        let mut next = Suite::new(options.clone());
        let checkpoint = Checkpoint::load_into_suite(&mut next);
        assert!(
            checkpoint.is_step_completed("Schema") && !checkpoint.is_step_completed("Validation")
        );
        assert_eq!(next.tallies.of_rule("S-01").unwrap().cases, 1);
        assert_eq!(next.tallies.findings().next().unwrap().message, "wrong");

        // Another seed gives other inputs, whose results must not be mixed with these.
        let mut other_suite = Suite::new(Options { seed: 2, ..options });
        assert!(!Checkpoint::load_into_suite(&mut other_suite).is_step_completed("Schema"));
        assert_eq!(other_suite.tallies.findings().count(), 0);
    }
}
