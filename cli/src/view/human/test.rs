//! Human-readable test results.

use std::path::Path;

use formwork_operation::test::{LeftoverObject, TestFileResult, TestStatus};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use formwork_value::quote::shell_quoted;

use super::diagnostic::{self, RenderedDiagnostics};
use crate::view::sanitize::sanitize_line;
use crate::view::{Paint, Screen};

/// The word for a status. A run that could not be executed counts as failed.
pub(crate) fn status_word(screen: &Screen, status: TestStatus) -> String {
    match status {
        TestStatus::Skip => screen.paint(Paint::Dim, "skip"),
        TestStatus::Pass => screen.paint(Paint::Green, "pass"),
        TestStatus::Fail | TestStatus::Error => screen.paint(Paint::Red, "fail"),
    }
}

/// The summary of the results.
pub(crate) fn test_summary_text(
    screen: &Screen,
    status: TestStatus,
    results: &[TestFileResult],
) -> String {
    let (word, paint) = match status {
        TestStatus::Fail | TestStatus::Error => ("Failure!", Paint::BoldRed),
        TestStatus::Skip | TestStatus::Pass => ("Success!", Paint::BoldGreen),
    };
    format!("{} {}", screen.paint(paint, word), summary_counts(results))
}

/// The numbers of runs by status.
pub(crate) fn summary_counts(results: &[TestFileResult]) -> String {
    let count = |is_counted: fn(TestStatus) -> bool| {
        let runs = results.iter().flat_map(|suite| &suite.runs);
        runs.filter(|run| is_counted(run.status)).count()
    };
    let passed = count(|status| status == TestStatus::Pass);
    let failed = count(|status| status > TestStatus::Pass);
    let skipped = match count(|status| status == TestStatus::Skip) {
        0 => String::new(),
        n => format!(", {n} skipped"),
    };
    format!("{passed} passed, {failed} failed{skipped}.")
}

/// The diagnostics of a run. A warning is followed by an empty line.
pub(crate) fn render_test_diagnostics(
    screen: &Screen,
    sources: &Sources,
    diags: &Diagnostics,
) -> RenderedDiagnostics {
    let mut rendered = diagnostic::render_without_hint(screen, sources, diags);
    if !rendered.warnings.is_empty() {
        rendered.warnings.push('\n');
    }
    rendered
}

/// Introduces the errors of a cleanup.
pub(crate) fn cleanup_failed_text(name: &str) -> String {
    format!("Formwork encountered an error destroying resources created while executing {name}.")
}

/// The file with the state of objects that remain after a cleanup.
pub(crate) struct LeftStateFile<'a> {
    pub(crate) path: &'a Path,
    /// Whether `destroy` with this file can be run in the working directory.
    pub(crate) can_destroy: bool,
}

/// Lists the objects that remain after a cleanup, and their state file.
pub(crate) fn left_objects_text(
    screen: &Screen,
    name: &str,
    leftovers: &[LeftoverObject],
    state: Option<LeftStateFile<'_>>,
) -> String {
    if leftovers.is_empty() {
        return String::new();
    }
    let title = format!(
        "Formwork left the following resources in state after executing {name}, and they need to be cleaned up manually:"
    );
    let mut text = format!("\n{}\n", screen.wrap(&title));
    for object in leftovers {
        let deposed = object.deposed.as_ref().map(|key| format!(" ({key})")).unwrap_or_default();
        text.push_str(&format!("  - {}{deposed}\n", object.instance));
    }
    let Some(LeftStateFile { path, can_destroy }) = state else { return text };
    let advice = match can_destroy {
        true => "After you correct the cause, destroy them with:",
        // With a backend, `destroy` would ignore the option and destroy the objects in the backend's state.
        false => {
            "After you correct the cause, copy their module directory, remove its backend block, add the provider configurations of the test file, and destroy them in the copy with:"
        }
    };
    let path_text = sanitize_line(&path.display().to_string());
    let file = match can_destroy {
        true => path.to_owned(),
        false => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    };
    let file = shell_quoted(&sanitize_line(&file.display().to_string()));
    let sentence = screen.wrap(&format!("Their state is in the file {path_text}. {advice}"));
    text.push_str(&format!("\n{sentence}\n  formwork destroy -state={file}\n"));
    text
}

/// Reports the directory with the states of objects that were not destroyed.
pub(crate) fn interrupted_text(states: &Path) -> String {
    format!(
        "\nFormwork was interrupted during test execution, and may not have performed the expected cleanup operations. The states of objects that may remain are in {0}. Destroy them with `formwork destroy -state=FILE` for each state file in that directory. If the module has a backend block, use a copy of the module directory without that block.\n",
        states.display()
    )
}
