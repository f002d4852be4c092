//! Draws the graph of a phase, with ends that the walk needs no vertices for: those of the
//! providers and that of the whole. The appearance of a vertex is each phase's own business.

use std::collections::BTreeMap;

use super::{EdgeReason, PhaseVertex, VertexKind as _};
use crate::graph::render::{self, RenderedVertex};
use crate::graph::{Graph, GraphDraft, enumerate_vertices};

/// Draws a graph in the DOT language. As tools for Terraform's graphs expect it, each provider has
/// an end that waits for everything it does, and everything comes to one root. `more` may add ends
/// that the walk needs no vertices for either.
///
/// # Panics
/// When the edges that `more` adds close a cycle.
pub(crate) fn draw_phase_graph<'c, V: PhaseVertex<'c>>(
    graph: &Graph<V, EdgeReason>,
    look: impl Fn(&V) -> RenderedVertex,
    more: impl FnOnce(&mut GraphDraft<RenderedVertex>),
) -> String {
    let mut draft: GraphDraft<RenderedVertex> = GraphDraft::new();
    let end = |name: String| RenderedVertex { name, look: None };
    for vertex in graph.vertices() {
        draft.add(look(vertex));
    }
    for id in graph.vertex_ids() {
        graph.dependencies(id).iter().for_each(|dependency| draft.connect(id, *dependency, ()));
    }
    more(&mut draft);
    let mut closing = BTreeMap::new();
    for (at, vertex) in enumerate_vertices(graph.vertices()) {
        let provider_addr = vertex.as_provider().map(|provider| &provider.addr);
        let Some(addr) = vertex.provider_config().or(provider_addr) else { continue };
        let close =
            *closing.entry(addr).or_insert_with(|| draft.add(end(format!("{addr} (close)"))));
        draft.connect(close, at, ());
    }
    let dependents = draft.dependents();
    let last: Vec<_> = enumerate_vertices(draft.vertices())
        .map(|(at, _)| at)
        .filter(|at| dependents.neighbors(*at).is_empty())
        .collect();
    let root = draft.add(end("root".to_owned()));
    last.into_iter().for_each(|at| draft.connect(root, at, ()));
    let graph = draft.freeze().expect("nothing waits for what was added, so it closes no cycle");
    render::graph_to_dot(&graph, |_, drawn| drawn.clone())
}
