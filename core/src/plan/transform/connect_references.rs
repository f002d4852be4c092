//! Makes everything wait for what it mentions.

use crate::addr::Reference;
use crate::config::{Config, ModuleNode};
use crate::graph::{Edges, VertexId};
use crate::phase::Why;
use crate::plan::build::Index;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn connect<'c>(
    config: &'c Config,
    vertices: &[Vertex<'c>],
    index: &Index,
    edges: &mut Edges<Why>,
) {
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        for (node, references) in mentions(config, vertex) {
            for reference in references {
                let Some(to) = index.names.find(node, reference) else { continue };
                // A variable's validation mentions the variable itself; a resource that mentions
                // itself is reported when it is evaluated.
                if to != at {
                    edges.connect(at, to, Why::Mention(reference.whole));
                }
            }
        }
    }
}

fn mentions<'c>(config: &'c Config, vertex: &Vertex<'c>) -> Vec<(&'c ModuleNode, &'c [Reference])> {
    match vertex {
        Vertex::Value(value) => value.mentions(config),
        Vertex::Call(call) => vec![call.mentions()],
        Vertex::Provider(provider) => provider.mentions().into_iter().collect(),
        Vertex::Resource(resource) => vec![(resource.node, &resource.config.references)],
        Vertex::Closed(_) | Vertex::Orphan(_) => Vec::new(),
    }
}
