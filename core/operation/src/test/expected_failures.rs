//! Failures that a run expects: conditions that must not hold.

use formwork_core::addr::{ResourceMode, ResourceName};
use formwork_core::config::parsed_test_file::TestRun;
use formwork_lang::refs::{Traversal, TraversalStep};
use formwork_value::diag::Severity;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use crate::messages;

/// An object whose conditions must fail.
struct ExpectedFailure {
    /// Its address.
    addr: String,
    span: Span,
    is_met: bool,
}

/// The objects of a run whose conditions must fail.
pub(super) struct ExpectedFailures(Vec<ExpectedFailure>);

impl ExpectedFailures {
    /// Reads the list in a run.
    ///
    /// # Errors
    /// Returns an error if an entry cannot have conditions.
    pub(super) fn from_run(diags: &mut Diagnostics, run: &TestRun) -> Result<Self, Reported> {
        let mut list = Vec::new();
        let mut result = Ok(());
        for traversal in &run.expect_failures {
            match checkable_object_address(traversal) {
                Some(addr) => {
                    list.push(ExpectedFailure { addr, span: traversal.span, is_met: false });
                }
                None => result = Err(diags.error(no_conditions_error(traversal))),
            }
        }
        result.map(|()| Self(list))
    }

    /// Whether the list includes an object that has failed. Duplicate entries are marked together.
    fn mark_met_if_expected(&mut self, failed: &str) -> bool {
        let mut is_expected = false;
        for expected in &mut self.0 {
            // Without a key, the entry means all instances of a resource.
            let suffix = failed.strip_prefix(expected.addr.as_str());
            if suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('[')) {
                expected.is_met = true;
                is_expected = true;
            }
        }
        is_expected
    }

    /// Removes expected failures. Unexpected failures of `check` blocks become errors, and objects
    /// that have not failed are reported.
    pub(super) fn judge_diagnostics(mut self, diags: Diagnostics) -> Diagnostics {
        let mut remaining = Diagnostics::new();
        for diagnostic in diags {
            // Only conditions can be expected to fail. An error of a provider is never expected.
            let Some(failed) = diagnostic.condition_of.clone() else {
                let _ = remaining.push(diagnostic);
                continue;
            };
            // Outside of tests, a check only warns. A test must report its failure.
            if !self.mark_met_if_expected(&failed) {
                let _ = remaining.error(diagnostic);
            }
        }
        // Reported last, because the other problems may be the cause.
        for expected in self.0.iter().filter(|expected| !expected.is_met) {
            let detail = format!(
                "The checkable object, {}, was expected to report an error but did not.",
                expected.addr
            );
            let missing = Diagnostic::error(messages::MISSING_EXPECTED_FAILURE, detail);
            let _ = remaining.error(missing.at(expected.span));
        }
        remaining
    }

    /// Explains expected failures that prevent a plan from being applied.
    pub(super) fn explain_blocked_apply(&mut self, diags: Diagnostics) -> Diagnostics {
        let mut remaining = Diagnostics::new();
        for diagnostic in diags {
            let failed = diagnostic
                .condition_of
                .as_deref()
                .filter(|_| diagnostic.severity == Severity::Error);
            if let Some(failed) = failed.filter(|failed| self.mark_met_if_expected(failed)) {
                let detail = format!(
                    "A custom condition within {failed} failed during the planning stage and prevented the requested apply operation. While this was an expected failure, the apply operation could not be executed and so the overall test case will be marked as a failure and the original diagnostic included in the test report."
                );
                let summary = messages::EXPECTED_FAILURE_WHILE_PLANNING;
                remaining.warn(Diagnostic::warning(summary, detail));
            }
            let _ = remaining.push(diagnostic);
        }
        remaining
    }
}

/// The address of an object that may have conditions.
fn checkable_object_address(traversal: &Traversal) -> Option<String> {
    let root = traversal.root.name.as_str();
    let name_at = |index: usize| match traversal.steps.get(index) {
        Some(TraversalStep::Attribute(name)) => Some(name.name.as_str()),
        _ => None,
    };
    let (addr, n_name_steps) = match (root, name_at(0), name_at(1)) {
        ("var" | "output" | "check", Some(name), _) => (format!("{root}.{name}"), 1),
        ("local" | "module" | "each" | "count" | "path" | "terraform" | "self" | "run", ..) => {
            return None;
        }
        ("data", Some(kind), Some(name)) => {
            (ResourceName::new(ResourceMode::Data, kind, name).to_string(), 2)
        }
        ("resource", Some(kind), Some(name)) => {
            (ResourceName::new(ResourceMode::Managed, kind, name).to_string(), 2)
        }
        (kind, Some(name), _) => {
            (ResourceName::new(ResourceMode::Managed, kind, name).to_string(), 1)
        }
        _ => return None,
    };
    let key = match traversal.steps.get(n_name_steps) {
        Some(TraversalStep::Index(index, _)) => format!("[{index}]"),
        Some(TraversalStep::Key(key, _)) => format!("[{:?}]", key.as_str()),
        _ => String::new(),
    };
    Some(format!("{addr}{key}"))
}

fn no_conditions_error(traversal: &Traversal) -> Diagnostic {
    let steps = traversal.steps.iter().filter_map(|step| match step {
        TraversalStep::Attribute(name) => Some(format!(".{}", name.name)),
        _ => None,
    });
    let shown: String = std::iter::once(traversal.root.name.to_string()).chain(steps).collect();
    let detail = format!(
        "You cannot expect failures from {shown}. You can only expect failures from checkable objects such as input variables, output values, check blocks, managed resources and data sources."
    );
    Diagnostic::error(messages::INVALID_EXPECT_FAILURES_REFERENCE, detail).at(traversal.span)
}
