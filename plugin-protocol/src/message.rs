//! Neutral messages between host and provider: no wire types here.

pub mod action;
pub mod configure;
pub mod ephemeral;
pub mod function;
pub mod list;
pub mod read_data;
pub mod resource;
pub mod schema;
pub mod state_store;

use formwork_value::Path;
use formwork_value::diag::{Code, Severity};

/// A problem as a provider reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderDiagnostic {
    /// Severity.
    pub severity: Severity,
    /// Short statement of the problem.
    pub summary: String,
    /// More about it; may be empty.
    pub detail: String,
    /// Path inside the configuration; the root if the provider gave none.
    pub path: Path,
    /// The code of a message of this program, which answered instead of a provider. It is never sent,
    /// and diagnostics of providers have none.
    pub code: Option<Code>,
}

/// The reason for a deferral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferredReason {
    /// An unknown reason.
    Unknown,
    /// The resource's configuration is not known enough.
    ResourceConfigUnknown,
    /// The provider's configuration is not known enough.
    ProviderConfigUnknown,
    /// Something it needs does not exist yet.
    AbsentPrerequisite,
}
