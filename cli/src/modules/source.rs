//! The sources of modules outside of the caller's package.

use formwork_core::addr::{PackageAddr, RegistryModuleAddr, Subdir};

use crate::fetch::AddressOrigin;
use crate::redact;

/// The directory of a module in a package.
pub(crate) struct ModuleInPackage<'a> {
    pub(crate) package: &'a PackageAddr,
    /// The directory of the module in the package.
    pub(crate) subdir: &'a Subdir,
    /// The origin of the address of the package.
    pub(crate) origin: AddressOrigin,
}

impl ModuleInPackage<'_> {
    /// Returns the address of the package without secrets, for messages.
    pub(super) fn display_address(&self) -> String {
        redact::redact_address(&self.package.to_string())
    }
}

/// The directory of a module in a package from a registry.
pub(super) struct RegistrySource<'a> {
    pub(super) module: &'a RegistryModuleAddr,
    /// The directory of the module in the package.
    pub(super) subdir: &'a Subdir,
}
