//! Families of names. Every thing the engine talks about has an address type; none is a `String`.
//!
//! A *configuration* address names what is written ([`ConfigResourceAddr`], [`ModulePath`]); an
//! *instance* address names one of its members ([`InstanceAddr`], [`ModuleAddr`]). All are cheap to
//! clone and order as people expect: modules outside in, numbers numerically, before strings.

mod module;
mod provider;
mod resource;

pub use module::{InstanceKey, ModuleAddr, ModulePath, ModuleStep};
pub use provider::{LocalProvider, ProviderAddr, ProviderConfigAddr};
pub use resource::{
    ConfigResourceAddr, DeposedKey, InstanceAddr, Mode, ResourceAddr, ResourceName,
};
