//! The sources of modules that are not in the folder of their caller.

use formwork_core::addr::{PackageAddr, RegistryModuleAddr, Subfolder};

use crate::fetch::AddressOrigin;
use crate::redact;

/// A folder in a package.
pub(crate) struct ModuleInPackage<'a> {
    pub(crate) package: &'a PackageAddr,
    /// The folder of the module in the package.
    pub(crate) within: &'a Subfolder,
    /// The origin of the address of the package.
    pub(crate) origin: AddressOrigin,
}

impl ModuleInPackage<'_> {
    /// The address of the package without secrets, as messages show it.
    pub(super) fn display_address(&self) -> String {
        redact::redact_address(&self.package.to_string())
    }
}

/// A folder in the package of a module of a registry.
pub(super) struct RegistrySource<'a> {
    pub(super) module: &'a RegistryModuleAddr,
    /// The folder of the module in the package.
    pub(super) within: &'a Subfolder,
}
