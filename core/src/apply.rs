//! Does what a plan says, and decides nothing. Every changing call is announced in the journal
//! before it leaves, and its answer is kept before it is looked at.

mod build;
mod forced;
mod last;
mod order;
mod record;
mod salvage;
mod vertex;
mod visit;

use formwork_value::{Diagnostics, Reported};

pub use record::{Applied, Tally};

use crate::phase::Explaining;
use crate::plan::Plan;
use crate::session::Session;
use crate::state::journal::Journal;

/// Applies a plan. What was done is in the result also when errors were reported.
///
/// # Errors
/// When nothing could be started: the graph has a cycle, or a provider could not be loaded.
pub async fn apply(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
    journal: &Journal,
) -> Result<Applied, Reported> {
    let draft = build::draft(session, plan);
    session.pool.load(diags, build::providers(&draft, plan)).await?;
    session.pool.next_phase();
    let graph = match draft.freeze() {
        Ok(graph) => graph,
        Err(cyclic) => {
            let flag = |vertex: &vertex::Vertex<'_>| forced::by(session, vertex);
            let explaining = Explaining { sources: session.sources, flag: &flag };
            return Err(explaining.report(diags, &cyclic));
        }
    };
    Ok(record::run(session, diags, plan, journal, &graph).await)
}
