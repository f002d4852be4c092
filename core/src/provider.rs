//! Providers as the engine uses them: launched when first needed, schemas cached, marks taken off
//! and put back, failures blamed.

mod blame;
pub mod builtin;
mod handle;
mod pool;

pub use blame::{about_failure, about_provider_diagnostics, lost_type, unsupported_type};
pub use handle::{
    About, Ask, Breach, Handle, LANGUAGE_VERSION, Loaded, Planned, Read, ResourceType, remark,
};
pub use pool::{Launch, Pool};
