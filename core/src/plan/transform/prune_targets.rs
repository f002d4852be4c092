//! When targets were given, keeps only those and what they need, and outputs that need nothing else.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{ConfigResourceAddr, Mode as ResourceMode, ResourceAddr};
use crate::graph::Draft;
use crate::phase::Why;
use crate::plan::build::Inputs;
use crate::plan::vertex::{ResourceVertex, Vertex};
use crate::plan::{Mode, Options};
use crate::session::Session;

pub(in crate::plan) fn prune<'c>(inputs: Inputs<'c>, draft: &Draft<Vertex<'c>, Why>) -> Vec<bool> {
    let targets = &inputs.options.targets;
    if targets.is_empty() {
        return vec![true; draft.vertices().len()];
    }
    let dragged = dragged(inputs.session, inputs.options);
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
        Vertex::Value(_)
        | Vertex::Call(_)
        | Vertex::Closed(_)
        | Vertex::Provider(_)
        | Vertex::Read(_)
        | Vertex::Close(_) => false,
    });
    let mut keep = with_dependencies(inputs, draft, wanted.collect());
    keep_satisfied_outputs(draft, &mut keep);
    keep
}

/// The resources that are destroyed although they are no targets, because they were made after a
/// target that is destroyed.
pub(in crate::plan) fn dragged(session: &Session<'_>, options: &Options) -> BTreeSet<ResourceAddr> {
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
            if dragged.insert(dependent.clone()) {
                queue.push(dependent);
            }
        }
    }
    dragged
}

/// Adds to the wanted vertices everything they wait for. Of a resource that is destroyed that is only
/// its provider: what its block mentions need not have a value any more.
pub(in crate::plan) fn with_dependencies(
    inputs: Inputs<'_>,
    draft: &Draft<Vertex<'_>, Why>,
    wanted: Vec<bool>,
) -> Vec<bool> {
    let destroying = inputs.options.mode == Mode::Destroy;
    let is_doomed = |vertex: &Vertex<'_>| matches!(vertex, Vertex::Resource(r) if destroying && r.addr.resource.mode() == ResourceMode::Managed);
    let mut dependencies = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        if edge.why == Why::Provider || !is_doomed(&draft[edge.dependent]) {
            dependencies[edge.dependent.index()].push(edge.dependency);
        }
    }
    let mut keep = wanted;
    let mut queue: Vec<usize> = (0..keep.len()).filter(|&at| keep[at]).collect();
    while let Some(at) = queue.pop() {
        for on in &dependencies[at] {
            if !std::mem::replace(&mut keep[on.index()], true) {
                queue.push(on.index());
            }
        }
    }
    keep
}

/// An output stays if it stands on resources, and on none that was pruned.
fn keep_satisfied_outputs(draft: &Draft<Vertex<'_>, Why>, keep: &mut [bool]) {
    let vertices = draft.vertices();
    let mut dependencies = vec![Vec::new(); vertices.len()];
    let mut dependents = vec![Vec::new(); vertices.len()];
    for edge in draft.edges().iter() {
        dependencies[edge.dependent.index()].push(edge.dependency.index());
        dependents[edge.dependency.index()].push(edge.dependent.index());
    }
    let is_resource = |at: usize| matches!(vertices[at], Vertex::Resource(_));
    let lost: Vec<usize> = (0..keep.len()).filter(|&at| is_resource(at) && !keep[at]).collect();
    let kept: Vec<usize> = (0..keep.len()).filter(|&at| is_resource(at) && keep[at]).collect();
    let (lost, kept) = (reached(&dependents, lost), reached(&dependents, kept));
    let is_output =
        |at: usize| matches!(&vertices[at], Vertex::Value(value) if value.is_root_output());
    let outputs = (0..keep.len()).filter(|&at| is_output(at) && kept[at] && !lost[at]);
    for (at, needed) in reached(&dependencies, outputs.collect()).into_iter().enumerate() {
        keep[at] |= needed;
    }
}

/// Where the edges lead from some vertices, these included.
fn reached(edges: &[Vec<usize>], from: Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut queue = from;
    while let Some(at) = queue.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            queue.extend(&edges[at]);
        }
    }
    reached
}
