//! Makes the instances of a resource known, and the values of those that do not change.

use formwork_value::{Diagnostics, Reported, Value};

use super::{ApplyOutcome, Expanded, View};
use crate::addr::{InstanceAddr, InstanceKey, ResourceAddr};
use crate::apply::vertex::ExpandVertex;
use crate::change::Action;
use crate::eval::{Expansion, ModuleResults, expand};
use crate::instance::stored_value;
use crate::plan::Mode;

/// Expands a resource in every instance of its module. When everything is destroyed the state says
/// what there is; otherwise the configuration does.
pub(super) fn visit(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ExpandVertex<'_>,
) -> Result<ApplyOutcome, Reported> {
    let mut found = Vec::new();
    let mut result = Ok(());
    for module in view.session.results.module_instances(&vertex.node.path) {
        match in_module(view, diags, vertex, module) {
            Ok(expanded) => found.push(expanded),
            // The loop goes on, so that the errors of all module instances are reported in one run.
            Err(reported) => result = Err(reported),
        }
    }
    result.map(|()| ApplyOutcome::Expanded(found))
}

fn in_module(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ExpandVertex<'_>,
    results: &ModuleResults,
) -> Result<Expanded, Reported> {
    let repetition = &vertex.config.repetition;
    let (module, resource) = (results.addr().clone(), vertex.addr.resource.clone());
    let addr = ResourceAddr { module, resource };
    let expansion = if view.plan.mode == Mode::Destroy {
        let stored = view.plan.prior.resources.get(&addr);
        Expansion::recorded(repetition, stored.map(|stored| &**stored))
    } else {
        expand::expand(diags, &view.session.scope(results), repetition)?
    };
    let settled = expansion.keys().filter_map(|key| {
        let value = settled(view, &addr.instance(key.clone()))?;
        Some((key, value))
    });
    let settled: Vec<(InstanceKey, Value)> = settled.collect();
    Ok(Expanded { module: addr.module, expansion, settled })
}

/// The value of an instance that is not made or changed: as planned, or as the state has it.
fn settled(view: View<'_>, addr: &InstanceAddr) -> Option<Value> {
    let key = (addr.clone(), None);
    if let Some(change) = view.plan.changes.get(&key) {
        return match change.action {
            Action::NoOp => Some(change.after.clone()),
            // A provider configuration may still refer to an object that is about to go.
            Action::Delete if view.plan.mode == Mode::Destroy => Some(change.before.clone()),
            Action::Create
            | Action::Read
            | Action::Update
            | Action::Replace(_)
            | Action::Delete
            | Action::Forget => None,
        };
    }
    // Not planned, for example because it is no target: references see the stored object.
    let object = view.plan.prior.current(addr)?;
    let resource = view.plan.prior.resources.get(&addr.of())?;
    let loaded = view.session.pool.loaded(&resource.provider.provider)?;
    let ty = loaded.find(addr.resource.mode(), addr.resource.kind())?;
    stored_value(&ty, object)
}
