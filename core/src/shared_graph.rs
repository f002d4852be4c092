//! Vertices and edges that the plan graph and the apply graph share, the walk over either graph, the
//! message printed for a cycle, and the drawing. Vertices for objects are specific to each graph.

mod close_ephemeral;
mod draw_phase_graph;
mod edge_reason;
mod provider_process_gate;
mod vertex;
mod vertex_kinds;
mod vertex_lookup;
mod walk;

pub(crate) use close_ephemeral::add_ephemeral_close_vertices;
pub(crate) use draw_phase_graph::draw_phase_graph;
pub(crate) use edge_reason::{CycleExplanation, EdgeReason, format_span, report_cycles};
pub(crate) use provider_process_gate::ProviderProcessGate;
pub(crate) use vertex::{
    ModuleReferences, PhaseVertex, SharedContext, SharedVertex, SharedVisitOutcome,
    ValidationContext, VertexKind, add_module_call_vertices, add_providers, add_value_vertices,
    written_providers,
};
pub(crate) use vertex_kinds::vertex_kinds;
pub(crate) use vertex_lookup::{VertexLookup, connect_modules, connect_providers};
pub(crate) use walk::{PhaseWalk, walk_phase};
