//! The graph that carries out a plan, in the DOT language.

use formwork_value::{Diagnostics, Reported};

use super::vertex::Vertex;
use super::{build, frozen};
use crate::addr::InstanceAddr;
use crate::graph::render::{RenderedVertex, VertexStyle};
use crate::plan::Plan;
use crate::session::Session;
use crate::shared_graph;

/// Draws the graph that applying a plan would walk.
///
/// # Errors
/// When it has a cycle.
pub fn dot(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
) -> Result<String, Reported> {
    let graph = frozen(session, diags, build::draft(session, plan))?;
    Ok(shared_graph::draw(&graph, drawn, |_| {}))
}

/// The resource of an instance, as written: the label of its box.
fn written(addr: &InstanceAddr) -> String {
    addr.of().config().to_string()
}

fn drawn(vertex: &Vertex<'_>) -> RenderedVertex {
    let boxed = |label: String| Some(VertexStyle { label, shape: "box" });
    let look = match vertex {
        Vertex::SharedVertex(shared) => return shared.drawn(),
        Vertex::Expand(expand) => boxed(expand.addr.to_string()),
        Vertex::Open(open) => boxed(open.addr.to_string()),
        Vertex::Instance(instance) => boxed(written(&instance.change.addr)),
        Vertex::Unchanged(instance) => boxed(written(&instance.change.addr)),
        Vertex::Destroy(destroy) => boxed(written(&destroy.change.addr)),
        Vertex::Done(_) | Vertex::Gone(_) | Vertex::Free(_) | Vertex::Changed => None,
    };
    RenderedVertex { name: vertex.to_string(), look }
}
