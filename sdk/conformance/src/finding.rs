//! Findings and the number of examined cases, rule by rule.

use std::collections::BTreeMap;

use formwork_value::Path;

use crate::plugin::Call;
use crate::rules::{self, Rule};

/// The most findings of one rule that are kept.
const MAX_KEPT_FINDINGS: usize = 1_000;

/// A rule broken by one answer.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// The type or part of the provider.
    pub subject: String,
    /// The call.
    pub call: String,
    /// The path in the value; empty for the whole value.
    pub path: String,
    /// The problem in one sentence.
    pub message: String,
    /// The expected value or behaviour; may be empty.
    pub expected: String,
    /// The value or behaviour that was found; may be empty.
    pub found: String,
    /// The input, shrunk where that was possible; may be empty.
    pub input: String,
    /// The calls that show it, in order.
    pub calls: Vec<Call>,
}

impl Finding {
    /// Returns a finding about a subject.
    #[must_use]
    pub fn new(rule: &'static str, subject: &str, message: impl Into<String>) -> Self {
        Self {
            rule,
            subject: subject.to_owned(),
            call: String::new(),
            path: String::new(),
            message: message.into(),
            expected: String::new(),
            found: String::new(),
            input: String::new(),
            calls: Vec::new(),
        }
    }

    /// Adds the call that shows it.
    #[must_use]
    pub fn with_call(mut self, call: &Call) -> Self {
        self.call = call.rpc.name();
        // `values` may already have set a better description.
        if self.found.is_empty() {
            self.found = call.describe_outcome();
        }
        self.calls.push(call.clone());
        self
    }

    /// Adds the path in the value.
    #[must_use]
    pub fn with_path(mut self, path: impl std::fmt::Display) -> Self {
        self.path = path.to_string().trim_start_matches('.').to_owned();
        self
    }

    /// Adds the two values.
    #[must_use]
    pub fn with_expected_and_found(
        mut self,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        self.expected = expected.into();
        self.found = found.into();
        self
    }

    /// Adds the input.
    #[must_use]
    pub fn with_input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }
}

/// Counts of one rule.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of cases examined.
    pub cases: u64,
    /// The number of cases that broke it.
    pub broken: u64,
    /// The findings that are kept.
    pub findings: Vec<Finding>,
    /// Why it was not examined, if it was not.
    pub skipped: Option<String>,
}

/// The verdict on one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All cases held.
    Held,
    /// Some did not.
    Broken,
    /// Not examined, with the reason.
    Skipped(String),
}

impl Verdict {
    /// The verdict as a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::Skipped(_) => "skipped",
        }
    }
}

/// The counts of all rules.
#[derive(Clone, Debug, Default)]
pub struct Tallies(BTreeMap<&'static str, Tally>);

impl Tallies {
    fn of_rule_mut(&mut self, id: &'static str) -> &mut Tally {
        self.0.entry(id).or_default()
    }

    /// Counts a case that held.
    pub fn record_pass(&mut self, id: &'static str) {
        self.of_rule_mut(id).cases += 1;
    }

    /// Counts a case that broke the rule. The same problem of the same subject is kept once.
    pub fn add_finding(&mut self, finding: Finding) {
        let tally = self.of_rule_mut(finding.rule);
        tally.cases += 1;
        tally.broken += 1;
        // Counted each time and kept once: many inputs may show the same mistake.
        let is_known = tally.findings.iter().any(|existing| {
            (&existing.subject, &existing.path, &existing.message)
                == (&finding.subject, &finding.path, &finding.message)
        });
        if !is_known && tally.findings.len() < MAX_KEPT_FINDINGS {
            tally.findings.push(finding);
        }
    }

    /// Puts back the counts of an earlier run.
    pub(crate) fn restore_tally(&mut self, id: &'static str, tally: Tally) {
        if tally.cases > 0 || tally.skipped.is_some() {
            self.0.insert(id, tally);
        }
    }

    /// Notes why a rule cannot be examined. Cases that were examined count more.
    pub fn note_skipped_rule(&mut self, id: &'static str, reason: impl Into<String>) {
        // The first reason stays, as later ones may only follow from it.
        self.of_rule_mut(id).skipped.get_or_insert(reason.into());
    }

    /// Returns the tally of a rule.
    #[must_use]
    pub fn of_rule(&self, id: &str) -> Option<&Tally> {
        self.0.get(id)
    }

    /// Returns the verdict on a rule. A rule without examined cases is never held.
    #[must_use]
    pub fn verdict(&self, rule: &Rule) -> Verdict {
        match self.0.get(rule.id) {
            // A single broken case decides, regardless of the number of passed cases.
            Some(tally) if tally.broken > 0 => Verdict::Broken,
            Some(tally) if tally.cases > 0 => Verdict::Held,
            tally => {
                let reason = tally.and_then(|tally| tally.skipped.clone());
                let reason = reason.unwrap_or_else(|| "no cases to examine were found".to_owned());
                Verdict::Skipped(reason)
            }
        }
    }

    /// Iterates over the findings in the order of the rules.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        // In the order of the rules, as reports have them.
        rules::all_rules().filter_map(|rule| self.0.get(rule.id)).flat_map(|tally| &tally.findings)
    }
}

/// A path as a prefix of a message.
pub(crate) fn path_as_message_prefix(path: &Path) -> String {
    if path.0.is_empty() {
        String::new()
    } else {
        format!("{path}: ").trim_start_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_examined_cases_is_never_held() {
        let tallies = Tallies::default();
        for rule in rules::all_rules() {
            let verdict = tallies.verdict(rule);
            assert!(!matches!(verdict, Verdict::Held), "{}", rule.id);
        }
    }

    #[test]
    fn one_broken_case_breaks_the_rule_and_is_kept_once() {
        let rule = rules::find_rule("P-01").unwrap();
        let mut tallies = Tallies::default();
        tallies.record_pass("P-01");
        assert_eq!(tallies.verdict(rule), Verdict::Held);
        tallies.add_finding(Finding::new("P-01", "a", "wrong"));
        tallies.add_finding(Finding::new("P-01", "a", "wrong"));
        assert_eq!(tallies.verdict(rule), Verdict::Broken);
        assert_eq!(tallies.findings().count(), 1);
        assert_eq!(tallies.of_rule("P-01").unwrap().broken, 2);
    }
}
