//! The part of the apply in the vertices that both graphs have.

use formwork_value::Diagnostics;

use super::{ApplyVertexKind, ApplyVisit, PlanNeeds};
use crate::apply::record::ApplyRecorder;
use crate::apply::visit::ApplyContext;
use crate::eval::vertex::NamedValueBlock;
use crate::shared_graph::{SharedContext, SharedVertex, SharedVisitOutcome};
use crate::state::checks::CheckResults;

impl<'c> ApplyVertexKind<'c> for SharedVertex<'c> {
    fn is_wanted(&self, needs: PlanNeeds<'_>) -> bool {
        let Some(value) = self.as_value() else { return false };
        match (value.value, value.as_root_output()) {
            (NamedValueBlock::Check(_), _) => needs.is_whole(),
            (_, Some(output)) => {
                needs.keeps_objects() && needs.plan.outputs.contains_key(&output.name)
            }
            (_, None) => needs.is_unknown,
        }
    }

    fn reset_check_statuses(&self, checks: &mut CheckResults) {
        let Some(value) = self.as_value() else { return };
        if let Some(subject) = value.condition_subject() {
            checks.reset_statuses(&subject, |object| object.module.path() == value.node.path);
        }
    }
}

impl<'c> ApplyVisit<'c> for SharedVertex<'c> {
    type Outcome = SharedVisitOutcome<'c>;

    async fn visit(
        &self,
        view: ApplyContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        let (session, ephemeral_resources) = (view.session, view.ephemeral_resources);
        let eval_inputs = session.eval_inputs();
        let context = SharedContext { session, eval_inputs, ephemeral_resources };
        Self::visit(self, context, diags).await
    }

    fn record(&self, recorder: &mut ApplyRecorder<'_, '_>, outcome: Self::Outcome) {
        let session = recorder.session;
        if let Some((output, value)) = Self::record(self, session.eval_inputs(), outcome) {
            recorder.record_output(output, &value);
        }
    }
}
