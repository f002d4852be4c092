//! The graph of a plan in the DOT language.

use formwork_value::{Diagnostics, Reported};

use super::vertex::Vertex;
use super::{Options, build};
use crate::graph::render::{self, Drawn, Look};
use crate::graph::{Graph, reduce};
use crate::phase::{Why, report_cycles};
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
    let graph = match draft.freeze() {
        Ok(graph) => graph,
        Err(cyclic) => return Err(report_cycles(diags, session.sources, &cyclic)),
    };
    if resources_only {
        return Ok(resources(&graph));
    }
    Ok(render::dot(&graph, |_, vertex| drawn(vertex)))
}

fn drawn(vertex: &Vertex<'_>) -> Drawn {
    let look = match vertex {
        Vertex::Value(_) | Vertex::Call(_) | Vertex::Closed(_) | Vertex::Close(_) => None,
        Vertex::Provider(provider) => {
            Some(Look { label: provider.addr.to_string(), shape: "diamond" })
        }
        Vertex::Resource(resource) => Some(Look { label: resource.addr.to_string(), shape: "box" }),
        Vertex::Orphan(orphan) => Some(Look { label: orphan.addr.to_string(), shape: "box" }),
    };
    Drawn { name: vertex.to_string(), look }
}

/// The resources alone, in the form the reference gives them when no type of graph is asked for.
fn resources(graph: &Graph<Vertex<'_>, Why>) -> String {
    let mut text = String::from(
        "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n",
    );
    let mut arrows = String::new();
    let reduced = reduce::reduce(graph);
    let mut ids: Vec<_> = graph.ids().collect();
    ids.sort_by_key(|&id| graph[id].to_string());
    for id in ids {
        let name = render::quoted(&graph[id].to_string());
        let label = render::quoted(&match &graph[id] {
            Vertex::Resource(resource) => resource.addr.to_string(),
            other => other.to_string(),
        });
        text.push_str(&format!("  {name} [label={label}];\n"));
        let mut targets: Vec<_> =
            reduced.dependencies(id).iter().map(|on| graph[*on].to_string()).collect();
        targets.sort();
        for target in targets {
            arrows.push_str(&format!("  {name} -> {};\n", render::quoted(&target)));
        }
    }
    format!("{text}{arrows}}}\n")
}
