//! When targets were given, keeps only those and what they need, and outputs that need nothing else.

use std::collections::VecDeque;

use crate::addr::ResourceAddr;
use crate::eval::vertex::ValueVertex;
use crate::graph::{Draft, VertexId};
use crate::phase::Why;
use crate::plan::build::Inputs;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn prune<'c>(inputs: Inputs<'c>, draft: &Draft<Vertex<'c>, Why>) -> Vec<bool> {
    let targets = &inputs.options.targets;
    if targets.is_empty() {
        return vec![true; draft.vertices().len()];
    }
    let targeted = |addr: &ResourceAddr| targets.iter().any(|target| target.touches(addr));
    let wanted = draft.vertices().iter().map(|vertex| match vertex {
        Vertex::Resource(resource) => targeted(&resource.addr),
        Vertex::Orphan(orphan) => targeted(&orphan.addr),
        Vertex::Value(_) | Vertex::Provider(_) => false,
    });
    let mut keep = with_dependencies(draft, wanted.collect());
    keep_satisfied_outputs(draft, &mut keep);
    keep
}

/// Adds to the wanted vertices everything they wait for.
pub(in crate::plan) fn with_dependencies(
    draft: &Draft<Vertex<'_>, Why>,
    wanted: Vec<bool>,
) -> Vec<bool> {
    let dependencies = dependencies(draft);
    let mut keep = wanted;
    let mut queue: VecDeque<usize> = (0..keep.len()).filter(|&at| keep[at]).collect();
    while let Some(at) = queue.pop_front() {
        for on in &dependencies[at] {
            if !std::mem::replace(&mut keep[on.index()], true) {
                queue.push_back(on.index());
            }
        }
    }
    keep
}

fn dependencies(draft: &Draft<Vertex<'_>, Why>) -> Vec<Vec<VertexId>> {
    let mut dependencies = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        dependencies[edge.dependent.index()].push(edge.dependency);
    }
    dependencies
}

/// An output stays if it can be given without anything that was pruned.
fn keep_satisfied_outputs(draft: &Draft<Vertex<'_>, Why>, keep: &mut [bool]) {
    let dependencies = dependencies(draft);
    let is_resource = |id: &VertexId| matches!(draft[*id], Vertex::Resource(_));
    for (at, vertex) in draft.vertices().iter().enumerate() {
        let Vertex::Value(ValueVertex::Output(_)) = vertex else { continue };
        let mut seen = vec![VertexId(u32::try_from(at).unwrap_or(u32::MAX))];
        let mut next = 0;
        while let Some(id) = seen.get(next) {
            for on in &dependencies[id.index()] {
                if !seen.contains(on) {
                    seen.push(*on);
                }
            }
            next += 1;
        }
        let mut resources = seen.iter().filter(|id| is_resource(id)).peekable();
        if resources.peek().is_some() && resources.all(|id| keep[id.index()]) {
            seen.iter().for_each(|id| keep[id.index()] = true);
        }
    }
}
