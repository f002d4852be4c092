//! The vertex of an instance that stays as it is. It looks at the conditions of the instance, where
//! that had to wait for others.

use std::fmt::{self, Display};

use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Reported};

use super::{ApplyVertexKind, ApplyVisit, PlanNeeds};
use crate::apply::visit::ApplyContext;
use crate::change::Change;
use crate::config::Resource;
use crate::graph::render::RenderedVertex;
use crate::instance_steps::InstanceConfig;
use crate::shared_graph::VertexKind;

/// An instance that stays as it is.
#[derive(Debug)]
pub(crate) struct UnchangedVertex<'c> {
    pub(crate) change: &'c Change,
    pub(crate) config: &'c Resource,
}

impl<'c> VertexKind<'c> for UnchangedVertex<'c> {
    fn render(&self) -> RenderedVertex {
        let label = self.change.addr.resource_addr().config_addr().to_string();
        RenderedVertex::with_shape("box", self.to_string(), label)
    }
}

impl<'c> ApplyVertexKind<'c> for UnchangedVertex<'c> {
    fn as_unchanged(&self) -> Option<&Self> {
        Some(self)
    }

    fn is_wanted(&self, _: PlanNeeds<'_>) -> bool {
        true
    }
}

impl<'c> ApplyVisit<'c> for UnchangedVertex<'c> {
    type Outcome = ();

    async fn visit(
        &self,
        view: ApplyContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        // A failure is in `diags`; there is nothing to record either way.
        let _ = visit_unchanged(view, diags, self).await;
        None
    }
}

impl Display for UnchangedVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.change.addr.fmt(f)
    }
}

/// Visits an instance that stays as it is.
///
/// # Errors
/// When a condition does not hold: then nothing that depends on the instance is done.
async fn visit_unchanged(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &UnchangedVertex<'_>,
) -> Result<(), Reported> {
    let UnchangedVertex { change, config } = *vertex;
    let scope = view.instance_scope(diags, &change.addr)?;
    let (session, addr, failure) = (view.session, &change.addr, Severity::Error);
    let written = InstanceConfig { session, config, addr, failure };
    written.check_preconditions(diags, &scope).await?;
    written.check_postconditions(diags, scope, &change.after).await
}
