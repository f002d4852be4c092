//! The provider registry protocol: versions, and the verified checksums of a release.

use std::collections::BTreeMap;

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;
use serde::Deserialize;
use time::OffsetDateTime;

use super::{
    MAX_SOURCE_DOCUMENT_SIZE, PackageEvidence, PackageLocation, PackageSource, ServerAccess,
    SourceError, VersionListing,
};
use crate::fetch::host::{HostError, HostService};
use crate::fetch::http::{HttpError, HttpResponse, resolve_reference};
use crate::fetch::limited_lists::{LimitedList, quote_shortened, shorten_server_text};
use crate::install::{release_checksums, signature};
use crate::platform::Platform;

/// The service in discovery documents, and its name for messages.
const REGISTRY_SERVICE: HostService = HostService { id: "providers.v1", name: "provider registry" };
/// The supported versions of the plugin protocol: from 5.0, before 7.0.
const SUPPORTED_PROTOCOLS: std::ops::Range<u64> = 5..7;
/// Maximum length of a signature, in bytes.
const MAX_SIGNATURE_SIZE: u64 = 1 << 20;

#[derive(Deserialize)]
struct VersionsDocument {
    #[serde(default)]
    versions: Option<LimitedList<ListedRelease>>,
    #[serde(default)]
    warnings: Option<LimitedList<String>>,
}

#[derive(Deserialize)]
struct ListedRelease {
    #[serde(default)]
    version: String,
    #[serde(default)]
    protocols: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct PackageDescription {
    #[serde(default)]
    protocols: Option<Vec<String>>,
    #[serde(default)]
    os: String,
    #[serde(default)]
    arch: String,
    #[serde(default)]
    filename: String,
    #[serde(default)]
    download_url: String,
    #[serde(default)]
    shasum: String,
    #[serde(default)]
    shasums_url: String,
    #[serde(default)]
    shasums_signature_url: String,
    #[serde(default)]
    signing_keys: SigningKeys,
}

#[derive(Default, Deserialize)]
struct SigningKeys {
    #[serde(default)]
    gpg_public_keys: Option<Vec<SigningKey>>,
}

#[derive(Deserialize)]
struct SigningKey {
    #[serde(default)]
    ascii_armor: String,
}

/// Returns the versions of a provider.
pub(super) fn versions(
    servers: &ServerAccess<'_>,
    addr: &ProviderAddr,
) -> Result<VersionListing, SourceError> {
    let (releases, warnings) = fetch_releases(servers, addr)?;
    Ok(VersionListing { versions: releases.into_keys().collect(), warnings })
}

/// The releases of a provider with the protocols of each, and the warnings of the registry.
type ProviderReleases = (BTreeMap<Version, Vec<String>>, Vec<String>);

/// Requests the releases of a provider from a registry.
fn fetch_releases(
    servers: &ServerAccess<'_>,
    addr: &ProviderAddr,
) -> Result<ProviderReleases, SourceError> {
    let answer = request_document(servers, addr, "versions", || SourceError::NotKnown {
        addr: addr.clone(),
    })?;
    let list: VersionsDocument = parse_document(addr, answer)?;
    let mut releases = BTreeMap::new();
    for release in list.versions.unwrap_or_default().0 {
        // Versions that are not valid semantic versions cannot be selected.
        if let Ok(version) = Version::parse(&release.version) {
            releases.insert(version, release.protocols.unwrap_or_default());
        }
    }
    Ok((releases, list.warnings.unwrap_or_default().0))
}

fn request_document(
    servers: &ServerAccess<'_>,
    addr: &ProviderAddr,
    path: &str,
    missing: impl FnOnce() -> SourceError,
) -> Result<HttpResponse, SourceError> {
    let ServerAccess { http, hosts, .. } = servers;
    let base = hosts
        .service_url(http, addr.host(), REGISTRY_SERVICE)
        .map_err(|error| host_error(addr, error))?;
    let url = format!("{base}{}/{}/{path}", addr.namespace(), addr.provider_type());
    let token = hosts.authorization_header(addr.host(), &url);
    let answer = http.get_with_retries(&url, token.as_deref(), hosts.retry_policy());
    answer.map_err(|error| match error.status() {
        Some(404) => missing(),
        Some(401 | 403) => SourceError::Unauthorized {
            host: addr.host().to_string(),
            has_credentials: token.is_some(),
            complaint: hosts.credentials_error(addr.host(), &url),
        },
        _ => SourceError::from_registry_answer(addr, &error),
    })
}

fn host_error(addr: &ProviderAddr, error: HostError) -> SourceError {
    match error {
        HostError::NotOffered { host, other_version, .. } => {
            SourceError::NoRegistry { host, other_version }
        }
        HostError::Unknown(HttpError::Status { status: 401 | 403, .. }) => {
            let host = addr.host().to_string();
            SourceError::Unauthorized { host, has_credentials: false, complaint: None }
        }
        error => {
            SourceError::Unreachable { host: addr.host().to_string(), reason: error.to_string() }
        }
    }
}

fn parse_document<T: serde::de::DeserializeOwned>(
    addr: &ProviderAddr,
    answer: HttpResponse,
) -> Result<T, SourceError> {
    let text = answer
        .read_json_object_text(MAX_SOURCE_DOCUMENT_SIZE)
        .map_err(|error| SourceError::registry_error(addr, error))?;
    serde_json::from_str(&text).map_err(|error| {
        SourceError::registry_error(addr, format!("its response is not valid: {error}"))
    })
}

/// A query for a package.
pub(super) struct RegistryQuery<'a> {
    pub(super) servers: &'a ServerAccess<'a>,
    pub(super) addr: &'a ProviderAddr,
    /// The time at which signatures must be valid.
    pub(super) now: OffsetDateTime,
}

