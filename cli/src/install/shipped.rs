//! The providers that come beside this program.

use std::path::PathBuf;

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

/// Their names, with the versions of the public providers whose schemas and behaviour they have, so
/// that constraints on those hold.
pub(crate) static SHIPPED: [(&str, Version); 8] = [
    ("archive", Version::new(2, 7, 1)),
    ("external", Version::new(2, 3, 5)),
    ("http", Version::new(3, 5, 0)),
    ("local", Version::new(2, 5, 2)),
    ("null", Version::new(3, 2, 3)),
    ("random", Version::new(3, 7, 1)),
    ("time", Version::new(0, 13, 0)),
    ("tls", Version::new(4, 2, 1)),
];

/// The program of a provider that comes beside this one, with its version.
pub(crate) fn find(provider: &ProviderAddr) -> Option<(Version, PathBuf)> {
    if *provider != ProviderAddr::implied(provider.kind()) {
        return None;
    }
    let (name, version) = SHIPPED.iter().find(|(name, _)| provider.kind() == name)?;
    let folder = std::env::current_exe().ok()?.canonicalize().ok()?;
    let program = folder.parent()?.join(format!("terraform-provider-{name}"));
    program.is_file().then(|| (version.clone(), program))
}
