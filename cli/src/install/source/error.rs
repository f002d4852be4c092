//! Errors of package sources, in Terraform's words.

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;

use crate::fetch::http::HttpError;
use crate::platform::Platform;
use crate::redact;

/// The reason why a package cannot be obtained from a source. Variants are named after the party at fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    /// No source has the provider.
    #[error("provider {addr} was not found in any of the search locations")]
    NotFound { addr: ProviderAddr, sources: Vec<String> },
    /// The registry has no such provider.
    #[error("provider registry {} does not have a provider named {addr}", addr.host())]
    NotKnown { addr: ProviderAddr },
    /// The host is not a provider registry.
    #[error("host {host} does not offer a Terraform provider registry")]
    NoRegistry { host: String, other_version: bool },
    /// The host does not respond.
    #[error("could not connect to {host}: {reason}")]
    Unreachable { host: String, reason: String },
    /// The server requires credentials, or rejected the given ones.
    #[error("host {host} {}{}", if *.has_credentials {
        "rejected the given authentication credentials"
    } else {
        "requires authentication credentials"
    }, complaint.as_ref().map_or(String::new(), |reason| format!("; {reason}")))]
    Unauthorized { host: String, has_credentials: bool, complaint: Option<String> },
    /// The release has no package for the platform.
    #[error("provider {addr} {version} is not available for {platform}")]
    Platform { addr: ProviderAddr, version: Version, platform: Platform },
    /// The mirror has no package for the platform.
    #[error("provider mirror {url} does not have a package of {addr} {version} for {platform}")]
    MirrorPlatform { url: String, addr: ProviderAddr, version: Version, platform: Platform },
    /// The release requires unsupported versions of the plugin protocol.
    #[error("provider {addr} {version} is not supported by this version of terraform")]
    Protocol { addr: ProviderAddr, version: Version, closest: Option<Version> },
    /// The response of the registry is an error or is invalid.
    #[error("could not query provider registry for {addr}: {reason}")]
    Registry { addr: ProviderAddr, reason: String },
    /// The response of the mirror is an error or is invalid.
    #[error("failed to query provider mirror {url} for {addr}: {reason}")]
    Mirror { url: String, addr: ProviderAddr, reason: String },
    /// The response of the OCI registry of a mirror is an error or is invalid.
    #[error("failed to query the OCI repository {repository} for {addr}: {reason}")]
    OciMirror { repository: String, addr: ProviderAddr, reason: String },
    /// The repository of a mirror has no tag for a version.
    #[error(
        "the OCI repository {repository} for {addr} has no version with the tag {tag:?}: {reason}; push the version again, or exclude the provider from this oci_mirror"
    )]
    NoTag { repository: String, tag: String, addr: ProviderAddr, reason: String },
    /// The description of a package is inconsistent.
    #[error("{0}")]
    Description(String),
    /// The checksums of the release are not authentic.
    #[error("{0}")]
    Checksums(String),
    /// A directory cannot be searched.
    #[error("cannot search {directory}: {reason}")]
    Directory { directory: String, reason: String },
}

impl SourceError {
    pub(super) fn registry_error(addr: &ProviderAddr, reason: impl ToString) -> Self {
        Self::Registry { addr: addr.clone(), reason: reason.to_string() }
    }

    pub(super) fn mirror_error(url: &str, addr: &ProviderAddr, reason: impl ToString) -> Self {
        let url = redact::redact_address(url);
        Self::Mirror { url, addr: addr.clone(), reason: reason.to_string() }
    }

    /// Converts the error of a request to a registry.
    pub(super) fn from_registry_answer(addr: &ProviderAddr, error: &HttpError) -> Self {
        Self::registry_error(addr, error)
    }
}
