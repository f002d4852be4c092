//! Source addresses of called modules, and how their text is parsed. Pure: the installer of modules
//! determines whether the address exists.

mod package;
mod registry;
#[cfg(test)]
mod tests;

use std::fmt::{Display, Formatter};

pub use package::PackageAddr;
pub use registry::RegistryModuleAddr;

use super::parse::AddressError;
use crate::messages;

/// The source of a module, normalised: equivalent strings are equal. It prints as written in the
/// manifest of installed modules.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModuleSource {
    /// A directory of the same package, relative to that of the caller; begins with `./` or `../`.
    Local(String),
    /// A module in a registry, which has versions.
    Registry(RegistryModuleAddr, Subdir),
    /// A package at its own location.
    Package(PackageAddr, Subdir),
}

/// A subdirectory of a package, never outside of it; empty for the root directory of the package.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subdir(String);

impl ModuleSource {
    /// Parses the source of a call. Only modules in registries have versions, so a call with a version
    /// must have a registry source.
    ///
    /// # Errors
    /// When the string is not a valid source, or a version is given and it is not a registry source.
    pub fn parse(text: &str, versioned: bool) -> Result<Self, AddressError> {
        if versioned {
            return parse_registry_source(text).map_err(|reason| AddressError {
                summary: messages::INVALID_REGISTRY_MODULE_SOURCE_ADDRESS,
                detail: format!(
                    "Failed to parse module registry address: {reason}.\n\nFormwork assumed that you intended a module registry source address because you also set the argument \"version\", which applies only to registry modules."
                ),
            });
        }
        if is_local_path(text) {
            return Ok(parse_local_source(text));
        }
        // The registry's form first, as in Terraform. If neither fits, the error is that of
        // packages, whose form covers more.
        parse_registry_source(text).or_else(|_| package::parse_package_source(text))
    }
}

impl Display for ModuleSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local(path) => f.write_str(path),
            Self::Registry(module, within) if within.is_empty() => module.fmt(f),
            Self::Registry(module, within) => write!(f, "{module}//{}", within.0),
            Self::Package(package, within) => f.write_str(&package.with_subdir(within)),
        }
    }
}

fn is_local_path(text: &str) -> bool {
    // With the separators of Windows as well, which Terraform accepts on every system.
    ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix))
}

fn parse_local_source(text: &str) -> ModuleSource {
    let path = clean_path(&text.replace('\\', "/"));
    // Also `..` gets the prefix: that is how the manifest writes it.
    let prefix = if path.starts_with("../") { "" } else { "./" };
    ModuleSource::Local(format!("{prefix}{path}"))
}

fn parse_registry_source(text: &str) -> Result<ModuleSource, String> {
    if is_local_path(text) {
        return Err(format!("can't use local directory {text:?} as a module registry address"));
    }
    let (module, within) = split_subdir(text);
    let within = Subdir::parse(&within)?;
    Ok(ModuleSource::Registry(registry::parse_registry_module(&module)?, within))
}

impl Subdir {
    /// Whether it is the root directory of the package.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The path, relative to the package.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.trim_start_matches('/')
    }

    /// The subdirectory `inner` of this one.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        match (self.is_empty(), inner.is_empty()) {
            (true, _) => inner.clone(),
            (_, true) => self.clone(),
            _ => Self(format!("{}/{}", self.0, inner.as_str())),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let path = clean_path(text);
        // Such a path would reach into other packages, or into files of the machine.
        if path == ".." || path.starts_with("../") {
            return Err(format!("subdirectory path {path:?} leads outside of the module package"));
        }
        Ok(Self(if path == "." { String::new() } else { path }))
    }
}

/// Splits `PACKAGE//DIRECTORY?QUERY` into `PACKAGE?QUERY` and `DIRECTORY`.
fn split_subdir(text: &str) -> (String, String) {
    // The query may contain another address.
    let (address, query) = text.split_at(text.find('?').unwrap_or(text.len()));
    // The slashes after a scheme have another meaning.
    let start = address.find("://").map_or(0, |at| at + "://".len());
    match address[start..].find("//") {
        None => (text.to_owned(), String::new()),
        Some(at) => {
            let at = start + at;
            (format!("{}{query}", &address[..at]), address[at + 2..].to_owned())
        }
    }
}

/// The shortest equivalent path, without access to the disk; `.` for the empty path.
fn clean_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // The parent of the root is the root.
            ".." if absolute => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}
