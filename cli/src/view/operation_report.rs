//! Report of a planning or applying command: human-readable, or as a JSON stream.

use std::path::Path;

use formwork_core::apply::ChangeCounts;
use formwork_core::event::EventObserver;
use formwork_core::plan::Plan;
use formwork_core::provider::ProviderPool;
use formwork_core::state::State;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use formwork_value::quote::shell_quoted;

use super::human::operation::OperationPrinter;
use super::human::{diagnostic, outputs, plan as plan_view};
use super::json::stream::{JsonStream, import_count_text};
use super::{Paint, Screen, print_err, print_out, print_transient, sanitize};
use crate::exit::Exit;
use crate::redact;

/// Destination of the report of an operation.
pub(crate) struct OperationReport {
    screen: Screen,
    compact_warnings: bool,
    watch: ReportAudience,
}

/// Result of applying.
pub(crate) struct ApplyResult<'a> {
    /// The number of applied changes.
    pub(crate) tally: ChangeCounts,
    /// Whether the run destroys everything.
    pub(crate) destroying: bool,
    /// The file of `-state-out`, if specified.
    pub(crate) out: Option<&'a Path>,
}

const STATE_SAVED_NOTE: &str = "The state of your infrastructure has been saved to the path below. This state\nis required to modify and destroy your infrastructure, so keep it safe. To\ninspect the complete state use the `formwork show` command.";

enum ReportAudience {
    Human(OperationPrinter),
    Machine(JsonStream),
}

impl OperationReport {
    /// Creates a report, human-readable or as a JSON stream.
    pub(crate) fn new(screen: Screen, json: bool, compact_warnings: bool) -> Self {
        let watch = if json {
            let stream = JsonStream::new();
            stream.print_version();
            ReportAudience::Machine(stream)
        } else {
            ReportAudience::Human(OperationPrinter::new(screen))
        };
        Self { screen, compact_warnings, watch }
    }

    /// Observer of the engine.
    pub(crate) fn observer(&self) -> &dyn EventObserver {
        match &self.watch {
            ReportAudience::Human(operations) => operations,
            ReportAudience::Machine(stream) => stream,
        }
    }

    /// Reports the next step of `init`: wrapped for a terminal, or as one JSON event with the code of the
    /// step.
    pub(crate) fn report_step(&self, paint: Paint, text: &str, code: &str) {
        let text = &*redact::redact_text(text);
        match &self.watch {
            ReportAudience::Human(_) => {
                let text = self.screen.wrap(text);
                print_out(&format!("{}\n", self.screen.paint(paint, &text)));
            }
            ReportAudience::Machine(stream) => stream.print_step(text, code),
        }
    }

    /// Reports an event.
    pub(crate) fn report_event(&self, text: &str) {
        let text = &*redact::redact_text(text);
        match &self.watch {
            ReportAudience::Human(_) => print_out(&format!("{}\n", sanitize::sanitize_line(text))),
            ReportAudience::Machine(stream) => stream.print_log(text),
        }
    }

    /// Prints multi-line text.
    pub(crate) fn show_text(&self, text: &str) {
        match &self.watch {
            ReportAudience::Human(_) => print_out(&format!("{text}\n")),
            ReportAudience::Machine(stream) => stream.print_log(text.trim()),
        }
    }

    /// Prints an event with different texts for human-readable output and the JSON stream.
    pub(crate) fn report_per_audience(&self, human: &str, machine: &str) {
        match &self.watch {
            ReportAudience::Human(_) => self.report_event(human),
            ReportAudience::Machine(_) => self.report_event(machine),
        }
    }

    /// Shows a line that the next one replaces, in human-readable output only. An empty line removes it.
    pub(crate) fn show_transient(&self, text: &str) {
        if let ReportAudience::Human(_) = &self.watch {
            print_transient(&self.screen, &redact::redact_text(text));
        }
    }

    /// Prints diagnostics.
    pub(crate) fn report_diagnostics(&self, sources: &Sources, diags: &Diagnostics) {
        match &self.watch {
            ReportAudience::Human(_) => {
                let rendered = diagnostic::render_all_diagnostics(
                    &self.screen,
                    sources,
                    diags,
                    self.compact_warnings,
                );
                print_out(&rendered.warnings);
                print_err(&rendered.errors);
            }
            ReportAudience::Machine(stream) => {
                diags.iter().for_each(|d| stream.print_diagnostic(sources, d));
            }
        }
    }

