//! Orders by the configuration: a destroyed object goes before anything is done to the objects that
//! it mentions, also where it was not made after them: it may have come to use them since, as
//! objects that already exist. The recorded dependencies count for more, so where the two
//! contradict each other, the configuration is left out.

use std::sync::Arc;

use super::{ApplyVertex, ResourceNumbers, VertexIndex, config_resource_addr};
use crate::addr::ProviderConfigAddr;
use crate::change::Action;
use crate::graph;

/// Collects the pairs of resources of which one mentions the other: the mentioned resource, the
/// resource that mentions it and has objects that are destroyed, and whether these go before
/// anything is made or changed of the other. `goes_first` says whether they may.
pub(super) fn reference_pairs(
    vertices: &[ApplyVertex<'_>],
    index: &VertexIndex,
    resources: &ResourceNumbers<'_>,
    goes_first: impl Fn(usize, usize, &ProviderConfigAddr) -> bool,
) -> Vec<(u32, u32, bool)> {
    let n_resources = resources.parts.len();
    let mut stored: Vec<Vec<usize>> = vec![Vec::new(); n_resources];
    let mut written: Vec<Vec<(usize, bool)>> = vec![Vec::new(); n_resources];
    let mut before = None;
    for id in index.instances.iter().chain(&index.destroys) {
        let vertex = &vertices[id.index()];
        let made = vertex.as_instance().map(|instance| instance.change);
        let destroyed = || vertex.as_destroy().map(|destroy| destroy.change);
        let Some(change) = made.or_else(destroyed) else { continue };
        let Some(own) = resources.number_of(&config_resource_addr(&change.addr)) else {
            continue;
        };
        let lists = (Arc::as_ptr(&change.prior_dependencies), Arc::as_ptr(&change.dependencies));
        // Objects of one resource usually share their lists.
        if before.replace((own, lists)) == Some((own, lists)) {
            continue;
        }
        stored[own].extend(resources.numbers_except(own, &change.prior_dependencies));
        // Equal lists give the edges that the state demands already.
        if change.action.destroys_object() && change.dependencies != change.prior_dependencies {
            let on = resources.numbers_except(own, &change.dependencies);
            let on = on.filter(|&on| can_wait_without_cycle(resources, on, own));
            // A resource that leaves the configuration has no references left to wait for.
            let is_replaced = change.action != Action::Delete;
            let first = |on| is_replaced && goes_first(on, own, &change.provider);
            written[own].extend(on.map(|on| (on, first(on))));
        }
    }
    // The usual case. The search below visits all resources.
    if written.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let both = stored.iter().zip(&written).enumerate();
    let both = both.flat_map(|(own, (stored, written))| {
        stored.iter().copied().chain(written.iter().map(|(on, _)| *on)).map(move |on| (own, on))
    });
    // Decided between resources before any edge is added: a pair that contradicts the state would
    // close a cycle through joins, and its message would show none of the references behind it.
    let knots = graph::component_numbers(n_resources, both.collect());
    let all = written.iter().enumerate();
    let all = all.flat_map(|(own, on)| on.iter().map(move |&(on, first)| (on, own, first)));
    let free = all.filter(|&(on, own, _)| knots[on] != knots[own]);
    // There are fewer resources than vertices, whose numbers fit.
    free.map(|(on, own, first)| (on as u32, own as u32, first)).collect()
}

/// Whether the wait closes no cycle: an object that goes last waits for recreated ones, and those
/// wait for objects that go first.
fn can_wait_without_cycle(resources: &ResourceNumbers<'_>, on: usize, own: usize) -> bool {
    let (on, own) = (&resources.parts[on], &resources.parts[own]);
    // Without a vertex of the dependency nothing can wait. The other part is the cycle: an object
    // that goes last waits for what comes in the place of one that goes first.
    (on.gone.is_some() || !on.makers.is_empty()) && (own.last.is_empty() || on.first.is_empty())
}
