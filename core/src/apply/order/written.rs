//! What is destroyed goes before what it mentions, also where it was not made after that: the one may
//! have come to use the other since, as an object that is already there. What the objects were made
//! after counts for more, so where the two contradict each other, what is written is left out.

use std::sync::Arc;

use super::{Index, Resources, Vertex, name};
use crate::graph;

/// The pairs of resources of which objects are destroyed: what is mentioned, what mentions it, and
/// that it need not be gone before anything is changed.
pub(super) fn pairs(
    vertices: &[Vertex<'_>],
    index: &Index,
    resources: &Resources<'_>,
) -> Vec<(u32, u32, bool)> {
    let n_resources = resources.parts.len();
    let mut stored: Vec<Vec<usize>> = vec![Vec::new(); n_resources];
    let mut written = stored.clone();
    let mut before = None;
    for id in index.instances.iter().chain(&index.destroys) {
        let change = match &vertices[id.index()] {
            Vertex::Instance(instance) => instance.change,
            Vertex::Destroy(destroy) => destroy.change,
            _ => continue,
        };
        let Some(own) = resources.number(&name(&change.addr)) else { continue };
        let lists = (Arc::as_ptr(&change.prior_dependencies), Arc::as_ptr(&change.dependencies));
        // Objects of one resource usually share their lists.
        if before.replace((own, lists)) == Some((own, lists)) {
            continue;
        }
        stored[own].extend(resources.others(own, &change.prior_dependencies));
        if change.action.destroys() && change.dependencies != change.prior_dependencies {
            let on = resources.others(own, &change.dependencies);
            written[own].extend(on.filter(|&on| may_wait(resources, on, own)));
        }
    }
    if written.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let both = stored.iter().zip(&written).enumerate();
    let both = both.flat_map(|(own, (stored, written))| {
        stored.iter().chain(written).map(move |&on| (own, on))
    });
    let knots = graph::knots(n_resources, both.collect());
    let free = written.iter().enumerate().flat_map(|(own, on)| {
        on.iter()
            .filter(|&&on| knots[on] != knots[own])
            .map(move |&on| (on, own))
            .collect::<Vec<_>>()
    });
    // There are fewer resources than vertices, whose numbers fit.
    free.map(|(on, own)| (on as u32, own as u32, false)).collect()
}

/// What goes last waits for what is made anew, and that for what goes first.
fn may_wait(resources: &Resources<'_>, on: usize, own: usize) -> bool {
    let (on, own) = (&resources.parts[on], &resources.parts[own]);
    on.gone.is_some() && (own.last.is_empty() || on.first.is_empty())
}
