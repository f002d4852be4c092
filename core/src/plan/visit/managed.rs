//! Plans one instance of a managed resource: evaluates its block, reads the real object, calls the
//! provider for the planned object, and checks that the provider keeps the contract.

use std::sync::Arc;

use formwork_plugin_protocol::contract::conform;
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Step, Value};

use super::find_created_object::{self, CreationSearchResult, InterruptedCreation};
use super::generate_config::{
    self, GeneratedConfig, ImportedObjectWithoutBlock, point_at_import_block,
};
use super::refresh::{self, ObjectOwner};
use super::resource::ResourceInModule;
use super::{PlanContext, import, triggers};
use crate::addr::{InstanceAddr, InstanceKey};
use crate::change::{Action, ActionReason, Change, PlannedImport, ReplaceOrder};
use crate::config::{IgnoreChanges, Resource};
use crate::eval::ModuleScope;
use crate::eval::vertex::has_infinite_number;
use crate::instance_steps::{
    ChangeRequest, PriorObject, ResourceClient, sensitive_paths, unmark_value,
};
use crate::messages;
use crate::plan::PlanMode;
use crate::plan::choose_action::{ActionInputs, choose_action};
use crate::plan::prior_state::{PriorState, RefreshResult};
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::visit_outcome::ObjectOutcome;
use crate::provider::{PlannedObject, ProviderClient, ResourceType, add_marks};

/// Plans one instance.
///
/// # Errors
/// Returns an error if the configuration is invalid or a call fails. The instance then has no
/// result.
pub(super) async fn plan_managed_instance(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    here: &ResourceInModule<'_>,
    key: InstanceKey,
) -> Result<ObjectOutcome, Reported> {
    let (vertex, addr) = (here.vertex, here.addr.instance_addr(key));
    let (client, ty) = vertex.find_provider(view.session, diags)?;
    let owner = ObjectOwner {
        client: &client,
        ty: &ty,
        addr: &addr,
        deposed: None,
        block: Some(vertex.config.span),
    };
    let stored = here.prior.and_then(|prior| prior.instances.get(&addr.key)?.current.as_ref());
    // An object that is already managed is not imported again.
    let (mut prior, mut importing) = match (stored, here.import_targets.get(&addr)) {
        (Some(object), _) => {
            (Some(refresh::refresh_object(view, diags, owner, object).await?), None)
        }
        (None, Some(import_key)) => {
            let imported = import::find_imported_object(view, diags, owner, import_key).await?;
            (
                Some(imported),
                Some(PlannedImport { import_key: import_key.clone(), generated_config: None }),
            )
        }
        (None, None) => (None, None),
    };
    let mut never_made = false;
    if let (None, Some(planned)) = (&prior, view.options.interrupted_creations.get(&addr)) {
        // Before anything is planned: a plan to create would otherwise be the second creation of an
        // object that exists already.
        let creation = InterruptedCreation { planned, config: vertex.config };
        match find_created_object::find_created_object(view, diags, owner, creation).await {
            CreationSearchResult::Found(created) => prior = Some(*created),
            CreationSearchResult::NotCreated => never_made = true,
            CreationSearchResult::Unknown => {}
        }
    }
    let scope = here.scope(view, &addr.key);
    let instance = ManagedInstance { view, vertex, addr: &addr, client: &client, ty: &ty };
    // The provider plans nothing here, and the block is not evaluated, as in Terraform.
    if view.options.mode == PlanMode::RefreshOnly {
        return instance.plan_refresh_only(diags, prior, scope).await;
    }
    // Generated from the refreshed object and not from the import, whose result may be only an id.
    let imported = prior.as_ref().filter(|_| vertex.generated);
    let imported = imported.map(|prior| ImportedObjectWithoutBlock {
        addr: &addr,
        ty: &ty,
        value: &prior.current,
    });
    let generated =
        imported.map(|it| generate_config::generate_config(view, diags, vertex, it)).transpose()?;
    // Collected apart, because errors in generated configuration have no source file, and are
    // reported at the `import` block instead.
    let mut problems = Diagnostics::new();
    let config = match &generated {
        None => instance.evaluate_and_validate(&mut problems, &scope, vertex.config).await,
        Some(GeneratedConfig { text, resource }) => {
            let config = instance.evaluate_and_validate(&mut problems, &scope, resource).await;
            problems
                .map_from_position(0, |problem| point_at_import_block(problem, vertex.config.span));
            if let Some(importing) = &mut importing {
                importing.generated_config = Some(text.clone());
            }
            config
        }
    };
    diags.append(problems)?;
    let config = config?;
    let mut change = instance.plan_change(diags, prior.as_ref(), &config, &scope).await?;
    if has_infinite_number(&change.after) {
        return Err(diags.error(non_finite_number_error(&addr, vertex.config)));
    }
    change.importing = importing;
    // The errors are reported; the planned change is still shown.
    let _ = view
        .instance_config(vertex.config, &addr)
        .check_postconditions(diags, scope, &change.after)
        .await;
    store_config_dependencies(view, prior.as_mut(), &change);
    let mut outcome = instance.planned_object(prior, change);
    if never_made {
        outcome.refreshed = RefreshResult::NotCreated;
    }
    Ok(outcome)
}

