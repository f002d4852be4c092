//! Adds a vertex for reading the objects of each resource that waits for other resources: reading
//! needs a configured provider and nothing else, and the time it takes is most of the time of a
//! plan. Comes last, after everything that is computed from the graph, because the new vertices
//! carry no information about resources.

use crate::addr::Mode as ResourceMode;
use crate::graph::{Graph, VertexId};
use crate::plan::Options;
use crate::plan::vertex::{ReadVertex, ResourceVertex, Vertex};
use crate::session::Session;
use crate::shared_graph::{EdgeReason, SharedVertex};

/// Adds the vertices. A plan that covers only a part reads no more than it needs, and without
/// parallelism there is nothing to gain.
pub(in crate::plan) fn add<'c>(
    graph: Graph<Vertex<'c>, EdgeReason>,
    session: &Session<'_>,
    options: &Options,
) -> Graph<Vertex<'c>, EdgeReason> {
    let is_limited = !options.targets.is_empty() || !options.excludes.is_empty();
    if options.skip_refresh || is_limited || session.parallelism <= 1 {
        return graph;
    }
    let reads = reads(&graph);
    if reads.is_empty() {
        return graph;
    }
    let mut draft = graph.thaw();
    for EarlyRead { resource, provider, read } in reads {
        let read = draft.add(Vertex::Read(read));
        draft.connect(read, provider, EdgeReason::Provider);
        draft.connect(resource, read, EdgeReason::Order("plans what was read"));
    }
    draft.freeze().expect("each was put between two that were one behind the other")
}

/// Something to be read, and the vertices it stands between.
struct EarlyRead<'c> {
    resource: VertexId,
    provider: VertexId,
    read: ReadVertex<'c>,
}

/// Returns the resources to read ahead, in the order in which they can be planned: those planned
/// first are read first.
fn reads<'c>(graph: &Graph<Vertex<'c>, EdgeReason>) -> Vec<EarlyRead<'c>> {
    let mut waits = vec![false; graph.len()];
    let mut reads = Vec::new();
    for &id in graph.order() {
        let on = graph.dependencies(id);
        let is_late =
            |on: &&VertexId| waits[on.index()] || matches!(graph[**on], Vertex::Resource(_));
        let late: Vec<VertexId> = on.iter().filter(is_late).copied().collect();
        // Passed on through values, which wait for resources and are none.
        waits[id.index()] = !late.is_empty();
        let Vertex::Resource(resource) = &graph[id] else { continue };
        let ResourceVertex { addr, config, provider, prior, .. } = resource;
        let configures = |on: &&VertexId| matches!(&graph[**on], Vertex::SharedVertex(SharedVertex::Provider(it)) if it.addr == *provider);
        let Some(&configured) = on.iter().find(configures) else { continue };
        if is_read(resource) && late.iter().any(|on| *on != configured) {
            let (addr, provider, prior) = (addr.clone(), provider.clone(), prior.clone());
            let read = ReadVertex { addr, config, provider, prior };
            reads.push(EarlyRead { resource: id, provider: configured, read });
        }
    }
    reads
}

/// Whether there are objects to be read, by a provider that takes time for it.
fn is_read(resource: &ResourceVertex<'_>) -> bool {
    resource.addr.resource.mode() == ResourceMode::Managed
        && !resource.prior.is_empty()
        && !resource.provider.provider.is_builtin()
}
