//! Prints test events to a report.

use std::path::Path;

use formwork_core::config::parsed_test_file::TestFile;
use formwork_operation::test::{ShownPlanOrStateRef, TestEvent, TestFileResult, TestObserver};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use super::overall_status;
use crate::command::show;
use crate::view::human::plan as human_plan;
use crate::view::human::test as human;
use crate::view::json::test_stream::{TestStream, VerboseJson, run_names};
use crate::view::operation_report::OperationReport;
use crate::view::sanitize::sanitize_line;
use crate::view::{Screen, print_err, print_out};

/// Prints test events in human-readable form or as JSON.
pub(super) struct Observer<'a> {
    report: &'a OperationReport,
    screen: &'a Screen,
    /// The JSON stream; `None` for human-readable output.
    stream: Option<TestStream>,
    verbose: bool,
}

impl<'a> Observer<'a> {
    pub(super) fn new(report: &'a OperationReport, verbose: bool) -> Self {
        let stream = report.is_for_programs().then_some(TestStream);
        Self { report, screen: report.screen(), stream, verbose }
    }

    /// The report for everything else.
    pub(super) fn operation_report(&self) -> &'a OperationReport {
        self.report
    }

    /// Prints the files and runs.
    pub(super) fn start(&self, test_files: &[TestFile]) {
        if let Some(stream) = &self.stream {
            stream.write_listing(test_files);
        }
    }

    /// Prints the summary of the results.
    pub(super) fn end(&self, results: &[TestFileResult]) {
        let status = overall_status(results);
        match &self.stream {
            Some(stream) => stream.write_summary(status, results),
            None => print_out(&format!(
                "\n{}\n",
                human::test_summary_text(self.screen, status, results)
            )),
        }
    }

    /// Reports the location of the states of objects that were not destroyed after a second interrupt.
    pub(super) fn report_interrupted(&self, states: &Path) {
        match &self.stream {
            Some(stream) => stream.write_interrupted(states),
            None => print_err(&self.screen.wrap(&human::interrupted_text(states))),
        }
    }

    /// Prints the diagnostics of a run or its cleanup.
    fn show_diagnostics(&self, sources: &Sources, diags: &Diagnostics) {
        let rendered = human::render_test_diagnostics(self.screen, sources, diags);
        print_out(&rendered.warnings);
        print_err(&rendered.errors);
    }

    fn show_to_people(&self, sources: &Sources, event: &TestEvent<'_>) {
        let screen = self.screen;
        match event {
            TestEvent::TestFileStarted(test_file) => {
                print_out(&format!("{}... in progress\n", sanitize_line(&test_file.path)));
            }
            TestEvent::TestFileTearDown(test_file) => {
                print_out(&format!("{}... tearing down\n", sanitize_line(&test_file.path)));
            }
            TestEvent::TestFileDone(test_file, status) => {
                let path = sanitize_line(&test_file.path);
                print_out(&format!("{path}... {}\n", human::status_word(screen, *status)));
            }
            TestEvent::RunDone { run, result, work } => {
                let status = human::status_word(screen, result.status);
                print_out(&format!("  run {:?}... {status}\n", run.run.name.as_str()));
                if let Some((work, pool)) = work.as_ref().filter(|_| self.verbose) {
                    let text = match work {
                        ShownPlanOrStateRef::Plan(plan) => {
                            human_plan::render_plan(screen, plan, pool)
                        }
                        ShownPlanOrStateRef::State(state) => {
                            let text =
                                show::state_text(&mut Diagnostics::new(), state, pool, screen);
                            format!("\n{}", text.unwrap_or_default())
                        }
                    };
                    print_out(&format!("{text}\n"));
                }
                self.show_diagnostics(sources, &result.diags);
            }
            TestEvent::CleanupFailed { run, diags, left: leftovers, state, can_destroy } => {
                let name = format!("{}/{}", sanitize_line(&run.test_file.path), run.run.name);
                if diags.has_errors() {
                    print_err(&format!("{}\n", screen.wrap(&human::cleanup_failed_text(&name))));
                }
                self.show_diagnostics(sources, diags);
                let file = state
                    .as_deref()
                    .map(|path| human::LeftStateFile { path, can_destroy: *can_destroy });
                print_err(&human::left_objects_text(screen, &name, leftovers, file));
            }
            TestEvent::TestFileProblems(_, diags) => self.show_diagnostics(sources, diags),
            TestEvent::RunStarted(_) | TestEvent::RunProgress(..) | TestEvent::RunTearDown(..) => {}
        }
    }
}

impl TestObserver for Observer<'_> {
    fn on_event(&self, sources: &Sources, event: &TestEvent<'_>) {
        let Some(stream) = &self.stream else { return self.show_to_people(sources, event) };
        stream.write_event(sources, event);
        if let TestEvent::RunDone { run, work: Some((work, pool)), result } = event {
            if self.verbose {
                let json = match work {
                    ShownPlanOrStateRef::Plan(plan) => VerboseJson::plan(plan, pool),
                    ShownPlanOrStateRef::State(state) => VerboseJson::state(state, pool),
                };
                stream.write_verbose(*run, json);
            }
            stream.write_diagnostics(sources, &run_names(*run), &result.diags);
        } else if let TestEvent::RunDone { run, result, .. } = event {
            stream.write_diagnostics(sources, &run_names(*run), &result.diags);
        }
    }
}
