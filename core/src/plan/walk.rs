//! Walks the plan graph: visits each vertex, and has its result recorded.

use formwork_value::{Diagnostics, Reported};

use super::planned_resources::PlannedResources;
use super::prefetch::PrefetchedObjects;
use super::record::PlanRecorder;
use super::transform::AnalysedGraph;
use super::validated_configs::ValidatedConfigs;
use super::vertex::{PlanVertex, PlanVisitOutcome};
use super::visit::PlanContext;
use super::{Plan, PlanOptions};
use crate::ephemeral::EphemeralResources;
use crate::event::CountedPhase;
use crate::progress::InstanceCounter;
use crate::session::Session;
use crate::shared_graph::{PhaseWalk, walk_phase};

/// Visits every vertex and makes the plan of the results.
pub(super) async fn walk_plan_graph(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
    built: &AnalysedGraph<'_>,
    accepted: &ValidatedConfigs,
) -> Result<Plan, Reported> {
    let AnalysedGraph { graph, analysis } = built;
    let planned_resources = PlannedResources::from_graph(graph, session.config.nodes.len());
    let ephemeral_resources = EphemeralResources::new(session);
    let prefetched = PrefetchedObjects::default();
    let n_resources = graph.vertices().iter().filter(|vertex| vertex.as_resource().is_some());
    let counter = &InstanceCounter::new(session.watch, CountedPhase::Plan, n_resources.count());
    let view = PlanContext {
        session,
        options,
        analysis,
        accepted,
        ephemeral_resources: &ephemeral_resources,
        prefetched: &prefetched,
        planned_resources: &planned_resources,
        counter,
    };
    let mut recorder = PlanRecorder {
        session,
        prefetched: &prefetched,
        planned_resources: &planned_resources,
        moves: analysis.moves,
        plan: Plan {
            mode: options.mode,
            targets: options.targets.clone(),
            excludes: options.excludes.clone(),
            open: options.open.clone(),
            variables: session
                .variables
                .iter()
                .map(|(name, input)| (name.clone(), input.value.clone()))
                .collect(),
            prior: session.state.clone(),
            ..Plan::default()
        },
    };
    let unvisited = walk_phase(
        diags,
        PhaseWalk { session, graph, ephemeral_resources: &ephemeral_resources, ends: &|| false },
        |vertex| visit_vertex(view, vertex),
        // A failed visit may still have a result.
        |vertex, outcome, _| {
            if let Some(outcome) = outcome {
                vertex.record(&mut recorder, outcome);
            }
        },
    )
    .await;
    let mut plan = recorder.into_plan(options);
    // Also a visit that was under way when the user stopped the run left instances out.
    plan.errored = diags.has_errors() || !unvisited.stopped.is_empty() || session.is_stopped();
    Ok(plan)
}

async fn visit_vertex<'c>(
    view: PlanContext<'_>,
    vertex: &PlanVertex<'c>,
) -> (Diagnostics, Option<PlanVisitOutcome<'c>>) {
    let mut diags = Diagnostics::new();
    let outcome = vertex.visit(view, &mut diags).await;
    (diags, outcome)
}
