//! Plans the end of objects: of resources that are no longer written, of instances that no longer
//! have a place, of module instances that are gone, of deposed objects, and of everything when all is to be destroyed.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::contract::{self, conform};
use formwork_value::{Diagnostics, Reported, Value};

use super::managed::prevent_destroy_error;
use super::refresh::{self, ObjectOwner};
use super::{PlanContext, run_concurrently};
use crate::addr::{DeposedKey, InstanceAddr, InstanceKey, ProviderConfigAddr, ResourceAddr};
use crate::change::{Action, ActionReason, Change};
use crate::config::Resource;
use crate::eval::{Expansion, ModuleResults};
use crate::instance_steps::{
    ChangeRequest, INVALID_PLAN_SUMMARY, find_client_of_state, point_diagnostics_at_parts,
    unmark_value,
};
use crate::plan::PlanMode;
use crate::plan::prior_state::PriorState;
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::visit_outcome::{ObjectOutcome, ResourceOutcome};
use crate::provider::{CallContext, ChangeValues, ObjectToRead, ProviderClient, ResourceType};
use crate::state::{InstanceState, ObjectState, ResourceState};

/// An object that is to go.
pub(in crate::plan) struct ObjectToDestroy<'v> {
    pub(in crate::plan) key: &'v InstanceKey,
    pub(super) deposed: Option<&'v DeposedKey>,
    pub(super) object: &'v Arc<ObjectState>,
    /// Whether it is destroyed, or only taken out of the state.
    pub(super) action: Action,
    pub(in crate::plan) reason: Option<ActionReason>,
}

/// Objects of one resource that are to go, by instance of its module.
pub(in crate::plan) struct ObjectsToDestroy<'v> {
    pub(in crate::plan) provider: &'v ProviderConfigAddr,
    pub(in crate::plan) by_module: Vec<Vec<ObjectToDestroy<'v>>>,
}

