//! The provider network mirror protocol: an index of versions, and one of packages, as JSON files.

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{
    MAX_SOURCE_DOCUMENT_SIZE, PackageEvidence, PackageLocation, PackageSource, ServerAccess,
    SourceError, VersionListing,
};
use crate::fetch::http::{HttpResponse, host_and_port, resolve_reference};
use crate::fetch::limited_lists::{LimitedList, LimitedMap, quote_shortened};
use crate::platform::Platform;

#[derive(Deserialize)]
struct VersionIndex {
    #[serde(default)]
    versions: Option<LimitedMap<IgnoredAny>>,
}

#[derive(Deserialize)]
struct ArchiveIndex {
    #[serde(default)]
    archives: Option<LimitedMap<Option<MirroredArchive>>>,
}

#[derive(Default, Deserialize)]
struct MirroredArchive {
    #[serde(default)]
    url: Option<String>,
    #[serde(default, alias = "Hashes")]
    hashes: Option<LimitedList<String>>,
}

/// Returns the versions of a provider in a mirror.
pub(super) fn list_versions(
    servers: &ServerAccess<'_>,
    mirror: &str,
    addr: &ProviderAddr,
) -> Result<VersionListing, SourceError> {
    let missing = || SourceError::NotFound { addr: addr.clone(), sources: Vec::new() };
    let answer = request_file(servers, mirror, addr, "index.json", missing)?;
    let index: VersionIndex = parse_document(mirror, addr, answer)?;
    let names = index.versions.unwrap_or_default();
    let versions = names.0.keys().filter_map(|name| Version::parse(name).ok()).collect();
    Ok(VersionListing { versions, warnings: Vec::new() })
}

/// Returns the package of a version in a mirror.
pub(super) fn find_mirror_package(
    servers: &ServerAccess<'_>,
    mirror: &str,
    addr: &ProviderAddr,
    version: &Version,
    platform: &Platform,
) -> Result<PackageSource, SourceError> {
    let missing = || {
        let reason = format!(
            "provider mirror does not have archive index for previously-reported {addr} version {version}"
        );
        SourceError::mirror_error(mirror, addr, reason)
    };
    let answer = request_file(servers, mirror, addr, &format!("{version}.json"), missing)?;
    let base = answer.url.clone();
    let archives: ArchiveIndex = parse_document(mirror, addr, answer)?;
    let archive = archives.archives.unwrap_or_default().0.remove(&platform.to_string());
    let archive = archive.ok_or_else(|| SourceError::MirrorPlatform {
        url: mirror.to_owned(),
        addr: addr.clone(),
        version: version.clone(),
        platform: platform.clone(),
    })?;
    let MirroredArchive { url: archive_url, hashes } = archive.unwrap_or_default();
    let (archive_url, hashes) = (archive_url.unwrap_or_default(), hashes.unwrap_or_default().0);
    let url = resolve_reference(&base, &archive_url);
    // The hashes were sent over an encrypted connection, so a package that matches one is authentic.
    let (allowed, rule) = match hashes.is_empty() {
        true => (&["https"][..], "must use https scheme, because it has no hashes"),
        false => (&["https", "http"][..], "must use http or https scheme"),
    };
    let scheme = url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    if !allowed.contains(&&*scheme) {
        let reason = format!(
            "provider mirror returned invalid URL {}: {rule}",
            quote_shortened(&archive_url)
        );
        return Err(SourceError::mirror_error(mirror, addr, reason));
    }
    for hash in &hashes {
        if !hash
            .split_once(':')
            .is_some_and(|(scheme, value)| !scheme.is_empty() && !value.is_empty())
        {
            let reason = format!(
                "provider mirror returned invalid provider hash {}: hash string must start with a scheme keyword followed by a colon",
                quote_shortened(hash)
            );
            return Err(SourceError::mirror_error(mirror, addr, reason));
        }
    }
    let evidence =
        if hashes.is_empty() { PackageEvidence::None } else { PackageEvidence::Hashes(hashes) };
    Ok(PackageSource { location: PackageLocation::Url(url), evidence })
}

fn request_file(
    servers: &ServerAccess<'_>,
    mirror: &str,
    addr: &ProviderAddr,
    file: &str,
    missing: impl FnOnce() -> SourceError,
) -> Result<HttpResponse, SourceError> {
    let path = format!("{}/{}/{}/{file}", addr.host(), addr.namespace(), addr.provider_type());
    // As in Terraform, without a trailing slash the last segment of the mirror's path is replaced. A host
    // name with a port would be parsed as a scheme.
    let url = resolve_reference(mirror, &format!("./{path}"));
    let ServerAccess { http, hosts, .. } = servers;
    let name = host_and_port(mirror);
    let token = hosts.authorization_header(&name, &url);
    let answer = http.get_with_retries(&url, token.as_deref(), hosts.retry_policy());
    let answer = answer.map_err(|error| match error.status() {
        Some(404) => missing(),
        Some(401 | 403) => SourceError::Unauthorized {
            has_credentials: token.is_some(),
            complaint: hosts.credentials_error(&name, &url),
            host: name,
        },
        Some(status) => {
            let reason = format!("server returned unsuccessful status {status}");
            SourceError::mirror_error(mirror, addr, reason)
        }
        None => SourceError::mirror_error(mirror, addr, error),
    })?;
    let kind = answer.header("Content-Type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind != "application/json" {
        let reason = "response has invalid Content-Type: must be application/json";
        return Err(SourceError::mirror_error(mirror, addr, reason));
    }
    Ok(answer)
}

fn parse_document<T: serde::de::DeserializeOwned>(
    mirror: &str,
    addr: &ProviderAddr,
    answer: HttpResponse,
) -> Result<T, SourceError> {
    let text = answer
        .read_json_object_text(MAX_SOURCE_DOCUMENT_SIZE)
        .map_err(|error| SourceError::mirror_error(mirror, addr, error))?;
    serde_json::from_str(&text).map_err(|error| {
        SourceError::mirror_error(
            mirror,
            addr,
            format!("invalid response content from mirror server: {error}"),
        )
    })
}

/// Parses arbitrary text as each document of a mirror.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_documents(text: &str) {
    if let Ok(VersionIndex { versions: Some(versions) }) = serde_json::from_str(text) {
        versions.0.keys().for_each(|name| drop(Version::parse(name)));
    }
    if let Ok(ArchiveIndex { archives: Some(archives) }) = serde_json::from_str(text) {
        for archive in archives.0.into_values().flatten() {
            drop(resolve_reference("https://one.example/a/", &archive.url.unwrap_or_default()));
        }
    }
}
