//! The life of a managed resource: upgrade, read, plan, apply, import, move.

use bytes::Bytes;
use formwork_value::Path;

use super::{DeferredReason, ProviderDiagnostic};
use crate::Payload;
use crate::capability::ClientCapabilities;

/// A stored object as encoded in the state.
#[derive(Clone, Debug, PartialEq)]
pub enum RawState {
    /// JSON text.
    Json(Bytes),
    /// The flat form of states before version 4.
    Flat(std::collections::BTreeMap<String, String>),
}

/// Asks for a stored object in the form of the newest schema.
#[derive(Clone, Debug, PartialEq)]
pub struct UpgradeRequest {
    /// The resource type.
    pub type_name: String,
    /// The schema version the object was stored with.
    pub version: u64,
    /// The object.
    pub state: RawState,
}

/// The upgraded object.
#[derive(Clone, Debug, PartialEq)]
pub struct UpgradeResponse {
    /// The object.
    pub state: Payload,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Reads the real object of a stored one.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRequest {
    /// The resource type.
    pub type_name: String,
    /// The stored object.
    pub current: Payload,
    /// The provider's private bytes.
    pub private: Bytes,
    /// The `provider_meta` of the module; absent if there is none.
    pub provider_meta: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
    /// The stored identity, if any.
    pub identity: Option<Payload>,
}

/// The real object; null if it no longer exists.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadResponse {
    /// The object.
    pub state: Payload,
    /// The provider's private bytes.
    pub private: Bytes,
    /// Set if the provider deferred it.
    pub deferred: Option<DeferredReason>,
    /// The identity, if the provider gives one.
    pub identity: Option<Payload>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Asks for the effects of applying a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRequest {
    /// The resource type.
    pub type_name: String,
    /// The stored object; null to create.
    pub prior: Payload,
    /// Prior and configuration merged; null to destroy.
    pub proposed: Payload,
    /// The configuration as evaluated; null to destroy.
    pub config: Payload,
    /// The provider's private bytes of the prior object.
    pub prior_private: Bytes,
    /// The `provider_meta` of the module.
    pub provider_meta: Payload,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
    /// The stored identity, if any.
    pub prior_identity: Option<Payload>,
    /// Private bytes of the plan before this one, for a host that keeps them (6.11); else empty.
    pub planned_private: Bytes,
}

/// A planned change.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanResponse {
    /// The planned object.
    pub planned: Payload,
    /// Changes at these paths require a replacement.
    pub requires_replace: Vec<Path>,
    /// Private bytes to return when applying.
    pub planned_private: Bytes,
    /// The provider uses the old SDK, whose known inconsistencies are tolerated.
    pub legacy_type_system: bool,
    /// Set if the provider deferred it.
    pub deferred: Option<DeferredReason>,
    /// The planned identity, if the provider gives one.
    pub planned_identity: Option<Payload>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Applies a planned change.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyRequest {
    /// The resource type.
    pub type_name: String,
    /// The stored object; null to create.
    pub prior: Payload,
    /// The planned object; null to destroy.
    pub planned: Payload,
    /// The configuration; null to destroy.
    pub config: Payload,
    /// Private bytes from the plan.
    pub planned_private: Bytes,
    /// The `provider_meta` of the module.
    pub provider_meta: Payload,
    /// The planned identity, if any.
    pub planned_identity: Option<Payload>,
}

/// The result of a change, including one that failed half-way.
#[derive(Clone, Debug, PartialEq)]
pub struct ApplyResponse {
    /// The object as it is; null if there is none.
    pub state: Payload,
    /// The provider's private bytes.
    pub private: Bytes,
    /// The provider uses the old SDK.
    pub legacy_type_system: bool,
    /// The identity, if the provider gives one.
    pub identity: Option<Payload>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Asks for an existing object.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportRequest {
    /// The resource type.
    pub type_name: String,
    /// The id as the user gave it; empty when importing by identity.
    pub id: String,
    /// Capabilities of the host.
    pub client: ClientCapabilities,
    /// The identity, when importing by it.
    pub identity: Option<Payload>,
}

/// The objects found.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportResponse {
    /// Usually one.
    pub resources: Vec<ImportedResource>,
    /// Set if the provider deferred it.
    pub deferred: Option<DeferredReason>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// One imported object.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedResource {
    /// Its resource type.
    pub type_name: String,
    /// Known attributes; a read completes them.
    pub state: Payload,
    /// The provider's private bytes.
    pub private: Bytes,
    /// The identity, if the provider gives one.
    pub identity: Option<Payload>,
}

/// Asks for an object of another type in the form of this one.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveRequest {
    /// The provider the object belonged to.
    pub source_provider: String,
    /// The resource type it had.
    pub source_type: String,
    /// Its schema version.
    pub source_version: u64,
    /// The object.
    pub source_state: RawState,
    /// The target resource type.
    pub target_type: String,
    /// The private bytes it had.
    pub source_private: Bytes,
    /// The identity it had.
    pub source_identity: Option<RawState>,
    /// The version of that identity's schema.
    pub source_identity_version: u64,
}

/// The moved object.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveResponse {
    /// The object in its new form.
    pub state: Payload,
    /// The provider's private bytes.
    pub private: Bytes,
    /// The identity, if the provider gives one.
    pub identity: Option<Payload>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Asks for a stored identity in the form of the newest schema.
#[derive(Clone, Debug, PartialEq)]
pub struct UpgradeIdentityRequest {
    /// The resource type.
    pub type_name: String,
    /// The schema version it was stored with.
    pub version: u64,
    /// The identity as JSON.
    pub identity: RawState,
}

/// The upgraded identity.
#[derive(Clone, Debug, PartialEq)]
pub struct UpgradeIdentityResponse {
    /// The identity.
    pub identity: Payload,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Asks for configuration that describes an existing object.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateConfigRequest {
    /// The resource type.
    pub type_name: String,
    /// The object.
    pub state: Payload,
}

/// The configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateConfigResponse {
    /// The configuration as a value.
    pub config: Payload,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
