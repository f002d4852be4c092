//! Providers as the engine uses them: start on demand, cached schemas, removal and restoration of marks,
//! and diagnostics that blame the responsible party.

pub mod builtin;
mod call_layers;
mod client;
mod deadlines;
mod identity_type;
mod launcher;
mod loaded_provider;
mod mock;
mod pending_calls;
mod pool;
mod provider_diagnostics;
mod provider_slot;
mod restart_queue;
mod warnings;

pub(crate) use client::ResponseContext;
pub use client::ephemeral::{OpenEphemeralData, OpenedEphemeral};
pub use client::import::{ImportedObject, MoveSource};
pub use client::list::{ListFailure, ListedObject};
pub(crate) use client::object_size::ObjectInResponse;
pub use client::{
    CallContext, ChangeValues, ContractViolation, ObjectToRead, PlannedObject, ProviderClient,
    RefreshedObject, add_marks, round_numbers_as_stored,
};
pub use deadlines::{CallDeadlines, CallKind};
pub use identity_type::IdentityType;
pub use launcher::ProviderLauncher;
pub use loaded_provider::{LoadedProvider, ResourceType};
pub use mock::Mocks;
pub use pending_calls::{CallWatch, PendingCall};
pub use pool::ProviderPool;
pub(crate) use provider_diagnostics::truncate_text;
pub use provider_diagnostics::{
    call_failure_diagnostic, removed_type_error, report_provider_diagnostics,
    unsupported_type_error,
};
