//! Limits the vertices that may start, beyond the edges. The caller defines the scarce resource.

use super::VertexId;

/// Admits vertices to a walk.
pub trait WalkGate {
    /// Whether a vertex that waits for nothing may start. One that may not is asked again when
    /// something has made room.
    fn may_start(&self, id: VertexId) -> bool;

    /// Admits a vertex that was held back, because without it nothing would go on.
    fn force_start(&self, id: VertexId);

    /// Takes note that a vertex was recorded, or will never be visited. Returns whether that has made
    /// room for others.
    fn on_finished(&self, id: VertexId) -> bool;
}

/// A gate that is always open.
#[derive(Clone, Copy, Debug)]
pub struct OpenGate;

impl WalkGate for OpenGate {
    fn may_start(&self, _: VertexId) -> bool {
        true
    }

    fn force_start(&self, _: VertexId) {}

    fn on_finished(&self, _: VertexId) -> bool {
        false
    }
}