impl RegistryQuery<'_> {
    /// Returns the package of a version, after verification of the checksums of its release.
    pub(super) fn package(
        &self,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageSource, SourceError> {
        let addr = self.addr;
        let path = format!("{version}/download/{}/{}", platform.os, platform.arch);
        let answer = request_document(self.servers, addr, &path, || SourceError::Platform {
            addr: addr.clone(),
            version: version.clone(),
            platform: platform.clone(),
        })?;
        let base = answer.url.clone();
        let description: PackageDescription = parse_document(addr, answer)?;
        self.check_protocols(version, &description)?;
        if description.os != platform.os || description.arch != platform.arch {
            return Err(SourceError::Description(format!(
                "registry response to request for {platform} archive has incorrect target {}",
                shorten_server_text(&format!("{}_{}", description.os, description.arch))
            )));
        }
        let url = resolve_web_url(&base, &description.download_url, "download URL")?;
        if !release_checksums::is_sha256(&description.shasum) {
            let reason = format!(
                "registry response includes invalid SHA256 hash {}",
                quote_shortened(&description.shasum)
            );
            return Err(SourceError::registry_error(addr, reason));
        }
        let evidence = self.verified_evidence(&base, &description)?;
        Ok(PackageSource { location: PackageLocation::Url(url), evidence })
    }

    fn check_protocols(
        &self,
        version: &Version,
        description: &PackageDescription,
    ) -> Result<(), SourceError> {
        let protocols = description.protocols.as_deref().unwrap_or_default();
        let mut supported = protocols.is_empty();
        for text in protocols {
            supported |= supports_protocol(text).ok_or_else(|| {
                let reason = format!(
                    "registry response includes invalid version string {}",
                    quote_shortened(text)
                );
                SourceError::registry_error(self.addr, reason)
            })?;
        }
        if supported {
            return Ok(());
        }
        let (releases, _) = fetch_releases(self.servers, self.addr)?;
        let is_supported = |protocols: &Vec<String>| {
            protocols.iter().any(|protocol| supports_protocol(protocol) == Some(true))
        };
        let closest = releases.iter().rev().find(|(_, protocols)| is_supported(protocols));
        Err(SourceError::Protocol {
            addr: self.addr.clone(),
            version: version.clone(),
            closest: closest.map(|(version, _)| version.clone()),
        })
    }

    /// Fetches the checksums of the release and their signature, and verifies both.
    fn verified_evidence(
        &self,
        base: &str,
        description: &PackageDescription,
    ) -> Result<PackageEvidence, SourceError> {
        let sums_url = resolve_web_url(base, &description.shasums_url, "SHASUMS URL")?;
        let signature_url =
            resolve_web_url(base, &description.shasums_signature_url, "SHASUMS signature URL")?;
        let subject = "failed to retrieve authentication checksums for provider";
        let document = self.fetch_file(&sums_url, MAX_SOURCE_DOCUMENT_SIZE, subject)?;
        let subject = "failed to retrieve cryptographic signature for provider";
        let signature = self.fetch_file(&signature_url, MAX_SIGNATURE_SIZE, subject)?;
        let keys: Vec<String> = description
            .signing_keys
            .gpg_public_keys
            .iter()
            .flatten()
            .map(|key| key.ascii_armor.clone())
            .collect();
        // The list is only parsed after its signature is verified.
        let trust = signature::verify_signature(&document, &signature, &keys, self.now)
            .map_err(|error| SourceError::Checksums(error.to_string()))?;
        let document = String::from_utf8_lossy(&document);
        let name = &description.filename;
        let listed = release_checksums::checksum_of_file(&document, name).ok_or_else(|| {
            SourceError::Checksums(format!(
                "checksum list has no SHA-256 hash for {}",
                quote_shortened(name)
            ))
        })?;
        let expected_sum = description.shasum.to_ascii_lowercase();
        if !release_checksums::is_sha256(&listed) {
            let reason =
                format!("checksum list has invalid SHA256 hash {}", quote_shortened(&listed));
            return Err(SourceError::Checksums(reason));
        }
        if listed != expected_sum {
            return Err(SourceError::Checksums(format!(
                "checksum list has unexpected SHA-256 hash {listed} (expected {expected_sum})"
            )));
        }
        Ok(PackageEvidence::Signed {
            hash: format!("zh:{expected_sum}"),
            release_hashes: release_checksums::all_zh_hashes(&document),
            trust,
        })
    }

    /// Downloads a file of the release. Such files can be on any server, so no token is sent.
    fn fetch_file(&self, url: &str, limit: u64, subject: &str) -> Result<Vec<u8>, SourceError> {
        let ServerAccess { http, hosts, .. } = self.servers;
        let answer = http.get_with_retries(url, None, hosts.retry_policy());
        let bytes = answer.and_then(|answer| answer.read_bytes(limit));
        bytes.map_err(|error| SourceError::registry_error(self.addr, format!("{subject}: {error}")))
    }
}

