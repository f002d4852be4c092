//! Plans one instance of a data source: reads it now, or says why it can only be read later.

use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_value::{Diagnostics, Reported, Str, Value};

use super::View;
use super::managed::provider_for;
use super::resource::Here;
use crate::addr::{InstanceAddr, InstanceKey, ProviderConfigAddr, ResourceAddr};
use crate::change::{Action, Change, Reason};
use crate::eval::conditions::{self, ConditionKind};
use crate::eval::verdicts::Judged;
use crate::phase::{
    evaluate, plain, read_data, read_nested, sensitive_paths, spoken_from, stored_data,
};
use crate::plan::Mode;
use crate::plan::fates::Asks;
use crate::plan::outcome::{FoundObject, Refreshed};
use crate::plan::vertex::ResourceVertex;
use crate::provider::{About, Handle, ResourceType, remark};

/// The provider and type of a resource that may not be in the configuration.
pub(super) fn handle_of(
    view: View<'_>,
    diags: &mut Diagnostics,
    resource: &ResourceAddr,
    provider: &ProviderConfigAddr,
) -> Option<(Rc<Handle>, Rc<ResourceType>)> {
    let handle = view.session.pool.configured(provider)?;
    let name = &resource.resource;
    let ty = handle.loaded().find(name.mode(), name.kind());
    if ty.is_none() {
        let _ = diags.error(crate::provider::lost_type(handle.loaded(), resource));
    }
    Some((spoken_from(view.session, diags, handle, &resource.config()).ok()?, ty?))
}

/// Plans one instance.
///
/// # Errors
/// When anything on the way fails.
pub(super) async fn plan(
    view: View<'_>,
    diags: &mut Diagnostics,
    here: &Here<'_>,
    key: InstanceKey,
) -> Result<FoundObject, Reported> {
    let (vertex, addr) = (here.vertex, here.addr.instance(key));
    let (handle, ty) = provider_for(view, diags, vertex)?;
    let handle = spoken_from(view.session, diags, handle, &vertex.addr)?;
    let scope = here.scope(view, &addr.key);
    let lifecycle = &vertex.config.lifecycle;
    let kind = ConditionKind::ResourcePrecondition;
    let object = &Judged::instance(&addr);
    let judging = view.judging(object);
    let config = |diags: &mut Diagnostics| {
        conditions::check(diags, &scope, kind, &lifecycle.preconditions, judging)?;
        evaluate(diags, vertex.config, ty.block(), &scope)
    };
    let config = view.session.settled(diags, config).await?;
    let about = About { addr: &addr, block: Some(vertex.config.span) };
    handle.validate(diags, &ty, &config, about).await?;
    if let Some(reason) = why_later(view, here, &config) {
        return Ok(later(view, vertex, &addr, &ty, (config, reason)));
    }
    if let Some(check) = &vertex.config.within {
        return nested(view, diags, here, (&addr, &handle, &ty), (config, check)).await;
    }
    let place = (&addr, vertex.config.span);
    let value = read_data(view.session, diags, (&handle, &ty), &config, place).await?;
    let scope = scope.with_self(value.clone());
    let kind = ConditionKind::ResourcePostcondition;
    let check = |diags: &mut Diagnostics| {
        conditions::check(diags, &scope, kind, &lifecycle.postconditions, judging)
    };
    view.session.settled(diags, check).await?;
    let object = stored_data(diags, &ty, &addr, &value)?;
    Ok(FoundObject {
        key: addr.key,
        deposed: None,
        refreshed: Refreshed::Now(Arc::new(object)),
        drift: None,
        change: None,
        value: Some(value),
    })
}

/// Why a data source cannot be read while planning, if it cannot.
fn why_later(view: View<'_>, here: &Here<'_>, config: &Value) -> Option<Reason> {
    if !config.is_wholly_known() {
        return Some(Reason::ReadBecauseConfigUnknown);
    }
    // Where nothing is changed there is nothing to wait for: the end of an object is not pending for
    // what configures the provider that brings it about.
    if view.options.mode != Mode::Normal {
        return None;
    }
    is_pending(view, here).then_some(Reason::ReadBecauseDependencyPending)
}

/// Whether anything is to be done to what a data source must not be read before: what `depends_on`
/// names, here or in the calls of the modules around it, managed resources mentioned directly, and for
/// the sake of conditions everything behind it.
fn is_pending(view: View<'_>, here: &Here<'_>) -> bool {
    let (vertex, fates) = (here.vertex, view.fates);
    let asks = Asks { node: vertex.node, module: &here.addr.module };
    let mentioned = vertex.config.references.iter().any(|reference| {
        reference.resource().is_some_and(|name| fates.is_pending_here(asks, name))
    });
    let explicit = || {
        let mut depends_on = vertex.config.depends_on.iter();
        depends_on.any(|on| fates.is_named_pending_here(view.settled, asks, on))
    };
    let around = || fates.is_call_pending(view, vertex.node);
    let lifecycle = &vertex.config.lifecycle;
    let has_conditions =
        !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty();
    let behind =
        || view.settled.closures.any_behind(&vertex.addr, |addr| fates.is_pending(asks, addr));
    mentioned || explicit() || around() || has_conditions && behind()
}

fn later(
    view: View<'_>,
    vertex: &ResourceVertex<'_>,
    addr: &InstanceAddr,
    ty: &ResourceType,
    (config, reason): (Value, Reason),
) -> FoundObject {
    let unknown = plain(&Value::unknown(ty.ty.clone()));
    let proposed = proposed_new(ty.block(), &unknown, &plain(&config));
    let after = remark(ty, proposed, &sensitive_paths(&config));
    let refresh_only = view.options.mode != Mode::Normal;
    let change = Change {
        addr: addr.clone(),
        deposed: None,
        moved_from: None,
        importing: None,
        provider: vertex.provider.clone(),
        action: Action::Read,
        reason: Some(reason),
        before: Value::null(ty.ty.clone()),
        after: after.clone(),
        replace_paths: Vec::new(),
        private: Bytes::new(),
        config_known: false,
        identity: None,
        dependencies: view.settled.closures.of(&vertex.addr),
        prior_dependencies: Arc::default(),
        create_before_destroy: false,
    };
    FoundObject {
        key: addr.key.clone(),
        deposed: None,
        refreshed: Refreshed::Same,
        drift: None,
        change: (!refresh_only).then_some(change),
        value: Some(if refresh_only { Value::null(ty.ty.clone()) } else { after }),
    }
}

/// Plans a data source that only a `check` block sees. It is read for what the block says now, and
/// read again while applying, when all else is done.
async fn nested(
    view: View<'_>,
    diags: &mut Diagnostics,
    here: &Here<'_>,
    (addr, handle, ty): (&InstanceAddr, &Handle, &ResourceType),
    (config, check): (Value, &Str),
) -> Result<FoundObject, Reported> {
    let reason = Reason::ReadBecauseCheckNested;
    let place = (addr, here.vertex.config.span, check);
    let read = read_nested(view.session, diags, (handle, ty), &config, place).await;
    let asked = remark(ty, plain(&config), &sensitive_paths(&config));
    let mut found = later(view, here.vertex, addr, ty, (config, reason));
    let Some(value) = read else {
        // What was asked for is kept also if there was no answer.
        found.refreshed = Refreshed::Now(Arc::new(stored_data(diags, ty, addr, &asked)?));
        return Ok(found);
    };
    found.refreshed = Refreshed::Now(Arc::new(stored_data(diags, ty, addr, &value)?));
    if let Some(change) = &mut found.change {
        change.after = value.clone();
    }
    found.value = Some(value);
    Ok(found)
}