/// Has the state take over the settings of the configuration beside the attributes of the object.
fn store_config_dependencies(
    view: PlanContext<'_>,
    prior: Option<&mut PriorState>,
    change: &Change,
) {
    match prior {
        Some(prior) if change.action == Action::NoOp => {
            prior.replace_config_dependencies(&change.dependencies, change.create_before_destroy);
        }
        // An imported object has no recorded dependencies; the apply records the current ones.
        Some(_) if change.importing.is_some() => {}
        Some(prior) if !prior.current.is_null() => {
            // Without a refresh, Terraform adds no dependencies either.
            let dependencies = (!view.options.skip_refresh).then_some(&change.dependencies);
            prior.add_config_dependencies(dependencies, change.create_before_destroy);
        }
        _ => {}
    }
}

/// One instance while it is being planned.
struct ManagedInstance<'a> {
    view: PlanContext<'a>,
    vertex: &'a ResourceVertex<'a>,
    addr: &'a InstanceAddr,
    client: &'a ProviderClient,
    ty: &'a ResourceType,
}

impl<'a> ManagedInstance<'a> {
    /// Evaluates a block for the instance, and has the provider look at it.
    async fn evaluate_and_validate(
        &self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
        resource: &Resource,
    ) -> Result<Value, Reported> {
        let config =
            self.view.instance_config(resource, self.addr).evaluate(diags, self.ty, scope).await?;
        let written = self.view.instance_config(self.vertex.config, self.addr);
        let resource_client = ResourceClient { client: self.client, ty: self.ty };
        self.view.validate_instance(diags, resource_client, &config, written).await?;
        Ok(config)
    }

