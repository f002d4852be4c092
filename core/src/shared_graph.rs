//! Vertices and edges that the plan graph and the apply graph share, the walk over either graph, the
//! message printed for a cycle, and the drawing. Vertices for objects are specific to each graph.

mod close_ephemeral;
mod edge_reason;
mod names;
mod provider_usage;
mod provider_vertex;
mod render;
mod shared_vertex;
mod walk;

pub(crate) use close_ephemeral::close_ephemeral;
pub(crate) use edge_reason::{CycleExplanation, EdgeReason, place_of, report_cycles};
pub(crate) use names::{Names, connect_modules, connect_providers};
pub(crate) use provider_usage::ProviderUsage;
pub(crate) use provider_vertex::{ProviderVertex, visit_provider, written_providers};
pub(crate) use render::draw;
pub(crate) use shared_vertex::{
    Mentions, SharedOutcome, SharedVertex, Vertex, add_calls, add_providers, add_values,
};
pub(crate) use walk::{PhaseWalk, walk_phase};
