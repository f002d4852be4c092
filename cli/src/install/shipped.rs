//! The providers that come beside this program.

use std::path::PathBuf;

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

/// Their namespaces and names, with the versions of the public providers whose schemas and behaviour they
/// have, so that constraints on those hold.
pub(crate) static SHIPPED: [(&str, &str, Version); 9] = [
    ("cyrilgdn", "postgresql", Version::new(1, 26, 0)),
    ("hashicorp", "archive", Version::new(2, 7, 1)),
    ("hashicorp", "external", Version::new(2, 3, 5)),
    ("hashicorp", "http", Version::new(3, 5, 0)),
    ("hashicorp", "local", Version::new(2, 5, 2)),
    ("hashicorp", "null", Version::new(3, 2, 3)),
    ("hashicorp", "random", Version::new(3, 7, 1)),
    ("hashicorp", "time", Version::new(0, 13, 0)),
    ("hashicorp", "tls", Version::new(4, 2, 1)),
];

/// The program of a provider that comes beside this one, with its version.
pub(crate) fn find(provider: &ProviderAddr) -> Option<(Version, PathBuf)> {
    if provider.host() != ProviderAddr::implied(provider.kind()).host() {
        return None;
    }
    let is_it = |(namespace, name, _): &&(&str, &str, Version)| {
        provider.namespace() == namespace && provider.kind() == name
    };
    let (_, name, version) = SHIPPED.iter().find(is_it)?;
    let folder = std::env::current_exe().ok()?.canonicalize().ok()?;
    let program = folder.parent()?.join(format!("terraform-provider-{name}"));
    program.is_file().then(|| (version.clone(), program))
}
