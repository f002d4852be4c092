//! Builds the plan graph by the steps in [`PLAN_GRAPH_STEPS`], and the graphs made of it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::{Diagnostics, Reported};

use super::PlanOptions;
use super::transform::{PLAN_GRAPH_STEPS, TransformInputs, TransformSteps, WHOLE_GRAPH_STEPS};
use super::vertex::PlanVertex;
use crate::addr::ConfigResourceAddr;
use crate::graph::{Graph, GraphDraft, VertexId, enumerate_vertices};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason, PhaseVertex as _, SharedVertex, VertexLookup};
use crate::state::ResourceState;

/// Builds the graph, not yet checked for cycles.
pub(crate) fn build_plan_draft<'c>(
    diags: &mut Diagnostics,
    session: &'c Session<'c>,
    options: &'c PlanOptions,
) -> Result<GraphDraft<PlanVertex<'c>, EdgeReason>, Reported> {
    build_draft_by_steps(diags, TransformInputs { session, options }, PLAN_GRAPH_STEPS)
}

/// Builds the graph of everything that is written and in the state, whatever the plan is limited to.
pub(crate) fn build_unlimited_draft<'c>(
    diags: &mut Diagnostics,
    session: &'c Session<'c>,
    options: &'c PlanOptions,
) -> Result<GraphDraft<PlanVertex<'c>, EdgeReason>, Reported> {
    build_draft_by_steps(diags, TransformInputs { session, options }, WHOLE_GRAPH_STEPS)
}

/// Builds the graph, and has the providers loaded that it needs.
///
/// # Errors
/// When it cannot be built, has a cycle, or a provider cannot be loaded.
pub(crate) async fn build_plan_graph<'c>(
    diags: &mut Diagnostics,
    session: &'c Session<'c>,
    options: &'c PlanOptions,
) -> Result<Graph<PlanVertex<'c>, EdgeReason>, Reported> {
    let draft = build_plan_draft(diags, session, options)?;
    // Before the graph is frozen, so that one run reports both missing providers and cycles.
    let loaded = load_providers(diags, session, &draft).await;
    let graph = freeze_draft(diags, session, draft)?;
    loaded.map(|()| graph)
}

/// Has the providers loaded that a graph needs.
///
/// # Errors
/// When one cannot be loaded.
pub(crate) async fn load_providers(
    diags: &mut Diagnostics,
    session: &Session<'_>,
    draft: &GraphDraft<PlanVertex<'_>, EdgeReason>,
) -> Result<(), Reported> {
    let shared = draft.vertices().iter().filter_map(PlanVertex::as_shared);
    let needed: Vec<_> = shared.filter_map(SharedVertex::provider_addr).cloned().collect();
    session.pool.load_providers(diags, needed).await
}

/// Finds the order of a graph, or reports its cycles.
pub(crate) fn freeze_draft<'c>(
    diags: &mut Diagnostics,
    session: &Session<'_>,
    draft: GraphDraft<PlanVertex<'c>, EdgeReason>,
) -> Result<Graph<PlanVertex<'c>, EdgeReason>, Reported> {
    draft.freeze().map_err(|cyclic| shared_graph::report_cycles(diags, session.sources, &cyclic))
}

/// Takes the steps in order.
fn build_draft_by_steps<'c>(
    diags: &mut Diagnostics,
    inputs: TransformInputs<'c>,
    steps: TransformSteps<'_>,
) -> Result<GraphDraft<PlanVertex<'c>, EdgeReason>, Reported> {
    let mut draft = GraphDraft::new();
    for add in steps.add {
        add(inputs, diags, &mut draft.vertex_adder());
    }
    // Connecting a graph with missing vertices would report references to them a second time.
    diags.fail_if_errors()?;
    let (vertices, edges) = draft.split_vertices_and_edges();
    let config = inputs.session.config;
    let names = VertexLookup::from_vertices(config, vertices);
    for connect in steps.connect {
        connect(config, vertices, &names, edges);
    }
    for prune in steps.prune {
        let keep = prune(inputs, &draft);
        // Most plans have no targets, so nothing is pruned and the graph need not be copied.
        if keep.contains(&false) {
            draft.retain_vertices(|id, _| keep[id.index()]);
        }
    }
    for complete in steps.complete {
        complete(&mut draft);
    }
    Ok(draft)
}

