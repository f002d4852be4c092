//! Finds what must be done before something that was opened may be closed. Pure.

use std::collections::BTreeMap;

use super::Why;
use crate::graph::{Draft, VertexId};

/// Adds, for each of `opened`, the vertex that closes it behind everything that uses it: what waits
/// for it, and what waits for that in turn as long as it `passes` the opened thing on, as a value does
/// and an object that was made does not.
pub(crate) fn add_closing<V>(
    draft: &mut Draft<V, Why>,
    opened: Vec<(VertexId, V)>,
    passes: impl Fn(&V) -> bool,
) {
    if opened.is_empty() {
        return;
    }
    let mut dependents = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        dependents[edge.dependency.index()].push(edge.dependent);
    }
    let closes = opened.into_iter().map(|(from, vertex)| (from, draft.add(vertex)));
    let closes: BTreeMap<VertexId, VertexId> = closes.collect();
    let mut seen = vec![None; dependents.len()];
    for (at, (&from, &close)) in closes.iter().enumerate() {
        let mut queue = vec![from];
        while let Some(id) = queue.pop() {
            if seen[id.index()].replace(at) == Some(at) {
                continue;
            }
            // What was opened with its help is closed before it.
            let user = closes.get(&id).copied().filter(|other| *other != close).unwrap_or(id);
            draft.connect(close, user, Why::Order("may still use it"));
            if id == from || passes(&draft[id]) {
                queue.extend(&dependents[id.index()]);
            }
        }
    }
}
