//! Plans one instance of a data source: reads it now, or gives the reason why it can only be read
//! later.

use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_value::{Diagnostics, Reported, Value};

use super::View;
use super::resource::ResourceInModule;
use crate::addr::{InstanceAddr, InstanceKey};
use crate::change::{Action, Change, Reason};
use crate::instance::{DataRead, ResourceClient, plain, sensitive_paths};
use crate::plan::Mode;
use crate::plan::outcome::{FoundObject, Refreshed};
use crate::plan::planned_resources::ObjectQuery;
use crate::provider::{ResourceType, remark};

/// Plans one instance.
///
/// # Errors
/// When anything on the way fails.
pub(super) async fn plan(
    view: View<'_>,
    diags: &mut Diagnostics,
    here: &ResourceInModule<'_>,
    key: InstanceKey,
) -> Result<FoundObject, Reported> {
    let (vertex, addr) = (here.vertex, here.addr.instance(key));
    let (handle, ty) = vertex.find_provider(view.session, diags)?;
    let scope = here.scope(view, &addr.key);
    let written = view.written(vertex.config, &addr);
    let config = written.evaluate(diags, &ty, &scope).await?;
    let client = ResourceClient { handle: &handle, ty: &ty };
    view.validate(diags, client, &config, written).await?;
    if let Some(reason) = why_later(view, here, &config) {
        let deferred = DeferredRead { addr: &addr, ty: &ty, config: &config, reason };
        return Ok(later(view, here, deferred));
    }
    let DataRead { value, is_answered, object } = written.read(diags, client, &config).await?;
    let refreshed = Refreshed::Now(object);
    if vertex.config.within.is_none() {
        written.check_after(diags, scope, &value).await?;
        return Ok(FoundObject::seen(addr.key, refreshed, Some(value)));
    }
    // Data sources of a `check` block are read again while applying, after everything else.
    let reason = Reason::ReadBecauseCheckNested;
    let deferred = DeferredRead { addr: &addr, ty: &ty, config: &config, reason };
    let mut found = later(view, here, deferred);
    found.refreshed = refreshed;
    if is_answered {
        found.change.iter_mut().for_each(|change| change.after = value.clone());
        found.value = Some(value);
    }
    Ok(found)
}

/// Why a data source cannot be read while planning, if it cannot.
fn why_later(view: View<'_>, here: &ResourceInModule<'_>, config: &Value) -> Option<Reason> {
    if !config.is_wholly_known() {
        return Some(Reason::ReadBecauseConfigUnknown);
    }
    // Only a normal plan waits: a data source that configures a provider must not wait for the
    // destruction of the objects of that provider.
    if view.options.mode != Mode::Normal {
        return None;
    }
    is_pending(view, here).then_some(Reason::ReadBecauseDependencyPending)
}

/// Whether a change is pending for any object that a data source must be read after: the objects
/// that `depends_on` names, here or in the calls of the modules around it, managed resources
/// referenced directly, and for conditions all dependencies.
fn is_pending(view: View<'_>, here: &ResourceInModule<'_>) -> bool {
    let (vertex, planned_resources) = (here.vertex, view.planned_resources);
    let asks = ObjectQuery { node: vertex.node, module: &here.addr.module };
    let mentioned = vertex.config.references.iter().any(|reference| {
        reference.resource().is_some_and(|name| planned_resources.is_pending_here(asks, name))
    });
    let explicit = || {
        let mut depends_on = vertex.config.depends_on.iter();
        depends_on.any(|on| planned_resources.is_named_pending_here(view.settled, asks, on))
    };
    let around = || planned_resources.is_call_pending(view, vertex.node);
    let lifecycle = &vertex.config.lifecycle;
    let has_conditions =
        !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty();
    let behind = || {
        view.settled
            .closures
            .any_behind(&vertex.addr, |addr| planned_resources.is_pending(asks, addr))
    };
    mentioned || explicit() || around() || has_conditions && behind()
}

/// A read that is deferred until the apply, and the reason.
struct DeferredRead<'a> {
    addr: &'a InstanceAddr,
    ty: &'a ResourceType,
    config: &'a Value,
    reason: Reason,
}

/// Plans an instance that is read while applying.
fn later(view: View<'_>, here: &ResourceInModule<'_>, deferred: DeferredRead<'_>) -> FoundObject {
    let DeferredRead { addr, ty, config, reason } = deferred;
    if view.options.mode != Mode::Normal {
        // The next run that changes something reads it, and then it may have any value.
        let value = Value::unknown(ty.ty.clone());
        return FoundObject::seen(addr.key.clone(), Refreshed::Same, Some(value));
    }
    let null = Value::null(ty.ty.clone());
    let unknown = plain(&Value::unknown(ty.ty.clone()));
    let proposed = proposed_new(ty.block(), &unknown, &plain(config));
    let after = remark(ty, proposed, &sensitive_paths(config));
    let provider = here.vertex.provider.clone();
    let change = Change {
        reason: Some(reason),
        config_known: false,
        dependencies: view.settled.closures.of(&here.vertex.addr),
        ..Change::of(addr.clone(), provider, Action::Read, null, after.clone())
    };
    let found = FoundObject::seen(addr.key.clone(), Refreshed::Same, Some(after));
    FoundObject { change: Some(change), ..found }
}
