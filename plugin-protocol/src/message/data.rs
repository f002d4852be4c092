//! Reading a data source.

use super::{DeferredReason, ProviderDiagnostic};
use crate::Payload;
use crate::capability::ClientCapabilities;

/// Asks for the data a configuration describes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadDataRequest {
    /// The data source.
    pub type_name: String,
    /// The configuration.
    pub config: Payload,
    /// What the module says about itself.
    pub provider_meta: Payload,
    /// What the host can do.
    pub client: ClientCapabilities,
}

/// The data.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadDataResponse {
    /// The configuration with everything computed filled in.
    pub state: Payload,
    /// Set if the provider put it off.
    pub deferred: Option<DeferredReason>,
    /// What the provider said.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
