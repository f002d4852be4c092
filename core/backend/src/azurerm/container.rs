//! Calls on the blobs of one container.

use std::collections::BTreeMap;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use ureq::http::{Request, StatusCode, header};

use super::account::StorageAccount;
use super::refusal::{error_code, is_permission_code, unexpected_response_cause};
use crate::cause::Cause;
use crate::journals::CreateOutcome;
use crate::web::{HttpResponse, percent_encode};

/// The API version, the same as in Terraform.
const BLOB_API_VERSION: &str = "2023-11-03";

/// The lease header.
const LEASE_HEADER: &str = "x-ms-lease-id";

/// The prefix of metadata headers.
const METADATA_HEADER_PREFIX: &str = "x-ms-meta-";

/// The characters that are percent-encoded in the path of a blob.
const BLOB_PATH_ENCODE_SET: AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A container of an account.
#[derive(Clone)]
pub(super) struct Container {
    name: String,
    account: Arc<StorageAccount>,
}

/// A blob as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Blob {
    /// The content. Empty if only the properties were requested.
    pub(super) content: Vec<u8>,
    /// The ETag of this version.
    pub(super) tag: Option<String>,
    /// The metadata, with lowercase names.
    pub(super) metadata: BTreeMap<String, String>,
    /// Whether the blob is leased.
    pub(super) is_leased: bool,
}

/// A condition on the stored blob for its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WriteCondition {
    /// No condition.
    Any,
    /// The blob does not exist.
    Absent,
    /// The blob has this ETag.
    Tag(String),
}

/// The conditions of a write.
pub(super) struct AccessConditions<'a> {
    /// The condition on the stored blob.
    pub(super) stored: &'a WriteCondition,
    /// The ID of the lease for the write.
    pub(super) lease: Option<&'a str>,
}

/// The result of a conditional call.
#[derive(Debug)]
pub(super) enum ConditionalOutcome {
    /// The call succeeded. The blob now has this ETag.
    Done(Option<String>),
    /// The condition does not hold, or the blob has another lease: the error code, and the cause.
    Refused(String, Cause),
}

#[derive(Deserialize)]
struct BlobListing {
    #[serde(rename = "Blobs", default)]
    blobs: ListedBlobs,
    #[serde(rename = "NextMarker", default)]
    next: Option<String>,
}

#[derive(Default, Deserialize)]
struct ListedBlobs {
    #[serde(rename = "Blob", default)]
    blobs: Vec<ListedBlob>,
}

#[derive(Deserialize)]
struct ListedBlob {
    #[serde(rename = "Name")]
    name: String,
}

/// A call on a blob.
pub(super) struct BlobRequest<'c> {
    method: &'c str,
    blob: &'c str,
    query: &'c str,
    headers: Vec<(String, String)>,
    content: Vec<u8>,
}

impl<'c> BlobRequest<'c> {
    fn new(method: &'c str, blob: &'c str, query: &'c str) -> Self {
        Self { method, blob, query, headers: Vec::new(), content: Vec::new() }
    }

    /// The call that writes a blob under a condition.
    fn put_content(blob: &'c str, content: Vec<u8>, stored: &WriteCondition) -> Self {
        let call = Self::new("PUT", blob, "")
            // The service refuses a new blob without a type.
            .with_header("x-ms-blob-type", "BlockBlob")
            .with_header(header::CONTENT_TYPE.as_str(), "application/json");
        let call = match stored {
            WriteCondition::Any => call,
            // With `*` the service refuses if any version exists, so that one of two concurrent
            // first writes fails.
            WriteCondition::Absent => call.with_header(header::IF_NONE_MATCH.as_str(), "*"),
            WriteCondition::Tag(tag) => call.with_header(header::IF_MATCH.as_str(), tag),
        };
        Self { content, ..call }
    }

    fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn with_lease(self, id: Option<&str>) -> Self {
        match id {
            Some(id) => self.with_header(LEASE_HEADER, id),
            None => self,
        }
    }

    fn with_metadata(mut self, metadata: &BTreeMap<String, String>) -> Self {
        let headers = metadata
            .iter()
            .map(|(name, value)| (format!("{METADATA_HEADER_PREFIX}{name}"), value.clone()));
        self.headers.extend(headers);
        self
    }
}

impl Container {
    /// Creates the container. Sends no request yet.
    pub(super) fn new(name: String, account: Arc<StorageAccount>) -> Self {
        Self { name, account }
    }

    /// The name of the container.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The address of a blob, for messages.
    pub(super) fn location(&self, blob: &str) -> String {
        format!("{}/{}/{blob}", self.account.location(), self.name)
    }

