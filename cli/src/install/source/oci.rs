//! Providers in OCI registries, in OpenTofu's layout: a tag for each version, an index with a manifest for
//! each platform, and a zip archive as the layer of each manifest.

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

use super::{
    OciBlob, PackageEvidence, PackageLocation, PackageSource, ServerAccess, SourceError,
    VersionListing,
};
use crate::fetch::oci::{
    ArtifactKind, Descriptor, DescriptorPlatform, IMAGE_MEDIA_TYPE, INDEX_MEDIA_TYPE,
    ManifestReference, OciError, Repository,
};
use crate::platform::Platform;
use crate::settings::{RepositoryAddr, RepositoryTemplate};

/// The artifact kind of a provider version.
const PROVIDER_ARTIFACT_KIND: ArtifactKind = ArtifactKind {
    media_type: INDEX_MEDIA_TYPE,
    artifact_type: "application/vnd.opentofu.provider",
    name: "a provider",
};
/// The artifact kind of a provider version for one platform.
const PLATFORM_PACKAGE_KIND: ArtifactKind = ArtifactKind {
    media_type: IMAGE_MEDIA_TYPE,
    artifact_type: "application/vnd.opentofu.provider-target",
    name: "a provider for one platform",
};

/// A query for a provider in an OCI mirror.
pub(super) struct OciProviderQuery<'a> {
    pub(super) servers: &'a ServerAccess<'a>,
    pub(super) template: &'a RepositoryTemplate,
    pub(super) addr: &'a ProviderAddr,
}

impl OciProviderQuery<'_> {
    /// Returns the versions of the provider: the tags that are valid versions.
    pub(super) fn versions(&self) -> Result<VersionListing, SourceError> {
        let repository = self.repository()?;
        let tags = self.open_repository(&repository).fetch_tags().map_err(|error| match error {
            OciError::Missing { .. } => {
                SourceError::NotFound { addr: self.addr.clone(), sources: Vec::new() }
            }
            error => self.query_error(&repository, error),
        })?;
        let versions = tags.iter().filter_map(|tag| version_of_tag(tag)).collect();
        Ok(VersionListing { versions, warnings: Vec::new() })
    }

    /// Returns the package of a version for a platform.
    pub(super) fn package(
        &self,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageSource, SourceError> {
        let repository = self.repository()?;
        let tag = version_tag(version);
        let failed = |error: OciError| match error {
            OciError::Missing { .. } => SourceError::NoTag {
                repository: repository.to_string(),
                tag: tag.clone(),
                addr: self.addr.clone(),
                reason: error.to_string(),
            },
            error => self.query_error(&repository, error),
        };
        let opened = self.open_repository(&repository);
        let index =
            opened.fetch_manifest(&ManifestReference::Tag(tag.clone()), None).map_err(failed)?;
        index
            .check_kind(&PROVIDER_ARTIFACT_KIND)
            .map_err(|error| self.query_error(&repository, error))?;
        let target = select_manifest(index.manifests(), platform)
            .map_err(|reason| self.query_error(&repository, reason))?
            .ok_or_else(|| SourceError::MirrorPlatform {
                url: repository.to_string(),
                addr: self.addr.clone(),
                version: version.clone(),
                platform: platform.clone(),
            })?;
        let (descriptor, hash) = package_for_platform(&opened, target, platform)
            .map_err(|reason| self.query_error(&repository, reason))?;
        let blob = OciBlob { repository, descriptor };
        Ok(PackageSource {
            location: PackageLocation::Blob(Box::new(blob)),
            evidence: PackageEvidence::Digest(hash),
        })
    }

    fn repository(&self) -> Result<RepositoryAddr, SourceError> {
        self.template.repository(self.addr).map_err(|reason| SourceError::OciMirror {
            repository: self.template.to_string(),
            addr: self.addr.clone(),
            reason,
        })
    }

    fn open_repository<'r>(&'r self, repository: &'r RepositoryAddr) -> Repository<'r> {
        self.servers.oci.repository(&self.servers.http, repository)
    }

    fn query_error(&self, repository: &RepositoryAddr, error: OciError) -> SourceError {
        SourceError::OciMirror {
            repository: repository.to_string(),
            addr: self.addr.clone(),
            reason: error.to_string(),
        }
    }
}

/// Converts a tag to a version. A tag cannot contain the `+` of build metadata.
fn version_of_tag(text: &str) -> Option<Version> {
    let version = Version::parse(&text.replace('_', "+")).ok()?;
    (version_tag(&version) == text).then_some(version)
}

