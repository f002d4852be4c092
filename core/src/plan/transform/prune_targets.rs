//! When targets were given, keeps only those and their dependencies, and outputs that need nothing
//! else.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{ConfigResourceAddr, Mode as ResourceMode, ResourceAddr};
use crate::graph::{Draft, Edge};
use crate::plan::transform::Inputs;
use crate::plan::vertex::{ResourceVertex, Vertex};
use crate::plan::{Mode, Options};
use crate::session::Session;
use crate::shared_graph::{EdgeReason, SharedVertex};

pub(in crate::plan) fn prune<'c>(
    inputs: Inputs<'c>,
    draft: &Draft<Vertex<'c>, EdgeReason>,
) -> Vec<bool> {
    let targets = &inputs.options.targets;
    if targets.is_empty() {
        return vec![true; draft.vertices().len()];
    }
    let dragged = destroy_dependents(inputs.session, inputs.options);
    let written = |resource: &ResourceVertex<'_>| {
        let mut held = resource.prior.iter().map(|(module, _)| resource.within(module));
        targets.iter().any(|target| target.touches_config(&resource.addr))
            || held.any(|addr| dragged.contains(&addr))
    };
    let targeted = |addr: &ResourceAddr| {
        targets.iter().any(|target| target.touches(addr)) || dragged.contains(addr)
    };
    let wanted = draft.vertices().iter().map(|vertex| match vertex {
        Vertex::Resource(resource) => written(resource),
        Vertex::Orphan(orphan) => targeted(&orphan.addr),
        Vertex::SharedVertex(_) | Vertex::Read(_) => false,
    });
    let mut keep = with_dependencies(inputs, draft, wanted.collect());
    keep_satisfied_outputs(draft, &mut keep);
    keep
}

/// The resources that are destroyed although they are no targets, because they were made after a
/// target that is destroyed.
pub(in crate::plan) fn destroy_dependents(
    session: &Session<'_>,
    options: &Options,
) -> BTreeSet<ResourceAddr> {
    let mut dragged = BTreeSet::new();
    if options.targets.is_empty() || options.mode != Mode::Destroy {
        return dragged;
    }
    let is_doomed = |addr: &ResourceAddr| addr.resource.mode() == ResourceMode::Managed;
    let mut dependents: BTreeMap<&ConfigResourceAddr, BTreeSet<&ResourceAddr>> = BTreeMap::new();
    let mut queue = Vec::new();
    for (addr, state) in session.state.resources.iter().filter(|(addr, _)| is_doomed(addr)) {
        for object in state.objects() {
            for on in object.dependencies.iter() {
                dependents.entry(on).or_default().insert(addr);
            }
        }
        if options.targets.iter().any(|target| target.touches(addr)) {
            queue.push(addr);
        }
    }
    while let Some(addr) = queue.pop() {
        for &dependent in dependents.get(&addr.config()).into_iter().flatten() {
            // Recorded dependencies name no instances, and the instances of a module are
            // independent of each other.
            let is_beside =
                dependent.module != addr.module && dependent.module.path() == addr.module.path();
            if !is_beside && dragged.insert(dependent.clone()) {
                queue.push(dependent);
            }
        }
    }
    dragged
}

/// Adds to the wanted vertices all their dependencies. For a resource that is destroyed that is
/// only its provider: the references of its block need not have a value any more.
pub(in crate::plan) fn with_dependencies(
    inputs: Inputs<'_>,
    draft: &Draft<Vertex<'_>, EdgeReason>,
    wanted: Vec<bool>,
) -> Vec<bool> {
    let destroying = inputs.options.mode == Mode::Destroy;
    let is_doomed = |vertex: &Vertex<'_>| matches!(vertex, Vertex::Resource(r) if destroying && r.addr.resource.mode() == ResourceMode::Managed);
    let counts = |edge: &Edge<EdgeReason>| {
        edge.why == EdgeReason::Provider || !is_doomed(&draft[edge.dependent])
    };
    draft.dependencies(counts).reach(wanted)
}

/// An output stays if it stands on resources, and on none that was pruned.
fn keep_satisfied_outputs(draft: &Draft<Vertex<'_>, EdgeReason>, keep: &mut [bool]) {
    let (dependencies, dependents) = (draft.dependencies(|_| true), draft.dependents());
    let resources = |kept: bool| -> Vec<bool> {
        let is_one = |vertex: &Vertex<'_>| matches!(vertex, Vertex::Resource(_));
        draft.vertices().iter().zip(&*keep).map(|(it, is)| is_one(it) && *is == kept).collect()
    };
    let (lost, kept) = (dependents.reach(resources(false)), dependents.reach(resources(true)));
    let is_output = |vertex: &Vertex<'_>| matches!(vertex, Vertex::SharedVertex(SharedVertex::Value(value)) if value.root_output().is_some());
    let outputs = draft.vertices().iter().map(is_output).zip(kept.iter().zip(&lost));
    let satisfied = outputs.map(|(is_output, (kept, lost))| is_output && *kept && !*lost);
    for (keep, needed) in keep.iter_mut().zip(dependencies.reach(satisfied.collect())) {
        *keep |= needed;
    }
}
