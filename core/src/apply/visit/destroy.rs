//! Destroys one object.

use std::pin::pin;
use std::sync::Arc;

use formwork_plugin_protocol::contract::conform;
use formwork_value::{Diagnostics, Reported};

use super::changing_call::{ChangeCall, ObjectAfterCall, ReturnedObject, SalvagedResult};
use super::provision::{self, ProvisionerRun};
use super::{ApplyContext, ApplyVisitOutcome};
use crate::apply::vertex::DestroyVertex;
use crate::change::Action;
use crate::config::ProvisionerTiming;
use crate::eval::DestroyedObjectScope;
use crate::event::Event;
use crate::instance_steps::{
    encode_for_state, find_client_of_state, prior_object_label, unmark_value,
};
use crate::progress::{ProgressSubject, wait_with_progress};
use crate::provider::{CallContext, ChangeValues, add_marks};
use crate::state::journal::{self, Intent};
use crate::state::{ObjectState, ObjectStatus};

/// Visits an object that is to go.
pub(super) async fn visit_destroy(
    view: ApplyContext<'_>,
    object: Option<Arc<ObjectState>>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
) -> Result<ApplyVisitOutcome, Reported> {
    let change = vertex.change;
    let addr = &change.addr;
    // The object is taken from the state at this moment and not from the plan, because its
    // successor may have deposed it under a new key.
    let Some(object) = object else {
        // A replacement whose new object could not be made leaves the old one in its place.
        return Ok(ApplyVisitOutcome::Nothing);
    };
    let (client, ty) =
        find_client_of_state(view.session, diags, &change.provider, &addr.resource_addr())?;
    let null = conform::default_destroy_plan(ty.schema_block());
    let prior = unmark_value(&change.before);
    let identity = ty.encode_identity(&object);
    let deposed = vertex.deposed.as_ref();
    // An object that was replaced in this run ends with its own private bytes: those of the plan are
    // its successor's.
    let is_replaced = deposed.is_some() && change.deposed.is_none();
    let private = if is_replaced { &object.private } else { &change.private };
    let call = ChangeCall {
        view,
        client: &client,
        ty: &ty,
        about: CallContext { addr, block: None },
        intent: Intent {
            addr,
            provider: &change.provider,
            deposed,
            deposes: None,
            action: journal::CallAction::Delete,
            prior: Some(&object),
            planned: null.value(),
        },
        ask: ChangeValues {
            prior: &prior,
            proposed: &null,
            config: &null,
            private,
            identity: identity.as_ref(),
        },
        object: Some(&object),
        predecessor: null.value(),
        secrets: &object.sensitive,
        has_provisioners: false,
    };
    let (label, action) = (prior_object_label(&change.before), Action::Delete);
    // Before the provisioners, which are part of the destruction for Terraform too.
    let started = Event::ChangeStart { addr, deposed, action, label: label.clone() };
    view.session.watch.on_event(&started);
    // As in Terraform, no event ends the destruction of a deposed object that fails.
    let failed = |elapsed| {
        if deposed.is_none() {
            view.session.watch.on_event(&Event::ChangeFailed { addr, action, elapsed });
        }
    };
    let (sent, elapsed) = {
        let sending = pin!(async {
            // Before the announcement: a provisioner that fails must leave no operation open, since
            // the provider was never called.
            let has_provisioners = run_destroy_provisioners(view, diags, vertex, &object).await?;
            let announced = ChangeCall { has_provisioners, ..call }.announce(diags).await?;
            Ok::<_, Reported>((announced, announced.send(diags).await))
        });
        let subject = ProgressSubject { addr, action, label: label.as_ref() };
        wait_with_progress(view.session, subject, sending).await
    };
    let Ok((announced, SalvagedResult { result, left })) = sent else {
        failed(elapsed);
        return Ok(ApplyVisitOutcome::Destroyed { left: Some(object) });
    };
    let in_doubt = matches!(left, ObjectAfterCall::Unknown);
    let left = remaining_object(diags, call, &object, left)?;
    if !in_doubt {
        // Not in doubt: an operation without a result stays open in the journal, and the next run
        // reads the object again.
        announced.settle_operation(diags, left.as_deref());
    }
    match result {
        Ok(()) => view.session.watch.on_event(&Event::ChangeDone {
            addr,
            deposed,
            action,
            label,
            elapsed,
        }),
        Err(_) => failed(elapsed),
    }
    Ok(ApplyVisitOutcome::Destroyed { left })
}

/// Remainder of an object after the call.
fn remaining_object(
    diags: &mut Diagnostics,
    call: ChangeCall<'_>,
    object: &Arc<ObjectState>,
    left: ObjectAfterCall,
) -> Result<Option<Arc<ObjectState>>, Reported> {
    let ReturnedObject { value, private, .. } = match left {
        ObjectAfterCall::Unchanged | ObjectAfterCall::Unknown => return Ok(Some(object.clone())),
        ObjectAfterCall::FromAnswer(seen) | ObjectAfterCall::FromRead(seen) => seen,
    };
    if value.value().is_null() {
        return Ok(None);
    }
    let value = add_marks(call.ty, value, &object.sensitive);
    let (attributes, sensitive) = encode_for_state(diags, call.ty, call.intent.addr, &value)?;
    let schema_version = call.ty.schema.version;
    let stored = (**object).clone();
    Ok(Some(Arc::new(ObjectState { schema_version, attributes, sensitive, private, ..stored })))
}

/// Runs the destroy-time provisioners of an object, and returns whether there are any. Beside one that
/// was only half made, or that has been replaced already, nothing runs.
async fn run_destroy_provisioners(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
    object: &ObjectState,
) -> Result<bool, Reported> {
    let (addr, config) = (&vertex.change.addr, view.session.config);
    let written = config
        .find_node(&addr.module.path())
        .and_then(|node| Some((node, &node.module.resources.get(&addr.resource)?.provisioners)));
    // When the resource block is gone, a `removed` block may carry the destroy-time provisioners.
    let removal = || config.removed_block_of(&addr.resource_addr().config_addr());
    let removed = || removal().map(|(node, block)| (node, &block.provisioners));
    let Some((node, provisioners)) = written.or_else(removed) else { return Ok(false) };
    if vertex.deposed.is_some()
        || object.status == ObjectStatus::Tainted
        || !provision::has_provisioner_at(provisioners, ProvisionerTiming::Destroy)
    {
        return Ok(false);
    }
    let scope = DestroyedObjectScope {
        world: view.session.world,
        folder: (!node.path.is_root()).then_some(node.module.dir.as_path()),
        key: &addr.key,
        object: &vertex.change.before,
    };
    let run = ProvisionerRun { addr, provisioners, when: ProvisionerTiming::Destroy };
    Box::pin(provision::run_provisioners(view, diags, run, &scope)).await.map(|()| true)
}
