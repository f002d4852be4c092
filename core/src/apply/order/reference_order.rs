//! Orders by the configuration: an object is destroyed before anything is done to the objects that
//! it refers to, even if it was not created after them: it may have come to use them since, as
//! objects that already exist. The recorded dependencies take precedence, so the configuration is
//! ignored where the two contradict each other.

use std::sync::Arc;

use super::{
    ApplyVertex, DestroyOrder, ResourceNumbers, ResourcePair, VertexIndex, config_resource_addr,
};
use crate::change::Action;
use crate::graph;

/// Collects the pairs of resources of which one refers to the other and has objects that are
/// destroyed.
pub(super) fn reference_pairs(
    vertices: &[ApplyVertex<'_>],
    index: &VertexIndex,
    order: &DestroyOrder<'_, '_>,
) -> Vec<ResourcePair> {
    let resources = order.resources;
    let n_resources = resources.parts.len();
    let mut stored: Vec<Vec<usize>> = vec![Vec::new(); n_resources];
    let mut written: Vec<ResourcePair> = Vec::new();
    let mut previous_group = None;
    for id in index.instances.iter().chain(&index.destroys) {
        let vertex = &vertices[id.index()];
        let changed = vertex.as_instance().map(|instance| instance.change);
        let destroyed = || vertex.as_destroy().map(|destroy| destroy.change);
        let Some(change) = changed.or_else(destroyed) else { continue };
        let Some(dependent) = resources.number_of(&config_resource_addr(&change.addr)) else {
            continue;
        };
        let lists = (Arc::as_ptr(&change.prior_dependencies), Arc::as_ptr(&change.dependencies));
        // Objects of one resource usually share their lists.
        if previous_group.replace((dependent, lists)) == Some((dependent, lists)) {
            continue;
        }
        stored[dependent].extend(resources.numbers_except(dependent, &change.prior_dependencies));
        // Equal lists give the edges that the state demands already.
        if change.action.destroys_object() && change.dependencies != change.prior_dependencies {
            // A resource that leaves the configuration has no references left to wait for.
            let is_replaced = change.action != Action::Delete;
            for dependency in resources.numbers_except(dependent, &change.dependencies) {
                if can_wait_without_cycle(resources, dependency, dependent) {
                    let is_before_changes = is_replaced
                        && order.may_precede_changes(dependency, dependent, &change.provider);
                    written.push(ResourcePair::new(dependency, dependent, is_before_changes));
                }
            }
        }
    }
    // The usual case. The search below visits all resources.
    if written.is_empty() {
        return Vec::new();
    }
    let stored_edges = stored.iter().enumerate().flat_map(|(dependent, dependencies)| {
        dependencies.iter().map(move |&dependency| (dependent, dependency))
    });
    let written_edges =
        written.iter().map(|pair| (pair.dependent as usize, pair.dependency as usize));
    // Decided between resources before any edge is added: a pair that contradicts the state would
    // close a cycle through joins, and its message would show none of the references that cause it.
    let knots = graph::component_numbers(n_resources, stored_edges.chain(written_edges).collect());
    written.retain(|pair| knots[pair.dependent as usize] != knots[pair.dependency as usize]);
    written
}

/// Whether the wait closes no cycle: an object destroyed last waits for recreated ones, and those
/// wait for objects that are destroyed first.
fn can_wait_without_cycle(
    resources: &ResourceNumbers<'_>,
    dependency: usize,
    dependent: usize,
) -> bool {
    let (dependency, dependent) = (&resources.parts[dependency], &resources.parts[dependent]);
    // Without a vertex of the dependency nothing can wait. The other part is the cycle: an object
    // destroyed last waits for the successor of one that is destroyed first.
    (dependency.destroyed.is_some() || !dependency.makers.is_empty())
        && (dependent.last.is_empty() || dependency.first.is_empty())
}
