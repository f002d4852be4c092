//! When targets were given, keeps only those and what they need, and outputs that need nothing else.

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
    let keep = with_dependencies(draft, wanted.collect());
    keep_satisfied_outputs(draft, keep)
}

/// Adds to the wanted vertices everything they wait for.
pub(in crate::plan) fn with_dependencies(
    draft: &Draft<Vertex<'_>, Why>,
    wanted: Vec<bool>,
) -> Vec<bool> {
    let mut neighbours = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        neighbours[edge.dependent.index()].push(edge.dependency);
    }
    with_reachable(&neighbours, wanted)
}

/// Adds everything that waits for them.
fn with_dependents(draft: &Draft<Vertex<'_>, Why>, wanted: Vec<bool>) -> Vec<bool> {
    let mut neighbours = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        neighbours[edge.dependency.index()].push(edge.dependent);
    }
    with_reachable(&neighbours, wanted)
}

fn with_reachable(neighbours: &[Vec<VertexId>], wanted: Vec<bool>) -> Vec<bool> {
    let mut found = wanted;
    let mut queue: Vec<usize> = (0..found.len()).filter(|&at| found[at]).collect();
    while let Some(at) = queue.pop() {
        for next in &neighbours[at] {
            if !std::mem::replace(&mut found[next.index()], true) {
                queue.push(next.index());
            }
        }
    }
    found
}

/// An output stays if it stands on resources and all of them are kept.
fn keep_satisfied_outputs(draft: &Draft<Vertex<'_>, Why>, keep: Vec<bool>) -> Vec<bool> {
    let resources = |kept: bool| -> Vec<bool> {
        let vertices = draft.vertices().iter().zip(&keep);
        vertices.map(|(v, keep)| matches!(v, Vertex::Resource(_)) && *keep == kept).collect()
    };
    let on_kept = with_dependents(draft, resources(true));
    let on_pruned = with_dependents(draft, resources(false));
    let mut wanted = keep;
    for (at, vertex) in draft.vertices().iter().enumerate() {
        if let Vertex::Value(ValueVertex::Output(_)) = vertex {
            wanted[at] |= on_kept[at] && !on_pruned[at];
        }
    }
    with_dependencies(draft, wanted)
}
