//! Removes optional order edges that form cycles: an object may be
//! destroyed only through a provider that works only after another object is destroyed.

use std::collections::BTreeMap;

use super::{
    GraphBuilder, REASON_DEPENDENTS_DESTROYED_FIRST, REASON_REFERENCE_ORDER, config_resource_addr,
};
use crate::addr::{ConfigResourceAddr, ProviderConfigAddr};
use crate::graph::{self, Edge, VertexId};
use crate::shared_graph::EdgeReason;

/// Removes edges from every set of vertices that wait for each other: first those that only the
/// configuration asks for, and then, as Terraform does, those by which objects of one provider
/// configuration go before those of another on which they depend.
pub(in crate::apply) fn break_order_cycles(draft: &mut GraphBuilder<'_>) {
    let written = draft.edges().iter().map(|edge| edge.reason == REASON_REFERENCE_ORDER).collect();
    // In this order: the recorded dependencies describe real objects, while the configuration may
    // have changed since they were created.
    remove_cyclic_edges(draft, written);
    let vertices = draft.vertices();
    let mut providers: BTreeMap<ConfigResourceAddr, &ProviderConfigAddr> = BTreeMap::new();
    for vertex in vertices {
        if let Some(destroy) = vertex.as_destroy() {
            providers.insert(config_resource_addr(&destroy.change.addr), &destroy.change.provider);
        }
    }
    // The usual case. It saves the search for cycles, which visits the whole graph.
    if providers.values().all(|provider| providers.values().next() == Some(provider)) {
        return;
    }
    let provider = |id: VertexId| {
        let vertex = &vertices[id.index()];
        let of = || vertex.destroyed_resource().or(vertex.joined_resource());
        let destroyed = vertex.as_destroy().map(|destroy| &destroy.change.provider);
        destroyed.or_else(|| providers.get(of()?).copied())
    };
    let lies_between = |edge: &Edge<EdgeReason>| {
        edge.reason == REASON_DEPENDENTS_DESTROYED_FIRST
            && vertices[edge.dependency.index()].destroyed_resource().is_some()
            && provider(edge.dependent) != provider(edge.dependency)
    };
    let between = draft.edges().iter().map(lies_between).collect();
    remove_cyclic_edges(draft, between);
}

/// Removes those of some edges whose ends wait for each other. `is_soft` runs parallel to the edges.
fn remove_cyclic_edges(draft: &mut GraphBuilder<'_>, is_soft: Vec<bool>) {
    if !is_soft.contains(&true) {
        return;
    }
    let ends = |edge: &Edge<EdgeReason>| (edge.dependent.index(), edge.dependency.index());
    let edges = draft.edges().iter().map(ends).collect();
    let knots = graph::component_numbers(draft.vertices().len(), edges);
    let (_, edges) = draft.split_vertices_and_edges();
    let mut is_soft = is_soft.into_iter();
    edges.retain_edges(|edge| {
        let is_soft = is_soft.next().unwrap_or(false);
        // All soft edges within a strongly connected component are removed. Removing single ones
        // until no cycle is left would depend on the order of the edges.
        !(is_soft && knots[edge.dependent.index()] == knots[edge.dependency.index()])
    });
}
