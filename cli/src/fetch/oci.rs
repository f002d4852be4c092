//! Client of OCI registries, by the distribution specification: the tags, manifests and blobs of a
//! repository. Everything with a digest is compared with it. Installs nothing.

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

/// The largest manifest: the limit that the specification recommends to registries.
const MAX_MANIFEST_SIZE: u64 = 4 << 20;
/// The longest page of a list of tags.
const MAX_TAG_PAGE_SIZE: u64 = 4 << 20;
/// Maximum number of pages of that list.
const MAX_TAG_PAGES: usize = 2_000;
/// Maximum number of tags in a repository.
const MAX_TAGS: usize = 100_000;
/// The longest explanation of a refusal.
const MAX_REFUSAL_SIZE: u64 = 64 << 10;
/// The media types of manifests. Those of Docker are requested too, so that a message can name them.
const MANIFEST_MEDIA_TYPES: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// The reason why a registry does not give an object. The caller names the repository.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OciError {
    /// The registry does not answer, or not as it should.
    #[error("{0}")]
    Server(#[from] HttpError),
    /// The registry has no such object.
    #[error("the registry has no {what}{explanation}")]
    Missing { what: String, explanation: String },
    /// The registry requires credentials, or refuses those it got.
    #[error("{0}")]
    Unauthorized(String),
    /// The registry refuses, and gives a reason.
    #[error("the registry answers with status {status}{explanation}")]
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

/// Access to OCI registries: the settings, and the authorizations that registries have granted.
pub(crate) struct OciRegistries<'a> {
    logins: RegistryLoginFinder<'a>,
    patience: RetryPolicy,
    /// The `Authorization` header by repository.
    granted: Mutex<BTreeMap<RepositoryAddr, String>>,
}

impl<'a> OciRegistries<'a> {
    /// Access as the settings allow it. No registry is asked, and no credentials are read.
    pub(crate) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        let logins = RegistryLoginFinder::new(env, settings);
        Self { logins, patience: registry_retry_policy(env), granted: Mutex::default() }
    }

    /// A repository, which may not exist.
    pub(crate) fn repository<'r>(
        &'r self,
        http: &'r Client,
        addr: &'r RepositoryAddr,
    ) -> Repository<'r> {
        Repository {
            logins: &self.logins,
            patience: self.patience,
            granted: &self.granted,
            http,
            addr,
        }
    }
}

/// A repository of a registry.
pub(crate) struct Repository<'r> {
    logins: &'r RegistryLoginFinder<'r>,
    patience: RetryPolicy,
    granted: &'r Mutex<BTreeMap<RepositoryAddr, String>>,
    http: &'r Client,
    addr: &'r RepositoryAddr,
}

