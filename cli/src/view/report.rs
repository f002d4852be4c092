//! Report of a planning or applying command: for people, or as a stream of JSON.

use std::path::Path;

use formwork_core::apply::ChangeCounts;
use formwork_core::event::EventObserver;
use formwork_core::plan::Plan;
use formwork_core::provider::Pool;
use formwork_core::state::State;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use formwork_value::quote::shell_quoted;

use super::human::operation::Operations;
use super::human::{diagnostic, outputs, plan as plan_view};
use super::json::stream::{Stream, imported};
use super::{Paint, Screen, err, out, sanitize, transient};
use crate::exit::Exit;
use crate::redact;

/// Destination of the report of an operation.
pub(crate) struct Report {
    screen: Screen,
    compact_warnings: bool,
    watch: Audience,
}

/// Result of applying.
pub(crate) struct Done<'a> {
    /// Number of changes made.
    pub(crate) tally: ChangeCounts,
    /// Whether everything was to go.
    pub(crate) destroying: bool,
    /// File that the state was requested to be written to, if not to its usual place.
    pub(crate) out: Option<&'a Path>,
}

const SAVED: &str = "The state of your infrastructure has been saved to the path below. This state\nis required to modify and destroy your infrastructure, so keep it safe. To\ninspect the complete state use the `formwork show` command.";

enum Audience {
    Human(Operations),
    Machine(Stream),
}

impl Report {
    /// Tells people, or programs.
    pub(crate) fn new(screen: Screen, json: bool, compact_warnings: bool) -> Self {
        let watch = if json {
            let stream = Stream::new();
            stream.version();
            Audience::Machine(stream)
        } else {
            Audience::Human(Operations::new(screen))
        };
        Self { screen, compact_warnings, watch }
    }

    /// Observer of the engine.
    pub(crate) fn watch(&self) -> &dyn EventObserver {
        match &self.watch {
            Audience::Human(operations) => operations,
            Audience::Machine(stream) => stream,
        }
    }

    /// Reports the next step while the folder is prepared: to people in lines that fit, to programs
    /// in one piece. Programs know the step by its code.
    pub(crate) fn step(&self, paint: Paint, text: &str, code: &str) {
        let text = &*redact::text(text);
        match &self.watch {
            Audience::Human(_) => {
                let text = self.screen.wrap(text);
                out(&format!("{}\n", self.screen.paint(paint, &text)));
            }
            Audience::Machine(stream) => stream.step(text, code),
        }
    }

    /// Reports an event.
    pub(crate) fn log(&self, text: &str) {
        let text = &*redact::text(text);
        match &self.watch {
            Audience::Human(_) => out(&format!("{}\n", sanitize::line(text))),
            Audience::Machine(stream) => stream.log(text),
        }
    }

    /// Shows text of several lines.
    pub(crate) fn text(&self, text: &str) {
        match &self.watch {
            Audience::Human(_) => out(&format!("{text}\n")),
            Audience::Machine(stream) => stream.log(text.trim()),
        }
    }

    /// Says something in one way to people, and in another to programs.
    pub(crate) fn log_each(&self, human: &str, machine: &str) {
        match &self.watch {
            Audience::Human(_) => self.log(human),
            Audience::Machine(_) => self.log(machine),
        }
    }

    /// Shows people a line that the next one replaces. The empty line takes it away.
    pub(crate) fn transient(&self, text: &str) {
        if let Audience::Human(_) = &self.watch {
            transient(&self.screen, &redact::text(text));
        }
    }

    /// Shows problems.
    pub(crate) fn diagnostics(&self, sources: &Sources, diags: &Diagnostics) {
        match &self.watch {
            Audience::Human(_) => {
                let shown = diagnostic::all(&self.screen, sources, diags, self.compact_warnings);
                out(&shown.warnings);
                err(&shown.errors);
            }
            Audience::Machine(stream) => diags.iter().for_each(|d| stream.diagnostic(sources, d)),
        }
    }

    /// Shows problems that kept the command from beginning.
    pub(crate) fn failed(&self, sources: Option<&Sources>, diags: &Diagnostics) -> Exit {
        let empty = Sources::new();
        self.diagnostics(sources.unwrap_or(&empty), diags);
        Exit::Failed
    }

    /// Shows a plan.
    pub(crate) fn plan(&self, plan: &Plan, pool: &Pool<'_>) {
        match &self.watch {
            Audience::Human(_) => out(&plan_view::render(&self.screen, plan, pool)),
            Audience::Machine(stream) => stream.plan(plan),
        }
    }

    /// Tells programs what a saved plan is about to do; people saw it when it was made.
    pub(crate) fn begin(&self, plan: &Plan) {
        if let Audience::Machine(stream) = &self.watch {
            stream.begin(plan);
        }
    }

    /// Reports how a plan can be used, and the files that its results were written to.
    pub(crate) fn next_step(&self, plan: &Plan, saved: Option<&Path>, generated: Option<&Path>) {
        if !matches!(self.watch, Audience::Human(_)) || !plan.applyable() {
            return;
        }
        let mut text = format!("\n{}\n\n", self.screen.rule());
        if let Some(path) = generated {
            text.push_str(&self.screen.wrap(&format!(
                "Formwork has generated configuration and written it to {}. Please review the configuration and edit it as necessary before adding it to version control.\n\n",
                path.display()
            )));
        }
        match saved.map(|path| path.display().to_string()) {
            Some(path) => {
                // As Terraform does, unless a shell would read it as something else.
                let is_special = path.contains(['$', '`', '"', '\\', '!']);
                let word = if is_special { shell_quoted(&path) } else { format!("{path:?}") };
                text.push_str(&format!(
                    "Saved the plan to: {path}\n\nTo perform exactly these actions, run the following command to apply:\n    formwork apply {word}\n"
                ));
            }
            None => text.push_str(&self.screen.wrap(
                "Note: You didn't use the -out option to save this plan, so Formwork can't guarantee to take exactly these actions if you run \"formwork apply\" now.\n",
            )),
        }
        out(&text);
    }

    /// Reports the changes made.
    pub(crate) fn applied(&self, done: &Done<'_>, state: &State) {
        match &self.watch {
            Audience::Human(_) => {
                let ChangeCounts { imported: _, added, changed, destroyed } = done.tally;
                let imports = imported(done.tally);
                let words = if done.destroying {
                    format!("Destroy complete! Resources: {destroyed} destroyed.")
                } else {
                    format!(
                        "Apply complete! Resources: {imports}{added} added, {changed} changed, {destroyed} destroyed."
                    )
                };
                out(&format!("\n{}\n", self.screen.paint(Paint::BoldGreen, &words)));
                if let Some(path) = done.out.filter(|_| added + changed > 0) {
                    let text = format!("{SAVED}\n\nState path: {}", path.display());
                    out(&format!("\n{text}\n"));
                }
                if !done.destroying {
                    self.outputs(state);
                }
            }
            Audience::Machine(stream) => {
                stream.applied(done.tally, done.destroying);
                if !done.destroying {
                    stream.outputs(state);
                }
            }
        }
    }

    /// Reports the current outputs.
    pub(crate) fn refresh_outputs(&self, state: &State) {
        match &self.watch {
            Audience::Human(_) => self.outputs(state),
            Audience::Machine(stream) => stream.outputs(state),
        }
    }

    fn outputs(&self, state: &State) {
        if !state.outputs.is_empty() {
            let title = self.screen.paint(Paint::BoldGreen, "Outputs:");
            out(&format!("\n{title}\n\n{}", outputs::all(state)));
        }
    }

    /// The screen.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }
}
