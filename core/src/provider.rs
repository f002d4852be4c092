//! Providers as the engine uses them: launched when first needed, schemas cached, marks taken off
//! and put back, failures blamed.

mod blame;
pub mod builtin;
mod calls;
mod client;
mod deadlines;
mod loaded;
mod pool;
mod warnings;

pub(crate) use blame::shortened;
pub use blame::{about_failure, about_provider_diagnostics, lost_type, unsupported_type};
pub use calls::PendingCall;
pub(crate) use client::ResponseContext;
pub use client::ephemeral::{Keep, Opened};
pub(crate) use client::identity::import_key;
pub use client::identity::{IdentityType, StoredIdentity};
pub use client::import::{Imported, MovedFrom};
pub use client::list::Listed;
pub(crate) use client::size::ObjectInResponse;
pub use client::{
    Ask, CallContext, ContractViolation, Current, Planned, ProviderClient, Read, remark,
    with_stored_numbers,
};
pub use deadlines::{CallKind, Deadlines};
pub use loaded::{Loaded, ResourceType};
pub use pool::{Launch, Pool};
