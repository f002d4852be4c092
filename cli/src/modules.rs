//! Installs called modules in the data directory, and returns their locations.
//!
//! The manifest of installed modules is compatible with Terraform's, so each program can use modules that the
//! other installed. Fetching is in `fetch`.

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

/// The name of the modules directory in the data directory.
pub(crate) const MODULES_FOLDER_NAME: &str = "modules";
