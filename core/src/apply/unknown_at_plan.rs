//! Values and conditions that were unknown while planning. They are evaluated again while applying,
//! even if nothing depends on them, since their errors show only then. Known ones are not evaluated
//! twice.

use std::collections::BTreeSet;

use super::vertex::{ApplyVertex, InstanceVertex};
use super::vertex_index::GraphBuilder;
use crate::addr::{InstanceAddr, ModulePath, ResourceAddr};
use crate::change::Action;
use crate::eval::vertex::{NamedValueBlock, ValueVertex};
use crate::plan::{Plan, PlanMode};
use crate::state::checks::{CheckResult, CheckStatus, CheckSubject};

/// Returns the unchanged objects with conditions whose result was unknown.
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

/// Selects the vertices of values that planning could not determine, as flags parallel to the
/// vertices. None is selected in a destroy or targeted plan.
pub(super) fn unknown_value_vertices(plan: &Plan, draft: &GraphBuilder<'_>) -> Vec<bool> {
    let vertices = draft.vertices();
    // When everything is destroyed, values change and are not shown again.
    if plan.mode == PlanMode::Destroy || !plan.targets.is_empty() {
        return vec![false; vertices.len()];
    }
    let subjects: BTreeSet<(&ModulePath, &CheckSubject)> =
        unknown_check_results(plan).map(|result| (&result.module, &result.subject)).collect();
    let unknown = vertices.iter().map(|vertex| is_unknown_after_plan(vertex, &subjects)).collect();
    let excluded = vertices.iter().map(|vertex| is_done_of_excluded(vertex, plan)).collect();
    let dependents = draft.dependents();
    let depends_on_unknown: Vec<bool> = dependents.reachable_from(unknown);
    // Dependents of an excluded resource were not planned.
    let depends_on_excluded: Vec<bool> = dependents.reachable_from(excluded);
    let is_warned_of = |value: &ValueVertex<'_>| {
        plan.mode == PlanMode::RefreshOnly && is_output_with_preconditions(value)
    };
    let is_selected = |(index, vertex): (usize, &ApplyVertex<'_>)| {
        vertex.as_value().is_some_and(|value| {
            !depends_on_excluded[index] && (depends_on_unknown[index] || is_warned_of(value))
        })
    };
    vertices.iter().enumerate().map(is_selected).collect()
}

/// Whether a vertex is an instance with unknown planned values, or a value with a condition whose
/// result was unknown.
fn is_unknown_after_plan(
    vertex: &ApplyVertex<'_>,
    subjects: &BTreeSet<(&ModulePath, &CheckSubject)>,
) -> bool {
    let has_unknown_condition = |value: &ValueVertex<'_>| {
        let subject = value.condition_subject();
        subject.is_some_and(|subject| subjects.contains(&(&value.node.path, &subject)))
    };
    vertex.as_instance().is_some_and(has_unknown_result)
        || vertex.as_value().is_some_and(has_unknown_condition)
}

/// Whether a vertex is the join of a resource with excluded instances.
fn is_done_of_excluded(vertex: &ApplyVertex<'_>, plan: &Plan) -> bool {
    vertex.done_resource().is_some_and(|addr| {
        plan.excludes.iter().any(|target| target.may_contain_config_resource(addr))
    })
}

/// Objects with conditions whose result was unknown.
fn unknown_check_results(plan: &Plan) -> impl Iterator<Item = &CheckResult> {
    plan.checks.0.iter().filter(|result| result.status == CheckStatus::Unknown)
}

/// Whether an object has values that are known only after it is created or changed.
fn has_unknown_result(instance: &InstanceVertex<'_>) -> bool {
    // Known ones do not change: the contract forbids it.
    let change = instance.change;
    // A data source that is read while applying has no planned value.
    change.action == Action::Read || !change.after.is_wholly_known()
}

/// Whether a value is an output with preconditions. In a refresh-only plan these only warn, and while
/// applying they cause errors.
fn is_output_with_preconditions(value: &ValueVertex<'_>) -> bool {
    matches!(value.value, NamedValueBlock::Output(output) if !output.preconditions.is_empty())
}
