//! The graph of a plan in the DOT language.

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::{Diagnostics, Reported};

use super::transform::{PlanGraphBuilder, freeze_draft};
use super::vertex::PlanVertex;
use super::vertex_kind::StoredResource;
use super::{PlanMode, PlanOptions};
use crate::addr::ConfigResourceAddr;
use crate::eval::vertex::NamedValueBlock;
use crate::graph::render::{self, RenderedVertex};
use crate::graph::{Graph, GraphDraft, VertexId, enumerate_vertices, transitive_reduction};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason};
use crate::state::ResourceState;

/// Draws the graph of a plan, whole or reduced to its resources.
///
/// # Errors
/// When the graph cannot be built, or has a cycle.
pub fn plan_graph_dot(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &PlanOptions,
    resources_only: bool,
) -> Result<String, Reported> {
    let draft = PlanGraphBuilder::new(session, options).build_draft(diags)?;
    if resources_only {
        // A cycle of vertices that are not drawn is an error too.
        let full_graph = freeze_draft(diags, session, draft)?;
        let graph = freeze_draft(diags, session, retain_resources(full_graph.into_draft()))?;
        return Ok(resources_dot(&graph));
    }
    if options.mode == PlanMode::Destroy {
        let graph = freeze_draft(diags, session, into_destroy_order(draft))?;
        return Ok(shared_graph::draw_phase_graph(
            &graph,
            |vertex| vertex.render_destroyed(),
            |_| {},
        ));
    }
    let graph = freeze_draft(diags, session, draft)?;
    Ok(shared_graph::draw_phase_graph(
        &graph,
        |vertex| vertex.render(),
        |draft| {
            add_check_report_vertices(&graph, draft);
        },
    ))
}

/// Converts the graph of a full destroy to the order of destruction: an object is destroyed after
/// those that were made after it, according to the state. Of the rest only the providers stay, with
/// the dependencies of their configuration.
fn into_destroy_order(
    draft: GraphDraft<PlanVertex<'_>, EdgeReason>,
) -> GraphDraft<PlanVertex<'_>, EdgeReason> {
    let mut draft = draft;
    let mut is_frame = Vec::with_capacity(draft.vertices().len());
    let mut of: BTreeMap<ConfigResourceAddr, Vec<VertexId>> = BTreeMap::new();
    let mut made_after = Vec::new();
    for (id, vertex) in enumerate_vertices(draft.vertices()) {
        let stored = vertex.stored_resource();
        is_frame.push(stored.is_none());
        let Some(StoredResource { addr, parts }) = stored else { continue };
        let objects = parts.into_iter().flat_map(ResourceState::all_objects);
        let dependencies: BTreeSet<_> =
            objects.flat_map(|it| it.dependencies.iter().cloned()).collect();
        made_after.push((id, dependencies));
        of.entry(addr).or_default().push(id);
    }
    let (_, edges) = draft.split_vertices_and_edges();
    // In a full destroy only the state determines the order of objects. The configuration may have
    // changed since, and its edges could contradict the state.
    edges.retain_edges(|edge| is_frame[edge.dependency.index()]);
    edges.retain_edges(|edge| {
        is_frame[edge.dependent.index()] || edge.reason == EdgeReason::Provider
    });
    for (dependent, dependencies) in made_after {
        for dependency in dependencies.iter().filter_map(|dependency| of.get(dependency)).flatten()
        {
            draft.connect(
                *dependency,
                dependent,
                EdgeReason::DestroyOrder("goes after what depends on it"),
            );
        }
    }
    let is_other = is_frame.into_iter().map(|is_frame| !is_frame).collect();
    let keep = draft.dependencies_by_edges_where(|_| true).reachable_from(is_other);
    draft.retain_vertices(|id, _| keep[id.index()]);
    draft
}

