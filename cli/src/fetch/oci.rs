//! Client for OCI registries, as defined by the OCI distribution specification: tags, manifests and blobs of
//! a repository. The digest of an object is verified if it is known.

mod authorization;
mod credentials;
mod digest;
mod manifest;
pub(super) mod module;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use ureq::http::header;

use super::host::registry_retry_policy;
use super::http::{
    Client, DOWNLOAD_TIMEOUT, Download, Header, HttpError, HttpResponse, RetryPolicy, origin,
    resolve_reference,
};
use crate::env::Env;
use crate::redact;
use crate::settings::{RepositoryAddr, Settings};
use authorization::AuthChallenge;
use credentials::RegistryLoginFinder;

pub(crate) use digest::Digest;
#[cfg(any(test, fuzzing))]
pub(crate) use manifest::fuzz_documents;
pub(crate) use manifest::{
    ArtifactKind, Descriptor, DescriptorPlatform, IMAGE_MEDIA_TYPE, INDEX_MEDIA_TYPE, Manifest,
};

/// Maximum size of a manifest, in bytes: the limit that the specification recommends.
const MAX_MANIFEST_SIZE: u64 = 4 << 20;
/// Maximum length of a page of a tag list, in bytes.
const MAX_TAG_PAGE_SIZE: u64 = 4 << 20;
/// Maximum number of pages of a tag list.
const MAX_TAG_PAGES: usize = 2_000;
/// Maximum number of tags in a repository.
const MAX_TAGS: usize = 100_000;
/// Maximum length of an error response, in bytes.
const MAX_REFUSAL_SIZE: u64 = 64 << 10;
/// The media types of manifests. Docker's types are requested too, so that a message can name them.
const MANIFEST_MEDIA_TYPES: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// Reason why an object cannot be fetched from a registry. The caller adds the repository to the message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OciError {
    /// The registry does not respond, or the response is invalid.
    #[error("{0}")]
    Server(#[from] HttpError),
    /// The object does not exist.
    #[error("the registry has no {object}{explanation}")]
    Missing { object: String, explanation: String },
    /// The registry requires credentials, or rejected the given ones.
    #[error("{0}")]
    Unauthorized(String),
    /// The registry returned an error status.
    #[error("the registry returned status {status}{explanation}")]
    Refused { status: u16, explanation: String },
    /// The object is not the expected one.
    #[error("{0}")]
    Content(String),
}

/// The name of a manifest in its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ManifestReference {
    Tag(String),
    Digest(Digest),
}

impl Display for ManifestReference {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tag(tag) => write!(f, "tag {tag:?}"),
            Self::Digest(digest) => write!(f, "manifest {digest}"),
        }
    }
}

/// Access to OCI registries: the settings, and the authorizations that were granted.
pub(crate) struct OciRegistries<'a> {
    logins: RegistryLoginFinder<'a>,
    retry_policy: RetryPolicy,
    /// The `Authorization` header by repository.
    granted: Mutex<BTreeMap<RepositoryAddr, String>>,
}

impl<'a> OciRegistries<'a> {
    /// Creates the access from the settings. It sends no requests and reads no credentials.
    pub(crate) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        let logins = RegistryLoginFinder::new(env, settings);
        Self { logins, retry_policy: registry_retry_policy(env), granted: Mutex::default() }
    }

    /// Returns a repository, without checking that it exists.
    pub(crate) fn repository<'r>(
        &'r self,
        http: &'r Client,
        addr: &'r RepositoryAddr,
    ) -> Repository<'r> {
        Repository {
            logins: &self.logins,
            retry_policy: self.retry_policy,
            granted: &self.granted,
            http,
            addr,
        }
    }
}

/// A repository of a registry.
pub(crate) struct Repository<'r> {
    logins: &'r RegistryLoginFinder<'r>,
    retry_policy: RetryPolicy,
    granted: &'r Mutex<BTreeMap<RepositoryAddr, String>>,
    http: &'r Client,
    addr: &'r RepositoryAddr,
}

