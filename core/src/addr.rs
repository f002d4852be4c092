//! Address types. Everything that has a name in the engine has an address type; none is a `String`.
//!
//! A *configuration* address names a written block ([`ConfigResourceAddr`], [`ModulePath`]); an
//! *instance* address names one of its members ([`InstanceAddr`], [`ModuleAddr`]). All are cheap to
//! clone, print as the language writes them, and have a natural order: outer modules first, numbers
//! numerically and before strings. Reading them from text is in `parse` and `provider`; reading what
//! an expression refers to is in [`reference`]. Nothing here depends on the values of names.

mod display;
mod module;
mod module_source;
mod parse;
mod provider;
pub mod reference;
mod resource;
mod target;

pub use display::quote_string;
pub use module::{InstanceKey, ModuleAddr, ModulePath, ModuleStep};
pub use module_source::{ModuleSource, PackageAddr, RegistryModuleAddr, Subdir};
pub use parse::AddressError;
pub(crate) use parse::{AddressStep, is_identifier, split_address};
pub use provider::{LocalProviderConfig, ProviderAddr, ProviderConfigAddr};
pub use reference::{Reference, ReferenceSubject};
pub use resource::{
    ConfigResourceAddr, DeposedKey, InstanceAddr, ResourceAddr, ResourceMode, ResourceName,
};
pub use target::Target;
