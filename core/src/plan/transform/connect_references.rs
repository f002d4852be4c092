//! Makes every vertex wait for the objects that it refers to.

use formwork_value::Span;

use crate::config::Config;
use crate::graph::{Edges, numbered};
use crate::plan::vertex::Vertex;
use crate::shared_graph::{EdgeReason, Mentions, Names};

pub(in crate::plan) fn connect<'c>(
    config: &'c Config,
    vertices: &[Vertex<'c>],
    names: &Names,
    edges: &mut Edges<EdgeReason>,
) {
    for (at, vertex) in numbered(vertices) {
        for ((node, references), why) in mentions(config, vertex) {
            for reference in references {
                let Some(to) = names.find(node, reference) else { continue };
                // A variable's validation mentions the variable itself; a resource that mentions
                // itself is reported when it is evaluated.
                if *to != at {
                    edges.connect(at, *to, why(reference.whole));
                }
            }
        }
    }
}

type ReasonAt = fn(Span) -> EdgeReason;

/// Returns the references of a vertex, and those needed to find the objects that are imported into
/// a resource.
pub(in crate::plan) fn mentions<'c>(
    config: &'c Config,
    vertex: &Vertex<'c>,
) -> Vec<(Mentions<'c>, ReasonAt)> {
    match vertex {
        Vertex::SharedVertex(shared) => {
            let all = shared.mentions(config).into_iter();
            all.map(|mentions| (mentions, EdgeReason::Mention as ReasonAt)).collect()
        }
        Vertex::Resource(resource) => {
            let own = (resource.node, resource.config.references.as_slice());
            let imports = resource.imports.iter();
            let imports = imports.map(|it| (config.root_node(), it.references.as_slice()));
            let imports = imports.map(|mentions| (mentions, EdgeReason::Import as ReasonAt));
            std::iter::once((own, EdgeReason::Mention as ReasonAt)).chain(imports).collect()
        }
        Vertex::Read(_) | Vertex::Orphan(_) => Vec::new(),
    }
}
