//! The graph that carries out a plan, in the DOT language.

use formwork_value::{Diagnostics, Reported};

use super::vertex::ApplyVertex;
use super::{build_graph, freeze_draft};
use crate::addr::InstanceAddr;
use crate::graph::render::{RenderedVertex, VertexStyle};
use crate::plan::Plan;
use crate::session::Session;
use crate::shared_graph;

/// Draws the graph that applying a plan would walk.
///
/// # Errors
/// When it has a cycle.
pub fn apply_graph_dot(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
) -> Result<String, Reported> {
    let graph = freeze_draft(session, diags, build_graph::build_apply_draft(session, plan))?;
    Ok(shared_graph::draw_phase_graph(&graph, render_vertex, |_| {}))
}

/// The resource of an instance, as written: the label of its box.
fn instance_resource_label(addr: &InstanceAddr) -> String {
    addr.resource_addr().config_addr().to_string()
}

fn render_vertex(vertex: &ApplyVertex<'_>) -> RenderedVertex {
    let boxed = |label: String| Some(VertexStyle { label, shape: "box" });
    let look = match vertex {
        ApplyVertex::SharedVertex(shared) => return shared.render(),
        ApplyVertex::Expand(expand) => boxed(expand.addr.to_string()),
        ApplyVertex::Open(open) => boxed(open.addr.to_string()),
        ApplyVertex::Instance(instance) => boxed(instance_resource_label(&instance.change.addr)),
        ApplyVertex::Unchanged(instance) => boxed(instance_resource_label(&instance.change.addr)),
        ApplyVertex::Destroy(destroy) => boxed(instance_resource_label(&destroy.change.addr)),
        ApplyVertex::ResourceDone(_)
        | ApplyVertex::ResourceGone(_)
        | ApplyVertex::DestroyJoin(_)
        | ApplyVertex::AllChanged => None,
    };
    RenderedVertex { name: vertex.to_string(), look }
}
