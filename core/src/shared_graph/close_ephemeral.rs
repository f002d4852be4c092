//! Adds a vertex that closes each ephemeral resource after everything that uses it. Comes after
//! pruning, so that nothing is kept only because it would use one.

use std::collections::BTreeMap;

use super::vertex::EphemeralCloseVertex;
use super::{EdgeReason, PhaseVertex, SharedVertex, VertexKind as _};
use crate::graph::{GraphDraft, VertexId, enumerate_vertices};

/// Adds the vertices. A user of an ephemeral resource is a vertex that waits for it, and in turn
/// one that waits for the user as long as the value is passed on.
pub(crate) fn add_ephemeral_close_vertices<'c, V: PhaseVertex<'c>>(
    draft: &mut GraphDraft<V, EdgeReason>,
) {
    let opened = enumerate_vertices(draft.vertices())
        .filter_map(|(id, it)| Some((id, it.opened_ephemeral()?.clone())));
    let opened: Vec<_> = opened.collect();
    if opened.is_empty() {
        return;
    }
    let dependents = draft.dependents();
    let n_vertices = draft.vertices().len();
    let closes = opened.into_iter().map(|(from, addr)| {
        (from, draft.add(SharedVertex::from(EphemeralCloseVertex { addr }).into()))
    });
    let closes: BTreeMap<VertexId, VertexId> = closes.collect();
    let mut seen = vec![None; n_vertices];
    for (at, (&from, &close)) in closes.iter().enumerate() {
        let mut queue = vec![from];
        while let Some(id) = queue.pop() {
            // Searches have numbers, so that the array need not be cleared for each ephemeral
            // resource.
            if seen[id.index()].replace(at) == Some(at) {
                continue;
            }
            // An ephemeral resource that was opened with its help is closed before it.
            let user = closes.get(&id).copied().filter(|other| *other != close).unwrap_or(id);
            draft.connect(close, user, EdgeReason::DestroyOrder("may still use it"));
            if id == from || draft[id].passes_values_on() {
                queue.extend(dependents.neighbors(id));
            }
        }
    }
}
