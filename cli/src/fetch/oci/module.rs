//! Module packages in OCI registries: `oci://HOST/REPOSITORY?tag=TAG`, or `?digest=DIGEST`.

use std::io::Write;

use super::{
    ArtifactKind, Digest, IMAGE_MEDIA_TYPE, ManifestReference, OciRegistries, wrong_blob_error,
};
use crate::fetch::FetchError;
use crate::fetch::http::{Client, HttpError};
use crate::fetch::url_parameters;
use crate::redact;
use crate::settings::RepositoryAddr;

/// The artifact kind of module packages.
const MODULE_ARTIFACT_KIND: ArtifactKind = ArtifactKind {
    media_type: IMAGE_MEDIA_TYPE,
    artifact_type: "application/vnd.opentofu.modulepkg",
    name: "a module package",
};
/// The default tag, for addresses without a tag or digest.
const DEFAULT_TAG: &str = "latest";

/// The address of a module package.
#[derive(Debug, PartialEq, Eq)]
struct ModuleAddr {
    repository: RepositoryAddr,
    reference: ManifestReference,
}

/// Downloads the archive of a module package to a file.
///
/// # Errors
/// The address is invalid, the download fails, or the archive does not match its digest.
pub(in crate::fetch) fn download_module(
    registries: &OciRegistries<'_>,
    http: &Client,
    url: &str,
    to: &mut impl Write,
    limit: u64,
) -> Result<(), FetchError> {
    let ModuleAddr { repository, reference } = parse_module_addr(url)?;
    let repository = registries.repository(http, &repository);
    let manifest = repository.fetch_manifest(&reference, None)?;
    manifest.check_kind(&MODULE_ARTIFACT_KIND)?;
    let package = manifest.package_layer()?;
    if package.size > limit {
        return Err(HttpError::TooLong { url: redact::redact_address(url), limit }.into());
    }
    let digest = package.digest()?;
    let mut hashing = digest.hashing_writer(to);
    repository.fetch_blob(package, |_| (), &mut hashing)?;
    if !hashing.has_digest(&digest) {
        return Err(wrong_blob_error(&digest).into());
    }
    Ok(())
}

/// Parses the address of a module package.
fn parse_module_addr(url: &str) -> Result<ModuleAddr, FetchError> {
    let invalid_address = |reason: String| FetchError::Address(reason);
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("oci") {
        return Err(invalid_address(
            "the address of an OCI package must be of the form oci://HOST/REPOSITORY?tag=TAG"
                .to_owned(),
        ));
    }
    let (rest, tags) = url_parameters::take_parameter(rest, "tag");
    let (rest, digests) = url_parameters::take_parameter(&rest, "digest");
    if let Some((_, query)) = rest.split_once('?') {
        let name = query.split(['=', '&']).next().unwrap_or_default();
        return Err(invalid_address(format!(
            "unsupported argument {name:?}; an oci:// address supports \"tag\" and \"digest\", and the manifest specifies the archive format"
        )));
    }
    let address = rest.split('?').next().unwrap_or_default();
    if address.split('/').next().is_some_and(|host| host.contains('@')) {
        return Err(invalid_address(
            "an oci:// address cannot contain a user name and password; set them in an oci_credentials block of the CLI configuration"
                .to_owned(),
        ));
    }
    let repository = RepositoryAddr::parse(address).map_err(invalid_address)?;
    let reference = match (&tags[..], &digests[..]) {
        ([], []) => ManifestReference::Tag(DEFAULT_TAG.to_owned()),
        ([tag], []) if is_tag(tag) => ManifestReference::Tag(tag.clone()),
        ([tag], []) => {
            return Err(invalid_address(format!(
                "{tag:?} is not a tag; a tag has at most 128 letters, digits and . _ -, and begins with a letter, a digit or _"
            )));
        }
        ([], [digest]) => ManifestReference::Digest(Digest::parse(digest)?),
        _ => {
            return Err(invalid_address(
                "an oci:// address can have one \"tag\" or one \"digest\", not both or several"
                    .to_owned(),
            ));
        }
    };
    Ok(ModuleAddr { repository, reference })
}

/// Whether a string is a valid tag by the OCI distribution specification.
fn is_tag(text: &str) -> bool {
    let is_tag_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=128).contains(&text.len())
        && text.chars().all(is_tag_char)
        && !text.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_tag_or_a_digest() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let with_digest = format!("oci://h.example/a?digest={digest}");
        for (url, expected) in [
            ("oci://h.example:5000/a/b", "h.example:5000/a/b tag \"latest\"".to_owned()),
            ("OCI://h.example/a?tag=1.0_x", "h.example/a tag \"1.0_x\"".to_owned()),
            (&with_digest, format!("h.example/a manifest {digest}")),
        ] {
            let ModuleAddr { repository, reference } = parse_module_addr(url).unwrap();
            assert_eq!(format!("{repository} {reference}"), expected, "{url}");
        }
        for (url, reason) in [
            ("https://h.example/a", "of the form oci://"),
            ("oci://h.example", "is not the address of a repository"),
            ("oci://h.example/A", "is not the name of a repository"),
            ("oci://u:p@h.example/a", "cannot contain a user name and password"),
            ("oci://h.example/a?tag=", "is not a tag"),
            ("oci://h.example/a?tag=../x", "is not a tag"),
            ("oci://h.example/a?tag=a&tag=b", "not both or several"),
            ("oci://h.example/a?tag=a&digest=b", "not both or several"),
            ("oci://h.example/a?digest=abc", "is not a supported digest"),
            ("oci://h.example/a?digest=sha256:abc", "is not a digest"),
            ("oci://h.example/a?archive=zip", "unsupported argument \"archive\""),
        ] {
            let error = parse_module_addr(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{url}: {error}");
        }
    }
}
