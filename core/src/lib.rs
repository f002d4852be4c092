//! The engine: configuration, state, graph, plan and apply.
//!
//! A [`session::Session`] holds the data that one command works with. [`plan::make_plan`] determines the
//! changes; [`apply::apply_plan`] applies them. `ARCHITECTURE.md` follows one resource through both.

pub mod addr;
pub mod apply;
pub mod change;
pub mod config;
pub mod disk;
mod ephemeral;
pub mod eval;
pub mod event;
pub mod graph;
mod instance_steps;
pub mod messages;
pub mod moved;
pub mod plan;
mod progress;
pub mod provider;
pub mod provisioner;
pub mod session;
mod shared_graph;
pub mod small_map;
pub mod state;
pub mod version;

#[cfg(test)]
mod tests;