/// Plans the end of every object of a resource that is in the configuration, as `destroy` does.
pub(super) async fn visit_destroy_all(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> Vec<ResourceOutcome> {
    let mut outcomes = Vec::with_capacity(vertex.prior.len());
    let mut all_targets = Vec::with_capacity(vertex.prior.len());
    for (module, prior) in &vertex.prior {
        let addr = vertex.addr_in_module(module);
        let to_destroy: Vec<_> = objects_to_destroy_of_resource(prior, Action::Delete, None)
            .filter(|to_destroy| is_destroy_targeted(view, &addr, to_destroy.key))
            .collect();
        // The errors are reported; the planned change is still shown.
        let _ = check_prevent_destroy(diags, vertex, &addr, &to_destroy);
        let expansion = Some(Expansion::from_state(&vertex.config.repetition, Some(prior)));
        outcomes.push(ResourceOutcome { addr, expansion, objects: Vec::new() });
        all_targets.push(to_destroy);
    }
    let targets = ObjectsToDestroy { provider: &vertex.provider, by_module: all_targets };
    visit_objects_to_destroy(view, diags, targets, &mut outcomes).await;
    // A provider may still be configured with an object that does not exist, even if there is
    // nothing to destroy.
    // In a full destroy a provider configuration may refer to a resource without objects. Without
    // an expansion its evaluation would fail.
    for module in view.session.results.module_instances(&vertex.node.path) {
        if vertex.prior_state_in_module(module.module_addr()).is_none() {
            let addr = vertex.addr_in_module(module.module_addr());
            let expansion = Some(Expansion::from_state(&vertex.config.repetition, None));
            outcomes.push(ResourceOutcome { addr, expansion, objects: Vec::new() });
        }
    }
    outcomes
}

/// Plans the destruction of the objects of a resource in removed instances of its module.
pub(super) async fn visit_lost_modules(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
    modules: &[&ModuleResults],
) -> Vec<ResourceOutcome> {
    let known: BTreeSet<_> = modules.iter().map(|module| module.module_addr()).collect();
    let (mut outcomes, mut all_targets) = (Vec::new(), Vec::new());
    for (module, prior) in vertex.prior.iter().filter(|(module, _)| !known.contains(module)) {
        let addr = vertex.addr_in_module(module);
        let to_destroy: Vec<_> = objects_to_destroy_of_resource(
            prior,
            Action::Delete,
            Some(ActionReason::DeleteBecauseNoModule),
        )
        .filter(|to_destroy| is_destroy_targeted(view, &addr, to_destroy.key))
        .collect();
        if view.options.mode == PlanMode::Normal {
            // The errors are reported; the planned change is still shown.
            let _ = check_prevent_destroy(diags, vertex, &addr, &to_destroy);
        }
        outcomes.push(ResourceOutcome { addr, expansion: None, objects: Vec::new() });
        all_targets.push(to_destroy);
    }
    let targets = ObjectsToDestroy { provider: &vertex.provider, by_module: all_targets };
    visit_objects_to_destroy(view, diags, targets, &mut outcomes).await;
    outcomes
}

/// Reports objects that are protected. Deposed ones were replaced already, and are not.
pub(super) fn check_prevent_destroy(
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
    addr: &ResourceAddr,
    to_destroy: &[ObjectToDestroy<'_>],
) -> Result<(), Reported> {
    if !vertex.config.lifecycle.prevent_destroy {
        return Ok(());
    }
    let mut result = Ok(());
    for to_destroy in to_destroy.iter().filter(|to_destroy| to_destroy.deposed.is_none()) {
        let addr = addr.instance_addr(to_destroy.key.clone());
        result = Err(diags.error(prevent_destroy_error(&addr, vertex.config)));
    }
    result
}

/// Whether an object of an instance may be destroyed: the instance is a target itself. Objects in
/// the plan only as dependencies of a target are kept.
pub(in crate::plan) fn is_destroy_targeted(
    view: PlanContext<'_>,
    addr: &ResourceAddr,
    key: &InstanceKey,
) -> bool {
    let targets = &view.options.targets;
    let addr_of_instance = addr.instance_addr(key.clone());
    let is_target = targets.is_empty()
        || view.analysis.destroyed_dependents.contains(addr)
        || targets.iter().any(|target| target.contains(&addr_of_instance));
    is_target && !view.analysis.excluded_from_destroy.contains(&addr_of_instance)
}

/// The objects of a resource that go, deposed ones too.
pub(in crate::plan) fn objects_to_destroy_of_resource(
    state: &ResourceState,
    action: Action,
    reason: Option<ActionReason>,
) -> impl Iterator<Item = ObjectToDestroy<'_>> {
    state.instances.iter().flat_map(move |(key, InstanceState { current, deposed })| {
        let current = current.iter().map(move |object| (None, object, reason));
        let deposed = deposed.iter().map(|(deposed, object)| (Some(deposed), object, None));
        let all = current.chain(deposed);
        all.map(move |(deposed, object, reason)| ObjectToDestroy {
            key,
            deposed,
            object,
            action,
            reason,
        })
    })
}

/// Plans the destruction of objects of one resource, in several instances of its module,
/// concurrently. The results go to the resource at the same position in `outcomes`.
pub(in crate::plan) async fn visit_objects_to_destroy(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    targets: ObjectsToDestroy<'_>,
    outcomes: &mut [ResourceOutcome],
) {
    let ObjectsToDestroy { provider, by_module } = targets;
    let mut ends = Vec::with_capacity(outcomes.len());
    for (at, (resource, to_destroy)) in outcomes.iter().zip(by_module).enumerate() {
        if to_destroy.is_empty() {
            continue;
        }
        let resource = &resource.addr;
        let resolved = find_client_of_state(view.session, diags, provider, resource);
        // Provider and type are the same for all of them, so one report is enough.
        let Ok((client, ty)) = resolved else { return };
        let end = Rc::new(DestroyPlanner { view, resource, provider, client, ty });
        ends.extend(to_destroy.into_iter().map(|to_destroy| (at, end.clone(), to_destroy)));
    }
    view.counter.add_expected(ends.len());
    let ends = ends.into_iter().map(|(at, end, to_destroy)| async move {
        let mut diags = Diagnostics::new();
        // The semaphore is never closed, so a permit always comes.
        let _permit = view.session.permits.acquire().await;
        let deposed = to_destroy.deposed;
        let outcome = end.plan_destroy(&mut diags, to_destroy).await;
        if let Some(block) = end.resource_block_of_object(deposed) {
            point_diagnostics_at_parts(&mut diags, &block.body, block.span);
        }
        view.counter.count_finished();
        (at, diags, outcome.ok())
    });
    for (at, problems, object) in run_concurrently(view, ends).await {
        let _ = diags.append(problems);
        outcomes[at].objects.extend(object);
    }
}

/// The end of objects of one resource.
struct DestroyPlanner<'a> {
    view: PlanContext<'a>,
    resource: &'a ResourceAddr,
    provider: &'a ProviderConfigAddr,
    client: Rc<ProviderClient>,
    ty: Rc<ResourceType>,
}

