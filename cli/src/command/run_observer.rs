//! Shows the events and warnings of an operation in a report.

use std::path::Path;

use formwork_core::event::EventObserver;
use formwork_operation::{OperationEvent, OperationObserver};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use crate::view::report::{Done, Report};

/// Passes an operation on to a report.
#[derive(Clone, Copy)]
pub(super) struct RunObserver<'a> {
    /// Destination of everything but the events of the engine.
    pub(super) report: &'a Report,
    /// Destination of the events of the engine.
    pub(super) watch: &'a dyn EventObserver,
    /// The texts that messages point into.
    pub(super) sources: &'a Sources,
    /// Whether the command is the one that destroys everything. `apply` applies, whatever the plan does.
    pub(super) destroying: bool,
    /// File that the state was requested to be written to.
    pub(super) out: Option<&'a Path>,
}

impl<'a> RunObserver<'a> {
    /// An observer of an operation that may apply something.
    pub(super) fn new(report: &'a Report, sources: &'a Sources) -> Self {
        Self { report, watch: report.watch(), sources, destroying: false, out: None }
    }
}

impl OperationObserver for RunObserver<'_> {
    fn see(&self, event: &OperationEvent<'_>) {
        match *event {
            OperationEvent::Engine(event) => self.watch.see(event),
            OperationEvent::Planned { plan, pool } => self.report.plan(plan, pool),
            OperationEvent::SavedPlan(plan) => self.report.begin(plan),
            OperationEvent::Applied { counts, state } => {
                let done = Done { tally: counts, destroying: self.destroying, out: self.out };
                self.report.applied(&done, state);
            }
            OperationEvent::Refreshed { state } => self.report.refresh_outputs(state),
            // The state is open before the operation begins.
            OperationEvent::LockWait { .. } => {}
        }
    }

    fn show(&self, diags: &mut Diagnostics) {
        let shown = std::mem::take(diags);
        self.report.diagnostics(self.sources, &shown);
    }
}
