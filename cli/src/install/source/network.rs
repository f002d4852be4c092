//! The provider network mirror protocol: an index of versions, and one of packages, as JSON files.

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Evidence, Listing, Location, MAX_DOCUMENT, Package, Servers, SourceError};
use crate::fetch::capped::{CappedList, CappedMap, quoted};
use crate::fetch::http::{HttpResponse, host, resolve};
use crate::platform::Platform;

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    versions: Option<CappedMap<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Archives {
    #[serde(default)]
    archives: Option<CappedMap<Option<Archive>>>,
}

#[derive(Default, Deserialize)]
struct Archive {
    #[serde(default)]
    url: Option<String>,
    #[serde(default, alias = "Hashes")]
    hashes: Option<CappedList<String>>,
}

/// The versions of a provider in a mirror.
pub(super) fn versions(
    servers: &Servers<'_>,
    mirror: &str,
    addr: &ProviderAddr,
) -> Result<Listing, SourceError> {
    let missing = || SourceError::NotFound { addr: addr.clone(), sources: Vec::new() };
    let answer = ask(servers, mirror, addr, "index.json", missing)?;
    let index: Index = document(mirror, addr, answer)?;
    let names = index.versions.unwrap_or_default();
    let versions = names.0.keys().filter_map(|name| Version::parse(name).ok()).collect();
    Ok(Listing { versions, warnings: Vec::new() })
}

/// The package of a version in a mirror.
pub(super) fn package(
    servers: &Servers<'_>,
    mirror: &str,
    addr: &ProviderAddr,
    version: &Version,
    platform: &Platform,
) -> Result<Package, SourceError> {
    let missing = || {
        let reason = format!(
            "provider mirror does not have archive index for previously-reported {addr} version {version}"
        );
        SourceError::mirror(mirror, addr, reason)
    };
    let answer = ask(servers, mirror, addr, &format!("{version}.json"), missing)?;
    let base = answer.url.clone();
    let archives: Archives = document(mirror, addr, answer)?;
    let archive = archives.archives.unwrap_or_default().0.remove(&platform.to_string());
    let archive = archive.ok_or_else(|| SourceError::MirrorPlatform {
        url: mirror.to_owned(),
        addr: addr.clone(),
        version: version.clone(),
        platform: platform.clone(),
    })?;
    let Archive { url: named, hashes } = archive.unwrap_or_default();
    let (named, hashes) = (named.unwrap_or_default(), hashes.unwrap_or_default().0);
    let url = resolve(&base, &named);
    // The hashes came over an encrypted connection, so a package that has one of them is authentic.
    let (allowed, rule) = match hashes.is_empty() {
        true => (&["https"][..], "must use https scheme, because it has no hashes"),
        false => (&["https", "http"][..], "must use http or https scheme"),
    };
    let scheme = url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    if !allowed.contains(&&*scheme) {
        let reason = format!("provider mirror returned invalid URL {}: {rule}", quoted(&named));
        return Err(SourceError::mirror(mirror, addr, reason));
    }
    for hash in &hashes {
        if !hash
            .split_once(':')
            .is_some_and(|(scheme, value)| !scheme.is_empty() && !value.is_empty())
        {
            let reason = format!(
                "provider mirror returned invalid provider hash {}: hash string must start with a scheme keyword followed by a colon",
                quoted(hash)
            );
            return Err(SourceError::mirror(mirror, addr, reason));
        }
    }
    let evidence = if hashes.is_empty() { Evidence::None } else { Evidence::Hashes(hashes) };
    Ok(Package { location: Location::Url(url), evidence })
}

fn ask(
    servers: &Servers<'_>,
    mirror: &str,
    addr: &ProviderAddr,
    file: &str,
    missing: impl FnOnce() -> SourceError,
) -> Result<HttpResponse, SourceError> {
    let path = format!("{}/{}/{}/{file}", addr.host(), addr.namespace(), addr.kind());
    // As Terraform has it: without a slash at its end, the last part of the mirror's path is replaced. The
    // name of a host with a port would be read as a scheme.
    let url = resolve(mirror, &format!("./{path}"));
    let Servers { http, hosts, .. } = servers;
    let name = host(mirror);
    let token = hosts.asking(&name, &url);
    let answer = http.get_patiently(&url, token.as_deref(), hosts.patience());
    let answer = answer.map_err(|error| match error.status() {
        Some(404) => missing(),
        Some(401 | 403) => SourceError::Unauthorized {
            given: token.is_some(),
            complaint: hosts.complaint(&name, &url),
            host: name,
        },
        Some(status) => {
            let reason = format!("server returned unsuccessful status {status}");
            SourceError::mirror(mirror, addr, reason)
        }
        None => SourceError::mirror(mirror, addr, error),
    })?;
    let kind = answer.header("Content-Type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind != "application/json" {
        let reason = "response has invalid Content-Type: must be application/json";
        return Err(SourceError::mirror(mirror, addr, reason));
    }
    Ok(answer)
}

fn document<T: serde::de::DeserializeOwned>(
    mirror: &str,
    addr: &ProviderAddr,
    answer: HttpResponse,
) -> Result<T, SourceError> {
    let text = answer
        .read_object(MAX_DOCUMENT)
        .map_err(|error| SourceError::mirror(mirror, addr, error))?;
    serde_json::from_str(&text).map_err(|error| {
        SourceError::mirror(
            mirror,
            addr,
            format!("invalid response content from mirror server: {error}"),
        )
    })
}

/// Reads the documents of a mirror, as a fuzz target.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz(text: &str) {
    if let Ok(Index { versions: Some(versions) }) = serde_json::from_str(text) {
        versions.0.keys().for_each(|name| drop(Version::parse(name)));
    }
    if let Ok(Archives { archives: Some(archives) }) = serde_json::from_str(text) {
        for archive in archives.0.into_values().flatten() {
            drop(resolve("https://one.example/a/", &archive.url.unwrap_or_default()));
        }
    }
}
