//! Visits a resource: expands it in each instance of its module, then plans all instances side by
//! side.

use std::collections::BTreeMap;

use formwork_value::quote::shell_quoted;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::destroy::{self, ObjectToDestroy, ObjectsToDestroy};
use super::{PlanContext, data, import, managed, run_concurrently};
use crate::addr::{InstanceAddr, InstanceKey, ResourceAddr, ResourceMode};
use crate::change::{Action, ActionReason, ImportKey};
use crate::ephemeral::EphemeralInstance;
use crate::eval::import::{expand_import, unknown_id_error, unknown_repetition_error};
use crate::eval::{Expansion, ModuleResults, ModuleScope, expand};
use crate::instance_steps::{decode_stored_value, point_diagnostics_at_parts};
use crate::messages;
use crate::plan::prior_state::RefreshResult;
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::visit_outcome::{ObjectOutcome, ResourceOutcome};
use crate::plan::{self, AdoptionSource};
use crate::state::ResourceState;

/// A resource in one instance of its module.
pub(super) struct ResourceInModule<'a> {
    pub(super) vertex: &'a ResourceVertex<'a>,
    pub(super) module: &'a ModuleResults,
    pub(super) addr: ResourceAddr,
    pub(super) expansion: Expansion,
    /// Its part of the state.
    pub(super) prior: Option<&'a ResourceState>,
    /// The keys to find existing objects that belong to it from now on.
    pub(super) import_targets: &'a BTreeMap<InstanceAddr, ImportKey>,
}

impl<'a> ResourceInModule<'a> {
    /// Returns the scope of names within an instance of it.
    pub(super) fn scope(&self, view: PlanContext<'a>, key: &InstanceKey) -> ModuleScope<'a> {
        view.session.module_scope(self.module).with_repetition(self.expansion.repetition_data(key))
    }
}

/// A resource, expanded in each instance of its module.
#[derive(Clone, Copy)]
struct ExpandedResource<'a> {
    vertex: &'a ResourceVertex<'a>,
    in_modules: &'a [ResourceInModule<'a>],
}