impl Repository<'_> {
    /// Returns the tags of the repository.
    ///
    /// # Errors
    /// The repository does not exist, or the registry does not list its tags.
    pub(crate) fn fetch_tags(&self) -> Result<Vec<String>, OciError> {
        let mut url = self.url("tags/list");
        let mut tags = Vec::new();
        let object = || "such repository".to_owned();
        for _ in 0..MAX_TAG_PAGES {
            let answer = self.request(&url, &[], self.retry_policy, &object)?;
            let next = next_page_link(&answer.joined_headers(header::LINK.as_str()));
            let next = next.map(|next| resolve_reference(&answer.url, &next));
            let page =
                manifest::parse_tags(&answer.read_bytes(MAX_TAG_PAGE_SIZE)?).map_err(|reason| {
                    OciError::Content(format!(
                        "the tag list of the registry is malformed: {reason}"
                    ))
                })?;
            let is_last = page.is_empty();
            tags.extend(page);
            if tags.len() > MAX_TAGS {
                break;
            }
            match next.filter(|_| !is_last) {
                None => return Ok(tags),
                // The authorization must not be sent to another server.
                Some(next) if origin(&next) != origin(&url) => {
                    return Err(OciError::Content(format!(
                        "the next page of the registry's tag list is on another server: {}",
                        redact::redact_address(&next)
                    )));
                }
                Some(next) => url = next,
            }
        }
        Err(OciError::Content(format!(
            "the tag list is longer than {MAX_TAGS} tags or {MAX_TAG_PAGES} pages; use a repository with fewer tags"
        )))
    }

    /// Fetches a manifest. Its digest and its length, `size`, are verified if they are known.
    ///
    /// # Errors
    /// The manifest does not exist, or does not match its digest or length.
    pub(crate) fn fetch_manifest(
        &self,
        reference: &ManifestReference,
        size: Option<u64>,
    ) -> Result<Manifest, OciError> {
        let name = match reference {
            ManifestReference::Tag(tag) => tag.clone(),
            ManifestReference::Digest(digest) => digest.to_string(),
        };
        let url = self.url(&format!("manifests/{name}"));
        let headers = [(header::ACCEPT, MANIFEST_MEDIA_TYPES.into())];
        let answer = self.request(&url, &headers, self.retry_policy, &|| reference.to_string())?;
        let digest_header = answer.header("Docker-Content-Digest");
        let media_type = answer.header(header::CONTENT_TYPE.as_str()).unwrap_or_default();
        let bytes = answer.read_bytes(MAX_MANIFEST_SIZE)?;
        let expected = match (reference, digest_header) {
            (ManifestReference::Digest(digest), _) => Some(digest.clone()),
            (ManifestReference::Tag(_), Some(digest_header)) => {
                Some(Digest::parse(&digest_header)?)
            }
            (ManifestReference::Tag(_), None) => None,
        };
        if let Some(size) = size.filter(|size| *size != bytes.len() as u64) {
            return Err(OciError::Content(format!(
                "{reference} has {} bytes, but {size} were expected; {DAMAGED_OBJECT_REMEDY}",
                bytes.len()
            )));
        }
        if let Some(digest) = expected.filter(|digest| !digest.matches_bytes(&bytes)) {
            return Err(OciError::Content(format!(
                "the content of {reference} does not match its digest {digest}; {DAMAGED_OBJECT_REMEDY}"
            )));
        }
        Manifest::parse(&bytes, &media_type)
            .map_err(|reason| OciError::Content(format!("{reference} is malformed: {reason}")))
    }

    /// Downloads a blob and verifies its length. `sized` is called with the length. The caller verifies the
    /// digest.
    ///
    /// # Errors
    /// The download fails, or the blob has a different length.
    pub(crate) fn fetch_blob(
        &self,
        blob: &Descriptor,
        sized: impl FnOnce(u64),
        to: &mut impl Write,
    ) -> Result<(), OciError> {
        let digest = blob.digest()?;
        let url = self.url(&format!("blobs/{digest}"));
        let object = || format!("blob {digest}");
        let retry_policy = RetryPolicy { timeout: DOWNLOAD_TIMEOUT, ..self.retry_policy };
        let answer = self.request(&url, &[], retry_policy, &object)?;
        let mismatch = |actual: String| {
            OciError::Content(format!(
                "blob {digest} has {actual}, but the manifest specifies {}; {DAMAGED_OBJECT_REMEDY}",
                blob.size
            ))
        };
        if let Some(length) = answer.announced_length().filter(|length| *length != blob.size) {
            return Err(mismatch(format!("{length} bytes")));
        }
        sized(blob.size);
        let mut counting = CountingWriter { to, written: 0 };
        let grant = self.cached_authorization();
        let download = Download { url: &url, authorization: grant.as_deref(), limit: blob.size };
        let received = self.http.write_body(download, answer, &mut counting);
        match received {
            Err(HttpError::TooLong { .. }) => Err(mismatch("more bytes".to_owned())),
            Err(error) => Err(error.into()),
            Ok(()) if counting.written < blob.size => {
                Err(mismatch(format!("{} bytes", counting.written)))
            }
            Ok(()) => Ok(()),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}/v2/{}/{path}", self.addr.server(), self.addr.path)
    }

    fn cached_authorization(&self) -> Option<String> {
        self.granted.lock().unwrap_or_else(PoisonError::into_inner).get(self.addr).cloned()
    }

    /// Sends a request to the registry, with credentials if it requires them. `object` is the name of the object
    /// in messages.
    fn request(
        &self,
        url: &str,
        headers: &[Header],
        retry_policy: RetryPolicy,
        object: &dyn Fn() -> String,
    ) -> Result<HttpResponse, OciError> {
        let grant = self.cached_authorization();
        let mut answer = self.http.request_with_headers_and_retries(
            url,
            grant.as_deref(),
            headers,
            retry_policy,
        )?;
        // A challenge of another server, after a redirect, must not receive the credentials of the registry.
        if answer.status() == 401 && origin(&answer.url) == origin(url) {
            let challenge = answer.header(header::WWW_AUTHENTICATE.as_str());
            let challenge = AuthChallenge::parse(&challenge.unwrap_or_default())
                .ok_or_else(|| self.unauthorized_error(None))?;
            let grant = self.authorization_header(&challenge)?;
            answer = self.http.request_with_headers_and_retries(
                url,
                Some(&grant),
                headers,
                retry_policy,
            )?;
            if answer.status_error(url).is_none() {
                let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
                granted.insert(self.addr.clone(), grant);
            }
        }
        match answer.status() {
            200..=299 => Ok(answer),
            401 | 403 => Err(self.unauthorized_error(read_explanation(answer))),
            404 => Err(not_found_error(answer, object())),
            status => Err(OciError::Refused {
                status,
                explanation: explanation_text(read_explanation(answer)),
            }),
        }
    }
}

