//! The part of the plan in the vertices that both graphs have.

use formwork_value::{Diagnostics, Reported, Value};

use super::{PlanVisit, ValidationOutcome, ValidationRecorder};
use crate::plan::record::PlanRecorder;
use crate::plan::stored_values::StoredValues;
use crate::plan::vertex_kind::PlanVertexKind;
use crate::plan::visit::PlanContext;
use crate::shared_graph::{SharedContext, SharedVertex, SharedVisitOutcome, ValidationContext};

impl<'c> PlanVertexKind<'c> for SharedVertex<'c> {}

impl<'c> PlanVisit<'c> for SharedVertex<'c> {
    type Outcome = SharedVisitOutcome<'c>;

    async fn visit(&self, view: PlanContext<'_>, diags: &mut Diagnostics) -> Option<Self::Outcome> {
        let (session, ephemeral_resources) = (view.session, view.ephemeral_resources);
        let eval_inputs = view.eval_inputs();
        let context = SharedContext { session, eval_inputs, ephemeral_resources };
        Self::visit(self, context, diags).await
    }

    fn record(&self, recorder: &mut PlanRecorder<'_, '_>, outcome: Self::Outcome) {
        let session = recorder.session;
        if let Some((output, after)) = Self::record(self, session.eval_inputs(), outcome) {
            recorder.record_output(&output.name, after, output.sensitive);
        }
    }

    async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<ValidationOutcome<'c>, Reported> {
        let outcome = Self::validate(self, context, diags).await?;
        Ok(outcome.map_or(ValidationOutcome::Nothing, ValidationOutcome::Shared))
    }

    fn record_validation(
        &self,
        recorder: &mut ValidationRecorder<'_>,
        outcome: ValidationOutcome<'c>,
    ) {
        if let ValidationOutcome::Shared(outcome) = outcome {
            Self::record(self, recorder.eval_inputs, outcome);
        }
    }

    async fn evaluate_from_state(&self, stored: StoredValues<'_>, diags: &mut Diagnostics) {
        let session = stored.session;
        let eval_inputs = session.eval_inputs();
        if let Some(value) = self.as_value() {
            let values = session
                .evaluate_with_functions(diags, |diags| value.visit_value(diags, eval_inputs))
                .await;
            let values = values.unwrap_or_else(|_| {
                let modules = session.results.module_instances(&value.node.path);
                modules.iter().map(|_| Value::dynamic()).collect()
            });
            value.record_values(session.results, values);
        } else if let Some(call) = self.as_module_call() {
            let expansion = session
                .evaluate_with_functions(diags, |diags| call.visit(diags, eval_inputs))
                .await;
            if let Ok(expansion) = expansion {
                call.record(eval_inputs, expansion);
            }
        }
    }
}
