//! Makes everything wait for what it mentions.

use crate::addr::Reference;
use crate::eval::vertex::ValueVertex;
use crate::graph::{Edges, VertexId};
use crate::phase::Why;
use crate::plan::build::Index;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn connect(vertices: &[Vertex<'_>], index: &Index, edges: &mut Edges<Why>) {
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        for reference in mentioned(vertex) {
            let Some(&to) = index.subjects.get(&reference.subject) else { continue };
            // A variable's validation mentions the variable itself; a resource that mentions itself
            // is reported when it is evaluated.
            if to != at {
                edges.connect(at, to, Why::Mention(reference.whole));
            }
        }
    }
}

fn mentioned<'v>(vertex: &'v Vertex<'_>) -> &'v [Reference] {
    match vertex {
        Vertex::Value(ValueVertex::Variable(variable)) => &variable.references,
        Vertex::Value(ValueVertex::Local(local)) => &local.references,
        Vertex::Value(ValueVertex::Output(output)) => &output.references,
        Vertex::Provider(provider) => provider.block.map_or(&[], |block| &block.references),
        Vertex::Resource(resource) => &resource.config.references,
        Vertex::Orphan(_) => &[],
    }
}
