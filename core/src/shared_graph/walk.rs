//! Walks the graph of a phase, with everything that runs concurrently: ephemeral resources are
//! renewed, plugins come and go. The visits and the records are each phase's own.

use std::collections::BTreeMap;

use formwork_value::Diagnostics;

use super::{EdgeReason, PhaseVertex, ProviderProcessGate};
use crate::ephemeral::EphemeralResources;
use crate::graph::walk::{DependentsDecision, UnvisitedVertices, WalkOptions, walk_graph};
use crate::graph::{Graph, VertexId};
use crate::session::Session;

/// Graph of a phase, and the surroundings of its walk.
pub(crate) struct PhaseWalk<'w, 'g, V> {
    pub(crate) session: &'w Session<'w>,
    pub(crate) graph: &'g Graph<V, EdgeReason>,
    pub(crate) ephemeral_resources: &'w EphemeralResources<'w>,
    /// Whether the walk starts nothing more.
    pub(crate) ends: &'w dyn Fn() -> bool,
}

/// Visits every vertex and has its result recorded, and whether it failed. Errors of a vertex mean
/// that its dependents are not visited. Starts nothing more once `ends` holds, or the session is
/// stopped.
pub(crate) async fn walk_phase<'g, 'c, V, T, F>(
    diags: &mut Diagnostics,
    phase: PhaseWalk<'_, 'g, V>,
    visit: impl Fn(&'g V) -> F,
    mut record: impl FnMut(&'g V, T, bool),
) -> UnvisitedVertices
where
    V: PhaseVertex<'c>,
    F: Future<Output = (Diagnostics, T)>,
{
    let PhaseWalk { session, graph, ephemeral_resources, ends } = phase;
    // By vertex, so that their order does not depend on timing.
    let mut problems: BTreeMap<VertexId, Diagnostics> = BTreeMap::new();
    let usage = ProviderProcessGate::from_vertices(session.pool, graph.vertices());
    let stop = || session.is_stopped() || ends();
    let Session { parallelism: limit, finishing, .. } = *session;
    let pace = WalkOptions { limit, stop: &stop, finishing, gate: &usage };
    let visit = |_, vertex| visit(vertex);
    let walk = walk_graph(graph, pace, visit, |id, vertex, (vertex_diags, outcome)| {
        let failed = vertex_diags.has_errors();
        record(vertex, outcome, failed);
        if !vertex_diags.is_empty() {
            problems.insert(id, vertex_diags);
        }
        // Warnings stop nothing. An error stops dependents only, so that one run shows and does as
        // much as possible.
        if failed {
            DependentsDecision::SkipDependents
        } else {
            DependentsDecision::StartDependents
        }
    });
    let unvisited =
        session.pool.run_with_upkeep(ephemeral_resources.renew_while_running(walk)).await;
    for problems in problems.into_values() {
        let _ = diags.append(problems);
    }
    // A failed vertex leaves its dependents unvisited, the ends of ephemeral resources among them.
    // A lease at a service must not outlive the run.
    ephemeral_resources.close_all(diags).await;
    unvisited
}
