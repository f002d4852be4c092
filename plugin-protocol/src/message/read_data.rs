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
    /// The `provider_meta` of the module.
    pub provider_meta: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
    /// The address of the instance. A provider in another process is not sent it.
    pub address: String,
}

/// The data.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadDataResponse {
    /// The configuration with everything computed filled in.
    pub state: Payload,
    /// Set if the provider deferred it.
    pub deferred: Option<DeferredReason>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
