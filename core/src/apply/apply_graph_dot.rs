//! The graph that carries out a plan, in the DOT language.

use formwork_value::{Diagnostics, Reported};

use super::{build_graph, freeze_draft};
use crate::plan::Plan;
use crate::session::Session;
use crate::shared_graph;

/// Draws the graph that applying a plan would walk.
///
/// # Errors
/// Returns an error if the apply graph has a cycle.
pub fn apply_graph_dot(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
) -> Result<String, Reported> {
    let graph = freeze_draft(session, diags, build_graph::build_apply_draft(session, plan))?;
    Ok(shared_graph::draw_phase_graph(&graph, |vertex| vertex.render(), |_| {}))
}
