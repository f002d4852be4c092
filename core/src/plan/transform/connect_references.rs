//! Makes everything wait for what it mentions.

use formwork_value::Span;

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
        let why: fn(Span) -> Why = Why::Mention;
        let mentions = mentions(config, vertex).into_iter().map(|(node, all)| (node, all, why));
        for (node, references, why) in mentions.chain(of_imports(config, vertex)) {
            for reference in references {
                let Some(to) = index.names.find(node, reference) else { continue };
                // A variable's validation mentions the variable itself; a resource that mentions
                // itself is reported when it is evaluated.
                if *to != at {
                    edges.connect(at, *to, why(reference.whole));
                }
            }
        }
    }
}

/// References in a module, and what they are for.
type Imports<'c> = (&'c ModuleNode, &'c [Reference], fn(Span) -> Why);

/// What is needed to find the objects that are imported into a resource.
fn of_imports<'c>(config: &'c Config, vertex: &Vertex<'c>) -> Vec<Imports<'c>> {
    let Vertex::Resource(resource) = vertex else { return Vec::new() };
    let imports = resource.imports.iter();
    let why: fn(Span) -> Why = Why::Import;
    imports.map(|import| (config.root_node(), import.references.as_slice(), why)).collect()
}

fn mentions<'c>(config: &'c Config, vertex: &Vertex<'c>) -> Vec<(&'c ModuleNode, &'c [Reference])> {
    match vertex {
        Vertex::Value(value) => value.mentions(config),
        Vertex::Call(call) => vec![call.mentions()],
        Vertex::Provider(provider) => provider.mentions().into_iter().collect(),
        Vertex::Resource(resource) => vec![(resource.node, &resource.config.references)],
        Vertex::Closed(_) | Vertex::Read(_) | Vertex::Orphan(_) | Vertex::Close(_) => Vec::new(),
    }
}
