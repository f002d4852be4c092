//! Destroys one object.

use std::pin::pin;
use std::sync::Arc;

use formwork_plugin_protocol::contract::conform;
use formwork_value::{Diagnostics, Reported};

use super::call::{Call, RemainingObject, Salvaged, Seen};
use super::provision::{self, ProvisionerRun};
use super::{ApplyOutcome, View};
use crate::apply::vertex::DestroyVertex;
use crate::change::Action;
use crate::config::ProvisionerTiming;
use crate::eval::DestroyedScope;
use crate::event::Event;
use crate::instance::{encode, find_stored, label_before, plain};
use crate::progress::{ProgressSubject, watched};
use crate::provider::{Ask, CallContext, remark};
use crate::state::journal::{self, Intent};
use crate::state::{Object, Status};

/// Visits an object that is to go.
pub(super) async fn visit(
    view: View<'_>,
    object: Option<Arc<Object>>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
) -> Result<ApplyOutcome, Reported> {
    let change = vertex.change;
    let addr = &change.addr;
    // The object is taken from the state at this moment and not from the plan, because its
    // successor may have deposed it under a new key.
    let Some(object) = object else {
        // A replacement whose new object could not be made leaves the old one in its place.
        return Ok(ApplyOutcome::Nothing);
    };
    let (handle, ty) = find_stored(view.session, diags, &change.provider, &addr.of())?;
    let null = conform::planned_destroy(ty.block());
    let prior = plain(&change.before);
    let identity = ty.encode_identity(&object);
    let deposed = vertex.deposed.as_ref();
    // An object that was replaced in this run ends with its own private bytes: those of the plan are
    // its successor's.
    let is_replaced = deposed.is_some() && change.deposed.is_none();
    let private = if is_replaced { &object.private } else { &change.private };
    let call = Call {
        view,
        handle: &handle,
        ty: &ty,
        about: CallContext { addr, block: None },
        intent: Intent {
            addr,
            provider: &change.provider,
            deposed,
            deposes: None,
            action: journal::Action::Delete,
            prior: Some(&object),
            planned: null.value(),
        },
        ask: Ask {
            prior: &prior,
            proposed: &null,
            config: &null,
            private,
            identity: identity.as_ref(),
        },
        object: Some(&object),
        predecessor: null.value(),
        secrets: &object.sensitive,
    };
    let (label, action) = (label_before(&change.before), Action::Delete);
    // Before the provisioners, which are part of the destruction for Terraform too.
    view.session.watch.see(&Event::Start { addr, deposed, action, label: label.clone() });
    // As in Terraform, no event ends the destruction of a deposed object that fails.
    let failed = |elapsed| {
        if deposed.is_none() {
            view.session.watch.see(&Event::Failed { addr, action, elapsed });
        }
    };
    let (sent, elapsed) = {
        let sending = pin!(async {
            // Before the announcement: a provisioner that fails must leave no operation open, since
            // the provider was never called.
            run_beside(view, diags, vertex, &object).await?;
            let announced = call.announce(diags).await?;
            Ok::<_, Reported>((announced, announced.send(diags).await))
        });
        let subject = ProgressSubject { addr, action, label: label.as_ref() };
        watched(view.session, subject, sending).await
    };
    let Ok((announced, Salvaged { result, left })) = sent else {
        failed(elapsed);
        return Ok(ApplyOutcome::Destroyed { left: Some(object) });
    };
    let in_doubt = matches!(left, RemainingObject::InDoubt);
    let left = what_is_left(diags, call, &object, left)?;
    if !in_doubt {
        // Not in doubt: an operation without a result stays open in the journal, and the next run
        // reads the object again.
        announced.settle(diags, left.as_deref());
    }
    match result {
        Ok(()) => view.session.watch.see(&Event::Done { addr, deposed, action, label, elapsed }),
        Err(_) => failed(elapsed),
    }
    Ok(ApplyOutcome::Destroyed { left })
}

/// Remainder of an object after the call.
fn what_is_left(
    diags: &mut Diagnostics,
    call: Call<'_>,
    object: &Arc<Object>,
    left: RemainingObject,
) -> Result<Option<Arc<Object>>, Reported> {
    let Seen { value, private, .. } = match left {
        RemainingObject::AsBefore | RemainingObject::InDoubt => return Ok(Some(object.clone())),
        RemainingObject::Answered(seen) | RemainingObject::Found(seen) => seen,
    };
    if value.value().is_null() {
        return Ok(None);
    }
    let value = remark(call.ty, value, &object.sensitive);
    let (attributes, sensitive) = encode(diags, call.ty, call.intent.addr, &value)?;
    let schema_version = call.ty.schema.version;
    let stored = (**object).clone();
    Ok(Some(Arc::new(Object { schema_version, attributes, sensitive, private, ..stored })))
}

/// Runs the destroy-time provisioners of an object. Beside one that was only half made, or that has
/// been replaced already, nothing runs.
async fn run_beside(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
    object: &Object,
) -> Result<(), Reported> {
    let (addr, config) = (&vertex.change.addr, view.session.config);
    let written = config
        .node(&addr.module.path())
        .and_then(|node| Some((node, &node.module.resources.get(&addr.resource)?.provisioners)));
    // When the resource block is gone, a `removed` block may carry the destroy-time provisioners.
    let removal = || config.removal(&addr.of().config());
    let removed = || removal().map(|(node, block)| (node, &block.provisioners));
    let Some((node, provisioners)) = written.or_else(removed) else { return Ok(()) };
    if vertex.deposed.is_some()
        || object.status == Status::Tainted
        || !provision::any(provisioners, ProvisionerTiming::Destroy)
    {
        return Ok(());
    }
    let scope = DestroyedScope {
        world: view.session.world,
        folder: (!node.path.is_root()).then_some(node.module.dir.as_path()),
        key: &addr.key,
        object: &vertex.change.before,
    };
    let run = ProvisionerRun { addr, provisioners, when: ProvisionerTiming::Destroy };
    Box::pin(provision::provision(view, diags, run, &scope)).await
}
