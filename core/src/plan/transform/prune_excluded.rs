//! When something is excluded, removes it, and everything that depends on it. A resource that is
//! only excluded in part keeps its vertex; its visit decides which of its instances are left alone.

use crate::addr::{ConfigResourceAddr, Target};
use crate::graph::{Draft, numbered};
use crate::plan::Mode;
use crate::plan::transform::Inputs;
use crate::plan::vertex::Vertex;
use crate::shared_graph::EdgeReason;

pub(in crate::plan) fn prune<'c>(
    inputs: Inputs<'c>,
    draft: &Draft<Vertex<'c>, EdgeReason>,
) -> Vec<bool> {
    let vertices = draft.vertices();
    let excludes = &inputs.options.excludes;
    // Destroying goes in the opposite order, and by the state: see `ExcludedFromDestroy`.
    if excludes.is_empty() || inputs.options.mode == Mode::Destroy {
        return vec![true; vertices.len()];
    }
    let is_excluded = |vertex: &Vertex<'_>, how: fn(&Target, &ConfigResourceAddr) -> bool| {
        matches!(vertex, Vertex::Resource(resource)
            if excludes.iter().any(|target| how(target, &resource.addr)))
    };
    let dependents = draft.dependents();
    let mut stand_on_it = vec![false; vertices.len()];
    for (id, vertex) in numbered(vertices) {
        // Also if only some instances are excluded: an edge names no instance, so each dependent
        // may need one that is left out.
        if is_excluded(vertex, Target::touches_config) {
            dependents.of(id).iter().for_each(|on| stand_on_it[on.index()] = true);
        }
    }
    let lost = dependents.reach(stand_on_it);
    let covered = vertices.iter().map(|vertex| is_excluded(vertex, Target::covers_config));
    covered.zip(lost).map(|(covered, lost)| !covered && !lost).collect()
}
