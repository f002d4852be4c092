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
        let mut connect_all = |all: Vec<ModuleReferences<'c>>,
                               edge_reason: fn(Span) -> EdgeReason| {
            for (node, references) in all {
                for reference in references {
                    let Some(to) = names.find_vertex(node, reference) else { continue };
                    // A variable's validation refers to the variable itself; a resource that refers
                    // to itself is reported when it is evaluated.
                    if *to != at {
                        edges.connect(at, *to, edge_reason(reference.whole));
                    }
                }
            }
        };
        connect_all(vertex.references(config), EdgeReason::Reference);
        connect_all(vertex.import_references(config), EdgeReason::ImportReference);
    }
}
