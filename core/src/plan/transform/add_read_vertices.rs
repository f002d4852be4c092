//! Adds a vertex for reading the objects of each resource that waits for other resources: reading
//! needs a configured provider and nothing else, and the time it takes is most of the time of a
//! plan. Comes last, after everything that is computed from the graph, because the new vertices
//! carry no information about resources.

use crate::addr::ResourceMode;
use crate::graph::{Graph, VertexId};
use crate::plan::PlanOptions;
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::vertex::{EarlyReadVertex, PlanVertex};
use crate::session::Session;
use crate::shared_graph::EdgeReason;

/// Adds the vertices. A plan that covers only a part reads no more than it needs, and without
/// parallelism there is nothing to gain.
pub(in crate::plan) fn add_read_vertices<'c>(
    graph: Graph<PlanVertex<'c>, EdgeReason>,
    session: &Session<'_>,
    options: &PlanOptions,
) -> Graph<PlanVertex<'c>, EdgeReason> {
    let is_limited = !options.targets.is_empty() || !options.excludes.is_empty();
    if options.skip_refresh || is_limited || session.parallelism <= 1 {
        return graph;
    }
    let reads = resources_to_read_early(&graph);
    if reads.is_empty() {
        return graph;
    }
    let mut draft = graph.into_draft();
    for EarlyReadPlacement { resource, provider, read } in reads {
        let read = draft.add(read.into());
        draft.connect(read, provider, EdgeReason::Provider);
        draft.connect(resource, read, EdgeReason::DestroyOrder("plans what was read"));
    }
    draft.freeze().expect("each was put between two that were one behind the other")
}

/// An object to be read, and the vertices before and after it.
struct EarlyReadPlacement<'c> {
    resource: VertexId,
    provider: VertexId,
    read: EarlyReadVertex<'c>,
}

/// Returns the resources to read ahead, in the order in which they can be planned: those planned
/// first are read first.
fn resources_to_read_early<'c>(
    graph: &Graph<PlanVertex<'c>, EdgeReason>,
) -> Vec<EarlyReadPlacement<'c>> {
    let mut waits = vec![false; graph.len()];
    let mut reads = Vec::new();
    for &id in graph.topological_order() {
        let dependencies = graph.dependencies(id);
        let is_late = |dependency: &&VertexId| {
            waits[dependency.index()] || graph[**dependency].as_resource().is_some()
        };
        let late: Vec<VertexId> = dependencies.iter().filter(is_late).copied().collect();
        // Passed on through values, which wait for resources and are none.
        waits[id.index()] = !late.is_empty();
        let Some(resource) = graph[id].as_resource() else { continue };
        let ResourceVertex { addr, config, provider, prior, .. } = resource;
        let configures = |dependency: &&VertexId| {
            graph[**dependency].as_provider().is_some_and(|it| it.addr == *provider)
        };
        let Some(&configured) = dependencies.iter().find(configures) else { continue };
        if has_objects_to_read(resource) && late.iter().any(|dependency| *dependency != configured)
        {
            let (addr, provider, prior) = (addr.clone(), provider.clone(), prior.clone());
            let read = EarlyReadVertex { addr, config, provider, prior };
            reads.push(EarlyReadPlacement { resource: id, provider: configured, read });
        }
    }
    reads
}

/// Whether there are objects to be read, by a provider that takes time for it.
fn has_objects_to_read(resource: &ResourceVertex<'_>) -> bool {
    resource.addr.resource.mode() == ResourceMode::Managed
        && !resource.prior.is_empty()
        && !resource.provider.provider.is_builtin()
}
