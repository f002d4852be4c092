//! Makes the instances of a resource known, and the values of those that do not change.

use formwork_value::{Diagnostics, Reported, Value};

use super::{ApplyContext, ApplyVisitOutcome, ExpandedResource};
use crate::addr::{InstanceAddr, InstanceKey, ResourceAddr};
use crate::apply::vertex::ExpandVertex;
use crate::change::Action;
use crate::eval::{Expansion, ModuleResults, expand};
use crate::instance_steps::decode_stored_value;
use crate::plan::PlanMode;

/// Expands a resource in every instance of its module. When everything is destroyed the state says
/// what there is; otherwise the configuration does.
pub(super) fn visit_expand(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ExpandVertex<'_>,
) -> Result<ApplyVisitOutcome, Reported> {
    let mut found = Vec::new();
    let mut result = Ok(());
    for module in view.session.results.module_instances(&vertex.node.path) {
        match expand_in_module(view, diags, vertex, module) {
            Ok(expanded) => found.push(expanded),
            // The loop goes on, so that the errors of all module instances are reported in one run.
            Err(reported) => result = Err(reported),
        }
    }
    result.map(|()| ApplyVisitOutcome::Expanded(found))
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
    let settled = expansion.keys().filter_map(|key| {
        let value = value_of_unchanged_instance(view, &addr.instance_addr(key.clone()))?;
        Some((key, value))
    });
    let settled: Vec<(InstanceKey, Value)> = settled.collect();
    Ok(ExpandedResource { module: addr.module, expansion, settled })
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
    // Not planned, for example because it is no target: references see the stored object.
    let object = view.plan.prior.current_object(addr)?;
    let resource = view.plan.prior.resources.get(&addr.resource_addr())?;
    let loaded = view.session.pool.loaded_provider(&resource.provider.provider)?;
    let ty = loaded.find_resource_type(addr.resource.mode(), addr.resource.resource_type())?;
    decode_stored_value(&ty, object)
}
