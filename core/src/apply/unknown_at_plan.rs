//! Values and conditions that planning could not settle: values that were unknown, and conditions
//! whose result was unknown. They are evaluated again while applying, also where nothing needs
//! them, since their errors show only then. Settled ones are not evaluated twice.

use std::collections::BTreeSet;

use super::vertex::{ApplyVertex, InstanceVertex};
use super::vertex_index::GraphBuilder;
use crate::addr::{InstanceAddr, ModulePath, ResourceAddr};
use crate::change::Action;
use crate::eval::vertex::{NamedValueBlock, ValueVertex};
use crate::plan::{Plan, PlanMode};
use crate::state::checks::{CheckResult, CheckStatus, CheckSubject};

/// The objects that do not change, but have conditions that are not settled.
pub(super) fn unchanged_with_unknown_conditions(plan: &Plan) -> BTreeSet<InstanceAddr> {
    let mut addrs = BTreeSet::new();
    for result in unknown_check_results(plan) {
        let CheckSubject::Resource(name) = &result.subject else { continue };
        let objects = result.objects.iter().flatten();
        for object in objects.filter(|object| object.status == CheckStatus::Unknown) {
            let addr = ResourceAddr { module: object.module.clone(), resource: name.clone() };
            addrs.insert(addr.instance_addr(object.key.clone()));
        }
    }
    addrs
}

/// Selects the vertices of values that are not settled, for a plan of everything.
pub(super) fn unknown_value_vertices(plan: &Plan, draft: &GraphBuilder<'_>) -> Vec<bool> {
    let n_vertices = draft.vertices().len();
    // When everything is destroyed, values change and are not shown again.
    if plan.mode == PlanMode::Destroy || !plan.targets.is_empty() {
        return vec![false; n_vertices];
    }
    let subjects: BTreeSet<(&ModulePath, &CheckSubject)> =
        unknown_check_results(plan).map(|result| (&result.module, &result.subject)).collect();
    let is_judged = |value: &ValueVertex<'_>| {
        value
            .condition_subject()
            .is_some_and(|subject| subjects.contains(&(&value.node.path, &subject)))
    };
    let dependents = draft.dependents();
    let all = |is: &dyn Fn(&ApplyVertex<'_>) -> bool| draft.vertices().iter().map(is).collect();
    let behind = dependents.reachable_from(all(&|vertex| {
        vertex.as_instance().is_some_and(is_result_open_after_plan)
            || vertex.as_value().is_some_and(is_judged)
    }));
    // Dependents of something that was left out were not planned.
    let left_out = dependents.reachable_from(all(&|vertex| {
        vertex.done_resource().is_some_and(|addr| {
            plan.excludes.iter().any(|target| target.may_contain_config_resource(addr))
        })
    }));
    let is_warned_of = |value: &ValueVertex<'_>| {
        plan.mode == PlanMode::RefreshOnly && is_output_with_preconditions(value)
    };
    let found = draft.vertices().iter().zip(behind.into_iter().zip(left_out));
    found
        .map(|(vertex, (behind, left_out))| {
            let value = vertex.as_value().filter(|_| !left_out);
            value.is_some_and(|value| behind || is_warned_of(value))
        })
        .collect()
}

/// Objects with conditions whose result was unknown.
fn unknown_check_results(plan: &Plan) -> impl Iterator<Item = &CheckResult> {
    plan.checks.0.iter().filter(|result| result.status == CheckStatus::Unknown)
}

/// Whether an object has values that show only when it is made.
fn is_result_open_after_plan(instance: &InstanceVertex<'_>) -> bool {
    // Those that were known are the same then: its provider is held to that.
    let change = instance.change;
    // A data source that is read while applying has no planned value that it could be held to.
    change.action == Action::Read || !change.after.is_wholly_known()
}

/// While planning what is only refreshed they warn, and now they do more.
fn is_output_with_preconditions(value: &ValueVertex<'_>) -> bool {
    matches!(value.value, NamedValueBlock::Output(output) if !output.preconditions.is_empty())
}
