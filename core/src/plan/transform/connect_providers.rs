//! Makes every resource wait for the configuration of its provider.

use crate::config::Config;
use crate::graph::{Edges, VertexId};
use crate::phase::Why;
use crate::plan::build::Index;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn connect<'c>(
    _: &'c Config,
    vertices: &[Vertex<'c>],
    index: &Index,
    edges: &mut Edges<Why>,
) {
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        let provider = match vertex {
            Vertex::Resource(resource) => &resource.provider,
            Vertex::Orphan(orphan) => &orphan.provider,
            Vertex::Value(_)
            | Vertex::Call(_)
            | Vertex::Closed(_)
            | Vertex::Provider(_)
            | Vertex::Read(_)
            | Vertex::Close(_) => continue,
        };
        if let Some(&to) = index.providers.get(provider) {
            edges.connect(at, to, Why::Provider);
        }
    }
}
