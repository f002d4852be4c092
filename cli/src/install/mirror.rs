//! Finds packages in a folder that is laid out like a mirror, unpacked and packed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

use super::platform;

/// A package of one version of a provider, for this platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A folder that holds the program.
    Unpacked(PathBuf),
    /// An archive.
    Packed(PathBuf),
}

/// The versions of a provider in a mirror, for this platform. An unpacked package goes before a
/// packed one of the same version.
pub(crate) fn versions(mirror: &Path, provider: &ProviderAddr) -> BTreeMap<Version, Found> {
    let folder = mirror
        .join(provider.host().as_str())
        .join(provider.namespace().as_str())
        .join(provider.kind().as_str());
    let mut found = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some(version) = packed_version(name, provider) {
            found.entry(version).or_insert(Found::Packed(entry.path()));
        } else if let Ok(version) = Version::parse(name) {
            let package = entry.path().join(platform());
            if package.is_dir() {
                found.insert(version, Found::Unpacked(package));
            }
        }
    }
    found
}

/// The version in `terraform-provider-TYPE_VERSION_OS_ARCH.zip`, if it is for this platform.
fn packed_version(name: &str, provider: &ProviderAddr) -> Option<Version> {
    let prefix = format!("terraform-provider-{}_", provider.kind());
    let suffix = format!("_{}.zip", platform());
    Version::parse(name.strip_prefix(&prefix)?.strip_suffix(&suffix)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_both_layouts_and_prefers_the_unpacked_one() {
        let mirror = tempfile::tempdir().unwrap();
        let folder = mirror.path().join("example.com/acme/thing");
        let platform = platform();
        for version in ["1.0.0", "1.2.0-beta1", "not-a-version"] {
            std::fs::create_dir_all(folder.join(version).join(&platform)).unwrap();
        }
        std::fs::create_dir_all(folder.join("3.0.0/plan9_mips")).unwrap();
        for version in ["1.0.0", "2.0.0"] {
            let name = format!("terraform-provider-thing_{version}_{platform}.zip");
            std::fs::write(folder.join(name), "").unwrap();
        }
        let found = versions(mirror.path(), &"example.com/acme/thing".parse().unwrap());
        let names: Vec<_> = found.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["1.0.0", "1.2.0-beta1", "2.0.0"]);
        assert!(matches!(found[&Version::new(1, 0, 0)], Found::Unpacked(_)));
        assert!(matches!(found[&Version::new(2, 0, 0)], Found::Packed(_)));
    }
}
