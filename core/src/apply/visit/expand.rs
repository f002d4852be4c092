//! Makes the instances of a resource known, and the values of those that do not change.

use formwork_value::{Diagnostics, Reported, Value};

use super::{Came, View};
use crate::addr::{InstanceAddr, InstanceKey};
use crate::apply::vertex::ExpandVertex;
use crate::change::Action;
use crate::eval::{Expansion, expand};
use crate::phase::stored_value;
use crate::plan::Mode;

/// Expands a resource. When everything is destroyed the state says what there is; otherwise the
/// configuration does.
pub(super) fn visit(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ExpandVertex<'_>,
) -> Result<Came, Reported> {
    let repetition = &vertex.config.repetition;
    let expansion = if view.plan.mode == Mode::Destroy {
        let stored = view.plan.prior.resources.get(&vertex.addr);
        Expansion::recorded(repetition, stored.map(|stored| &**stored))
    } else {
        expand::expand(diags, &view.session.scope(), repetition)?
    };
    let settled = expansion.keys().filter_map(|key| {
        let value = settled(view, &vertex.addr.instance(key.clone()))?;
        Some((key, value))
    });
    let settled: Vec<(InstanceKey, Value)> = settled.collect();
    Ok(Came::Expanded(expansion, settled))
}

/// The value of an instance that is not made or changed: as planned, or as the state has it.
fn settled(view: View<'_>, addr: &InstanceAddr) -> Option<Value> {
    let key = (addr.clone(), None);
    if let Some(change) = view.plan.changes.get(&key) {
        return match change.action {
            Action::NoOp => Some(change.after.clone()),
            Action::Delete if view.plan.mode == Mode::Destroy => Some(change.before.clone()),
            Action::Create
            | Action::Read
            | Action::Update
            | Action::Replace(_)
            | Action::Delete => None,
        };
    }
    let object = view.plan.prior.current(addr)?;
    let resource = view.plan.prior.resources.get(&addr.of())?;
    let loaded = view.session.pool.loaded(&resource.provider.provider)?;
    let ty = loaded.find(addr.resource.mode(), addr.resource.kind())?;
    stored_value(&ty, object)
}
