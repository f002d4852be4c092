//! Plans one instance of a data source: reads it, or returns the reason why it is read while
//! applying.

use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_value::{Diagnostics, Reported, Value};

use super::PlanContext;
use super::resource::ResourceInModule;
use crate::addr::{InstanceAddr, InstanceKey};
use crate::change::{Action, ActionReason, Change};
use crate::instance_steps::{DataReadResult, ResourceClient, sensitive_paths, unmark_value};
use crate::plan::PlanMode;
use crate::plan::planned_resources::PendingChangeQuery;
use crate::plan::prior_state::RefreshResult;
use crate::plan::visit_outcome::ObjectOutcome;
use crate::provider::{ResourceType, add_marks};

/// Plans one instance.
///
/// # Errors
/// Returns an error if the configuration is invalid, or the provider reports one.
pub(super) async fn plan_data_instance(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    here: &ResourceInModule<'_>,
    key: InstanceKey,
) -> Result<ObjectOutcome, Reported> {
    let (vertex, addr) = (here.vertex, here.addr.instance_addr(key));
    let (client, ty) = vertex.find_provider(view.session, diags)?;
    let scope = here.scope(view, &addr.key);
    let written = view.instance_config(vertex.config, &addr);
    let config = written.evaluate(diags, &ty, &scope).await?;
    let resource_client = ResourceClient { client: &client, ty: &ty };
    view.validate_instance(diags, resource_client, &config, written).await?;
    if let Some(reason) = deferred_read_reason(view, here, &config) {
        let deferred = DeferredRead { addr: &addr, ty: &ty, config: &config, reason };
        return Ok(plan_deferred_read(view, here, deferred));
    }
    let DataReadResult { value, is_answered, object } =
        written.read_data_source(diags, resource_client, &config).await?;
    let refreshed = RefreshResult::Changed(object);
    if vertex.config.within.is_none() {
        written.check_postconditions(diags, scope, &value).await?;
        return Ok(ObjectOutcome::without_change(addr.key, refreshed, Some(value)));
    }
    // Data sources of a `check` block are read again while applying, after everything else.
    let reason = ActionReason::ReadBecauseCheckNested;
    let deferred = DeferredRead { addr: &addr, ty: &ty, config: &config, reason };
    let mut outcome = plan_deferred_read(view, here, deferred);
    outcome.refreshed = refreshed;
    if is_answered {
        outcome.change.iter_mut().for_each(|change| change.after = value.clone());
        outcome.value = Some(value);
    }
    Ok(outcome)
}

/// Why a data source cannot be read while planning, if it cannot.
fn deferred_read_reason(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    config: &Value,
) -> Option<ActionReason> {
    if !config.is_wholly_known() {
        return Some(ActionReason::ReadBecauseConfigUnknown);
    }
    // Only a normal plan waits: a data source that configures a provider must not wait for the
    // destruction of the objects of that provider.
    if view.options.mode != PlanMode::Normal {
        return None;
    }
    has_pending_dependency(view, here).then_some(ActionReason::ReadBecauseDependencyPending)
}

/// Whether a change is pending for any object that a data source must be read after.
fn has_pending_dependency(view: PlanContext<'_>, here: &ResourceInModule<'_>) -> bool {
    let query = PendingChangeQuery { node: here.vertex.node, module: &here.addr.module };
    is_reference_pending(view, here, query)
        || is_depends_on_pending(view, here, query)
        || is_call_depends_on_pending(view, here)
        || is_condition_dependency_pending(view, here, query)
}

/// Whether a change is pending for a managed resource that the block refers to directly.
fn is_reference_pending(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    query: PendingChangeQuery<'_>,
) -> bool {
    let mut names =
        here.vertex.config.references.iter().filter_map(|reference| reference.resource_name());
    names.any(|name| view.planned_resources.has_pending_change_in_module(query, name))
}

/// Whether a change is pending for an object that `depends_on` of the block names.
fn is_depends_on_pending(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    query: PendingChangeQuery<'_>,
) -> bool {
    let (planned_resources, closures) = (view.planned_resources, &view.analysis.closures);
    here.vertex.config.depends_on.iter().any(|reference| {
        planned_resources.is_depends_on_pending_in_module(closures, query, reference)
    })
}

/// Whether a change is pending for an object that `depends_on` of a call of an enclosing module
/// names.
fn is_call_depends_on_pending(view: PlanContext<'_>, here: &ResourceInModule<'_>) -> bool {
    let (config, closures) = (view.session.config, &view.analysis.closures);
    view.planned_resources.is_depends_on_of_call_pending(config, closures, here.vertex.node)
}

/// Whether the block has conditions, and a change is pending for any of its dependencies.
fn is_condition_dependency_pending(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    query: PendingChangeQuery<'_>,
) -> bool {
    let lifecycle = &here.vertex.config.lifecycle;
    let has_conditions =
        !lifecycle.preconditions.is_empty() || !lifecycle.postconditions.is_empty();
    has_conditions
        && view.analysis.closures.has_dependency_where(&here.vertex.addr, |addr| {
            view.planned_resources.has_pending_change(query, addr)
        })
}

/// A read that is deferred until the apply, and the reason.
struct DeferredRead<'a> {
    addr: &'a InstanceAddr,
    ty: &'a ResourceType,
    config: &'a Value,
    reason: ActionReason,
}

/// Plans an instance that is read while applying.
fn plan_deferred_read(
    view: PlanContext<'_>,
    here: &ResourceInModule<'_>,
    deferred: DeferredRead<'_>,
) -> ObjectOutcome {
    let DeferredRead { addr, ty, config, reason } = deferred;
    if view.options.mode != PlanMode::Normal {
        // The next run that changes something reads it, and then it may have any value.
        let value = Value::unknown(ty.ty.clone());
        return ObjectOutcome::without_change(
            addr.key.clone(),
            RefreshResult::Unchanged,
            Some(value),
        );
    }
    let null = Value::null(ty.ty.clone());
    let unknown = unmark_value(&Value::unknown(ty.ty.clone()));
    let proposed = proposed_new(ty.schema_block(), &unknown, &unmark_value(config));
    let after = add_marks(ty, proposed, &sensitive_paths(config));
    let provider = here.vertex.provider.clone();
    let change = Change {
        reason: Some(reason),
        config_known: false,
        dependencies: view.analysis.closures.dependencies_of(&here.vertex.addr),
        ..Change::from_values(addr.clone(), provider, Action::Read, null, after.clone())
    };
    let outcome =
        ObjectOutcome::without_change(addr.key.clone(), RefreshResult::Unchanged, Some(after));
    ObjectOutcome { change: Some(change), ..outcome }
}