    async fn plan_change(
        &self,
        diags: &mut Diagnostics,
        prior: Option<&PriorState>,
        config: &Value,
        scope: &ModuleScope<'_>,
    ) -> Result<Change, Reported> {
        let null = Value::null(self.ty.ty.clone());
        let existing = prior.filter(|prior| !prior.current.is_null());
        let tainted = existing.is_some_and(PriorState::is_tainted);
        // A tainted object is planned as if there were none; the existing object goes into
        // `before`.
        let usable = existing.filter(|_| !tainted);
        let before = existing.map_or(&null, |prior| &prior.current);
        let mut secrets = sensitive_paths(config);
        secrets.extend(sensitive_paths(before));
        let written = self.view.instance_config(self.vertex.config, self.addr);
        let (client, ty, about) = (self.client, self.ty, written.call_context());
        // Providers quote the configuration in diagnostics and in violations, so the marks removed
        // before the call are kept for masking.
        let change_request = ChangeRequest { client, ty, about, secrets: &secrets };
        let (usable_value, object) = match usable {
            Some(prior) => (unmark_value(&prior.current), Some(&*prior.object)),
            None => {
                // As in Terraform, the private data of a read that found no object still counts.
                let lost = prior.filter(|prior| prior.current.is_null() && !prior.is_tainted());
                (conform::default_destroy_plan(ty.schema_block()), lost.map(|prior| &*prior.object))
            }
        };
        let ignored = &self.vertex.config.lifecycle.ignore_changes;
        let prior_object = PriorObject { value: &usable_value, object };
        let planned =
            change_request.plan_change(diags, prior_object, &unmark_value(config), ignored).await?;
        let forced = self.forced_replacement_reason(diags, scope, existing).await?;
        let replace_paths =
            change_request.paths_requiring_replace(diags, &usable_value, &planned)?;
        let after = self.mark_planned_object(&planned, config);
        let order = self.view.analysis.orders.order_of(&self.vertex.addr);
        let (action, reason) = choose_action(&ActionInputs {
            prior: before,
            planned: &after,
            tainted,
            replace_paths: &replace_paths,
            forced,
            order,
        });
        // A tainted object was planned as a new one already.
        // The first plan merged the prior object into computed attributes. The replacement is a new
        // object, so the provider plans it once more against null, as Terraform does.
        let is_replanned = matches!(action, Action::Replace(_)) && !tainted;
        let planned = match is_replanned {
            true => {
                change_request
                    .plan_replacement(diags, &unmark_value(config), &planned.private)
                    .await?
            }
            false => planned,
        };
        // The errors are reported; the planned change is still shown.
        let _ = self.check_prevent_destroy(diags, action);
        let identity = planned.encoded_identity();
        let (addr, provider) = (self.addr.clone(), self.vertex.provider.clone());
        let after = self.mark_planned_object(&planned, config);
        Ok(Change {
            reason,
            replace_paths,
            config_secrets: is_replanned.then(|| self.sensitive_config_paths(config, before)),
            private: planned.private,
            config_known: config.is_wholly_known(),
            identity,
            // Recorded with the object, because a later run may destroy it when the configuration
            // has no edges for it any more.
            dependencies: self.view.analysis.closures.dependencies_of(&self.vertex.addr),
            prior_dependencies: prior.map_or_else(Arc::default, |prior| {
                // The state names dependencies as they were called when the object was created.
                // Without this a `moved` block would drop them from the order.
                self.view.analysis.moves.renamed_dependencies(&prior.object.dependencies)
            }),
            create_before_destroy: self.replace_order_to_store(action, order)
                == ReplaceOrder::CreateFirst,
            ..Change::from_values(addr, provider, action, before.clone(), after)
        })
    }

    /// Returns the order of a later replacement, which the state keeps with the object.
    fn replace_order_to_store(&self, action: Action, order: ReplaceOrder) -> ReplaceOrder {
        match &self.view.analysis.unlimited_orders {
            Some(orders) if action != Action::NoOp => orders.order_of(&self.vertex.addr),
            _ => order,
        }
    }

    /// Returns the sensitive paths of the configuration, with those of the object before for
    /// ignored attributes.
    fn sensitive_config_paths(&self, config: &Value, before: &Value) -> Vec<Path> {
        let ignored = &self.vertex.config.lifecycle.ignore_changes;
        let is_ignored = |path: &Path| match (ignored, path.0.first()) {
            (IgnoreChanges::All, _) => true,
            (IgnoreChanges::These(paths), Some(Step::Attribute(name))) => {
                paths.iter().any(|ignored| ignored.root.name == *name)
            }
            (IgnoreChanges::Nothing | IgnoreChanges::These(_), _) => false,
        };
        let mut secrets = sensitive_paths(config);
        secrets.extend(sensitive_paths(before).into_iter().filter(is_ignored));
        secrets
    }

    /// Puts the marks of the configuration and of the schema on a planned object.
    fn mark_planned_object(&self, planned: &PlannedObject, config: &Value) -> Value {
        add_marks(self.ty, planned.value.clone(), &sensitive_paths(config))
    }

    /// The reason for which the configuration requests a replacement, if it does.
    async fn forced_replacement_reason(
        &self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
        existing: Option<&PriorState>,
    ) -> Result<Option<ActionReason>, Reported> {
        let triggers = &self.vertex.config.lifecycle.replace_triggered_by;
        let triggered = |diags: &mut Diagnostics| {
            triggers::is_replace_triggered(self.view, diags, triggers, scope)
        };
        // Also where nothing can be replaced yet, so that an error shows before the day it matters.
        let triggered = self.view.session.evaluate_with_functions(diags, triggered).await?;
        if triggered {
            return Ok(Some(ActionReason::ReplaceByTriggers));
        }
        let is_requested = existing.is_some() && self.view.options.replace.contains(self.addr);
        Ok(is_requested.then_some(ActionReason::ReplaceByRequest))
    }

