//! Prints the events and warnings of an operation to a report.

use std::path::Path;

use formwork_core::event::EventObserver;
use formwork_operation::{OperationEvent, OperationObserver};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use crate::view::operation_report::{ApplyResult, OperationReport};

/// Forwards the events of an operation to a report.
#[derive(Clone, Copy)]
pub(super) struct RunObserver<'a> {
    /// Destination of all events except those of the engine.
    pub(super) report: &'a OperationReport,
    /// Destination of the events of the engine.
    pub(super) watch: &'a dyn EventObserver,
    /// The sources that diagnostics quote.
    pub(super) sources: &'a Sources,
    /// Whether the command is `destroy`. It is false for `apply`, even for a plan that destroys.
    pub(super) destroying: bool,
    /// The file of `-state-out`, if specified.
    pub(super) out: Option<&'a Path>,
}

impl<'a> RunObserver<'a> {
    /// An observer of an operation that may apply something.
    pub(super) fn new(report: &'a OperationReport, sources: &'a Sources) -> Self {
        Self { report, watch: report.observer(), sources, destroying: false, out: None }
    }
}

impl OperationObserver for RunObserver<'_> {
    fn on_event(&self, event: &OperationEvent<'_>) {
        match *event {
            OperationEvent::Engine(event) => self.watch.on_event(event),
            OperationEvent::Planned { plan, pool } => self.report.report_plan(plan, pool),
            OperationEvent::SavedPlan(plan) => self.report.report_saved_plan(plan),
            OperationEvent::Applied { counts, state } => {
                let is_finished =
                    ApplyResult { tally: counts, destroying: self.destroying, out: self.out };
                self.report.report_applied(&is_finished, state);
            }
            OperationEvent::Refreshed { state } => self.report.report_refreshed_outputs(state),
            // The state is open before the operation begins.
            OperationEvent::LockWait { .. } => {}
        }
    }

    fn offer_diagnostics(&self, diags: &mut Diagnostics) {
        let reported = std::mem::take(diags);
        self.report.report_diagnostics(self.sources, &reported);
    }
}
