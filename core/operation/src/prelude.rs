//! Re-exports for programs that embed the engine: `use formwork_operation::prelude::*`.

// Types of other crates that the operations take or return, so that a program needs no dependency on these
// crates.
pub use formwork_core::addr::{InstanceAddr, ProviderAddr, Target};
pub use formwork_core::change::{Action, ImportKey};
pub use formwork_core::event::Event;
pub use formwork_core::plan::{PlanMode, PlanOptions};
pub use formwork_core::provider::ProviderPool;
pub use formwork_value::diag::Sources;
pub use formwork_value::{Diagnostic, Diagnostics, Reported};
pub use tokio_util::sync::CancellationToken;

pub use crate::apply::{ApplySummary, PlanSource};
pub use crate::launcher::{Launcher, LauncherSettings, ProviderProgram};
pub use crate::loaded_config::LoadedConfig;
pub use crate::observer::{Approval, ApprovalPrompt, OperationEvent, OperationObserver};
pub use crate::operation::Operation;
pub use crate::plan::PlanOutcome;
pub use crate::state_session::{SessionOptions, StateSession};
