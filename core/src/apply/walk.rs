//! Walks the apply graph: visits each vertex, and has its result recorded.

use std::cell::RefCell;
use std::collections::BTreeSet;

use formwork_value::Diagnostics;

use super::record::{
    ApplyRecorder, ChangeCounts, apply_unvisited_changes, reset_instance_statuses,
};
use super::vertex::{ApplyVertex, ApplyVisitOutcome};
use super::visit::{ApplyContext, RecordedState};
use crate::addr::ConfigResourceAddr;
use crate::change::Action;
use crate::ephemeral::EphemeralResources;
use crate::eval::condition_results::summarize_check_results;
use crate::event::{CountedPhase, Event};
use crate::graph::Graph;
use crate::plan::{Plan, PlanMode};
use crate::progress::InstanceCounter;
use crate::session::Session;
use crate::shared_graph::{EdgeReason, PhaseWalk, walk_phase};
use crate::state::State;
use crate::state::checks::CheckResults;
use crate::state::journal::Journal;

/// Result of an apply.
#[derive(Clone, Debug, Default)]
pub struct ApplyResult {
    /// State after the apply.
    pub state: State,
    /// Results of the conditions.
    pub checks: CheckResults,
    /// Numbers of objects created, changed and destroyed.
    pub tally: ChangeCounts,
    /// Whether everything in the plan was done.
    pub complete: bool,
}

/// Visits every vertex and records the results.
pub(super) async fn walk_apply_graph(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
    journal: &Journal,
    graph: &Graph<ApplyVertex<'_>, EdgeReason>,
) -> ApplyResult {
    let ephemeral_resources = EphemeralResources::new(session);
    let state = RefCell::new(plan.prior.clone());
    let view = ApplyContext {
        session,
        plan,
        journal,
        ephemeral_resources: &ephemeral_resources,
        recorded: RecordedState::new(&state),
    };
    let tally =
        ChangeCounts { imported: report_import_events(session, plan), ..ChangeCounts::default() };
    let failed_vertices = RefCell::new(Vec::new());
    let total = graph.vertices().iter().filter(|vertex| vertex.is_operation()).count();
    let counter = InstanceCounter::new(session.watch, CountedPhase::Apply, total);
    let mut recorder = ApplyRecorder { session, plan, state: &state, tally };
    // A journal that refuses a record ends the walk like an interrupt, as no call could be
    // announced.
    let ends = || !journal.can_announce();
    let mut close_diags = Diagnostics::default();
    let walk = walk_phase(
        &mut close_diags,
        PhaseWalk { session, graph, ephemeral_resources: &ephemeral_resources, ends: &ends },
        |vertex| visit_vertex(view, vertex),
        |vertex, outcome, failed| {
            if failed {
                failed_vertices.borrow_mut().push(vertex);
            }
            debug_assert!(
                // The walk starts the dependents as soon as this function returns. A result that is not
                // in the journal at that time would be lost in a crash, and theirs would not.
                failed || vertex.is_result_journaled(journal),
                "dependents begin before what they depend on is written down"
            );
            if let Some(outcome) = outcome {
                vertex.record(&mut recorder, outcome);
            }
            if vertex.is_operation() {
                counter.count_finished();
            }
        },
    );
    let (unvisited, buffer_failure) = journal.run_and_write_buffer(walk).await;
    let _ = diags.append(close_diags);
    if let Some(error) = buffer_failure {
        let _ = diags.error(error.diagnostic());
    }
    let tally = recorder.tally;
    let mut state = state.into_inner();
    apply_unvisited_changes(&mut state, plan);
    let complete = unvisited.skipped.is_empty() && unvisited.stopped.is_empty();
    let mut before = plan.checks.clone();
    if plan.mode != PlanMode::RefreshOnly {
        // A data source that was read while planning is not read again, and the results of its
        // conditions are not kept. Terraform does the same.
        before
            .0
            .iter_mut()
            .filter(|result| result.subject.is_data())
            .for_each(|result| result.reset_statuses(|_| true));
    }
    // What the apply did not reach has no result, whatever the plan has found. A visit that failed may have
    // ended before a condition.
    let unvisited = unvisited.skipped.iter().chain(&unvisited.stopped);
    let unvisited = unvisited.map(|id| &graph.vertices()[id.index()]);
    let unfinished: Vec<_> = unvisited.chain(failed_vertices.into_inner()).collect();
    unfinished.iter().for_each(|vertex| vertex.reset_check_statuses(&mut before));
    reset_statuses_behind(&mut before, plan, &unfinished);
    let checks = summarize_check_results(session.config, session.results, &before, |_| false);
    ApplyResult { state, checks, tally, complete }
}

/// Visits a vertex. A vertex that is an operation waits for a permit.
async fn visit_vertex<'c>(
    view: ApplyContext<'_>,
    vertex: &ApplyVertex<'c>,
) -> (Diagnostics, Option<ApplyVisitOutcome<'c>>) {
    let _permit = match vertex.is_operation() {
        // The semaphore is never closed, so a permit always comes.
        // Only vertices that call a provider take a permit. Values and joins are cheap, and a permit
        // for them would delay calls at `-parallelism=1`.
        true => view.session.permits.acquire().await.ok(),
        false => None,
    };
    let mut diags = Diagnostics::new();
    let outcome = vertex.visit(view, &mut diags).await;
    (diags, outcome)
}

/// Resets the results of unchanged instances that depend on something unfinished. They have no vertices, but
/// Terraform visits those with conditions.
fn reset_statuses_behind(checks: &mut CheckResults, plan: &Plan, unfinished: &[&ApplyVertex<'_>]) {
    let changed = unfinished.iter().filter_map(|vertex| vertex.as_instance());
    let resources = changed.map(|instance| instance.change.addr.resource_addr().config_addr());
    let resources: BTreeSet<ConfigResourceAddr> = resources.collect();
    if resources.is_empty() {
        return;
    }
    for change in plan.changes.values().filter(|change| change.action == Action::NoOp) {
        if change.dependencies.iter().any(|addr| resources.contains(addr)) {
            reset_instance_statuses(checks, &change.addr);
        }
    }
}

/// Announces the objects that were found while planning and are managed from now on. Returns their
/// number.
fn report_import_events(session: &Session<'_>, plan: &Plan) -> usize {
    let imported =
        plan.changes.values().filter_map(|change| Some((change, change.importing.as_ref()?)));
    imported
        .map(|(change, importing)| {
            let (addr, import_key) = (&change.addr, &importing.import_key);
            // Terraform prints these lines at apply (hooks PreApplyImport, PostApplyImport),
            // although the provider has found the objects while planning.
            session.watch.on_event(&Event::ImportStart { addr, import_key, applying: true });
            session.watch.on_event(&Event::ImportDone { addr, import_key });
        })
        .count()
}
