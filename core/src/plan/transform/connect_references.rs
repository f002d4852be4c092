//! Makes every vertex wait for the objects that it refers to.

use formwork_value::Span;

use crate::config::Config;
use crate::graph::{Edges, enumerate_vertices};
use crate::plan::vertex::PlanVertex;
use crate::shared_graph::{EdgeReason, ModuleReferences, VertexLookup};

pub(in crate::plan) fn connect_references<'c>(
    config: &'c Config,
    vertices: &[PlanVertex<'c>],
    names: &VertexLookup,
    edges: &mut Edges<EdgeReason>,
) {
    for (at, vertex) in enumerate_vertices(vertices) {
        for ((node, references), why) in vertex_references(config, vertex) {
            for reference in references {
                let Some(to) = names.find_vertex(node, reference) else { continue };
                // A variable's validation mentions the variable itself; a resource that mentions
                // itself is reported when it is evaluated.
                if *to != at {
                    edges.connect(at, *to, why(reference.whole));
                }
            }
        }
    }
}

type ReasonForSpan = fn(Span) -> EdgeReason;

/// Returns the references of a vertex, and those needed to find the objects that are imported into
/// a resource.
pub(in crate::plan) fn vertex_references<'c>(
    config: &'c Config,
    vertex: &PlanVertex<'c>,
) -> Vec<(ModuleReferences<'c>, ReasonForSpan)> {
    match vertex {
        PlanVertex::SharedVertex(shared) => {
            let all = shared.references(config).into_iter();
            all.map(|mentions| (mentions, EdgeReason::Reference as ReasonForSpan)).collect()
        }
        PlanVertex::Resource(resource) => {
            let own = (resource.node, resource.config.references.as_slice());
            let imports = resource.imports.iter();
            let imports = imports.map(|it| (config.root_node(), it.references.as_slice()));
            let imports =
                imports.map(|mentions| (mentions, EdgeReason::ImportReference as ReasonForSpan));
            std::iter::once((own, EdgeReason::Reference as ReasonForSpan)).chain(imports).collect()
        }
        PlanVertex::Read(_) | PlanVertex::Orphan(_) => Vec::new(),
    }
}
