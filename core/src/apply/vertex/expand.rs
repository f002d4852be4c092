//! The vertex of a resource in the configuration, at which its instances become known, and the values
//! of those that do not change.

use std::fmt::{self, Display};

use formwork_value::{Diagnostics, Reported, Value};

use super::{ApplyVertexKind, ApplyVisit};
use crate::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey, ResourceAddr, ResourceMode};
use crate::apply::record::ApplyRecorder;
use crate::apply::visit::{ApplyContext, ExpandedResource};
use crate::change::Action;
use crate::config::{Config, ModuleNode, Resource};
use crate::eval::{Expansion, ModuleResults, expand};
use crate::graph::render::RenderedVertex;
use crate::instance_steps::decode_stored_value;
use crate::plan::PlanMode;
use crate::shared_graph::{ModuleReferences, VertexKind};

/// A resource in the configuration.
#[derive(Debug)]
pub(crate) struct ExpandVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) node: &'c ModuleNode,
    pub(crate) config: &'c Resource,
}

impl<'c> VertexKind<'c> for ExpandVertex<'c> {
    fn required_module(&self) -> Option<&'c ModuleNode> {
        Some(self.node)
    }

    fn references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        vec![(self.node, &self.config.references)]
    }

    fn resource_block(&self) -> Option<&'c Resource> {
        Some(self.config)
    }

    fn passes_values_on(&self) -> bool {
        // Changing instances wait only for it, and are created with the references of the block.
        true
    }

    fn render(&self) -> RenderedVertex {
        RenderedVertex::with_shape("box", self.to_string(), self.addr.to_string())
    }
}

impl<'c> ApplyVertexKind<'c> for ExpandVertex<'c> {
    fn as_expand(&self) -> Option<&Self> {
        Some(self)
    }

    fn ignores_references(&self, mode: PlanMode) -> bool {
        // While everything is destroyed the state says what there is, and what the block mentions may
        // not have a value any more.
        mode == PlanMode::Destroy && self.addr.resource.mode() == ResourceMode::Managed
    }
}

impl<'c> ApplyVisit<'c> for ExpandVertex<'c> {
    /// The instances of the resource, for each instance of its module.
    type Outcome = Vec<ExpandedResource>;

    async fn visit(
        &self,
        view: ApplyContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        let find = |diags: &mut Diagnostics| visit_expand(view, diags, self);
        view.session.evaluate_with_functions(diags, find).await.ok()
    }

    fn record(&self, recorder: &mut ApplyRecorder<'_, '_>, outcome: Self::Outcome) {
        recorder.record_expanded(&self.addr.resource, outcome);
    }
}

impl Display for ExpandVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (expand)", self.addr)
    }
}

/// Expands a resource in every instance of its module. When everything is destroyed the state says
/// what there is; otherwise the configuration does.
fn visit_expand(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ExpandVertex<'_>,
) -> Result<Vec<ExpandedResource>, Reported> {
    let mut expanded_resources = Vec::new();
    let mut result = Ok(());
    for module in view.session.results.module_instances(&vertex.node.path) {
        match expand_in_module(view, diags, vertex, module) {
            Ok(expanded) => expanded_resources.push(expanded),
            // The loop continues, so that the errors of all module instances are reported in one
            // run.
            Err(reported) => result = Err(reported),
        }
    }
    result.map(|()| expanded_resources)
}

fn expand_in_module(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ExpandVertex<'_>,
    results: &ModuleResults,
) -> Result<ExpandedResource, Reported> {
    let repetition = &vertex.config.repetition;
    let (module, resource) = (results.module_addr().clone(), vertex.addr.resource.clone());
    let addr = ResourceAddr { module, resource };
    let expansion = if view.plan.mode == PlanMode::Destroy {
        let stored = view.plan.prior.resources.get(&addr);
        Expansion::from_state(repetition, stored.map(|stored| &**stored))
    } else {
        expand::expand_repetition(diags, &view.session.module_scope(results), repetition)?
    };
    let known = expansion.keys().filter_map(|key| {
        let value = value_of_unchanged_instance(view, &addr.instance_addr(key.clone()))?;
        Some((key, value))
    });
    let known_values: Vec<(InstanceKey, Value)> = known.collect();
    Ok(ExpandedResource { module: addr.module, expansion, known_values })
}

/// The value of an instance that is not made or changed: as planned, or as the state has it.
fn value_of_unchanged_instance(view: ApplyContext<'_>, addr: &InstanceAddr) -> Option<Value> {
    let key = (addr.clone(), None);
    if let Some(change) = view.plan.changes.get(&key) {
        return match change.action {
            Action::NoOp => Some(change.after.clone()),
            // A provider configuration may still refer to an object that is about to go.
            Action::Delete if view.plan.mode == PlanMode::Destroy => Some(change.before.clone()),
            Action::Create
            | Action::Read
            | Action::Update
            | Action::Replace(_)
            | Action::Delete
            | Action::Forget => None,
        };
    }
    // Not planned, for example because it is not a target: references see the stored object.
    let object = view.plan.prior.current_object(addr)?;
    let resource = view.plan.prior.resources.get(&addr.resource_addr())?;
    let loaded = view.session.pool.loaded_provider(&resource.provider.provider)?;
    let ty = loaded.find_resource_type(addr.resource.mode(), addr.resource.resource_type())?;
    decode_stored_value(&ty, object)
}
