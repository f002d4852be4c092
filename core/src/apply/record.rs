//! Walks the apply graph and records the results of the visits. The only place that changes the
//! state.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::{Diagnostics, Known, Str, Value};

use super::unknown_at_plan::subject_of_conditions;
use super::vertex::{
    ApplyVertex, DestroyVertex, ExpandVertex, InstanceVertex, OpenEphemeralVertex,
};
use super::visit::{ApplyContext, ApplyVisitOutcome, ExpandedResource, visit_vertex};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, InstanceAddr, ResourceAddr, ResourceMode, ResourceName,
};
use crate::change::{Action, OutputChange};
use crate::ephemeral::EphemeralResources;
use crate::eval::condition_results::summarize_check_results;
use crate::event::{CountedPhase, Event};
use crate::graph::Graph;
use crate::instance_steps::unknown_to_null;
use crate::plan::{Plan, PlanMode};
use crate::progress::InstanceCounter;
use crate::session::Session;
use crate::shared_graph::{EdgeReason, PhaseWalk, SharedVertex, walk_phase};
use crate::state::checks::{CheckResults, CheckSubject};
use crate::state::journal::Journal;
use crate::state::{ObjectState, OutputValue, State};

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

/// Numbers of objects created, changed and destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// There before, and managed from now on.
    pub imported: usize,
    /// Made.
    pub added: usize,
    /// Changed in place.
    pub changed: usize,
    /// Destroyed.
    pub destroyed: usize,
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
    let view = ApplyContext { session, plan, journal, ephemeral_resources: &ephemeral_resources };
    // Visits read the state only before they wait for anything, records change it between visits,
    // all on one task.
    let state = RefCell::new(plan.prior.clone());
    let tally =
        ChangeCounts { imported: report_import_events(session, plan), ..ChangeCounts::default() };
    let is_counted = |vertex: &ApplyVertex<'_>| {
        matches!(vertex, ApplyVertex::Instance(_) | ApplyVertex::Destroy(_))
    };
    let failed_vertices = RefCell::new(Vec::new());
    let total = graph.vertices().iter().filter(|vertex| is_counted(vertex)).count();
    let counter = InstanceCounter::new(session.watch, CountedPhase::Apply, total);
    let mut recorder = ApplyRecorder { session, plan, journal, tally };
    // A journal that refuses a record ends the walk like an interrupt, as no call could be
    // announced.
    let ends = || !journal.can_announce();
    let mut said = Diagnostics::default();
    let walk = walk_phase(
        &mut said,
        PhaseWalk { session, graph, ephemeral_resources: &ephemeral_resources, ends: &ends },
        |vertex| {
            let state = &state;
            async move {
                let _permit = match vertex {
                    // The semaphore is never closed, so a permit always comes.
                    // Only vertices that call a provider take a permit. Values and joins are cheap,
                    // and a permit for them would delay calls at `-parallelism=1`.
                    ApplyVertex::Instance(_) | ApplyVertex::Destroy(_) => {
                        session.permits.acquire().await.ok()
                    }
                    _ => None,
                };
                // Read when the vertex starts: by then its successor may have deposed it. The
                // borrow ends before the visit waits for anything.
                let object = object_to_destroy(&state.borrow(), vertex);
                visit_vertex(view, object, vertex).await
            }
        },
        |vertex, came, failed| {
            if failed {
                failed_vertices.borrow_mut().push(vertex);
            }
            recorder.record(&mut state.borrow_mut(), vertex, came, failed);
            if is_counted(vertex) {
                counter.count_finished();
            }
        },
    );
    let (unvisited, buffer_failure) = journal.run_and_write_buffer(walk).await;
    let _ = diags.append(said);
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
    unfinished.iter().for_each(|vertex| reset_check_statuses(&mut before, vertex));
    reset_statuses_behind(&mut before, plan, &unfinished);
    let checks = summarize_check_results(session.config, session.results, &before, |_| false);
    ApplyResult { state, checks, tally, complete }
}

/// Resets the results of the conditions that the visit of a vertex evaluates.
fn reset_check_statuses(checks: &mut CheckResults, vertex: &ApplyVertex<'_>) {
    match vertex {
        ApplyVertex::Instance(instance) => reset_instance_statuses(checks, &instance.change.addr),
        ApplyVertex::SharedVertex(SharedVertex::Value(value)) => {
            if let Some(subject) = subject_of_conditions(value) {
                checks.reset_statuses(&subject, |object| object.module.path() == value.node.path);
            }
        }
        _ => {}
    }
}

