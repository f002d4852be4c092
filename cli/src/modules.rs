//! Modules that are called: installs them below the data folder, and returns their location.
//!
//! A manifest, the same file that Terraform keeps, lists the installed modules, so either program
//! continues with the modules of the other. Fetching is in `fetch`.

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

/// The name of the folder of modules in the data directory.
pub(crate) const MODULES_FOLDER_NAME: &str = "modules";