/// Returns the tag of a version.
fn version_tag(version: &Version) -> String {
    version.to_string().replace('+', "_")
}

/// Returns the manifest for a platform in an index, if one exists. Manifests of other kinds are ignored.
fn select_manifest<'d>(
    manifests: &'d [Descriptor],
    platform: &Platform,
) -> Result<Option<&'d Descriptor>, OciError> {
    let targets = || {
        manifests
            .iter()
            .filter(|descriptor| descriptor.artifact_type == PLATFORM_PACKAGE_KIND.artifact_type)
    };
    if targets().next().is_none() {
        return Err(OciError::Content(format!(
            "the index lists no manifest with the artifact type {:?}; push the manifests of the platforms again with this type",
            PLATFORM_PACKAGE_KIND.artifact_type
        )));
    }
    let mut matching = targets().filter(|descriptor| {
        let is_for_platform = |target: &DescriptorPlatform| {
            // Manifests for specific versions of the operating system are not supported.
            target.os_version.is_empty()
                && target.os == platform.os
                && target.architecture == platform.arch
        };
        descriptor.platform.as_ref().is_some_and(is_for_platform)
    });
    match (matching.next(), matching.next()) {
        (Some(_), Some(_)) => Err(OciError::Content(format!(
            "the index lists several manifests for {platform}; push an index with one for each platform"
        ))),
        (descriptor, _) => Ok(descriptor),
    }
}

/// Returns the package of a platform manifest, and its hash.
fn package_for_platform(
    repository: &Repository<'_>,
    target: &Descriptor,
    platform: &Platform,
) -> Result<(Descriptor, String), OciError> {
    let manifest = repository
        .fetch_manifest(&ManifestReference::Digest(target.digest()?), Some(target.size))?;
    manifest.check_kind(&PLATFORM_PACKAGE_KIND)?;
    let package = manifest.package_layer()?;
    if let Some(actual_platform) = &package.platform
        && (actual_platform.os != platform.os || actual_platform.architecture != platform.arch)
    {
        return Err(OciError::Content(format!(
            "the package of the manifest for {platform} is for {}_{}",
            actual_platform.os, actual_platform.architecture
        )));
    }
    let digest = package.digest()?;
    let hash = digest.sha256_digits().map(|digits| format!("zh:{digits}")).ok_or_else(|| {
        OciError::Content(format!(
            "the package has the digest {digest}, and lock files need one of the algorithm sha256; push the package again with such a digest"
        ))
    })?;
    Ok((package.clone(), hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_versions_with_an_underscore_before_the_metadata() {
        for (text, expected) in [
            ("1.2.3", Some("1.2.3")),
            ("1.2.3-beta1_build.5", Some("1.2.3-beta1+build.5")),
            ("latest", None),
            ("v1.2.3", None),
            ("1.2", None),
            ("1.2.3_a_b", None),
            ("linux_amd64", None),
        ] {
            assert_eq!(
                version_of_tag(text).map(|version| version.to_string()).as_deref(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn one_manifest_fits_a_platform_or_none() {
        let descriptor = |kind: &str, os: &str, os_version: &str| -> Descriptor {
            let platform =
                serde_json::json!({ "os": os, "architecture": "amd64", "os.version": os_version });
            let text =
                serde_json::json!({ "artifactType": kind, "platform": platform }).to_string();
            serde_json::from_str(&text).unwrap()
        };
        let package_descriptor =
            |os, version| descriptor(PLATFORM_PACKAGE_KIND.artifact_type, os, version);
        let platform = "linux_amd64".parse().unwrap();
        let select = |list: &[Descriptor]| {
            select_manifest(list, &platform)
                .map(|selected| selected.is_some())
                .map_err(|error| error.to_string())
        };
        let other_descriptor = descriptor("other", "linux", "");
        assert_eq!(
            select(&[
                package_descriptor("linux", ""),
                other_descriptor.clone(),
                package_descriptor("linux", "5")
            ]),
            Ok(true)
        );
        assert_eq!(
            select(&[package_descriptor("darwin", ""), other_descriptor.clone()]),
            Ok(false)
        );
        assert!(
            select(&[package_descriptor("linux", ""), package_descriptor("linux", "")])
                .unwrap_err()
                .contains("several")
        );
        for list in [&[][..], &[other_descriptor]] {
            assert!(select(list).unwrap_err().contains("lists no manifest"));
        }
    }
}
