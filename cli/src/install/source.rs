//! Sources of provider packages: the available versions, and the package of a version. This module does not
//! download packages.

mod directory;
mod error;
mod network_mirror;
mod oci;
mod registry;

use std::collections::BTreeSet;
use std::path::PathBuf;

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

use super::signature::PackageTrust;
use crate::clock;
use crate::env::Env;
use crate::fetch::host::Hosts;
use crate::fetch::http::Client;
use crate::fetch::netrc::Netrc;
use crate::fetch::oci::{Descriptor, OciRegistries};
use crate::platform::Platform;
use crate::settings::{
    InstallMethod, InstallMethodKind, RepositoryAddr, RepositoryTemplate, Settings,
};

pub(crate) use directory::{MirroredProviderPackage, local_packages};
pub(crate) use error::SourceError;
#[cfg(any(test, fuzzing))]
pub(crate) use network_mirror::fuzz_documents as fuzz_mirror;
#[cfg(any(test, fuzzing))]
pub(crate) use registry::fuzz_documents as fuzz_registry;

/// Maximum length of a version list, package description or checksum list, in bytes.
const MAX_SOURCE_DOCUMENT_SIZE: u64 = 8 << 20;

/// Access to servers. Service discovery is performed once for each host.
pub(crate) struct ServerAccess<'a> {
    pub(crate) http: Client,
    pub(crate) hosts: Hosts<'a>,
    pub(crate) netrc: Netrc,
    pub(crate) oci: OciRegistries<'a>,
}

impl<'a> ServerAccess<'a> {
    /// Creates the access from the settings.
    pub(crate) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        Self {
            http: Client::new(env.proxies(), std::thread::sleep),
            hosts: Hosts::new(env, settings),
            netrc: Netrc::load(env),
            oci: OciRegistries::new(env, settings),
        }
    }
}

/// The versions of a provider in a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VersionListing {
    pub(crate) versions: BTreeSet<Version>,
    /// Warnings of the registry for the user.
    pub(crate) warnings: Vec<String>,
}

/// A package of one version of a provider for one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageSource {
    pub(crate) location: PackageLocation,
    pub(crate) evidence: PackageEvidence,
}

/// The location of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageLocation {
    /// A directory that contains the program.
    Directory(PathBuf),
    /// A local archive.
    Archive(PathBuf),
    /// The URL of an archive.
    Url(String),
    /// An archive in an OCI registry.
    Blob(Box<OciBlob>),
}

/// An archive in an OCI registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OciBlob {
    pub(crate) repository: RepositoryAddr,
    pub(crate) descriptor: Descriptor,
}

/// The evidence of a source for the contents of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageEvidence {
    /// No evidence.
    None,
    /// Hashes, one of which the package must match.
    Hashes(Vec<String>),
    /// The `zh:` hash under which the source stores the package. It is also recorded in the lock file.
    Digest(String),
    /// Checksums of all packages of the release, with their signature verified.
    Signed {
        /// The `zh:` hash of this package.
        hash: String,
        /// The `zh:` hashes of all packages of the release.
        release_hashes: Vec<String>,
        /// The signer.
        trust: PackageTrust,
    },
}

/// A source of packages.
enum ProviderSource {
    Registry,
    Directory(PathBuf),
    Network(String),
    Oci(RepositoryTemplate),
}

/// The sources in order, with the providers that each applies to.
pub(crate) struct SourceSearch<'a> {
    rules: Vec<(ProviderSource, InstallMethod)>,
    servers: &'a ServerAccess<'a>,
}

impl<'a> SourceSearch<'a> {
    /// Creates the list of only the origin registries.
    pub(crate) fn in_origin_registries(servers: &'a ServerAccess<'a>) -> Self {
        Self::new([InstallMethod::for_all_providers(InstallMethodKind::Direct)], servers)
    }

    /// Creates the list of the sources of installation methods, in order.
    pub(crate) fn new(
        methods: impl IntoIterator<Item = InstallMethod>,
        servers: &'a ServerAccess<'a>,
    ) -> Self {
        let source = |method: InstallMethod| {
            let source = match &method.kind {
                InstallMethodKind::Direct => ProviderSource::Registry,
                InstallMethodKind::Filesystem(path) => ProviderSource::Directory(path.clone()),
                InstallMethodKind::Network(url) => ProviderSource::Network(url.clone()),
                InstallMethodKind::Oci(template) => ProviderSource::Oci(template.clone()),
            };
            (source, method)
        };
        Self { rules: methods.into_iter().map(source).collect(), servers }
    }

