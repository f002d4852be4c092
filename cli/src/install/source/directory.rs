//! Filesystem mirrors: packages in a directory, in the unpacked or packed layout.

use std::path::Path;

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

use super::{PackageLocation, SourceError};
use crate::platform::Platform;

/// A package in a mirror directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MirroredProviderPackage {
    pub(crate) version: Version,
    pub(crate) platform: Platform,
    pub(crate) location: PackageLocation,
}

/// Returns the packages of a provider in a mirror, sorted by version and platform. For the same version, an
/// unpacked package precedes a packed one.
///
/// # Errors
/// The mirror is not a directory or cannot be read.
pub(crate) fn local_packages(
    mirror: &Path,
    addr: &ProviderAddr,
) -> Result<Vec<MirroredProviderPackage>, SourceError> {
    let failed = |error: std::io::Error| SourceError::Directory {
        directory: mirror.display().to_string(),
        reason: formwork_value::diag::without_error_numbers(error.to_string()),
    };
    if !mirror.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::Error::other("it is not a directory")));
    }
    let directory = mirror
        .join(addr.host().as_str())
        .join(addr.namespace().as_str())
        .join(addr.provider_type().as_str());
    let mut packages = Vec::new();
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(packages) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some((version, platform)) = parse_archive_name(name, addr) {
            let location = PackageLocation::Archive(entry.path());
            packages.push(MirroredProviderPackage { version, platform, location });
        } else if let Ok(version) = Version::parse(name) {
            let unpacked = std::fs::read_dir(entry.path()).into_iter().flatten().flatten();
            for package in unpacked.filter(|package| package.path().is_dir()) {
                let name = package.file_name();
                let platform = name.to_str().and_then(|name| name.parse().ok());
                let Some(platform) = platform else { continue };
                let location = PackageLocation::Directory(package.path());
                packages.push(MirroredProviderPackage {
                    version: version.clone(),
                    platform,
                    location,
                });
            }
        }
    }
    let is_packed = |candidate: &MirroredProviderPackage| {
        matches!(candidate.location, PackageLocation::Archive(_))
    };
    packages.sort_by(|a, b| {
        let key = |candidate: &MirroredProviderPackage| {
            (candidate.version.clone(), candidate.platform.clone(), is_packed(candidate))
        };
        key(a).cmp(&key(b))
    });
    Ok(packages)
}

/// Parses the version and platform in `terraform-provider-TYPE_VERSION_OS_ARCH.zip`.
fn parse_archive_name(name: &str, addr: &ProviderAddr) -> Option<(Version, Platform)> {
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", addr.provider_type()))?;
    let (version, platform) = rest.strip_suffix(".zip")?.split_once('_')?;
    Some((Version::parse(version).ok()?, platform.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_both_layouts_and_prefers_the_unpacked_one() {
        let mirror = tempfile::tempdir().unwrap();
        let directory = mirror.path().join("example.com/acme/thing");
        let platform = Platform::current().to_string();
        for version in ["1.0.0", "1.2.0-beta1", "not-a-version"] {
            std::fs::create_dir_all(directory.join(version).join(&platform)).unwrap();
        }
        std::fs::create_dir_all(directory.join("3.0.0/plan9_mips")).unwrap();
        for version in ["1.0.0", "2.0.0"] {
            let name = format!("terraform-provider-thing_{version}_{platform}.zip");
            std::fs::write(directory.join(name), "").unwrap();
        }
        let addr = "example.com/acme/thing".parse().unwrap();
        let packages = local_packages(mirror.path(), &addr).unwrap();
        let names: Vec<_> = packages
            .iter()
            .map(|package| {
                let packed = matches!(package.location, PackageLocation::Archive(_));
                let platform = package.platform.to_string().replace(&platform, "here");
                format!("{} {platform}{}", package.version, if packed { " packed" } else { "" })
            })
            .collect();
        let expected = [
            "1.0.0 here",
            "1.0.0 here packed",
            "1.2.0-beta1 here",
            "2.0.0 here packed",
            "3.0.0 plan9_mips",
        ];
        assert_eq!(names, expected);
        let missing = local_packages(&mirror.path().join("missing"), &addr).unwrap_err();
        assert!(missing.to_string().starts_with("cannot search"), "{missing}");
    }
}
