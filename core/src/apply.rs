//! Carries out a plan, and decides nothing. Every changing call is announced in the journal before
//! it is sent, and its answer is kept before it is examined.

mod apply_graph_dot;
mod build_graph;
mod destroy_timing;
mod explain_create_before_destroy;
mod order;
mod record;
mod unknown_at_plan;
mod vertex;
mod vertex_index;
mod visit;
mod walk;

use formwork_value::{Diagnostics, Reported};

pub use apply_graph_dot::apply_graph_dot;
pub use record::ChangeCounts;
pub use walk::ApplyResult;

use crate::graph::{Graph, GraphDraft};
use crate::plan::Plan;
use crate::progress::PhaseLog;
use crate::session::Session;
use crate::shared_graph::{CycleExplanation, EdgeReason};
use crate::state::journal::Journal;
use vertex::ApplyVertex;

/// Applies a plan. The result contains the completed changes even if errors were reported.
///
/// # Errors
/// When nothing could be started: the graph has a cycle, or a provider could not be loaded.
pub async fn apply_plan(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
    journal: &Journal,
) -> Result<ApplyResult, Reported> {
    // Terraform demands the same results of provider functions as in the plan. Otherwise the
    // changes that are made could differ from the approved ones.
    session.results.provider_functions().set_expected_results(&plan.functions);
    let draft = build_graph::build_apply_draft(session, plan);
    // Warnings are taken before the error is returned: otherwise those of the other providers would
    // be lost.
    let loaded =
        session.pool.load_providers(diags, build_graph::providers_of_vertices(&draft, plan)).await;
    session.pool.report_warnings(diags);
    loaded?;
    // A provider whose configuration was partly unknown while planning has to be configured again.
    session.pool.begin_next_phase();
    let graph = freeze_draft(session, diags, draft)?;
    let phase = PhaseLog::begin("apply", plan.changes.len());
    let applied = walk::walk_apply_graph(session, diags, plan, journal, &graph).await;
    phase.end(plan.changes.len());
    session.pool.report_warnings(diags);
    Ok(applied)
}

/// The graph that is walked, or drawn.
fn freeze_draft<'c>(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    draft: GraphDraft<ApplyVertex<'c>, EdgeReason>,
) -> Result<Graph<ApplyVertex<'c>, EdgeReason>, Reported> {
    draft.freeze().map_err(|cyclic| {
        let flag = |vertex: &ApplyVertex<'_>| {
            explain_create_before_destroy::explain_create_before_destroy(session, vertex)
        };
        CycleExplanation { sources: session.sources, flag: &flag }.report_cycles(diags, &cyclic)
    })
}
