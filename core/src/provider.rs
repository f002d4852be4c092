//! Providers as the engine uses them: launched when first needed, schemas cached, marks taken off
//! and put back, failures blamed.

mod blame;
pub mod builtin;
mod calls;
mod deadlines;
mod handle;
mod loaded;
mod pool;
mod remarks;

pub(crate) use blame::shortened;
pub use blame::{about_failure, about_provider_diagnostics, lost_type, unsupported_type};
pub use calls::PendingCall;
pub use deadlines::{CallKind, Deadlines};
pub use handle::adopt::{Imported, MovedFrom};
pub use handle::ephemeral::{Keep, Opened};
pub(crate) use handle::identity::clue;
pub use handle::identity::{IdentityType, StoredIdentity};
pub use handle::list::Listed;
pub(crate) use handle::size::ObjectInResponse;
pub use handle::{
    Ask, CallContext, ContractViolation, Current, Planned, ProviderClient, Read, remark,
    with_stored_numbers,
};
pub use loaded::{Loaded, ResourceType};
pub use pool::{Launch, Pool};
