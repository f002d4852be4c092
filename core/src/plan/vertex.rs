//! Vertices of the plan graph. Each kind is a file below this one, with its data, its answers and its
//! visit, and a line in the list of [`PlanVertex`]. A vertex is complete when made.

mod early_read;
mod orphan;
mod resource;
mod shared;

use std::future::ready;

use formwork_value::{Diagnostics, Reported, Value};

pub(crate) use early_read::EarlyReadVertex;
pub(crate) use orphan::OrphanResourceVertex;

use super::record::PlanRecorder;
use super::resource_vertex::ResourceVertex;
use super::stored_values::StoredValues;
use super::validated_configs::ValidatedConfigs;
use super::vertex_kind::PlanVertexKind;
use super::visit::PlanContext;
use crate::eval::vertex::EvalInputs;
use crate::shared_graph::{SharedVertex, SharedVisitOutcome, ValidationContext, vertex_kinds};

/// Visits of a vertex of the plan graph.
pub(crate) trait PlanVisit<'c>: PlanVertexKind<'c> {
    /// Result to be recorded.
    type Outcome;

    /// Visits the vertex.
    fn visit(
        &self,
        _: PlanContext<'_>,
        _: &mut Diagnostics,
    ) -> impl Future<Output = Option<Self::Outcome>> {
        ready(None)
    }

    /// Records the result.
    fn record(&self, _: &mut PlanRecorder<'_, '_>, _: Self::Outcome) {}

    /// Checks the vertex without state and without values.
    fn validate(
        &self,
        _: ValidationContext<'_>,
        _: &mut Diagnostics,
    ) -> impl Future<Output = Result<ValidationOutcome<'c>, Reported>> {
        ready(Ok(ValidationOutcome::Nothing))
    }

    /// Records the result of its validation.
    fn record_validation(&self, _: &mut ValidationRecorder<'_>, _: ValidationOutcome<'c>) {}

    /// Records its values as the state has them.
    fn evaluate_from_state(
        &self,
        _: StoredValues<'_>,
        _: &mut Diagnostics,
    ) -> impl Future<Output = ()> {
        ready(())
    }
}

/// Result of validating a vertex.
pub(crate) enum ValidationOutcome<'c> {
    /// Nothing to record.
    Nothing,
    /// Result of a shared vertex.
    Shared(SharedVisitOutcome<'c>),
    /// A configuration that its provider accepted without a word.
    Accepted(Value),
}

/// Destination of the results of validations.
pub(crate) struct ValidationRecorder<'v> {
    pub(crate) eval_inputs: EvalInputs<'v>,
    pub(crate) accepted: &'v mut ValidatedConfigs,
}

vertex_kinds! {
    /// A vertex of the plan graph.
    enum PlanVertex<'c>: PlanVertexKind + PlanVisit {
        /// A vertex that both graphs have.
        Shared(SharedVertex<'c>),
        /// A resource that is written in the configuration, with all its instances.
        Resource(ResourceVertex<'c>),
        /// The objects of a resource, read before its turn comes.
        EarlyRead(EarlyReadVertex<'c>),
        /// A resource that is not written.
        Orphan(OrphanResourceVertex<'c>),
    }
    visit(PlanContext<'_>) ->
        /// Result of visiting a vertex.
        PlanVisitOutcome;
    record(&mut PlanRecorder<'_, '_>) -> ();
    $ with_plan_kind!
}

impl<'c> PlanVertex<'c> {
    /// Checks the vertex without state and without values.
    ///
    /// # Errors
    /// Returns an error if the vertex is invalid.
    pub(crate) async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<ValidationOutcome<'c>, Reported> {
        with_plan_kind!(self, kind => PlanVisit::validate(kind, context, diags).await)
    }

    /// Records the result of its validation.
    pub(crate) fn record_validation(
        &self,
        recorder: &mut ValidationRecorder<'_>,
        outcome: ValidationOutcome<'c>,
    ) {
        with_plan_kind!(self, kind => PlanVisit::record_validation(kind, recorder, outcome));
    }

    /// Records its values as the state has them.
    pub(crate) async fn evaluate_from_state(
        &self,
        stored: StoredValues<'_>,
        diags: &mut Diagnostics,
    ) {
        with_plan_kind!(self, kind => PlanVisit::evaluate_from_state(kind, stored, diags).await);
    }
}
