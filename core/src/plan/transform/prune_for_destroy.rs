//! When everything is to be destroyed, keeps only the objects of the state and the dependencies of
//! their providers: unneeded values may not even have a value any more.

use crate::addr::Mode as ResourceMode;
use crate::graph::Draft;
use crate::plan::Mode;
use crate::plan::transform::Inputs;
use crate::plan::transform::prune_targets::with_dependencies;
use crate::plan::vertex::Vertex;
use crate::shared_graph::EdgeReason;

pub(in crate::plan) fn prune<'c>(
    inputs: Inputs<'c>,
    draft: &Draft<Vertex<'c>, EdgeReason>,
) -> Vec<bool> {
    if inputs.options.mode != Mode::Destroy {
        return vec![true; draft.vertices().len()];
    }
    let in_state = draft.vertices().iter().map(|vertex| match vertex {
        Vertex::Resource(resource) => {
            !resource.prior.is_empty() && resource.addr.resource.mode() == ResourceMode::Managed
        }
        Vertex::Orphan(_) => true,
        Vertex::SharedVertex(_) | Vertex::Read(_) => false,
    });
    with_dependencies(inputs, draft, in_state.collect())
}