    fn check_prevent_destroy(
        &self,
        diags: &mut Diagnostics,
        action: Action,
    ) -> Result<(), Reported> {
        if !action.destroys_object() || !self.vertex.config.lifecycle.prevent_destroy {
            return Ok(());
        }
        Err(diags.error(prevent_destroy_error(self.addr, self.vertex.config)))
    }

    /// Looks at the conditions, where nothing else is done.
    async fn plan_refresh_only(
        &self,
        diags: &mut Diagnostics,
        mut prior: Option<PriorState>,
        scope: ModuleScope<'_>,
    ) -> Result<ObjectOutcome, Reported> {
        // An import evaluates no conditions, since the configuration may still be incomplete.
        if !self.view.options.adoptions.is_empty() {
            return Ok(self.without_change(prior));
        }
        let written = self.view.instance_config(self.vertex.config, self.addr);
        written.check_preconditions(diags, &scope).await?;
        if let Some(prior) = prior.as_mut().filter(|prior| !prior.current.is_null()) {
            let dependencies = self.view.analysis.closures.dependencies_of(&self.vertex.addr);
            let order = self.view.analysis.orders.order_of(&self.vertex.addr);
            let dependencies = (!self.view.options.skip_refresh).then_some(&dependencies);
            prior.add_config_dependencies(dependencies, order == ReplaceOrder::CreateFirst);
        }
        let outcome = self.without_change(prior);
        let value = outcome.value.clone().unwrap_or_else(|| Value::null(self.ty.ty.clone()));
        written.check_postconditions(diags, scope, &value).await?;
        Ok(outcome)
    }

    fn without_change(&self, prior: Option<PriorState>) -> ObjectOutcome {
        let current = prior.as_ref().map(|prior| prior.current.clone());
        let value = current
            .filter(|current| !current.is_null())
            // A missing object may be made by the next run, and then have any value.
            // Null would make every reference to its attributes an error, and hide the drift that
            // the run is about.
            .unwrap_or_else(|| Value::unknown(self.ty.ty.clone()));
        let drift = prior.as_ref().and_then(|prior| {
            // A new address is shown only if nothing else is done.
            let moved = self.view.analysis.moves.original_address(self.addr).is_some();
            let (addr, provider) = (self.addr.clone(), self.vertex.provider.clone());
            let same =
                Change::from_values(addr, provider, Action::NoOp, value.clone(), value.clone());
            prior.drift(&same).or_else(|| moved.then_some(same))
        });
        let refreshed = prior.map_or(RefreshResult::Unchanged, |prior| prior.refreshed);
        ObjectOutcome {
            drift,
            ..ObjectOutcome::without_change(self.addr.key.clone(), refreshed, Some(value))
        }
    }

    fn planned_object(&self, prior: Option<PriorState>, change: Change) -> ObjectOutcome {
        let drift = prior.as_ref().and_then(|prior| prior.drift(&change));
        let refreshed = prior.map_or(RefreshResult::Unchanged, |prior| prior.refreshed);
        let (key, value) = (self.addr.key.clone(), Some(change.after.clone()));
        ObjectOutcome {
            drift,
            change: Some(change),
            ..ObjectOutcome::without_change(key, refreshed, value)
        }
    }
}

/// Says that an object has a number in it that no state can hold.
fn non_finite_number_error(addr: &InstanceAddr, config: &Resource) -> Diagnostic {
    let detail = format!(
        "{addr} would contain an infinite number, which no state can hold. It results from a division by zero, or from numbers that are too large."
    );
    Diagnostic::error(messages::OBJECT_CANNOT_BE_STORED, detail)
        .at(config.span)
        .about(addr.to_string())
}

/// Says that an instance is protected.
pub(super) fn prevent_destroy_error(addr: &InstanceAddr, config: &Resource) -> Diagnostic {
    let detail = format!(
        "Resource {addr} has lifecycle.prevent_destroy set, but the plan calls for this resource to be destroyed. To avoid this error and continue with the plan, either disable lifecycle.prevent_destroy or reduce the scope of the plan using the -target option."
    );
    Diagnostic::error(messages::INSTANCE_CANNOT_BE_DESTROYED, detail)
        .at(config.span)
        .about(addr.to_string())
}
