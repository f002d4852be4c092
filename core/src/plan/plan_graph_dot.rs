//! The graph of a plan in the DOT language.

use std::collections::BTreeMap;

use formwork_value::{Diagnostics, Reported};

use super::vertex::PlanVertex;
use super::{PlanMode, PlanOptions, build_graph};
use crate::eval::vertex::NamedValueBlock;
use crate::graph::render::{self, RenderedVertex, VertexStyle};
use crate::graph::{Graph, GraphDraft, enumerate_vertices, transitive_reduction};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason, SharedVertex};

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
    let draft = build_graph::build_plan_draft(diags, session, options)?;
    if resources_only {
        // A cycle of vertices that are not drawn is an error too.
        let whole = build_graph::freeze_draft(diags, session, draft)?;
        let graph = build_graph::freeze_draft(
            diags,
            session,
            build_graph::retain_resources(whole.into_draft()),
        )?;
        return Ok(resources_dot(&graph));
    }
    if options.mode == PlanMode::Destroy {
        let graph =
            build_graph::freeze_draft(diags, session, build_graph::into_destroy_order(draft))?;
        return Ok(shared_graph::draw_phase_graph(&graph, render_destroyed_vertex, |_| {}));
    }
    let graph = build_graph::freeze_draft(diags, session, draft)?;
    Ok(shared_graph::draw_phase_graph(&graph, render_vertex, |draft| {
        add_check_report_vertices(&graph, draft);
    }))
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
        match vertex {
            PlanVertex::SharedVertex(SharedVertex::Call(call)) => {
                calls.insert(&call.node.path, id);
            }
            PlanVertex::SharedVertex(SharedVertex::Value(value)) => {
                let NamedValueBlock::Check(check) = value.value else { continue };
                let report =
                    draft.add(RenderedVertex { name: format!("{value} (report)"), look: None });
                draft.connect(id, report, ());
                reports.insert((&value.node.path, &check.name), report);
            }
            _ => {}
        }
    }
    for ((module, _), report) in &reports {
        if let Some(call) = calls.get(module) {
            draft.connect(*report, *call, ());
        }
    }
    for (id, vertex) in enumerate_vertices(graph.vertices()) {
        let PlanVertex::Resource(resource) = vertex else { continue };
        let within = resource.config.within.as_ref();
        if let Some(report) = within.and_then(|check| reports.get(&(&resource.node.path, check))) {
            draft.connect(id, *report, ());
        }
    }
}

/// The vertex of a destroyed object.
fn render_destroyed_vertex(vertex: &PlanVertex<'_>) -> RenderedVertex {
    let label = match vertex {
        PlanVertex::Resource(resource) => resource.addr.to_string(),
        PlanVertex::Orphan(orphan) => orphan.addr.config_addr().to_string(),
        other => return render_vertex(other),
    };
    let name = match vertex {
        PlanVertex::Orphan(orphan) => orphan.addr.to_string(),
        _ => label.clone(),
    };
    RenderedVertex {
        name: format!("{name} (destroy)"),
        look: Some(VertexStyle { label, shape: "box" }),
    }
}

fn render_vertex(vertex: &PlanVertex<'_>) -> RenderedVertex {
    let boxed = |label: String| Some(VertexStyle { label, shape: "box" });
    match vertex {
        PlanVertex::SharedVertex(shared) => shared.render(),
        PlanVertex::Resource(resource) => {
            let label = resource.addr.to_string();
            RenderedVertex { name: format!("{label} (expand)"), look: boxed(label) }
        }
        PlanVertex::Orphan(orphan) => {
            RenderedVertex { name: vertex.to_string(), look: boxed(orphan.addr.to_string()) }
        }
        PlanVertex::Read(_) => RenderedVertex { name: vertex.to_string(), look: None },
    }
}

/// The resources alone, by module, in the form that Terraform prints when no type of graph is
/// given.
fn resources_dot(graph: &Graph<PlanVertex<'_>, EdgeReason>) -> String {
    let mut modules: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for vertex in graph.vertices() {
        let PlanVertex::Resource(resource) = vertex else { continue };
        let addr = &resource.addr;
        // In the order of names, so that a module stands before those it calls.
        let own = modules.entry(addr.module.to_string()).or_default();
        own.insert(addr.to_string(), addr.resource.to_string());
    }
    let mut text = String::from(
        "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n",
    );
    for (path, own) in modules {
        let is_root = path.is_empty();
        let margin = if is_root { "  " } else { "    " };
        if !is_root {
            let (cluster, label) =
                (render::quote_dot(&format!("cluster_{path}")), render::quote_dot(&path));
            text.push_str(&format!("  subgraph {cluster} {{\n    label = {label}\n"));
            text.push_str("    fontname = \"sans-serif\"\n");
        }
        for (name, label) in own {
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
        let on = reduced.dependencies(id).iter();
        arrows.extend(on.map(|on| (graph[id].to_string(), graph[*on].to_string())));
    }
    arrows.sort();
    let lines = arrows
        .iter()
        .map(|(from, to)| format!("  {} -> {};\n", render::quote_dot(from), render::quote_dot(to)));
    lines.collect()
}
