//! Called modules: installation in the data directory, and their locations.
//!
//! A manifest, in Terraform's format, lists the installed modules, so both programs can use the modules
//! that the other one installed. Downloads are in `fetch`.

pub(crate) mod install;
pub(crate) mod installed;
pub(crate) mod lock;
pub(crate) mod manifest;
mod module_errors;
pub(crate) mod registry;
pub(crate) mod source;
mod staging;
#[cfg(test)]
mod tests;

/// The name of the module directory in the data directory.
pub(crate) const MODULES_DIR_NAME: &str = "modules";