/// Plans all instances and deposed objects of a resource.
pub(in crate::plan) async fn visit_resource(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> Vec<ResourceOutcome> {
    view.counter.remove_expected();
    let is_managed = vertex.addr.resource.mode() == ResourceMode::Managed;
    if view.options.mode == plan::PlanMode::Destroy && is_managed {
        return destroy::visit_destroy_all(view, diags, vertex).await;
    }
    let import_targets = view
        .session
        .evaluate_with_functions(diags, |diags| import_targets(view, diags, vertex))
        .await;
    // Without the imports the plan would create objects that exist already.
    let Ok(import_targets) = import_targets else { return Vec::new() };
    let modules = view.session.results.module_instances(&vertex.node.path);
    let mut here = Vec::with_capacity(modules.len());
    for module in &modules {
        let addr = vertex.addr_in_module(module.module_addr());
        let prior = vertex.prior_state_in_module(module.module_addr());
        let expanded = |diags: &mut Diagnostics| expand_in_module(view, diags, vertex, module);
        // Others are still planned, so that one run shows their errors too.
        let Ok(expansion) = view.session.evaluate_with_functions(diags, expanded).await else {
            continue;
        };
        here.push(ResourceInModule {
            vertex,
            module,
            addr,
            expansion,
            prior,
            import_targets: &import_targets,
        });
    }
    let resource = ExpandedResource { vertex, in_modules: &here };
    report_lost_imports(view, diags, resource, &import_targets);
    if is_managed {
        here.iter().for_each(|here| warn_of_unmatched_replace(view, diags, here));
    }
    let mut outcomes = plan_instances(view, diags, &here).await;
    let only_looks = view.options.mode == plan::PlanMode::RefreshOnly;
    if is_managed && only_looks && view.options.adoptions.is_empty() {
        outcomes.iter_mut().for_each(omit_missing_from_outcome);
    }
    for (here, outcome) in here.iter().zip(&mut outcomes) {
        outcome.objects.extend(untargeted_objects(view, diags, here));
    }
    if is_managed {
        plan_orphaned_objects(view, diags, resource, &mut outcomes).await;
        outcomes.extend(destroy::visit_lost_modules(view, diags, vertex, &modules).await);
        outcomes.extend(find_adoptions_without_instance(view, diags, resource).await);
    }
    outcomes
}

/// Returns the imports into a resource: the IDs, by instance.
fn import_targets(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> Result<BTreeMap<InstanceAddr, ImportKey>, Reported> {
    let ours = adoptions_of_resource(view, vertex)
        .map(|(addr, adoption)| (addr.clone(), adoption.import_key.clone()));
    let mut clues: BTreeMap<_, _> = ours.collect();
    for import in &vertex.imports {
        let scope = view.session.module_scope(view.session.results.root());
        let Some(all) = expand_import(diags, &scope, view.session.config, import)? else {
            return Err(diags.error(unknown_repetition_error(import, &scope)));
        };
        for import_targets in all {
            let Some(import_key) = import_targets.import_key else {
                return Err(diags.error(unknown_id_error(import)));
            };
            clues.insert(import_targets.addr, import_key);
        }
    }
    Ok(clues)
}

/// Returns the adoptions into a resource, which need no `import` block.
fn adoptions_of_resource<'v>(
    view: PlanContext<'v>,
    vertex: &ResourceVertex<'_>,
) -> impl Iterator<Item = (&'v InstanceAddr, &'v AdoptionSource)> {
    view.options
        .adoptions
        .iter()
        .filter(|(addr, _)| addr.resource_addr().config_addr() == vertex.addr)
}

/// Finds the objects to adopt for which the block has no instance.
async fn find_adoptions_without_instance(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    resource: ExpandedResource<'_>,
) -> Vec<ResourceOutcome> {
    let ExpandedResource { vertex, in_modules } = resource;
    let unplaced = adoptions_of_resource(view, vertex).filter(|(addr, adoption)| {
        adoption.unwritten.is_some() && !is_instance_in_config(in_modules, addr)
    });
    let mut outcomes = Vec::new();
    for (addr, _) in unplaced {
        let object = import::find_object_without_block(view, diags, &vertex.provider, addr).await;
        let (addr, objects) = (addr.resource_addr(), object.into_iter().collect());
        outcomes.push(ResourceOutcome { addr, expansion: None, objects });
    }
    outcomes
}

/// Whether the configuration has an instance.
fn is_instance_in_config(here: &[ResourceInModule<'_>], addr: &InstanceAddr) -> bool {
    here.iter().any(|here| here.addr == addr.resource_addr() && here.expansion.contains(&addr.key))
}

/// Reports imports into instances that do not exist. An instance that a block has already imported
/// may be missing again.
fn report_lost_imports(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    resource: ExpandedResource<'_>,
    import_targets: &BTreeMap<InstanceAddr, ImportKey>,
) {
    let ExpandedResource { vertex, in_modules } = resource;
    let may_be_missing = |addr: &InstanceAddr| {
        let instance =
            vertex.prior_state_in_module(&addr.module).and_then(|it| it.instances.get(&addr.key));
        let adoption = view.options.adoptions.get(addr);
        match adoption {
            Some(adoption) => adoption.unwritten.is_some(),
            None => instance.is_some_and(|it| it.current.is_some()),
        }
    };
    let lost =
        |addr: &&InstanceAddr| !is_instance_in_config(in_modules, addr) && !may_be_missing(addr);
    for addr in import_targets.keys().filter(lost) {
        let detail = format!(
            "The configuration for the given import {addr} does not exist. All target instances must have an associated configuration to be imported: what says how often {} is there, `count` or `for_each`, has to include this one for as long as the import takes.",
            addr.resource_addr()
        );
        let summary = messages::IMPORTED_INSTANCE_DOES_NOT_EXIST;
        let _ = diags.error(Diagnostic::error(summary, detail).about(addr.to_string()));
    }
}

/// Plans the instances that the configuration has, in all instances of the module.
async fn plan_instances(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    here: &[ResourceInModule<'_>],
) -> Vec<ResourceOutcome> {
    let mut outcomes: Vec<ResourceOutcome> = here
        .iter()
        .map(|here| ResourceOutcome {
            addr: here.addr.clone(),
            expansion: Some(here.expansion.clone()),
            objects: Vec::new(),
        })
        .collect();
    let planned = here.iter().enumerate().flat_map(|(at, here)| {
        let wanted =
            here.expansion.keys().filter(move |key| is_instance_key_in_plan(view, here, key));
        wanted.map(move |key| (at, here, key))
    });
    let planned: Vec<_> = planned.collect();
    view.counter.add_expected(planned.len());
    let planned = planned.into_iter().map(|(at, here, key)| async move {
        let object = plan_instance(view, here, key).await;
        view.counter.count_finished();
        (at, object)
    });
    for (at, (problems, object)) in run_concurrently(view, planned).await {
        let _ = diags.append(problems);
        outcomes[at].objects.extend(object);
    }
    outcomes
}

/// Plans the destruction of the objects without an instance in the configuration.
async fn plan_orphaned_objects(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    resource: ExpandedResource<'_>,
    outcomes: &mut [ResourceOutcome],
) {
    let ExpandedResource { vertex, in_modules } = resource;
    let all = in_modules.iter().map(|here| {
        let to_destroy = objects_without_config(view, here);
        if view.options.mode == plan::PlanMode::Normal {
            // The errors are reported; the planned change is still shown.
            let _ = destroy::check_prevent_destroy(diags, vertex, &here.addr, &to_destroy);
        }
        to_destroy
    });
    let targets = ObjectsToDestroy { provider: &vertex.provider, by_module: all.collect() };
    destroy::visit_objects_to_destroy(view, diags, targets, outcomes).await;
}

fn expand_in_module(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
    module: &ModuleResults,
) -> Result<Expansion, Reported> {
    let repetition = &vertex.config.repetition;
    expand::expand_repetition(diags, &view.session.module_scope(module), repetition)
}

/// Warns of `-replace` options that name the resource where they should name an instance.
fn warn_of_unmatched_replace(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    here: &ResourceInModule<'_>,
) {
    let ResourceInModule { addr, expansion, .. } = here;
    let resource = addr.instance_addr(InstanceKey::None);
    if matches!(expansion, Expansion::Single) || !view.options.replace.contains(&resource) {
        return;
    }
    let keys: Vec<String> = expansion
        .keys()
        .map(|key| format!("\n  -replace={}", shell_quoted(&addr.instance_addr(key).to_string())))
        .collect();
    let detail = if keys.is_empty() {
        format!("The option -replace={resource} names a resource that has no instances.")
    } else {
        format!(
            "The option -replace={resource} names a resource with several instances, and so none of them. To replace instances, name them:{}",
            keys.concat()
        )
    };
    diags.warn(Diagnostic::warning(
        messages::INCOMPLETELY_MATCHED_FORCE_REPLACE_RESOURCE_INSTANCE,
        detail,
    ));
}

/// Removes missing objects from the instances in a plan that makes nothing, as Terraform does. A
/// missing object followed by existing ones keeps its position.
fn omit_missing_from_outcome(outcome: &mut ResourceOutcome) {
    let is_there =
        |object: &ObjectOutcome| object.value.as_ref().is_some_and(|it| !it.is_unknown());
    let last =
        outcome.objects.iter().filter(|object| is_there(object)).map(|it| it.key.clone()).max();
    for object in &mut outcome.objects {
        let keeps_its_place = match &object.key {
            InstanceKey::None => true,
            key @ InstanceKey::Int(_) => last.as_ref().is_some_and(|last| key < last),
            InstanceKey::Str(_) => false,
        };
        if !is_there(object) && !keeps_its_place {
            object.value = None;
        }
    }
}

/// Returns the instances that are not planned because others of the resource are targets.
/// References to them see the values in the state.
fn untargeted_objects(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    here: &ResourceInModule<'_>,
) -> Vec<ObjectOutcome> {
    if here.expansion.keys().all(|key| is_instance_key_in_plan(view, here, &key)) {
        return Vec::new();
    }
    let Ok((_, ty)) = here.vertex.find_provider(view.session, diags) else { return Vec::new() };
    let others = here.expansion.keys().filter(|key| !is_instance_key_in_plan(view, here, key));
    let others = others.filter_map(|key| {
        let object = here.prior?.instances.get(&key)?.current.as_ref()?;
        let value = decode_stored_value(&ty, object);
        Some(ObjectOutcome::without_change(key, RefreshResult::Changed(object.clone()), value))
    });
    others.collect()
}

fn is_instance_key_in_plan(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    key: &InstanceKey,
) -> bool {
    is_instance_in_plan(view, here.vertex, &here.addr.instance_addr(key.clone()))
}

/// Whether an instance is planned. A resource that is only there because a target needs it is planned
/// whole.
pub(super) fn is_instance_in_plan(
    view: PlanContext<'_>,
    vertex: &ResourceVertex<'_>,
    addr: &InstanceAddr,
) -> bool {
    let targets = &view.options.targets;
    let is_target = !targets.iter().any(|target| target.may_contain_config_resource(&vertex.addr))
        || targets.iter().any(|target| target.contains(addr));
    is_target && !view.analysis.excluded_from_destroy.is_excluded(addr)
}

async fn plan_instance(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    key: InstanceKey,
) -> (Diagnostics, Option<ObjectOutcome>) {
    let mut diags = Diagnostics::new();
    // Nothing new is begun after an interrupt.
    if view.session.is_stopped() {
        return (diags, None);
    }
    // The semaphore is never closed, so a permit always comes.
    let _permit = view.session.permits.acquire().await;
    let outcome = match here.addr.resource.mode() {
        ResourceMode::Managed => managed::plan_managed_instance(view, &mut diags, here, key).await,
        ResourceMode::Data => data::plan_data_instance(view, &mut diags, here, key).await,
        ResourceMode::Ephemeral => open_ephemeral_instance(view, &mut diags, here, key).await,
    };
    let config = here.vertex.config;
    point_diagnostics_at_parts(&mut diags, &config.body, config.span);
    (diags, outcome.ok())
}

/// Opens an instance of an ephemeral resource.
async fn open_ephemeral_instance(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    here: &ResourceInModule<'_>,
    key: InstanceKey,
) -> Result<ObjectOutcome, Reported> {
    // Nothing of it but its value is found: it is in no state.
    let addr = here.addr.instance_addr(key);
    let scope = here.scope(view, &addr.key);
    let site = EphemeralInstance {
        config: here.vertex.config,
        addr: &addr,
        provider: &here.vertex.provider,
    };
    let value = view.ephemeral_resources.open_instance(diags, site, scope).await?;
    Ok(ObjectOutcome::without_change(addr.key, RefreshResult::Unchanged, Some(value)))
}

/// The objects in the state without an instance in the configuration, with the reasons.
fn objects_without_config<'v>(
    view: PlanContext<'_>,
    here: &'v ResourceInModule<'_>,
) -> Vec<ObjectToDestroy<'v>> {
    let mut to_destroy = Vec::new();
    for (key, instance) in here.prior.into_iter().flat_map(|prior| &prior.instances) {
        if !is_instance_key_in_plan(view, here, key)
            || view.analysis.excluded_from_destroy.contains(&here.addr.instance_addr(key.clone()))
        {
            continue;
        }
        if let Some(object) = &instance.current
            && !here.expansion.contains(key)
        {
            // The reasons that `-json` shows as `action_reason`, as in Terraform.
            let reason = match (&here.expansion, key) {
                (Expansion::Count(_), InstanceKey::Int(_)) => ActionReason::DeleteBecauseCountIndex,
                (Expansion::ForEach(_), InstanceKey::Str(_)) => ActionReason::DeleteBecauseEachKey,
                _ => ActionReason::DeleteBecauseWrongRepetition,
            };
            let (action, reason) = (Action::Delete, Some(reason));
            to_destroy.push(ObjectToDestroy { key, deposed: None, object, action, reason });
        }
        let deposed = instance.deposed.iter();
        let deposed = deposed.filter(|_| destroy::is_destroy_targeted(view, &here.addr, key));
        to_destroy.extend(deposed.map(|(deposed, object)| ObjectToDestroy {
            key,
            deposed: Some(deposed),
            object,
            action: Action::Delete,
            reason: None,
        }));
    }
    to_destroy
}
