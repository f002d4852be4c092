//! Listing existing objects.

use super::ProviderDiagnostic;
use crate::Payload;
use crate::capability::ClientCapabilities;

/// Asks for existing objects.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRequest {
    /// The list resource type.
    pub type_name: String,
    /// The configuration of the query.
    pub config: Payload,
    /// Whether each event must hold the whole object.
    pub include_object: bool,
    /// The greatest number of objects.
    pub limit: i64,
}

/// One object found.
#[derive(Clone, Debug, PartialEq)]
pub struct ListEvent {
    /// Identity of the object.
    pub identity: Option<Payload>,
    /// A name for people.
    pub display_name: String,
    /// The object, if the request includes objects.
    pub object: Option<Payload>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Asks about the configuration of a list resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidateListRequest {
    /// The list resource type.
    pub type_name: String,
    /// The configuration.
    pub config: Payload,
    /// Whether the request includes whole objects; may be unknown.
    pub include_object: Payload,
    /// The greatest number of objects; may be unknown.
    pub limit: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
}
