//! Operations of the engine on a configuration and its stored state: plan, apply, refresh, import and
//! recover, for the command line and for programs that embed the engine.
//!
//! A [`StateSession`] is the locked state. [`Operation`] is a builder with one method for each operation.
//! This crate reads no environment variables, prints nothing and does not prompt on a terminal: events go
//! to an [`OperationObserver`], questions to an [`Approval`], and a `CancellationToken` ends an operation
//! early. [`LoadedConfig`] reads a configuration in one call, and [`prelude`] exports the items that most
//! programs need. `examples/embed.rs` is a complete example.

mod apply;
mod claims;
mod errored_state_report;
pub mod generated_config;
pub mod import;
pub mod journal_checks;
pub mod launcher;
mod loaded_config;
pub mod messages;
pub mod observer;
mod operation;
mod plan;
pub mod plan_options;
pub mod prelude;
pub mod recover;
pub mod saved_plan;
pub mod schema_cache;
mod state_session;
pub mod test;
#[cfg(test)]
mod tests;
mod unmatched_options;

pub use apply::{ApplySummary, PlanSource};
pub use errored_state_report::ErroredState;
pub use loaded_config::LoadedConfig;
pub use observer::{
    Approval, ApprovalPrompt, NoOperationObserver, OperationEvent, OperationObserver,
};
pub use operation::{Operation, OperationInputs, PhaseInputs};
pub use plan::PlanOutcome;
pub use state_session::{SessionOptions, StateSession};
pub use tokio_util::sync::CancellationToken;
