//! When something is excluded, removes it, and everything that depends on it. A resource that is
//! only excluded in part keeps its vertex; its visit decides which of its instances are excluded.

use crate::addr::{ConfigResourceAddr, Target};
use crate::graph::{GraphDraft, enumerate_vertices};
use crate::plan::PlanMode;
use crate::plan::transform::TransformInputs;
use crate::plan::vertex::PlanVertex;
use crate::shared_graph::EdgeReason;

pub(in crate::plan) fn prune_excluded<'c>(
    inputs: TransformInputs<'c>,
    draft: &GraphDraft<PlanVertex<'c>, EdgeReason>,
) -> Vec<bool> {
    let vertices = draft.vertices();
    let excludes = &inputs.options.excludes;
    // Destruction has the opposite order, and follows the state: see `ExcludedFromDestroy`.
    if excludes.is_empty() || inputs.options.mode == PlanMode::Destroy {
        return vec![true; vertices.len()];
    }
    let is_excluded = |vertex: &PlanVertex<'_>,
                       covers: fn(&Target, &ConfigResourceAddr) -> bool| {
        vertex
            .as_resource()
            .is_some_and(|resource| excludes.iter().any(|target| covers(target, &resource.addr)))
    };
    let dependents = draft.dependents();
    let mut depends_on_excluded = vec![false; vertices.len()];
    for (id, vertex) in enumerate_vertices(vertices) {
        // Also if only some instances are excluded: an edge names no instance, so each dependent
        // may need one that is left out.
        if is_excluded(vertex, Target::may_contain_config_resource) {
            dependents
                .neighbors(id)
                .iter()
                .for_each(|dependent| depends_on_excluded[dependent.index()] = true);
        }
    }
    let lost = dependents.reachable_from(depends_on_excluded);
    let covered =
        vertices.iter().map(|vertex| is_excluded(vertex, Target::contains_config_resource));
    covered.zip(lost).map(|(covered, lost)| !covered && !lost).collect()
}