    /// Prints diagnostics that prevented the command from starting.
    pub(crate) fn report_failure(&self, sources: Option<&Sources>, diags: &Diagnostics) -> Exit {
        let empty = Sources::new();
        self.report_diagnostics(sources.unwrap_or(&empty), diags);
        Exit::Failed
    }

    /// Shows a plan.
    pub(crate) fn report_plan(&self, plan: &Plan, pool: &ProviderPool<'_>) {
        match &self.watch {
            ReportAudience::Human(_) => {
                print_out(&plan_view::render_plan(&self.screen, plan, pool));
            }
            ReportAudience::Machine(stream) => stream.print_plan(plan),
        }
    }

    /// Prints the changes of a saved plan to the JSON stream. Human-readable output printed them when the
    /// plan was created.
    pub(crate) fn report_saved_plan(&self, plan: &Plan) {
        if let ReportAudience::Machine(stream) = &self.watch {
            stream.print_saved_plan(plan);
        }
    }

    /// Reports the next step after a plan, and the files that its results were written to.
    pub(crate) fn report_next_step(
        &self,
        plan: &Plan,
        saved: Option<&Path>,
        generated: Option<&Path>,
    ) {
        if !matches!(self.watch, ReportAudience::Human(_)) || !plan.is_applyable() {
            return;
        }
        let mut text = format!("\n{}\n\n", self.screen.horizontal_line());
        if let Some(path) = generated {
            text.push_str(&self.screen.wrap(&format!(
                "Formwork has generated configuration and written it to {}. Please review the configuration and edit it as necessary before adding it to version control.\n\n",
                path.display()
            )));
        }
        match saved.map(|path| path.display().to_string()) {
            Some(path) => {
                // As in Terraform, unless a shell would interpret it differently.
                let is_special = path.contains(['$', '`', '"', '\\', '!']);
                let path_argument = if is_special { shell_quoted(&path) } else { format!("{path:?}") };
                text.push_str(&format!(
                    "Saved the plan to: {path}\n\nTo perform exactly these actions, run the following command to apply:\n    formwork apply {path_argument}\n"
                ));
            }
            None => text.push_str(&self.screen.wrap(
                "Note: You didn't use the -out option to save this plan, so Formwork can't guarantee to take exactly these actions if you run \"formwork apply\" now.\n",
            )),
        }
        print_out(&text);
    }

    /// Reports the applied changes.
    pub(crate) fn report_applied(&self, result: &ApplyResult<'_>, state: &State) {
        match &self.watch {
            ReportAudience::Human(_) => {
                let ChangeCounts { imported: _, added, changed, destroyed } = result.tally;
                let imports = import_count_text(result.tally);
                let message = if result.destroying {
                    format!("Destroy complete! Resources: {destroyed} destroyed.")
                } else {
                    format!(
                        "Apply complete! Resources: {imports}{added} added, {changed} changed, {destroyed} destroyed."
                    )
                };
                print_out(&format!("\n{}\n", self.screen.paint(Paint::BoldGreen, &message)));
                if let Some(path) = result.out.filter(|_| added + changed > 0) {
                    let text = format!("{STATE_SAVED_NOTE}\n\nState path: {}", path.display());
                    print_out(&format!("\n{text}\n"));
                }
                if !result.destroying {
                    self.report_outputs(state);
                }
            }
            ReportAudience::Machine(stream) => {
                stream.print_applied(result.tally, result.destroying);
                if !result.destroying {
                    stream.print_outputs(state);
                }
            }
        }
    }

    /// Reports the current outputs.
    pub(crate) fn report_refreshed_outputs(&self, state: &State) {
        match &self.watch {
            ReportAudience::Human(_) => self.report_outputs(state),
            ReportAudience::Machine(stream) => stream.print_outputs(state),
        }
    }

    fn report_outputs(&self, state: &State) {
        if !state.outputs.is_empty() {
            let title = self.screen.paint(Paint::BoldGreen, "Outputs:");
            print_out(&format!("\n{title}\n\n{}", outputs::render_outputs(state)));
        }
    }

    /// Reports an interrupt: on stderr in human-readable output, otherwise as an event.
    pub(crate) fn report_interrupt(&self, text: &str) {
        match &self.watch {
            ReportAudience::Human(_) => print_err(&self.screen.wrap(text)),
            ReportAudience::Machine(stream) => stream.print_log(text),
        }
    }

    /// Whether the report is a JSON stream.
    pub(crate) fn is_for_programs(&self) -> bool {
        matches!(self.watch, ReportAudience::Machine(_))
    }

    /// The screen.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }
}