fn reset_instance_statuses(checks: &mut CheckResults, addr: &InstanceAddr) {
    let subject = CheckSubject::Resource(addr.resource.clone());
    checks
        .reset_statuses(&subject, |object| object.module == addr.module && object.key == addr.key);
}

/// Resets the results of unchanged instances that depend on something unfinished. They have no vertices, but
/// Terraform visits those with conditions.
fn reset_statuses_behind(checks: &mut CheckResults, plan: &Plan, unfinished: &[&ApplyVertex<'_>]) {
    let resources = unfinished.iter().filter_map(|vertex| match vertex {
        ApplyVertex::Instance(instance) => Some(instance.change.addr.resource_addr().config_addr()),
        _ => None,
    });
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

fn object_to_destroy(state: &State, vertex: &ApplyVertex<'_>) -> Option<Arc<ObjectState>> {
    let ApplyVertex::Destroy(destroy) = vertex else { return None };
    state.find_object(&destroy.change.addr, destroy.deposed.as_ref()).cloned()
}

/// Makes the changes that need no visit: outputs that go or were known while planning, objects that are no longer
/// managed, and data sources, of which nothing stays when what they stood beside is destroyed.
fn apply_unvisited_changes(state: &mut State, plan: &Plan) {
    // Forgetting calls no provider, so it has no vertex.
    for change in plan.changes.values().filter(|change| change.action == Action::Forget) {
        state.remove_object(&change.addr, change.deposed.as_ref());
    }
    for (name, change) in &plan.outputs {
        if change.action == Action::Delete {
            state.outputs.remove(name);
        } else if plan.mode == PlanMode::RefreshOnly {
            record_output(state, name, &change.after, change.sensitive);
            store_null_for_unknown_output(state, name, change);
        }
    }
    if plan.mode == PlanMode::Destroy {
        let stays = |addr: &ResourceAddr| {
            // With `-target`, data sources outside of the targets may still be used by objects that
            // stay.
            plan.is_limited()
                && !plan.targets.iter().any(|target| target.may_contain_resource(addr))
        };
        state.resources.retain(|addr, _| addr.resource.mode() != ResourceMode::Data || stays(addr));
    }
}

/// Stores an output. An output without a value, or that must not be stored, is not in the state. A
/// value that is still unknown belongs to an object that is not a target.
fn record_output(state: &mut State, name: &Str, value: &Value, sensitive: bool) {
    match Known::new(unknown_to_null(&value.without_signed_zeros()).split_marks().0.into_value()) {
        Ok(value) if !value.value().is_null() => {
            state.outputs.insert(name.clone(), OutputValue { value, sensitive });
        }
        _ => drop(state.outputs.remove(name)),
    }
}

/// Stores null of its type for an output that is unknown as a whole, because the object that it comes
/// from does not exist. Terraform does so after a refresh-only plan alone.
fn store_null_for_unknown_output(state: &mut State, name: &Str, change: &OutputChange) {
    if let Value::Unknown(unknown) = change.after.without_own_marks()
        && let Ok(value) = Known::new(Value::null(unknown.ty().clone()))
    {
        state.outputs.insert(name.clone(), OutputValue { value, sensitive: change.sensitive });
    }
}

struct ApplyRecorder<'r, 'a> {
    session: &'r Session<'a>,
    plan: &'r Plan,
    journal: &'r Journal,
    tally: ChangeCounts,
}

impl ApplyRecorder<'_, '_> {
    fn record(
        &mut self,
        state: &mut State,
        vertex: &ApplyVertex<'_>,
        came: ApplyVisitOutcome,
        failed: bool,
    ) {
        debug_assert!(
            // The walk starts the dependents as soon as this function returns. A result that is not
            // in the journal by then would be lost in a crash, and theirs would not.
            failed || is_result_journaled(self.journal, vertex),
            "dependents begin before what they depend on is written down"
        );
        match (vertex, came) {
            (ApplyVertex::SharedVertex(shared), ApplyVisitOutcome::SharedVertex(found)) => {
                if let Some((output, found)) = shared.record_outcome(self.session, found) {
                    // As in Terraform, an output that was known when it was planned is stored as
                    // planned, whatever the applied objects hold.
                    let planned = self.plan.outputs.get(&output.name).map(|change| &change.after);
                    let value = planned.filter(|it| it.is_wholly_known()).unwrap_or(&found);
                    record_output(state, &output.name, value, output.sensitive);
                }
            }
            (
                ApplyVertex::Expand(ExpandVertex { addr, .. }),
                ApplyVisitOutcome::Expanded(found),
            )
            | (
                ApplyVertex::Open(OpenEphemeralVertex { addr, .. }),
                ApplyVisitOutcome::Expanded(found),
            ) => {
                self.record_expanded(&addr.resource, found);
            }
            (
                ApplyVertex::Instance(instance),
                ApplyVisitOutcome::Made { object, value, deposes, changed },
            ) => {
                // Terraform counts successful operations only, also in the summary of a failed run.
                if changed && !failed {
                    self.count_action(instance.change.action);
                }
                record_changed_object(state, instance, object, deposes);
                let addr = &instance.change.addr;
                let module = self.session.results.module_instance(&addr.module);
                let results = module.and_then(|module| module.resource_results(&addr.resource));
                if let (Some(results), Some(value)) = (results, value) {
                    results.set_instance(&addr.key, value);
                }
            }
            (ApplyVertex::Destroy(destroy), ApplyVisitOutcome::Destroyed { left }) => {
                if !failed {
                    self.tally.destroyed += 1;
                }
                record_destroyed_object(state, destroy, left);
            }
            _ => {}
        }
    }

    fn record_expanded(&self, resource: &ResourceName, found: Vec<ExpandedResource>) {
        for ExpandedResource { module, expansion, settled } in found {
            let module = self.session.results.module_instance(&module);
            if let Some(results) = module.and_then(|module| module.resource_results(resource)) {
                results.set_expansion(expansion);
                settled.into_iter().for_each(|(key, value)| results.set_instance(&key, value));
            }
        }
    }

    fn count_action(&mut self, action: Action) {
        match action {
            // The other half of a replacement is counted by its own vertex.
            Action::Create | Action::Replace(_) => self.tally.added += 1,
            Action::Update => self.tally.changed += 1,
            Action::NoOp | Action::Read | Action::Delete | Action::Forget => {}
        }
    }
}

/// Whether everything that was found out about the object of a vertex is in the journal.
fn is_result_journaled(journal: &Journal, vertex: &ApplyVertex<'_>) -> bool {
    match vertex {
        ApplyVertex::Instance(instance) => {
            journal.may_start_dependents(&instance.change.addr, None)
        }
        ApplyVertex::Destroy(destroy) => {
            journal.may_start_dependents(&destroy.change.addr, destroy.deposed.as_ref())
        }
        _ => true,
    }
}

fn record_changed_object(
    state: &mut State,
    vertex: &InstanceVertex<'_>,
    object: Option<Arc<ObjectState>>,
    deposes: Option<DeposedKey>,
) {
    let addr = &vertex.change.addr;
    let Some(object) = object else {
        // A creation that made nothing leaves what was there, if it goes only later.
        if vertex.deposes.is_none() {
            state.remove_object(addr, None);
        }
        return;
    };
    let resource = state.resource_or_insert(addr.resource_addr(), &vertex.change.provider);
    // The state may name another provider configuration. The next run must read the object through
    // the one that has made it.
    resource.provider = vertex.change.provider.clone();
    let instance = resource.instances.or_default(&addr.key);
    let before = instance.current.replace(object);
    if let (Some(key), Some(before)) = (deposes, before) {
        instance.deposed.insert(key, before);
    }
}

fn record_destroyed_object(
    state: &mut State,
    vertex: &DestroyVertex<'_>,
    left: Option<Arc<ObjectState>>,
) {
    let addr = &vertex.change.addr;
    match left {
        None => state.remove_object(addr, vertex.deposed.as_ref()),
        Some(object) => {
            let Some(instance) = state.instance_mut(addr) else { return };
            match &vertex.deposed {
                Some(key) => drop(instance.deposed.insert(key.clone(), object)),
                None => instance.current = Some(object),
            }
        }
    }
}