    fn sources_for(&self, addr: &ProviderAddr) -> impl Iterator<Item = &ProviderSource> {
        let covers = |(_, method): &&(ProviderSource, InstallMethod)| method.serves(addr);
        self.rules.iter().filter(covers).map(|(source, _)| source)
    }

    /// Returns the versions in all sources.
    ///
    /// # Errors
    /// A request to a source fails, or no source has the provider.
    pub(crate) fn versions(&self, addr: &ProviderAddr) -> Result<VersionListing, SourceError> {
        let mut merged = VersionListing::default();
        let mut unknown = None;
        for source in self.sources_for(addr) {
            match self.versions_in(source, addr) {
                Ok(listing) => {
                    merged.versions.extend(listing.versions);
                    merged.warnings.extend(listing.warnings);
                }
                Err(error @ SourceError::NotKnown { .. }) => unknown = Some(error),
                Err(SourceError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if merged.versions.is_empty() {
            let sources = self.sources_for(addr).map(|source| source.display(addr)).collect();
            return Err(
                unknown.unwrap_or_else(|| SourceError::NotFound { addr: addr.clone(), sources })
            );
        }
        Ok(merged)
    }

    /// Returns the package of a version from the first source that has it.
    ///
    /// # Errors
    /// A request to a source fails, or no source has the package.
    pub(crate) fn package(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageSource, SourceError> {
        let mut missing_error = None;
        for source in self.sources_for(addr) {
            match self.package_in(source, addr, version, platform) {
                Err(
                    SourceError::NotKnown { .. }
                    | SourceError::NotFound { .. }
                    | SourceError::Platform { .. },
                ) => {}
                Err(error @ (SourceError::NoTag { .. } | SourceError::MirrorPlatform { .. })) => {
                    missing_error = missing_error.or(Some(error));
                }
                answered => return answered,
            }
        }
        Err(missing_error.unwrap_or_else(|| SourceError::Platform {
            addr: addr.clone(),
            version: version.clone(),
            platform: platform.clone(),
        }))
    }

    fn versions_in(
        &self,
        source: &ProviderSource,
        addr: &ProviderAddr,
    ) -> Result<VersionListing, SourceError> {
        match source {
            ProviderSource::Registry => registry::versions(self.servers, addr),
            ProviderSource::Network(url) => network_mirror::list_versions(self.servers, url, addr),
            ProviderSource::Oci(template) => {
                oci::OciProviderQuery { servers: self.servers, template, addr }.versions()
            }
            ProviderSource::Directory(directory) => {
                let packages = local_packages(directory, addr)?;
                let versions = packages.into_iter().map(|package| package.version).collect();
                Ok(VersionListing { versions, warnings: Vec::new() })
            }
        }
    }

    fn package_in(
        &self,
        source: &ProviderSource,
        addr: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageSource, SourceError> {
        match source {
            ProviderSource::Registry => {
                let query = registry::RegistryQuery {
                    servers: self.servers,
                    addr,
                    now: clock::current_time(),
                };
                query.package(version, platform)
            }
            ProviderSource::Network(url) => {
                network_mirror::find_mirror_package(self.servers, url, addr, version, platform)
            }
            ProviderSource::Oci(template) => {
                oci::OciProviderQuery { servers: self.servers, template, addr }
                    .package(version, platform)
            }
            ProviderSource::Directory(directory) => {
                let is_it = |package: &MirroredProviderPackage| {
                    package.version == *version && package.platform == *platform
                };
                let matching = local_packages(directory, addr)?.into_iter().find(is_it);
                let matching = matching.ok_or_else(|| SourceError::Platform {
                    addr: addr.clone(),
                    version: version.clone(),
                    platform: platform.clone(),
                })?;
                Ok(PackageSource { location: matching.location, evidence: PackageEvidence::None })
            }
        }
    }
}

impl ProviderSource {
    /// Returns the name of the source for messages, as in Terraform.
    fn display(&self, addr: &ProviderAddr) -> String {
        match self {
            Self::Registry => format!("registry {}", addr.host()),
            Self::Network(url) => format!("provider mirror at {url}"),
            Self::Oci(template) => match template.repository(addr) {
                Ok(repository) => format!("OCI repository {repository}"),
                Err(_) => format!("OCI repository {template}"),
            },
            Self::Directory(directory) => directory.display().to_string(),
        }
    }
}
