//! When something is excluded, takes it out, and everything that stands on it. What is only excluded
//! in part keeps its vertex; which of its instances are left alone is decided when it is visited.

use crate::addr::{ConfigResourceAddr, Target};
use crate::graph::Draft;
use crate::phase::Why;
use crate::plan::Mode;
use crate::plan::build::Inputs;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn prune<'c>(inputs: Inputs<'c>, draft: &Draft<Vertex<'c>, Why>) -> Vec<bool> {
    let vertices = draft.vertices();
    let excludes = &inputs.options.excludes;
    // Destroying goes the other way round, and by what the state says: see `Spared`.
    if excludes.is_empty() || inputs.options.mode == Mode::Destroy {
        return vec![true; vertices.len()];
    }
    let mut dependents = vec![Vec::new(); vertices.len()];
    for edge in draft.edges().iter() {
        dependents[edge.dependency.index()].push(edge.dependent.index());
    }
    let is_excluded = |vertex: &Vertex<'_>, how: fn(&Target, &ConfigResourceAddr) -> bool| {
        matches!(vertex, Vertex::Resource(resource)
            if excludes.iter().any(|target| how(target, &resource.addr)))
    };
    let touched = vertices.iter().map(|vertex| is_excluded(vertex, Target::touches_config));
    let mut queue: Vec<usize> = Vec::new();
    for (at, touched) in touched.enumerate() {
        queue.extend(dependents[at].iter().filter(|_| touched));
    }
    let mut keep: Vec<bool> =
        vertices.iter().map(|vertex| !is_excluded(vertex, Target::covers_config)).collect();
    let mut seen = vec![false; vertices.len()];
    while let Some(at) = queue.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            keep[at] = false;
            queue.extend(&dependents[at]);
        }
    }
    keep
}
