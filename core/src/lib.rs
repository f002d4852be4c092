//! The engine: configuration, state, graph, plan and apply.

pub mod addr;
pub mod config;
pub mod eval;
pub mod event;
pub mod failure;
pub mod graph;
pub mod state;
pub mod version;
