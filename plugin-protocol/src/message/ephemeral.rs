//! Opening, renewing and closing an ephemeral resource.

use std::time::SystemTime;

use bytes::Bytes;

use super::{DeferredReason, ProviderDiagnostic};
use crate::Payload;
use crate::capability::ClientCapabilities;

/// Opens an ephemeral resource.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRequest {
    /// The ephemeral resource type.
    pub type_name: String,
    /// The configuration.
    pub config: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
}

/// The opened resource.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenResponse {
    /// The configuration with everything computed filled in.
    pub result: Payload,
    /// Private bytes for renew and close.
    pub private: Bytes,
    /// When it must be renewed, if ever.
    pub renew_at: Option<SystemTime>,
    /// Set if the provider deferred it.
    pub deferred: Option<DeferredReason>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Renews or closes an ephemeral resource.
#[derive(Clone, Debug, PartialEq)]
pub struct RenewOrCloseRequest {
    /// The ephemeral resource type.
    pub type_name: String,
    /// Private bytes of the last answer.
    pub private: Bytes,
}

/// The renewed resource.
#[derive(Clone, Debug, PartialEq)]
pub struct RenewResponse {
    /// Private bytes for the next renew and close.
    pub private: Bytes,
    /// When it must be renewed again, if ever.
    pub renew_at: Option<SystemTime>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
