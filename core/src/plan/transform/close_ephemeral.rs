//! Adds a vertex for the end of each ephemeral resource, behind everything that uses it. Comes after
//! pruning, so that nothing is kept only because it would use one.

use crate::addr::Mode;
use crate::graph::{Draft, VertexId};
use crate::phase::{Why, add_closing};
use crate::plan::vertex::Vertex;

/// Adds the vertices.
pub(in crate::plan) fn add(draft: &mut Draft<Vertex<'_>, Why>) {
    let opened =
        (0..).map(VertexId).zip(draft.vertices()).filter_map(|(id, vertex)| match vertex {
            Vertex::Resource(resource) if resource.addr.resource.mode() == Mode::Ephemeral => {
                Some((id, Vertex::Close(resource.addr.clone())))
            }
            _ => None,
        });
    let opened = opened.collect();
    add_closing(draft, opened, |vertex| match vertex {
        Vertex::Value(_) | Vertex::Call(_) | Vertex::Provider(_) => true,
        Vertex::Resource(resource) => resource.addr.resource.mode() == Mode::Ephemeral,
        Vertex::Closed(_) | Vertex::Read(_) | Vertex::Orphan(_) | Vertex::Close(_) => false,
    });
}
