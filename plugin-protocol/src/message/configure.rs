//! Validating and configuring a provider.

use super::ProviderDiagnostic;
use crate::Payload;
use crate::capability::ClientCapabilities;

/// Gives a provider its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigureRequest {
    /// The version of the host's language, as providers compare it.
    pub terraform_version: String,
    /// The configuration; may hold unknowns while planning.
    pub config: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
}

/// Validates a configuration of the provider, a resource, a data source or the like.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidateRequest {
    /// The type name; empty for the provider's own configuration.
    pub type_name: String,
    /// The configuration.
    pub config: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
}

/// An answer that is only diagnostics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiagnosticsResponse {
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
