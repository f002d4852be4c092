//! State stores of a provider.

use bytes::Bytes;

use super::ProviderDiagnostic;
use crate::Payload;

/// Configures a state store.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigureStoreRequest {
    /// The state store type.
    pub type_name: String,
    /// The configuration.
    pub config: Payload,
    /// The size of chunks the host would like, in bytes.
    pub chunk_size: i64,
}

/// The configured store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigureStoreResponse {
    /// The size of chunks to use, in bytes.
    pub chunk_size: i64,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// Names one state in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRef {
    /// The state store type.
    pub type_name: String,
    /// The workspace.
    pub state_id: String,
}

/// A piece of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateChunk {
    /// The bytes.
    pub bytes: Bytes,
    /// The length of the whole state.
    pub total_length: i64,
    /// Offset of the first byte.
    pub start: i64,
    /// Offset of the last byte, inclusive.
    pub end: i64,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// A taken lock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockResponse {
    /// Id that releases the lock.
    pub lock_id: String,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The states in a store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatesResponse {
    /// Their ids.
    pub state_ids: Vec<String>,
    /// Diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}
