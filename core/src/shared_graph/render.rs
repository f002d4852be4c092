//! Draws the graph of a phase, with ends that the walk needs no vertices for: those of the
//! providers and that of the whole. The appearance of a vertex is each phase's own business.

use std::collections::BTreeMap;

use super::{EdgeReason, SharedVertex, Vertex};
use crate::graph::render::{self, RenderedVertex};
use crate::graph::{Draft, Graph, numbered};

/// Draws a graph in the DOT language. As tools for Terraform's graphs expect it, each provider has
/// an end that waits for everything it does, and everything comes to one root. `more` may add ends
/// that the walk needs no vertices for either.
///
/// # Panics
/// When the edges that `more` adds close a cycle.
pub(crate) fn draw<'c, V: Vertex<'c>>(
    graph: &Graph<V, EdgeReason>,
    look: impl Fn(&V) -> RenderedVertex,
    more: impl FnOnce(&mut Draft<RenderedVertex>),
) -> String {
    let mut draft: Draft<RenderedVertex> = Draft::new();
    let end = |name: String| RenderedVertex { name, look: None };
    for vertex in graph.vertices() {
        draft.add(look(vertex));
    }
    for id in graph.ids() {
        graph.dependencies(id).iter().for_each(|on| draft.connect(id, *on, ()));
    }
    more(&mut draft);
    let mut closing = BTreeMap::new();
    for (at, vertex) in numbered(graph.vertices()) {
        let own = vertex.shared().and_then(SharedVertex::configuration);
        let Some(addr) = vertex.provider().or(own) else { continue };
        let close =
            *closing.entry(addr).or_insert_with(|| draft.add(end(format!("{addr} (close)"))));
        draft.connect(close, at, ());
    }
    let dependents = draft.dependents();
    let last: Vec<_> = numbered(draft.vertices())
        .map(|(at, _)| at)
        .filter(|at| dependents.of(*at).is_empty())
        .collect();
    let root = draft.add(end("root".to_owned()));
    last.into_iter().for_each(|at| draft.connect(root, at, ()));
    let graph = draft.freeze().expect("nothing waits for what was added, so it closes no cycle");
    render::dot(&graph, |_, drawn| drawn.clone())
}
