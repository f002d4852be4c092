//! Limits the vertices that may start, beyond the edges. The caller defines the scarce resource.

use super::VertexId;

/// Admits vertices to a walk.
pub trait WalkGate {
    /// Returns whether a ready vertex may start. A refused vertex is requested again when capacity was
    /// released.
    fn may_start(&self, id: VertexId) -> bool;

    /// Admits a vertex that was held back, because otherwise the walk could not continue.
    fn force_start(&self, id: VertexId);

    /// Handles a vertex that was recorded, or will never be visited. Returns whether this released
    /// capacity for others.
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
