//! Operations of the engine on a configuration and its stored state.

mod errored;
pub mod generated;
pub mod observer;
pub mod recover;
pub mod saved_plan;
mod state_session;
pub mod unmatched;

pub use errored::ErroredState;
pub use observer::{Approval, ApprovalRequest, NoObserver, OperationEvent, OperationObserver};
pub use state_session::{SessionOptions, StateSession};
