//! The graph of a plan in the DOT language.

use std::collections::BTreeMap;

use formwork_value::{Diagnostics, Reported};

use super::vertex::Vertex;
use super::{Options, build};
use crate::graph::render::{self, Drawn, Look};
use crate::graph::{Graph, reduce};
use crate::phase::{self, Why};
use crate::session::Session;

/// Draws the graph of a plan, whole or reduced to its resources.
///
/// # Errors
/// When the graph cannot be built, or has a cycle.
pub fn dot(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &Options,
    resources_only: bool,
) -> Result<String, Reported> {
    let draft = build::draft(diags, session, options)?;
    let draft = if resources_only { build::resources_only(draft) } else { draft };
    let graph = build::frozen(diags, session, draft)?;
    if resources_only {
        return Ok(resources(&graph));
    }
    Ok(phase::draw(&graph, drawn))
}

fn drawn(vertex: &Vertex<'_>) -> Drawn {
    let boxed = |label: String| Some(Look { label, shape: "box" });
    match vertex {
        Vertex::Frame(frame) => frame.drawn(),
        Vertex::Resource(resource) => {
            let label = resource.addr.to_string();
            Drawn { name: format!("{label} (expand)"), look: boxed(label) }
        }
        Vertex::Orphan(orphan) => {
            Drawn { name: vertex.to_string(), look: boxed(orphan.addr.to_string()) }
        }
        Vertex::Read(_) => Drawn { name: vertex.to_string(), look: None },
    }
}

/// The resources alone, by module, in the form the reference gives them when no type of graph is asked
/// for.
fn resources(graph: &Graph<Vertex<'_>, Why>) -> String {
    let mut modules: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for vertex in graph.vertices() {
        let Vertex::Resource(resource) = vertex else { continue };
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
                (render::quoted(&format!("cluster_{path}")), render::quoted(&path));
            text.push_str(&format!("  subgraph {cluster} {{\n    label = {label}\n"));
            text.push_str("    fontname = \"sans-serif\"\n");
        }
        for (name, label) in own {
            let (name, label) = (render::quoted(&name), render::quoted(&label));
            text.push_str(&format!("{margin}{name} [label={label}];\n"));
        }
        if !is_root {
            text.push_str("  }\n");
        }
    }
    format!("{text}{}}}\n", arrows(graph))
}

fn arrows(graph: &Graph<Vertex<'_>, Why>) -> String {
    let reduced = reduce::reduce(graph);
    let mut arrows: Vec<(String, String)> = Vec::new();
    for id in graph.ids() {
        let on = reduced.dependencies(id).iter();
        arrows.extend(on.map(|on| (graph[id].to_string(), graph[*on].to_string())));
    }
    arrows.sort();
    let lines = arrows
        .iter()
        .map(|(from, to)| format!("  {} -> {};\n", render::quoted(from), render::quoted(to)));
    lines.collect()
}
