//! The vertex of a resource that is not in the configuration: its objects go, or are found.

use std::fmt::{self, Display};

use formwork_value::Diagnostics;

use super::PlanVisit;
use crate::addr::{InstanceKey, ProviderConfigAddr, ResourceAddr};
use crate::change::{Action, ActionReason};
use crate::graph::render::RenderedVertex;
use crate::plan::PlanMode;
use crate::plan::record::PlanRecorder;
use crate::plan::vertex_kind::{PlanTargets, PlanVertexKind, StoredResource};
use crate::plan::visit::destroy::{
    ObjectToDestroy, ObjectsToDestroy, is_destroy_targeted, objects_to_destroy_of_resource,
    visit_objects_to_destroy,
};
use crate::plan::visit::{PlanContext, import};
use crate::plan::visit_outcome::ResourceOutcome;
use crate::shared_graph::VertexKind;
use crate::state::ResourceState;

/// A resource that is only in the state, or comes into it without being written.
#[derive(Debug)]
pub(crate) struct OrphanResourceVertex<'c> {
    pub(crate) addr: ResourceAddr,
    pub(crate) provider: ProviderConfigAddr,
    /// Its part of the state.
    pub(crate) prior: Option<&'c ResourceState>,
}

// The state names the objects, so the vertex need not wait until calls are expanded.
impl<'c> VertexKind<'c> for OrphanResourceVertex<'c> {
    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        Some(&self.provider)
    }

    fn render(&self) -> RenderedVertex {
        RenderedVertex::with_shape("box", self.to_string(), self.addr.to_string())
    }
}

impl<'c> PlanVertexKind<'c> for OrphanResourceVertex<'c> {
    fn has_managed_objects(&self) -> bool {
        // Data sources that are only in the state get no vertex.
        true
    }

    fn is_targeted(&self, targets: PlanTargets<'_>) -> bool {
        targets.may_contain(&self.addr)
    }

    fn stored_resource(&self) -> Option<StoredResource<'c>> {
        let parts = self.prior.into_iter().collect();
        Some(StoredResource { addr: self.addr.config_addr(), parts })
    }

    fn render_destroyed(&self) -> RenderedVertex {
        let label = self.addr.config_addr().to_string();
        RenderedVertex::with_shape("box", format!("{} (destroy)", self.addr), label)
    }
}

impl<'c> PlanVisit<'c> for OrphanResourceVertex<'c> {
    type Outcome = ResourceOutcome;

    async fn visit(&self, view: PlanContext<'_>, diags: &mut Diagnostics) -> Option<Self::Outcome> {
        Some(visit_orphan_resource(view, diags, self).await)
    }

    fn record(&self, recorder: &mut PlanRecorder<'_, '_>, outcome: Self::Outcome) {
        for object in outcome.objects {
            recorder.record_object(&self.addr, &self.provider, object);
        }
    }
}

impl Display for OrphanResourceVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (only in the state)", self.addr)
    }
}

/// Plans the end of a resource that is not in the configuration.
async fn visit_orphan_resource(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &OrphanResourceVertex<'_>,
) -> ResourceOutcome {
    let forgotten =
        view.options.mode != PlanMode::Destroy && view.analysis.forgotten.contains(&vertex.addr);
    let action = if forgotten { Action::Forget } else { Action::Delete };
    let reason = match view.options.mode {
        PlanMode::Destroy => None,
        _ => Some(ActionReason::DeleteBecauseNoResourceConfig),
    };
    let moved = |key: &InstanceKey| {
        view.analysis.moves.original_address(&vertex.addr.instance_addr(key.clone())).is_some()
    };
    let stored = vertex.prior.into_iter();
    let mut to_destroy: Vec<ObjectToDestroy<'_>> = stored
        .flat_map(|prior| objects_to_destroy_of_resource(prior, action, reason))
        .filter(|to_destroy| is_destroy_targeted(view, &vertex.addr, to_destroy.key))
        .collect();
    for to_destroy in &mut to_destroy {
        if to_destroy.reason.is_some() && moved(to_destroy.key) {
            // Terraform's `-json` distinguishes a resource that was moved to an address without a
            // block from one that was removed.
            to_destroy.reason = Some(ActionReason::DeleteBecauseNoMoveTarget);
        }
    }
    let resource =
        ResourceOutcome { addr: vertex.addr.clone(), expansion: None, objects: Vec::new() };
    let mut outcomes = vec![resource];
    let targets = ObjectsToDestroy { provider: &vertex.provider, by_module: vec![to_destroy] };
    visit_objects_to_destroy(view, diags, targets, &mut outcomes).await;
    let mut outcome = outcomes.remove(0);
    let adopted = view.options.adoptions.iter();
    let adopted =
        adopted.filter(|(addr, it)| it.unwritten.is_some() && addr.resource_addr() == vertex.addr);
    for (addr, _) in adopted {
        outcome
            .objects
            .extend(import::find_object_without_block(view, diags, &vertex.provider, addr).await);
    }
    outcome
}
