//! Test events, one JSON object per line.

use std::path::Path;
use std::time::Duration;

use formwork_core::config::parsed_test_file::TestFile;
use formwork_core::plan::Plan;
use formwork_core::provider::ProviderPool;
use formwork_core::state::State;
use formwork_core::state::checks::CheckResults;
use formwork_operation::test::{
    LeftoverObject, RunOfTestFile, TestEvent, TestFileResult, TestStatus,
};
use formwork_value::Diagnostics;
use formwork_value::diag::{Severity, Sources};

use super::json_builder::Json;
use super::stream::write_line;
use super::{diagnostic, plan, schema, state};
use crate::view::human::test::summary_counts;

/// Prints events as they happen.
pub(crate) struct TestStream;

/// The plan or the state of a run.
pub(crate) struct VerboseJson {
    message: &'static str,
    kind: &'static str,
    members: Json,
}

/// The names of file and run, which each of their events contains.
fn file_and_run_names(test_file: &TestFile, run: Option<&str>) -> Vec<(&'static str, Json)> {
    let run = run.map(|run| ("@testrun", Json::text(run)));
    [("@testfile", Json::text(test_file.path.as_str()))].into_iter().chain(run).collect()
}

/// The names of a run, for its events.
pub(crate) fn run_names(run: RunOfTestFile<'_>) -> Vec<(&'static str, Json)> {
    file_and_run_names(run.test_file, Some(run.run.name.as_str()))
}

