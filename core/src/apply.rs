//! Carries out a plan, and decides nothing. Every changing call is announced in the journal before
//! it is sent, and its answer is kept before it is examined.

mod build;
mod destroy_order_source;
mod destroy_timing;
mod index;
mod order;
mod record;
mod render;
mod unknown_at_plan;
mod vertex;
mod visit;

use formwork_value::{Diagnostics, Reported};

pub use record::{Applied, ChangeCounts};
pub use render::dot;

use crate::graph::{Draft, Graph};
use crate::plan::Plan;
use crate::progress::PhaseLog;
use crate::session::Session;
use crate::shared_graph::{CycleExplanation, EdgeReason};
use crate::state::journal::Journal;
use vertex::Vertex;

/// Applies a plan. The result holds the completed changes also when errors were reported.
///
/// # Errors
/// When nothing could be started: the graph has a cycle, or a provider could not be loaded.
pub async fn apply(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
    journal: &Journal,
) -> Result<Applied, Reported> {
    // Terraform demands the same results of provider functions as in the plan. Otherwise the
    // changes that are made could differ from the approved ones.
    session.results.functions().set_expected_results(&plan.functions);
    let draft = build::draft(session, plan);
    // Warnings are taken before the error is returned: otherwise those of the other providers would
    // be lost.
    let loaded = session.pool.load(diags, build::providers(&draft, plan)).await;
    session.pool.tell(diags);
    loaded?;
    // A provider whose configuration was partly unknown while planning has to be configured again.
    session.pool.next_phase();
    let graph = frozen(session, diags, draft)?;
    let phase = PhaseLog::begin("apply", plan.changes.len());
    let applied = record::run(session, diags, plan, journal, &graph).await;
    phase.end(plan.changes.len());
    session.pool.tell(diags);
    Ok(applied)
}

/// The graph that is walked, or drawn.
fn frozen<'c>(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    draft: Draft<Vertex<'c>, EdgeReason>,
) -> Result<Graph<Vertex<'c>, EdgeReason>, Reported> {
    draft.freeze().map_err(|cyclic| {
        let flag = |vertex: &Vertex<'_>| destroy_order_source::by(session, vertex);
        CycleExplanation { sources: session.sources, flag: &flag }.report(diags, &cyclic)
    })
}