/// Removes everything but resources from a graph. Dependencies between resources that led through
/// the removed vertices remain.
fn retain_resources(
    draft: GraphDraft<PlanVertex<'_>, EdgeReason>,
) -> GraphDraft<PlanVertex<'_>, EdgeReason> {
    let mut draft = draft;
    let n_vertices = draft.vertices().len();
    // Copied before edges are added: the search follows only the original ones.
    let mut dependencies = vec![Vec::new(); n_vertices];
    for edge in draft.edges().iter() {
        dependencies[edge.dependent.index()].push((edge.dependency, edge.reason));
    }
    let is_resource: Vec<bool> =
        draft.vertices().iter().map(|vertex| vertex.as_resource().is_some()).collect();
    for from in (0..n_vertices).filter(|&at| is_resource[at]) {
        let mut seen = BTreeSet::new();
        let mut queue = dependencies[from].clone();
        while let Some((dependency, reason)) = queue.pop() {
            if !seen.insert(dependency) {
                continue;
            }
            if is_resource[dependency.index()] {
                draft.connect(
                    VertexId(u32::try_from(from).unwrap_or(u32::MAX)),
                    dependency,
                    reason,
                );
            } else {
                queue.extend(dependencies[dependency.index()].iter().copied());
            }
        }
    }
    draft.retain_vertices(|id, _| is_resource[id.index()]);
    draft
}

/// Adds a report vertex for each `check` block. It comes before everything that the block reads and
/// reports the instances of the block. Our graph has no such vertex, but tools find one in
/// Terraform's graphs.
fn add_check_report_vertices(
    graph: &Graph<PlanVertex<'_>, EdgeReason>,
    draft: &mut GraphDraft<RenderedVertex>,
) {
    let mut calls = BTreeMap::new();
    let mut reports = BTreeMap::new();
    for (id, vertex) in enumerate_vertices(graph.vertices()) {
        if let Some(call) = vertex.as_module_call() {
            calls.insert(&call.node.path, id);
        }
        let Some(value) = vertex.as_value() else { continue };
        let NamedValueBlock::Check(check) = value.value else { continue };
        let report = draft.add(RenderedVertex { name: format!("{value} (report)"), look: None });
        draft.connect(id, report, ());
        reports.insert((&value.node.path, &check.name), report);
    }
    for ((module, _), report) in &reports {
        if let Some(call) = calls.get(module) {
            draft.connect(*report, *call, ());
        }
    }
    for (id, vertex) in enumerate_vertices(graph.vertices()) {
        let Some(resource) = vertex.as_resource() else { continue };
        let within = resource.config.within.as_ref();
        if let Some(report) = within.and_then(|check| reports.get(&(&resource.node.path, check))) {
            draft.connect(id, *report, ());
        }
    }
}

/// Only the resources, by module, in the form that Terraform prints when no type of graph is
/// given.
fn resources_dot(graph: &Graph<PlanVertex<'_>, EdgeReason>) -> String {
    let mut modules: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for vertex in graph.vertices() {
        let Some(resource) = vertex.as_resource() else { continue };
        let addr = &resource.addr;
        // In the order of names, so that a module precedes those it calls.
        let resources = modules.entry(addr.module.to_string()).or_default();
        resources.insert(addr.to_string(), addr.resource.to_string());
    }
    let mut text = String::from(
        "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n",
    );
    for (path, resources) in modules {
        let is_root = path.is_empty();
        let margin = if is_root { "  " } else { "    " };
        if !is_root {
            let (cluster, label) =
                (render::quote_dot(&format!("cluster_{path}")), render::quote_dot(&path));
            text.push_str(&format!("  subgraph {cluster} {{\n    label = {label}\n"));
            text.push_str("    fontname = \"sans-serif\"\n");
        }
        for (name, label) in resources {
            let (name, label) = (render::quote_dot(&name), render::quote_dot(&label));
            text.push_str(&format!("{margin}{name} [label={label}];\n"));
        }
        if !is_root {
            text.push_str("  }\n");
        }
    }
    format!("{text}{}}}\n", dependencies_dot(graph))
}

fn dependencies_dot(graph: &Graph<PlanVertex<'_>, EdgeReason>) -> String {
    let reduced = transitive_reduction::reduce_transitively(graph);
    let mut arrows: Vec<(String, String)> = Vec::new();
    for id in graph.vertex_ids() {
        let dependencies = reduced.dependencies(id).iter();
        arrows.extend(
            dependencies.map(|dependency| (graph[id].to_string(), graph[*dependency].to_string())),
        );
    }
    arrows.sort();
    let lines = arrows
        .iter()
        .map(|(from, to)| format!("  {} -> {};\n", render::quote_dot(from), render::quote_dot(to)));
    lines.collect()
}
