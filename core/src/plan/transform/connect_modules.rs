//! Makes everything in a called module wait until its instances are known, and the end of the module
//! wait for everything in it.

use crate::config::Config;
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
    let names = &index.names;
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        let Some(node) = vertex.module() else { continue };
        if let Some(call) = names.call(node) {
            edges.connect(at, call, Why::Module);
        }
        let around = match vertex {
            // The end of a module belongs to the end of the one around it.
            Vertex::Closed(node) => node.caller.map(|caller| &config.nodes[caller]),
            _ => Some(node),
        };
        if let Some(closed) = around.and_then(|node| names.closed(node)) {
            edges.connect(closed, at, Why::Module);
        }
    }
}
