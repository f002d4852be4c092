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
    /// Capabilities of the host.
    pub client: ClientCapabilities,
}

/// The plan of an action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanActionResponse {
    /// Set if the provider deferred it.
    pub deferred: Option<DeferredReason>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Events of a running action. The last one is `Completed`.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionEvent {
    /// A progress message for users.
    Progress(String),
    /// It ended; errors among the diagnostics mean that it failed.
    Completed(Vec<ProviderDiagnostic>),
}
