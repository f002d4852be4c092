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

pub(crate) use close_ephemeral::add_close_vertices;
pub(crate) use edge_reason::{CycleExplanation, EdgeReason, format_place, report_cycles};
pub(crate) use names::{VertexNames, connect_modules, connect_providers};
pub(crate) use provider_usage::ProviderUsage;
pub(crate) use provider_vertex::{ProviderVertex, visit_provider, written_providers};
pub(crate) use render::draw_phase_graph;
pub(crate) use shared_vertex::{
    ModuleReferences, PhaseVertex, SharedVertex, SharedVisitOutcome, add_calls, add_providers,
    add_values,
};
pub(crate) use walk::{PhaseWalk, walk_phase};