/// Whether a version of the plugin protocol is supported. `None` if the string is not a version.
fn supports_protocol(text: &str) -> Option<bool> {
    let mut numbers = text.split('.').map(str::parse::<u64>);
    let major = numbers.next()?.ok()?;
    numbers.all(|number| number.is_ok()).then(|| SUPPORTED_PROTOCOLS.contains(&major))
}

/// Resolves the URL of a file of the release, which must be an HTTP URL. It need not be encrypted, because the
/// signature and the checksums detect a forged file.
fn resolve_web_url(base: &str, reference: &str, subject: &str) -> Result<String, SourceError> {
    let url = resolve_reference(base, reference);
    let scheme = url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    match scheme.as_str() {
        "https" | "http" => Ok(url),
        _ => Err(SourceError::Description(format!(
            "registry response includes invalid {subject}: must use http or https scheme"
        ))),
    }
}

/// Parses arbitrary text as each document of a registry.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_documents(text: &str) {
    if let Ok(VersionsDocument { versions: Some(versions), .. }) = serde_json::from_str(text) {
        versions.0.iter().for_each(|listed| drop(Version::parse(&listed.version)));
    }
    if let Ok(description) = serde_json::from_str::<PackageDescription>(text) {
        let _is_spoken =
            description.protocols.iter().flatten().all(|text| supports_protocol(text).is_some());
        drop(resolve_web_url("https://one.example/a/b", &description.download_url, "download URL"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_protocol_versions_5_and_6_are_supported() {
        for (text, expected) in [
            ("5.0", Some(true)),
            ("6.8", Some(true)),
            ("6", Some(true)),
            ("4.0", Some(false)),
            ("7.0", Some(false)),
            ("x", None),
            ("5.x", None),
            ("", None),
        ] {
            assert_eq!(supports_protocol(text), expected, "{text}");
        }
    }

    #[test]
    fn files_are_fetched_from_web_servers_only() {
        let base = "https://h/v1/p/download";
        assert_eq!(resolve_web_url(base, "a.zip", "x").unwrap(), "https://h/v1/p/a.zip");
        assert_eq!(resolve_web_url(base, "http://o/a.zip", "x").unwrap(), "http://o/a.zip");
        for url in ["file:///etc/passwd", "ftp://h/a.zip", "git::https://h/a"] {
            assert!(resolve_web_url(base, url, "x").is_err(), "{url}");
        }
    }
}
