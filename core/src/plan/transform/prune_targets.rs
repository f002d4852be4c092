//! When targets were given, keeps only those and their dependencies, and outputs that need nothing
//! else.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{ConfigResourceAddr, ResourceAddr, ResourceMode};
use crate::graph::{Edge, GraphDraft};
use crate::plan::transform::TransformInputs;
use crate::plan::vertex::PlanVertex;
use crate::plan::vertex_kind::PlanTargets;
use crate::plan::{PlanMode, PlanOptions};
use crate::session::Session;
use crate::shared_graph::EdgeReason;

pub(in crate::plan) fn prune_targets<'c>(
    inputs: TransformInputs<'c>,
    draft: &GraphDraft<PlanVertex<'c>, EdgeReason>,
) -> Vec<bool> {
    let targets = &inputs.options.targets;
    if targets.is_empty() {
        return vec![true; draft.vertices().len()];
    }
    let destroyed_dependents = &dependents_to_destroy(inputs.session, inputs.options);
    let targets = PlanTargets { targets, destroyed_dependents };
    let wanted = draft.vertices().iter().map(|vertex| vertex.is_targeted(targets));
    let mut keep = add_wanted_dependencies(inputs, draft, wanted.collect());
    keep_outputs_without_pruned_needs(draft, &mut keep);
    keep
}

/// The resources that are destroyed without being targets, because they were created after a
/// target that is destroyed.
pub(in crate::plan) fn dependents_to_destroy(
    session: &Session<'_>,
    options: &PlanOptions,
) -> BTreeSet<ResourceAddr> {
    let mut destroyed_dependents = BTreeSet::new();
    if options.targets.is_empty() || options.mode != PlanMode::Destroy {
        return destroyed_dependents;
    }
    let is_doomed = |addr: &ResourceAddr| addr.resource.mode() == ResourceMode::Managed;
    let mut dependents: BTreeMap<&ConfigResourceAddr, BTreeSet<&ResourceAddr>> = BTreeMap::new();
    let mut queue = Vec::new();
    for (addr, state) in session.state.resources.iter().filter(|(addr, _)| is_doomed(addr)) {
        for object in state.all_objects() {
            for dependency in object.dependencies.iter() {
                dependents.entry(dependency).or_default().insert(addr);
            }
        }
        if options.targets.iter().any(|target| target.may_contain_resource(addr)) {
            queue.push(addr);
        }
    }
    while let Some(addr) = queue.pop() {
        for &dependent in dependents.get(&addr.config_addr()).into_iter().flatten() {
            // Recorded dependencies name no instances, and the instances of a module are
            // independent of each other.
            let is_beside =
                dependent.module != addr.module && dependent.module.path() == addr.module.path();
            if !is_beside && destroyed_dependents.insert(dependent.clone()) {
                queue.push(dependent);
            }
        }
    }
    destroyed_dependents
}

/// Adds to the wanted vertices all their dependencies.
pub(in crate::plan) fn add_wanted_dependencies(
    inputs: TransformInputs<'_>,
    draft: &GraphDraft<PlanVertex<'_>, EdgeReason>,
    wanted: Vec<bool>,
) -> Vec<bool> {
    // For a resource that is destroyed that is only its provider: the references of its block need
    // not have a value any more.
    let destroying = inputs.options.mode == PlanMode::Destroy;
    let is_doomed = |vertex: &PlanVertex<'_>| {
        let resource = vertex.as_resource().filter(|_| destroying);
        resource.is_some_and(|it| it.addr.resource.mode() == ResourceMode::Managed)
    };
    let counts = |edge: &Edge<EdgeReason>| {
        edge.reason == EdgeReason::Provider || !is_doomed(&draft[edge.dependent])
    };
    draft.dependencies_by_edges_where(counts).reachable_from(wanted)
}

/// An output is kept if it depends on resources, and on none that was pruned.
fn keep_outputs_without_pruned_needs(
    draft: &GraphDraft<PlanVertex<'_>, EdgeReason>,
    keep: &mut [bool],
) {
    let (dependencies, dependents) =
        (draft.dependencies_by_edges_where(|_| true), draft.dependents());
    let resources = |is_kept: bool| -> Vec<bool> {
        let is_one = |vertex: &PlanVertex<'_>| vertex.as_resource().is_some();
        draft.vertices().iter().zip(&*keep).map(|(it, is)| is_one(it) && *is == is_kept).collect()
    };
    let (depends_on_pruned, depends_on_kept) =
        (dependents.reachable_from(resources(false)), dependents.reachable_from(resources(true)));
    let is_output = |vertex: &PlanVertex<'_>| {
        vertex.as_value().is_some_and(|value| value.as_root_output().is_some())
    };
    let outputs =
        draft.vertices().iter().map(is_output).zip(depends_on_kept.iter().zip(&depends_on_pruned));
    let satisfied =
        outputs.map(|(is_output, (is_kept, is_lost))| is_output && *is_kept && !*is_lost);
    for (keep, needed) in keep.iter_mut().zip(dependencies.reachable_from(satisfied.collect())) {
        *keep |= needed;
    }
}