impl Repository<'_> {
    /// The tags of the repository.
    ///
    /// # Errors
    /// When there is no such repository, or the registry does not list its tags.
    pub(crate) fn fetch_tags(&self) -> Result<Vec<String>, OciError> {
        let mut url = self.url("tags/list");
        let mut tags = Vec::new();
        let what = || "such repository".to_owned();
        for _ in 0..MAX_TAG_PAGES {
            let answer = self.request(&url, &[], self.patience, &what)?;
            let next = next_page_link(&answer.joined_headers(header::LINK.as_str()));
            let next = next.map(|next| resolve_reference(&answer.url, &next));
            let page =
                manifest::parse_tags(&answer.read_bytes(MAX_TAG_PAGE_SIZE)?).map_err(|reason| {
                    OciError::Content(format!("the registry's list of tags is malformed: {reason}"))
                })?;
            let is_last = page.is_empty();
            tags.extend(page);
            if tags.len() > MAX_TAGS {
                break;
            }
            match next.filter(|_| !is_last) {
                None => return Ok(tags),
                // Another server must not see the authorization.
                Some(next) if origin(&next) != origin(&url) => {
                    return Err(OciError::Content(format!(
                        "the registry continues its list of tags on another server: {}",
                        redact::redact_address(&next)
                    )));
                }
                Some(next) => url = next,
            }
        }
        Err(OciError::Content(format!(
            "the list of tags is longer than {MAX_TAGS} tags or {MAX_TAG_PAGES} pages; use a repository with fewer tags"
        )))
    }

    /// A manifest. One with a digest has that digest; `size` is its length, if that is known.
    ///
    /// # Errors
    /// When there is none, or its content is another one than the registry says.
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
        let answer = self.request(&url, &headers, self.patience, &|| reference.to_string())?;
        let named = answer.header("Docker-Content-Digest");
        let media_type = answer.header(header::CONTENT_TYPE.as_str()).unwrap_or_default();
        let bytes = answer.read_bytes(MAX_MANIFEST_SIZE)?;
        let expected = match (reference, named) {
            (ManifestReference::Digest(digest), _) => Some(digest.clone()),
            (ManifestReference::Tag(_), Some(named)) => Some(Digest::parse(&named)?),
            (ManifestReference::Tag(_), None) => None,
        };
        if let Some(size) = size.filter(|size| *size != bytes.len() as u64) {
            return Err(OciError::Content(format!(
                "{reference} has {} bytes, and {size} are expected; {DAMAGED_OBJECT_REMEDY}",
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

    /// Writes a blob, whose length is that of its descriptor. `sized` is called with the length. The caller
    /// compares the digest.
    ///
    /// # Errors
    /// When it cannot be had, or has another length.
    pub(crate) fn fetch_blob(
        &self,
        blob: &Descriptor,
        sized: impl FnOnce(u64),
        to: &mut impl Write,
    ) -> Result<(), OciError> {
        let digest = blob.digest()?;
        let url = self.url(&format!("blobs/{digest}"));
        let what = || format!("blob {digest}");
        let patience = RetryPolicy { each: DOWNLOAD_TIMEOUT, ..self.patience };
        let answer = self.request(&url, &[], patience, &what)?;
        let wrong = |found: String| {
            OciError::Content(format!(
                "blob {digest} has {found}, and the manifest says {}; {DAMAGED_OBJECT_REMEDY}",
                blob.size
            ))
        };
        if let Some(length) = answer.announced_length().filter(|length| *length != blob.size) {
            return Err(wrong(format!("{length} bytes")));
        }
        sized(blob.size);
        let mut counting = CountingWriter { to, written: 0 };
        let grant = self.cached_authorization();
        let download = Download { url: &url, asking: grant.as_deref(), limit: blob.size };
        let received = self.http.write_body(download, answer, &mut counting);
        match received {
            Err(HttpError::TooLong { .. }) => Err(wrong("more bytes".to_owned())),
            Err(error) => Err(error.into()),
            Ok(()) if counting.written < blob.size => {
                Err(wrong(format!("{} bytes", counting.written)))
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

    /// Asks the registry, with credentials if it requires some. `what` names the object.
    fn request(
        &self,
        url: &str,
        headers: &[Header],
        patience: RetryPolicy,
        what: &dyn Fn() -> String,
    ) -> Result<HttpResponse, OciError> {
        let grant = self.cached_authorization();
        let mut answer =
            self.http.request_with_headers_and_retries(url, grant.as_deref(), headers, patience)?;
        // The challenge of another server, to which the registry redirects, is not for its credentials.
        if answer.status() == 401 && origin(&answer.url) == origin(url) {
            let challenge = answer.header(header::WWW_AUTHENTICATE.as_str());
            let challenge = AuthChallenge::parse(&challenge.unwrap_or_default())
                .ok_or_else(|| self.unauthorized_error(None))?;
            let grant = self.authorization_header(&challenge)?;
            answer =
                self.http.request_with_headers_and_retries(url, Some(&grant), headers, patience)?;
            if answer.status_error(url).is_none() {
                let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
                granted.insert(self.addr.clone(), grant);
            }
        }
        match answer.status() {
            200..=299 => Ok(answer),
            401 | 403 => Err(self.unauthorized_error(read_explanation(answer))),
            404 => Err(not_found_error(answer, what())),
            status => Err(OciError::Refused {
                status,
                explanation: explanation_text(read_explanation(answer)),
            }),
        }
    }
}

/// The error of a blob whose content has another digest.
pub(crate) fn wrong_blob_error(digest: &Digest) -> OciError {
    OciError::Content(format!(
        "the content of blob {digest} does not match its digest; {DAMAGED_OBJECT_REMEDY}"
    ))
}

/// The next step after an object that does not have its digest.
const DAMAGED_OBJECT_REMEDY: &str = "the registry or a proxy in front of it is damaged or hostile: try again, or push the artifact again";

/// The target of the link to the next page, which may be one of several links.
fn next_page_link(links: &str) -> Option<String> {
    split_unquoted(links, ',').into_iter().find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = split_unquoted(parameters, ';').into_iter().any(is_relation_next);
        is_next.then(|| target.to_owned())
    })
}

/// Whether the parameter of a link says that the link is to the next page.
fn is_relation_next(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
    name.trim().eq_ignore_ascii_case("rel") && relations.any(|one| one.eq_ignore_ascii_case("next"))
}

/// The parts of a header between separators that stand neither in `<>` nor in quotes.
fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut closing = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match closing {
            Some('"') if is_escaped => is_escaped = false,
            Some('"') if c == '\\' => is_escaped = true,
            Some(end) if c == end => closing = None,
            Some(_) => {}
            None if c == '<' => closing = Some('>'),
            None if c == '"' => closing = Some('"'),
            None if c == separator => {
                found.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            None => {}
        }
    }
    found.push(&text[start..]);
    found
}

/// The codes and the explanation of a refusal, as registries give them.
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
    explanation.map_or_else(String::new, |one| format!(" ({})", one.text))
}

/// The error of an answer with status 404. Registries give it other reasons too, such as a denied access.
fn not_found_error(answer: HttpResponse, what: String) -> OciError {
    const NOT_FOUND_CODES: [&str; 4] =
        ["NAME_UNKNOWN", "NAME_INVALID", "MANIFEST_UNKNOWN", "BLOB_UNKNOWN"];
    let explanation = read_explanation(answer);
    let is_absent = explanation.as_ref().is_none_or(|one| {
        one.codes.is_empty()
            || one.codes.iter().any(|code| NOT_FOUND_CODES.contains(&code.as_str()))
    });
    let explanation = explanation_text(explanation);
    match is_absent {
        true => OciError::Missing { what, explanation },
        false => OciError::Refused { status: 404, explanation },
    }
}

/// Counts the bytes that are written.
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