fn json_number(number: usize) -> Json {
    Json::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A number and a noun, in the plural unless the number is one.
fn count_with_noun(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

impl TestStream {
    /// Lists the files and their runs.
    pub(crate) fn write_listing(&self, test_files: &[TestFile]) {
        let runs = |test_file: &TestFile| match test_file.runs.as_slice() {
            [] => Json::Null,
            runs => Json::Array(runs.iter().map(|run| Json::text(run.name.as_str())).collect()),
        };
        let files =
            test_files.iter().map(|test_file| (test_file.path.clone(), runs(test_file))).collect();
        let n_runs = test_files.iter().map(|test_file| test_file.runs.len()).sum();
        let message = format!(
            "Found {} and {}",
            count_with_noun(test_files.len(), "file"),
            count_with_noun(n_runs, "run block")
        );
        write_line(
            "info",
            &message,
            &[],
            "test_abstract",
            vec![("test_abstract", Json::Object(files))],
        );
    }

    /// Writes the summary of the results.
    pub(crate) fn write_summary(&self, status: TestStatus, results: &[TestFileResult]) {
        let word = if status > TestStatus::Pass { "Failure!" } else { "Success!" };
        let count = |status_counted: TestStatus| {
            let runs = results.iter().flat_map(|test_file| &test_file.runs);
            json_number(runs.filter(|run| run.status == status_counted).count())
        };
        let sum = Json::object([
            ("status", Json::text(status.json_name())),
            ("passed", count(TestStatus::Pass)),
            ("failed", count(TestStatus::Fail)),
            ("errored", count(TestStatus::Error)),
            ("skipped", count(TestStatus::Skip)),
        ]);
        let message = format!("{word} {}", summary_counts(results));
        write_line("info", &message, &[], "test_summary", vec![("test_summary", sum)]);
    }

    /// Writes the event that a second interrupt ended the tests.
    pub(crate) fn write_interrupted(&self, states: &Path) {
        let message = "Formwork was interrupted during test execution, and may not have performed the expected cleanup operations.";
        let members = Json::object([("states", Json::text(states.display().to_string()))]);
        write_line("error", message, &[], "test_interrupt", vec![("test_interrupt", members)]);
    }

    /// An event.
    pub(crate) fn write_event(&self, sources: &Sources, event: &TestEvent<'_>) {
        match event {
            TestEvent::TestFileStarted(test_file) => {
                self.write_test_file(test_file, "starting", None);
            }
            TestEvent::TestFileTearDown(test_file) => {
                self.write_test_file(test_file, "teardown", None);
            }
            TestEvent::TestFileDone(test_file, status) => {
                self.write_test_file(test_file, "complete", Some(*status));
            }
            TestEvent::TestFileProblems(test_file, diags) => {
                self.write_diagnostics(sources, &file_and_run_names(test_file, None), diags);
            }
            TestEvent::RunStarted(run) => self.write_run(*run, "starting", Duration::ZERO),
            TestEvent::RunProgress(run, elapsed) => self.write_run(*run, "running", *elapsed),
            TestEvent::RunTearDown(run, elapsed) => self.write_run(*run, "teardown", *elapsed),
            TestEvent::RunDone { run, result, .. } => {
                let status_text = status_word(result.status);
                let message = format!("  {:?}... {status_text}", run.run.name.as_str());
                let members = Json::object([
                    ("path", Json::text(run.test_file.path.as_str())),
                    ("run", Json::text(run.run.name.as_str())),
                    ("progress", Json::text("complete")),
                    ("status", Json::text(result.status.json_name())),
                ]);
                let members = vec![("test_run", members)];
                write_line("info", &message, &run_names(*run), "test_run", members);
            }
            TestEvent::CleanupFailed { run, diags, left: leftovers, state, .. } => {
                if !leftovers.is_empty() {
                    self.write_left_objects(*run, leftovers, state.as_deref());
                }
                self.write_diagnostics(sources, &run_names(*run), diags);
            }
        }
    }

    fn write_test_file(&self, test_file: &TestFile, progress: &str, status: Option<TestStatus>) {
        let progress_text = match (progress, status) {
            ("starting", _) => "in progress",
            (_, Some(status)) => status_word(status),
            _ => "tearing down",
        };
        let members = Json::object_of_some([
            ("path", Some(Json::text(test_file.path.as_str()))),
            ("progress", Some(Json::text(progress))),
            ("status", status.map(|status| Json::text(status.json_name()))),
        ]);
        let message = format!("{}... {progress_text}", test_file.path);
        write_line(
            "info",
            &message,
            &file_and_run_names(test_file, None),
            "test_file",
            vec![("test_file", members)],
        );
    }

    fn write_run(&self, run: RunOfTestFile<'_>, progress: &str, elapsed: Duration) {
        let progress_text = if progress == "teardown" { "tearing down" } else { "in progress" };
        let message = format!("  {:?}... {progress_text}", run.run.name.as_str());
        let members = Json::object([
            ("path", Json::text(run.test_file.path.as_str())),
            ("run", Json::text(run.run.name.as_str())),
            ("progress", Json::text(progress)),
            ("elapsed", Json::Int(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))),
        ]);
        write_line("info", &message, &run_names(run), "test_run", vec![("test_run", members)]);
    }

    fn write_left_objects(
        &self,
        run: RunOfTestFile<'_>,
        leftovers: &[LeftoverObject],
        state: Option<&Path>,
    ) {
        let objects = leftovers.iter().map(|object| {
            Json::object_of_some([
                ("instance", Some(Json::text(object.instance.as_str()))),
                ("deposed_key", object.deposed.as_ref().map(Json::text)),
            ])
        });
        let members = Json::object_of_some([
            ("failed_resources", Some(Json::Array(objects.collect()))),
            ("state", state.map(|path| Json::text(path.display().to_string()))),
        ]);
        let message = format!(
            "Formwork left some resources in state after executing {}/{}, they need to be cleaned up manually.",
            run.test_file.path, run.run.name
        );
        let members = vec![("test_cleanup", members)];
        write_line("error", &message, &run_names(run), "test_cleanup", members);
    }

    /// The plan or the state of a run.
    pub(crate) fn write_verbose(&self, run: RunOfTestFile<'_>, json: VerboseJson) {
        let VerboseJson { message, kind, members } = json;
        write_line("info", message, &run_names(run), kind, vec![(kind, members)]);
    }

    /// Writes the diagnostics of a test file, a run or its cleanup.
    pub(crate) fn write_diagnostics(
        &self,
        sources: &Sources,
        names: &[(&'static str, Json)],
        diags: &Diagnostics,
    ) {
        // As in Terraform, in the order of detection.
        for diagnostic in diags.iter() {
            let (level, label) = match diagnostic.severity {
                Severity::Error => ("error", "Error"),
                Severity::Warning => ("warn", "Warning"),
            };
            let message = format!("{label}: {}", diagnostic.summary);
            let members = vec![("diagnostic", diagnostic::diagnostic_to_json(sources, diagnostic))];
            write_line(level, &message, names, "diagnostic", members);
        }
    }
}

fn status_word(status: TestStatus) -> &'static str {
    match status {
        TestStatus::Error => "fail",
        other => other.json_name(),
    }
}

impl VerboseJson {
    /// A plan.
    pub(crate) fn plan(plan: &Plan, pool: &ProviderPool<'_>) -> Self {
        let providers = plan.changes.values().map(|change| &change.provider.provider);
        let mut members = plan::members_for_test(plan);
        members.extend(schema::members_for_test(pool, providers));
        let message = "-verbose flag enabled, printing plan";
        Self { message, kind: "test_plan", members: Json::object(members) }
    }

    /// A state.
    pub(crate) fn state(state: &State, pool: &ProviderPool<'_>) -> Self {
        let providers = state.resources.values().map(|resource| &resource.provider.provider);
        let mut members = vec![("state_format_version", Json::text("1.0"))];
        let document =
            state::state_document(&mut Diagnostics::new(), state, &CheckResults::default(), pool);
        // The values are top-level members in this format.
        if let Ok(Json::Object(document)) = document
            && let Some((_, Json::Object(values))) =
                document.into_iter().find(|(name, _)| name == "values")
        {
            for (name, value) in values {
                match name.as_str() {
                    "outputs" => members.push(("outputs", value)),
                    _ => members.push(("root_module", value)),
                }
            }
        }
        members.extend(schema::members_for_test(pool, providers));
        let message = "-verbose flag enabled, printing state";
        Self { message, kind: "test_state", members: Json::object(members) }
    }
}