/// Turns the graph of a full destroy into the order of destruction: an object goes after those that
/// were made after it, according to the state. Of the rest only the providers stay, with the
/// dependencies of their configuration.
pub(crate) fn into_destroy_order(
    draft: GraphDraft<PlanVertex<'_>, EdgeReason>,
) -> GraphDraft<PlanVertex<'_>, EdgeReason> {
    let mut draft = draft;
    let is_frame: Vec<bool> =
        draft.vertices().iter().map(|vertex| vertex.as_shared().is_some()).collect();
    let mut of: BTreeMap<ConfigResourceAddr, Vec<VertexId>> = BTreeMap::new();
    let mut made_after = Vec::new();
    for (id, vertex) in enumerate_vertices(draft.vertices()) {
        let (addr, prior): (_, Vec<&ResourceState>) = match vertex {
            PlanVertex::Resource(resource) => {
                (resource.addr.clone(), resource.prior.iter().map(|(_, state)| *state).collect())
            }
            PlanVertex::Orphan(orphan) => {
                (orphan.addr.config_addr(), orphan.prior.into_iter().collect())
            }
            PlanVertex::SharedVertex(_) | PlanVertex::Read(_) => continue,
        };
        let objects = prior.into_iter().flat_map(ResourceState::all_objects);
        let on: BTreeSet<_> = objects.flat_map(|it| it.dependencies.iter().cloned()).collect();
        made_after.push((id, on));
        of.entry(addr).or_default().push(id);
    }
    let (_, edges) = draft.split_vertices_and_edges();
    // In a full destroy the state alone gives the order of objects. The configuration may have
    // changed since, and its edges could contradict the state.
    edges.retain_edges(|edge| is_frame[edge.dependency.index()]);
    edges.retain_edges(|edge| is_frame[edge.dependent.index()] || edge.why == EdgeReason::Provider);
    for (dependent, on) in made_after {
        for dependency in on.iter().filter_map(|on| of.get(on)).flatten() {
            draft.connect(
                *dependency,
                dependent,
                EdgeReason::DestroyOrder("goes after what depends on it"),
            );
        }
    }
    let goes =
        |vertex: &PlanVertex<'_>| matches!(vertex, PlanVertex::Resource(_) | PlanVertex::Orphan(_));
    let keep = draft
        .dependencies_by_edges_where(|_| true)
        .reachable_from(draft.vertices().iter().map(goes).collect());
    draft.retain_vertices(|id, _| keep[id.index()]);
    draft
}

/// Removes everything but resources from a graph. Dependencies between resources that led through
/// the removed vertices remain.
pub(crate) fn retain_resources(
    draft: GraphDraft<PlanVertex<'_>, EdgeReason>,
) -> GraphDraft<PlanVertex<'_>, EdgeReason> {
    let mut draft = draft;
    let n_vertices = draft.vertices().len();
    // Copied before edges are added: the search follows only those that were there.
    let mut dependencies = vec![Vec::new(); n_vertices];
    for edge in draft.edges().iter() {
        dependencies[edge.dependent.index()].push((edge.dependency, edge.why));
    }
    let is_resource: Vec<bool> =
        draft.vertices().iter().map(|vertex| matches!(vertex, PlanVertex::Resource(_))).collect();
    for from in (0..n_vertices).filter(|&at| is_resource[at]) {
        let mut seen = BTreeSet::new();
        let mut queue = dependencies[from].clone();
        while let Some((on, why)) = queue.pop() {
            if !seen.insert(on) {
                continue;
            }
            if is_resource[on.index()] {
                draft.connect(VertexId(u32::try_from(from).unwrap_or(u32::MAX)), on, why);
            } else {
                queue.extend(dependencies[on.index()].iter().copied());
            }
        }
    }
    draft.retain_vertices(|id, _| is_resource[id.index()]);
    draft
}
