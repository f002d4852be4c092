//! When everything is to be destroyed, keeps only the objects of the state and the dependencies of
//! their providers: unneeded values may not even have a value any more.

use crate::graph::GraphDraft;
use crate::plan::PlanMode;
use crate::plan::transform::TransformInputs;
use crate::plan::transform::prune_targets::add_wanted_dependencies;
use crate::plan::vertex::PlanVertex;
use crate::shared_graph::EdgeReason;

pub(in crate::plan) fn prune_for_destroy<'c>(
    inputs: TransformInputs<'c>,
    draft: &GraphDraft<PlanVertex<'c>, EdgeReason>,
) -> Vec<bool> {
    if inputs.options.mode != PlanMode::Destroy {
        return vec![true; draft.vertices().len()];
    }
    let in_state = draft.vertices().iter().map(|vertex| vertex.has_managed_objects());
    add_wanted_dependencies(inputs, draft, in_state.collect())
}