    /// Reads a blob. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn get(&self, blob: &str) -> Result<Option<Blob>, Cause> {
        self.read_with_method("GET", blob).await
    }

    /// Reads the properties of a blob. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn blob_properties(&self, blob: &str) -> Result<Option<Blob>, Cause> {
        self.read_with_method("HEAD", blob).await
    }

    async fn read_with_method(&self, method: &str, blob: &str) -> Result<Option<Blob>, Cause> {
        let (answer, url) = self.send(BlobRequest::new(method, blob, "")).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(parse_blob(answer))),
            // A missing container has another code. If it were treated as a missing blob, it would
            // be mistaken for an empty state.
            StatusCode::NOT_FOUND if error_code(&answer) == "BlobNotFound" => Ok(None),
            _ => Err(unexpected_response_cause(&answer, method, &url)),
        }
    }

    /// Writes a blob atomically, if a condition holds.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason or does not respond.
    pub(super) async fn put(
        &self,
        blob: &str,
        content: Vec<u8>,
        metadata: &BTreeMap<String, String>,
        conditions: AccessConditions<'_>,
    ) -> Result<ConditionalOutcome, Cause> {
        let call = BlobRequest::put_content(blob, content, conditions.stored)
            .with_lease(conditions.lease)
            .with_metadata(metadata);
        self.send_conditional(call, StatusCode::CREATED).await
    }

    /// Creates a blob atomically, unless it exists.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason than a missing permission, or
    /// does not respond.
    pub(super) async fn create(
        &self,
        blob: &str,
        content: Vec<u8>,
    ) -> Result<CreateOutcome, Cause> {
        let call = BlobRequest::put_content(blob, content, &WriteCondition::Absent);
        let (answer, url) = self.send(call).await?;
        if answer.status == StatusCode::CREATED {
            return Ok(CreateOutcome::Created);
        }
        let (code, cause) = (error_code(&answer), unexpected_response_cause(&answer, "PUT", &url));
        match code.as_str() {
            "BlobAlreadyExists" | "ConditionNotMet" => Ok(CreateOutcome::Exists),
            code if is_permission_code(code) => Ok(CreateOutcome::Refused(cause)),
            _ => Err(cause),
        }
    }

    /// Replaces the metadata of a blob under a lease.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason than the lease, or does not
    /// respond.
    pub(super) async fn set_metadata(
        &self,
        blob: &str,
        metadata: &BTreeMap<String, String>,
        lease: &str,
    ) -> Result<ConditionalOutcome, Cause> {
        let call = BlobRequest::new("PUT", blob, "comp=metadata")
            .with_lease(Some(lease))
            .with_metadata(metadata);
        self.send_conditional(call, StatusCode::OK).await
    }

    /// Acquires an infinite lease of a blob.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason than another lease, or does not
    /// respond.
    pub(super) async fn acquire_lease(
        &self,
        blob: &str,
        id: &str,
    ) -> Result<ConditionalOutcome, Cause> {
        // A lease that expires would end during a long apply, while the state is being changed.
        // With a client-chosen ID the request can be repeated: the holder of a lease may acquire it
        // again.
        let call = BlobRequest::new("PUT", blob, "comp=lease")
            .with_header("x-ms-lease-action", "acquire")
            .with_header("x-ms-lease-duration", "-1")
            .with_header("x-ms-proposed-lease-id", id);
        self.send_conditional(call, StatusCode::CREATED).await
    }

    /// Releases the lease of a blob.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason than another lease, or does not
    /// respond.
    pub(super) async fn release_lease(
        &self,
        blob: &str,
        id: &str,
    ) -> Result<ConditionalOutcome, Cause> {
        let call = BlobRequest::new("PUT", blob, "comp=lease")
            .with_header("x-ms-lease-action", "release")
            .with_lease(Some(id));
        let (answer, url) = self.send(call).await?;
        // No other lease ever has this ID, so an attempt whose response was lost has released it.
        if answer.follows_unclear_attempt && answer.status == StatusCode::CONFLICT {
            return Ok(ConditionalOutcome::Done(None));
        }
        conditional_outcome(&answer, "PUT", &url, StatusCode::OK)
    }

    /// Preserves the current version of a blob as a snapshot.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn snapshot_blob(&self, blob: &str, lease: Option<&str>) -> Result<(), Cause> {
        let call = BlobRequest::new("PUT", blob, "comp=snapshot").with_lease(lease);
        match self.send_conditional(call, StatusCode::CREATED).await? {
            ConditionalOutcome::Done(_) => Ok(()),
            ConditionalOutcome::Refused(_, cause) => Err(cause),
        }
    }

    /// Deletes a blob, if it exists.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn delete(&self, blob: &str) -> Result<(), Cause> {
        let (answer, url) = self.send(BlobRequest::new("DELETE", blob, "")).await?;
        match answer.status {
            StatusCode::ACCEPTED => Ok(()),
            StatusCode::NOT_FOUND if error_code(&answer) == "BlobNotFound" => Ok(()),
            _ => Err(unexpected_response_cause(&answer, "DELETE", &url)),
        }
    }

    /// Lists the names of blobs with a prefix.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn list(&self, prefix: &str) -> Result<Vec<String>, Cause> {
        self.list_if_permitted(prefix).await?
    }

    /// Lists the names of blobs with a prefix. The inner error means that the credentials lack the
    /// permission.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason or does not respond.
    pub(super) async fn list_if_permitted(
        &self,
        prefix: &str,
    ) -> Result<Result<Vec<String>, Cause>, Cause> {
        let (mut names, mut marker) = (Vec::new(), None::<String>);
        loop {
            let marker_parameter =
                marker.as_deref().map(|marker| format!("&marker={}", percent_encode(marker)));
            let query = format!(
                "restype=container&comp=list&prefix={}{}",
                percent_encode(prefix),
                marker_parameter.unwrap_or_default()
            );
            let (answer, url) = self.send(BlobRequest::new("GET", "", &query)).await?;
            if answer.status != StatusCode::OK {
                let cause = unexpected_response_cause(&answer, "GET", &url);
                // Other refusals are about wrong keys or clocks, and must not be mistaken for a
                // missing permission.
                return match is_permission_code(&error_code(&answer)) {
                    true => Ok(Err(cause)),
                    false => Err(cause),
                };
            }
            let text = String::from_utf8_lossy(&answer.body);
            // Azure sends a byte order mark before its XML.
            let page: BlobListing = quick_xml::de::from_str(text.trim_start_matches('\u{feff}'))
                .map_err(|error| format!("the list of the container cannot be read: {error}"))?;
            names.extend(page.blobs.blobs.into_iter().map(|listed| listed.name));
            match page.next.filter(|next| !next.is_empty()) {
                // A service that returns the same marker again would be queried forever.
                Some(next) if marker.as_ref() != Some(&next) => marker = Some(next),
                _ => return Ok(Ok(names)),
            }
        }
    }

    async fn send_conditional(
        &self,
        call: BlobRequest<'_>,
        success_status: StatusCode,
    ) -> Result<ConditionalOutcome, Cause> {
        let method = call.method.to_owned();
        let (answer, url) = self.send(call).await?;
        conditional_outcome(&answer, &method, &url, success_status)
    }

    async fn send(&self, call: BlobRequest<'_>) -> Result<(HttpResponse, String), Cause> {
        let account = &self.account.resolve_access().await?.url;
        let mut url = format!("{account}/{}", percent_encode(&self.name));
        if !call.blob.is_empty() {
            url = format!("{url}/{}", utf8_percent_encode(call.blob, &BLOB_PATH_ENCODE_SET));
        }
        if !call.query.is_empty() {
            url = format!("{url}?{}", call.query);
        }
        let mut request = Request::builder()
            .method(call.method)
            .uri(&url)
            .header("x-ms-version", BLOB_API_VERSION);
        // Azure refuses a PUT request without a length, even if it has no content.
        if call.method == "PUT" {
            request = request.header(header::CONTENT_LENGTH, call.content.len());
        }
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        Ok((self.account.send(&request.body(call.content)?).await?, url))
    }
}

fn conditional_outcome(
    answer: &HttpResponse,
    method: &str,
    url: &str,
    success_status: StatusCode,
) -> Result<ConditionalOutcome, Cause> {
    if answer.status == success_status {
        let tag = answer.header(header::ETAG.as_str()).map(str::to_owned);
        return Ok(ConditionalOutcome::Done(tag));
    }
    let cause = unexpected_response_cause(answer, method, url);
    match answer.status {
        // The error code specifies the condition that failed.
        StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => {
            Ok(ConditionalOutcome::Refused(error_code(answer), cause))
        }
        _ => Err(cause),
    }
}

fn parse_blob(answer: HttpResponse) -> Blob {
    let metadata = answer.headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(METADATA_HEADER_PREFIX)?;
        Some((name.to_owned(), value.to_str().ok()?.to_owned()))
    });
    Blob {
        metadata: metadata.collect(),
        tag: answer.header(header::ETAG.as_str()).map(str::to_owned),
        is_leased: answer.header("x-ms-lease-status") == Some("locked"),
        content: answer.body,
    }
}