/// Returns the error for a blob whose content does not match its digest.
pub(crate) fn wrong_blob_error(digest: &Digest) -> OciError {
    OciError::Content(format!(
        "the content of blob {digest} does not match its digest; {DAMAGED_OBJECT_REMEDY}"
    ))
}

/// The remedy for an object that does not match its digest.
const DAMAGED_OBJECT_REMEDY: &str = "the registry or a proxy in front of it is damaged or hostile: try again, or push the artifact again";

/// Returns the target of the link to the next page, which may be one of several links.
fn next_page_link(links: &str) -> Option<String> {
    split_unquoted(links, ',').into_iter().find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = split_unquoted(parameters, ';').into_iter().any(is_relation_next);
        is_next.then(|| target.to_owned())
    })
}

/// Whether a link parameter is a relation that includes `next`.
fn is_relation_next(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
    name.trim().eq_ignore_ascii_case("rel")
        && relations.any(|relation| relation.eq_ignore_ascii_case("next"))
}

/// Splits a header at separators that are not within `<>` or quotes.
fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut closing = None;
    let mut is_escaped = false;
    for (index, c) in text.char_indices() {
        match closing {
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if c == '\\' => is_escaped = true,
            Some(end) if c == end => closing = None,
            Some(_) => {}
            None if c == '<' => closing = Some('>'),
            None if c == '"' => closing = Some('"'),
            None if c == separator => {
                parts.push(&text[start..index]);
                start = index + c.len_utf8();
            }
            None => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reads the codes and messages of an error response.
struct RefusalExplanation {
    codes: Vec<String>,
    text: String,
}

fn read_explanation(answer: HttpResponse) -> Option<RefusalExplanation> {
    let errors = manifest::parse_errors(&answer.read_bytes(MAX_REFUSAL_SIZE).ok()?)?;
    let describe = |(code, message): &(String, String)| match (code.as_str(), message.as_str()) {
        (code, "") => code.to_owned(),
        ("", message) => message.to_owned(),
        (code, message) => format!("{code}: {message}"),
    };
    let text = errors.iter().map(describe).collect::<Vec<_>>().join(", ");
    Some(RefusalExplanation { codes: errors.into_iter().map(|(code, _)| code).collect(), text })
}

fn explanation_text(explanation: Option<RefusalExplanation>) -> String {
    explanation.map_or_else(String::new, |explanation| format!(" ({})", explanation.text))
}

/// Returns the error for a response with status 404, which registries also return for denied access.
fn not_found_error(answer: HttpResponse, object: String) -> OciError {
    const NOT_FOUND_CODES: [&str; 4] =
        ["NAME_UNKNOWN", "NAME_INVALID", "MANIFEST_UNKNOWN", "BLOB_UNKNOWN"];
    let explanation = read_explanation(answer);
    let is_absent = explanation.as_ref().is_none_or(|explanation| {
        explanation.codes.is_empty()
            || explanation.codes.iter().any(|code| NOT_FOUND_CODES.contains(&code.as_str()))
    });
    let explanation = explanation_text(explanation);
    match is_absent {
        true => OciError::Missing { object, explanation },
        false => OciError::Refused { status: 404, explanation },
    }
}

/// A writer that counts the written bytes.
struct CountingWriter<'w, W> {
    to: &'w mut W,
    written: u64,
}

impl<W: Write> Write for CountingWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_to_the_next_page_may_be_one_of_several() {
        for (link, expected) in [
            ("</a?n=1>; rel=\"next\"", Some("/a?n=1")),
            ("</a>;rel=next", Some("/a")),
            ("</a>; rel=\"prev\", </b>; rel=\"next\"", Some("/b")),
            ("</b>; rel=\"next\", </a>; rel=\"prev\"", Some("/b")),
            ("</b,c;d>; title=\"x, </y>; rel=next\"; Rel=\"last Next\"", Some("/b,c;d")),
            ("</a>; title=\"a\\\", <b>; rel=next\", </c>; rel=next", Some("/c")),
            ("</a>; rel=\"prev\"", None),
            ("</a>", None),
            ("", None),
        ] {
            assert_eq!(next_page_link(link).as_deref(), expected, "{link}");
        }
    }
}
