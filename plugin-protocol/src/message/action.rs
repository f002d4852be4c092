//! Planning and invoking an action.

use super::{DeferredReason, ProviderDiagnostic};
use crate::Payload;
use crate::capability::ClientCapabilities;

/// Asks about an action, or invokes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRequest {
    /// The action type.
    pub type_name: String,
    /// The configuration.
    pub config: Payload,
    /// What the host can do.
    pub client: ClientCapabilities,
}

/// What planning an action brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanActionResponse {
    /// Set if the provider put it off.
    pub deferred: Option<DeferredReason>,
    /// What the provider said.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// What happens while an action runs. The last one is `Completed`.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionEvent {
    /// Something to tell people.
    Progress(String),
    /// It ended; errors among the diagnostics mean that it failed.
    Completed(Vec<ProviderDiagnostic>),
}
