//! The vertex of an object that is destroyed.

use std::fmt::{self, Display};
use std::pin::pin;
use std::sync::Arc;

use formwork_plugin_protocol::contract::conform;
use formwork_value::{Diagnostics, Reported};

use super::{ApplyVertexKind, ApplyVisit, PlanNeeds};
use crate::addr::{DeposedKey, ProviderConfigAddr};
use crate::apply::destroy_timing::DestroyTiming;
use crate::apply::record::ApplyRecorder;
use crate::apply::visit::ApplyContext;
use crate::apply::visit::changing_call::{
    ChangeCall, ObjectAfterCall, ReturnedObject, SalvagedResult,
};
use crate::apply::visit::provision::{self, ProvisionerRun};
use crate::change::{Action, Change};
use crate::config::ProvisionerTiming;
use crate::eval::DestroyedObjectScope;
use crate::event::Event;
use crate::graph::render::RenderedVertex;
use crate::instance_steps::{
    encode_for_state, find_client_of_state, prior_object_label, unmark_value,
};
use crate::progress::{ProgressSubject, wait_with_progress};
use crate::provider::{CallContext, ChangeValues, add_marks};
use crate::shared_graph::VertexKind;
use crate::state::journal::{self, Intent, Journal};
use crate::state::{ObjectState, ObjectStatus, State};

/// An object that is destroyed.
#[derive(Debug)]
pub(crate) struct DestroyVertex<'c> {
    pub(crate) change: &'c Change,
    /// The key under which it is deposed at that time, if any.
    pub(crate) deposed: Option<DeposedKey>,
    /// When it is destroyed.
    pub(crate) timing: DestroyTiming,
}

/// Result of a destruction.
pub(crate) struct DestroyOutcome {
    /// Object that still exists, if any.
    remaining: Option<Arc<ObjectState>>,
    /// Whether there was an error.
    failed: bool,
}

// The state names the object, so it waits for no expansion and has no references.
impl<'c> VertexKind<'c> for DestroyVertex<'c> {
    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        Some(&self.change.provider)
    }

    fn render(&self) -> RenderedVertex {
        let label = self.change.addr.resource_addr().config_addr().to_string();
        RenderedVertex::with_shape("box", self.to_string(), label)
    }
}

impl<'c> ApplyVertexKind<'c> for DestroyVertex<'c> {
    fn as_destroy(&self) -> Option<&Self> {
        Some(self)
    }

    fn is_operation(&self) -> bool {
        true
    }

    fn is_wanted(&self, needs: PlanNeeds<'_>) -> bool {
        // An object that only makes way for its successor may be needed by a target, but not one that
        // is destroyed when nothing uses it any more: objects outside the targets may still use it.
        !self.timing.is_after_successor() || needs.includes_change(self.change)
    }

    fn is_result_journaled(&self, journal: &Journal) -> bool {
        journal.may_start_dependents(&self.change.addr, self.deposed.as_ref())
    }
}

impl<'c> ApplyVisit<'c> for DestroyVertex<'c> {
    type Outcome = DestroyOutcome;

    async fn visit(
        &self,
        view: ApplyContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        // The object is taken from the state at this moment and not from the plan, because its
        // successor may have deposed it under a new key. A replacement whose new object could not be
        // made leaves the old one in its place.
        let object = view.recorded.find_object(&self.change.addr, self.deposed.as_ref())?;
        // Much larger than what the other vertices need, which are many.
        let remaining = Box::pin(visit_destroy(view, object, diags, self)).await.ok()?;
        Some(DestroyOutcome { remaining, failed: diags.has_errors() })
    }

    fn record(&self, recorder: &mut ApplyRecorder<'_, '_>, outcome: Self::Outcome) {
        // Terraform counts successful operations only, even in the summary of a failed run.
        if !outcome.failed {
            recorder.tally.destroyed += 1;
        }
        self.record_in_state(&mut recorder.state.borrow_mut(), outcome.remaining);
    }
}

impl DestroyVertex<'_> {
    fn record_in_state(&self, state: &mut State, remaining: Option<Arc<ObjectState>>) {
        let addr = &self.change.addr;
        match remaining {
            None => state.remove_object(addr, self.deposed.as_ref()),
            Some(object) => {
                let Some(instance) = state.instance_mut(addr) else { return };
                match &self.deposed {
                    Some(key) => drop(instance.deposed.insert(key.clone(), object)),
                    None => instance.current = Some(object),
                }
            }
        }
    }
}

impl Display for DestroyVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.deposed {
            Some(key) => write!(f, "{} (destroy deposed {})", self.change.addr, key.0),
            None => write!(f, "{} (destroy)", self.change.addr),
        }
    }
}

/// Destroys an object. Returns what still exists of it, if anything does.
async fn visit_destroy(
    view: ApplyContext<'_>,
    object: Arc<ObjectState>,
    diags: &mut Diagnostics,
    vertex: &DestroyVertex<'_>,
) -> Result<Option<Arc<ObjectState>>, Reported> {
    let change = vertex.change;
    let addr = &change.addr;
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
        values: ChangeValues {
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
    let Ok((announced, SalvagedResult { result, after_call })) = sent else {
        failed(elapsed);
        return Ok(Some(object));
    };
    let in_doubt = matches!(after_call, ObjectAfterCall::Unknown);
    let remaining = remaining_object(diags, call, &object, after_call)?;
    if !in_doubt {
        // Not in doubt: an operation without a result stays open in the journal, and the next run
        // reads the object again.
        announced.settle_operation(diags, remaining.as_deref());
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
    Ok(remaining)
}

/// Remainder of an object after the call.
fn remaining_object(
    diags: &mut Diagnostics,
    call: ChangeCall<'_>,
    object: &Arc<ObjectState>,
    after_call: ObjectAfterCall,
) -> Result<Option<Arc<ObjectState>>, Reported> {
    let ReturnedObject { value, private, .. } = match after_call {
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
    // When the resource block is removed, a `removed` block may carry the destroy-time
    // provisioners.
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
        directory: (!node.path.is_root()).then_some(node.module.dir.as_path()),
        key: &addr.key,
        object: &vertex.change.before,
    };
    let run = ProvisionerRun { addr, provisioners, when: ProvisionerTiming::Destroy };
    Box::pin(provision::run_provisioners(view, diags, run, &scope)).await.map(|()| true)
}
