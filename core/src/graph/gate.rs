//! Limits the vertices that may start, beyond the edges. The caller defines the scarce resource.

use super::VertexId;

/// Admits vertices to a walk.
pub trait Gate {
    /// Whether a vertex that waits for nothing may start. One that may not is asked again when
    /// something has made room.
    fn admits(&self, id: VertexId) -> bool;

    /// Admits a vertex that was held back, because without it nothing would go on.
    fn forces(&self, id: VertexId);

    /// Takes note that a vertex was recorded, or will never be visited. Returns whether that has made
    /// room for others.
    fn passed(&self, id: VertexId) -> bool;
}

/// A gate that is always open.
#[derive(Clone, Copy, Debug)]
pub struct Open;

impl Gate for Open {
    fn admits(&self, _: VertexId) -> bool {
        true
    }

    fn forces(&self, _: VertexId) {}

    fn passed(&self, _: VertexId) -> bool {
        false
    }
}
