//! Finds the values of everything as the state has it, to evaluate expressions interactively and to
//! check the result of an apply.
//! Requests only schemas from providers, and decides nothing.

use formwork_value::{Diagnostics, Reported};

use super::PlanOptions;
use super::stored_values::{MissingResourceMeaning, StoredValues};
use super::transform::PlanGraphBuilder;
use crate::session::Session;

/// Records values for everything in the configuration. Resources that are not in the state have the
/// meaning `missing`; values that cannot be found because of an error are unknown.
///
/// # Errors
/// When the graph cannot be built. After any other error, which is reported as well, expressions can
/// be evaluated nevertheless.
pub async fn evaluate_from_state(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    missing: MissingResourceMeaning,
) -> Result<(), Reported> {
    let options = PlanOptions::default();
    let graph = PlanGraphBuilder::new(session, &options).build_frozen(diags).await?;
    for &id in graph.topological_order() {
        graph[id].evaluate_from_state(StoredValues { session, missing }, diags).await;
    }
    Ok(())
}