impl DestroyPlanner<'_> {
    async fn plan_destroy(
        &self,
        diags: &mut Diagnostics,
        to_destroy: ObjectToDestroy<'_>,
    ) -> Result<ObjectOutcome, Reported> {
        let addr = self.resource.instance_addr(to_destroy.key.clone());
        let (client, ty, deposed) = (&self.client, &self.ty, to_destroy.deposed);
        let block = self.resource_block_of_object(deposed).map(|resource| resource.span);
        let owner = ObjectOwner { client, ty, addr: &addr, deposed, block };
        let forgotten = to_destroy.action == Action::Forget;
        // A forgotten object is not refreshed, since it is no longer managed.
        let prior = match forgotten {
            true => refresh::upgrade_stored_object(diags, owner, to_destroy.object).await?,
            false => refresh::refresh_object(self.view, diags, owner, to_destroy.object).await?,
        };
        // The block is that of the successor, so it does not describe a deposed object.
        let written = match deposed {
            None => self.view.analysis.closures.dependencies_of(&self.resource.config_addr()),
            Some(_) => Arc::default(),
        };
        let is_missing = prior.current.is_null();
        // As in Terraform, the end of an object that is not in the configuration is planned from the
        // stored object. A full destroy and deposed objects use the refreshed one.
        let from_stored =
            self.view.options.mode == PlanMode::Normal && deposed.is_none() && !is_missing;
        let (before, private_data) = match from_stored {
            true => (&prior.stored, self.stored_private_data(&addr, &prior, to_destroy.object)),
            false => (&prior.current, &prior.object.private),
        };
        // Nothing is going to be destroyed, so there is no plan to request.
        let private = if forgotten || is_missing || self.view.options.mode == PlanMode::RefreshOnly
        {
            prior.object.private.clone()
        } else {
            let identity = self.ty.encode_identity(&prior.object);
            self.request_destroy_plan(
                diags,
                owner.call_context(),
                ObjectToRead { value: before, private: private_data, identity },
            )
            .await?
        };
        let action = if is_missing { Action::NoOp } else { to_destroy.action };
        let null = Value::null(self.ty.ty.clone());
        let change = Change {
            deposed: to_destroy.deposed.cloned(),
            reason: to_destroy.reason,
            private,
            dependencies: written,
            prior_dependencies: self
                .view
                .analysis
                .moves
                .renamed_dependencies(&to_destroy.object.dependencies),
            create_before_destroy: to_destroy.object.create_before_destroy,
            ..Change::from_values(addr, self.provider.clone(), action, before.clone(), null)
        };
        // While everything is destroyed, others still see the object as it is: a provider may be
        // configured with it.
        let value = (to_destroy.deposed.is_none() && !is_missing).then(|| prior.current.clone());
        Ok(ObjectOutcome {
            key: to_destroy.key.clone(),
            deposed: to_destroy.deposed.cloned(),
            drift: self.drift_of_object(&prior, &change),
            refreshed: prior.refreshed,
            change: self.is_drift_reported(&change).then_some(change),
            value: value.filter(|_| self.view.options.mode != PlanMode::Normal),
        })
    }

    /// Whether to list the change. Terraform lists a no-op for a deposed object that no longer
    /// exists, and none for others.
    fn is_drift_reported(&self, change: &Change) -> bool {
        match self.view.options.mode {
            PlanMode::Normal => change.action != Action::NoOp || change.deposed.is_some(),
            PlanMode::Destroy => change.action != Action::NoOp,
            PlanMode::RefreshOnly => false,
        }
    }

    fn drift_of_object(&self, prior: &PriorState, change: &Change) -> Option<Change> {
        let moved = self.view.options.mode == PlanMode::RefreshOnly
            && self.view.analysis.moves.original_address(&change.addr).is_some();
        prior.drift(change).or_else(|| {
            let (action, after) = (Action::NoOp, prior.current.clone());
            moved.then(|| Change { action, reason: None, after, ..change.clone() })
        })
    }

    /// Returns the private bytes that belong to the stored object.
    fn stored_private_data<'o>(
        &self,
        addr: &InstanceAddr,
        prior: &'o PriorState,
        object: &'o ObjectState,
    ) -> &'o Bytes {
        // Those of a moved object come from the provider that took it over.
        match self.view.analysis.moves.former_resource(addr) {
            Some(_) => &prior.object.private,
            None => &object.private,
        }
    }

    /// Returns the block of an object, even if the block no longer has an instance for it. A
    /// deposed object has none.
    fn resource_block_of_object(&self, deposed: Option<&DeposedKey>) -> Option<&Resource> {
        let block = self.view.session.config.find_resource(&self.resource.config_addr());
        block.filter(|_| deposed.is_none())
    }

    /// Calls providers that plan destructions, and derives the plan for the others.
    async fn request_destroy_plan(
        &self,
        diags: &mut Diagnostics,
        about: CallContext<'_>,
        before: ObjectToRead<'_>,
    ) -> Result<Bytes, Reported> {
        let ObjectToRead { value: before, private, identity } = before;
        // Only a provider with this capability expects to plan a null (protocol,
        // ServerCapabilities). Terraform does not call the others either.
        if !self.client.loaded_schemas().provider_schema().capabilities.plan_destroy {
            return Ok(private.clone());
        }
        let null = conform::default_destroy_plan(self.ty.schema_block());
        let before = unmark_value(before);
        let identity = identity.as_ref();
        let values =
            ChangeValues { prior: &before, proposed: &null, config: &null, private, identity };
        let planned = self.client.plan_object(diags, &self.ty, values, about).await?;
        let change_request =
            ChangeRequest { client: &self.client, ty: &self.ty, about, secrets: &[] };
        change_request.check_contract(
            diags,
            INVALID_PLAN_SUMMARY,
            contract::Call::PlanDestroy,
            &planned.value,
        )?;
        Ok(planned.private)
    }
}
