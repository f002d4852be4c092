//! Calls on the objects of one bucket.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use reqsign_core::time::Timestamp;
use serde::Deserialize;
use sha2::Sha256;
use ureq::http::{Request, StatusCode, header, request};

use super::config::ObjectEncryption;
use super::endpoint::encode_object_path;
use crate::aws::{AwsErrorResponse, AwsService, unexpected_response_cause};
use crate::cause::Cause;
use crate::journals::ListedObject;
use crate::web::{HttpResponse, percent_encode};

/// A bucket, and the encryption of its objects.
#[derive(Clone)]
pub(super) struct Bucket {
    pub(super) name: String,
    /// The URL, without a trailing slash.
    pub(super) url: String,
    pub(super) service: AwsService,
    pub(super) encryption: ObjectEncryption,
    pub(super) acl: Option<String>,
    pub(super) checksum: bool,
}

/// An object as it was read.
#[derive(Debug)]
pub(super) struct StoredObject {
    pub(super) content: Vec<u8>,
    /// The ETag of this version, if the server has any.
    pub(super) tag: Option<String>,
}

/// A condition on the stored object for its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WriteCondition {
    /// No condition.
    Any,
    /// The object does not exist.
    Absent,
    /// The object has this ETag.
    Tag(String),
}

/// The result of writing an object.
#[derive(Debug)]
pub(super) enum PutOutcome {
    /// The object is stored, with this ETag.
    Stored(Option<String>),
    /// The condition does not hold.
    Refused,
    /// Other requests for the object were in progress at each attempt, so the condition was not
    /// evaluated.
    Conflict(Cause),
    /// The server does not support conditional writes.
    Unsupported(Cause),
    /// The credentials lack the permission.
    Denied(Cause),
}

#[derive(Deserialize)]
struct ListBucketResult {
    #[serde(rename = "Contents", default)]
    contents: Vec<ListedContents>,
    #[serde(rename = "NextContinuationToken")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct ListedContents {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "LastModified")]
    modified: Option<String>,
}

impl ListedContents {
    /// Converts the object to a listed one, at a time reported by the service.
    fn seen_at(self, now: Option<Timestamp>) -> ListedObject {
        let modified: Option<Timestamp> = self.modified.and_then(|text| text.parse().ok());
        let age = now.zip(modified).map(|(now, modified)| {
            // An object that was written while the list was created has no age yet.
            let seconds = now.as_second().saturating_sub(modified.as_second());
            Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
        });
        ListedObject { name: self.key, age }
    }
}

impl Bucket {
    fn object_url(&self, key: &str) -> String {
        format!("{}/{}", self.url, encode_object_path(key))
    }

    /// Reads an object. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn get(&self, key: &str) -> Result<Option<StoredObject>, Cause> {
        let url = self.object_url(key);
        // S3 does not store such a key, so each read includes it.
        let request = self.add_customer_key_headers(Request::get(&url)).body(Vec::new())?;
        let answer = self.service.send_signed(&request).await?;
        let tag = || answer.header(header::ETAG.as_str()).map(str::to_owned);
        match answer.status {
            StatusCode::OK => Ok(Some(StoredObject { tag: tag(), content: answer.body })),
            StatusCode::NOT_FOUND if self.is_object_missing(&answer) => Ok(None),
            _ => Err(self.unexpected_response_cause(&answer, "GET", &url)),
        }
    }

    fn is_object_missing(&self, answer: &HttpResponse) -> bool {
        // A page from a proxy is unrelated to the object.
        answer.body.is_empty()
            || AwsErrorResponse::parse(answer).is_some_and(|refusal| refusal.code == "NoSuchKey")
    }

    /// Writes an object atomically, if a condition holds.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn put(
        &self,
        key: &str,
        content: Vec<u8>,
        condition: &WriteCondition,
    ) -> Result<PutOutcome, Cause> {
        let url = self.object_url(key);
        let mut request = Request::put(&url).header(header::CONTENT_TYPE, "application/json");
        if self.checksum {
            request = request
                .header("x-amz-sdk-checksum-algorithm", "SHA256")
                .header("x-amz-checksum-sha256", STANDARD.encode(Sha256::digest(&content)));
        }
        if let Some(acl) = &self.acl {
            request = request.header("x-amz-acl", acl);
        }
        request = match condition {
            WriteCondition::Any => request,
            WriteCondition::Absent => request.header(header::IF_NONE_MATCH, "*"),
            WriteCondition::Tag(tag) => request.header(header::IF_MATCH, tag),
        };
        request = match &self.encryption {
            ObjectEncryption::Bucket => request,
            ObjectEncryption::Service => request.header("x-amz-server-side-encryption", "AES256"),
            ObjectEncryption::Kms(id) => request
                .header("x-amz-server-side-encryption", "aws:kms")
                .header("x-amz-server-side-encryption-aws-kms-key-id", id),
            ObjectEncryption::Customer(_) => self.add_customer_key_headers(request),
        };
        let request = request.body(content)?;
        let answer = self.service.send_signed(&request).await?;
        self.put_outcome(&answer, &url, *condition != WriteCondition::Any)
    }

    fn put_outcome(
        &self,
        answer: &HttpResponse,
        url: &str,
        is_conditional: bool,
    ) -> Result<PutOutcome, Cause> {
        let cause = || self.unexpected_response_cause(answer, "PUT", url);
        let refusal = AwsErrorResponse::parse(answer);
        match answer.status {
            StatusCode::OK => {
                Ok(PutOutcome::Stored(answer.header(header::ETAG.as_str()).map(str::to_owned)))
            }
            StatusCode::CONFLICT
                if refusal.as_ref().is_some_and(|refusal| refusal.is_conflict()) =>
            {
                Ok(PutOutcome::Conflict(cause()))
            }
            // Some compatible servers return the second one.
            StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT if is_conditional => {
                Ok(PutOutcome::Refused)
            }
            // A condition on a version that does not exist any more.
            StatusCode::NOT_FOUND if is_conditional && self.is_object_missing(answer) => {
                Ok(PutOutcome::Refused)
            }
            StatusCode::NOT_IMPLEMENTED if is_conditional => Ok(PutOutcome::Unsupported(cause())),
            StatusCode::FORBIDDEN
                if refusal.as_ref().is_some_and(|refusal| refusal.code == "AccessDenied") =>
            {
                Ok(PutOutcome::Denied(cause()))
            }
            _ => Err(cause()),
        }
    }

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn delete(&self, key: &str) -> Result<(), Cause> {
        let url = self.object_url(key);
        let answer = self.service.send_signed(&Request::delete(&url).body(Vec::new())?).await?;
        match answer.status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(()),
            StatusCode::NOT_FOUND if self.is_object_missing(&answer) => Ok(()),
            _ => Err(self.unexpected_response_cause(&answer, "DELETE", &url)),
        }
    }

    /// Lists the objects whose keys have a prefix. Returns `None` if that is not permitted.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason or does not respond.
    pub(super) async fn list(&self, prefix: &str) -> Result<Option<Vec<ListedObject>>, Cause> {
        let mut objects = Vec::new();
        let mut continuation_token: Option<String> = None;
        loop {
            let token = continuation_token.as_deref().map(percent_encode);
            let token = token.map(|token| format!("continuation-token={token}&"));
            let url = format!(
                "{}/?{}list-type=2&max-keys=1000&prefix={}",
                self.url,
                token.unwrap_or_default(),
                percent_encode(prefix)
            );
            let answer = self.service.send_signed(&Request::get(&url).body(Vec::new())?).await?;
            // Other codes with this status are about wrong keys or clocks, and must not be mistaken
            // for a missing permission.
            if answer.status == StatusCode::FORBIDDEN
                && AwsErrorResponse::parse(&answer)
                    .is_some_and(|refusal| refusal.code == "AccessDenied")
            {
                return Ok(None);
            }
            if answer.status != StatusCode::OK {
                return Err(self.unexpected_response_cause(&answer, "GET", &url));
            }
            let text = std::str::from_utf8(&answer.body)?;
            let page: ListBucketResult = quick_xml::de::from_str(text)
                .map_err(|error| format!("the list of the bucket cannot be read: {error}"))?;
            let server_time = answer.header(header::DATE.as_str());
            let server_time = server_time.and_then(|date| Timestamp::parse_rfc2822(date).ok());
            objects.extend(page.contents.into_iter().map(|object| object.seen_at(server_time)));
            match page.next {
                // A server that returns the same page again would be queried forever.
                Some(next_token) if continuation_token.as_ref() != Some(&next_token) => {
                    continuation_token = Some(next_token);
                }
                _ => return Ok(Some(objects)),
            }
        }
    }

    /// Returns the headers with the customer-supplied key.
    fn add_customer_key_headers(&self, request: request::Builder) -> request::Builder {
        let ObjectEncryption::Customer(key) = &self.encryption else { return request };
        request
            .header("x-amz-server-side-encryption-customer-algorithm", "AES256")
            .header("x-amz-server-side-encryption-customer-key", STANDARD.encode(key))
            // The service compares the checksum, so that a key that was damaged in transit encrypts
            // nothing.
            .header(
                "x-amz-server-side-encryption-customer-key-MD5",
                STANDARD.encode(Md5::digest(key)),
            )
    }

    fn unexpected_response_cause(&self, answer: &HttpResponse, method: &str, url: &str) -> Cause {
        let no_bucket =
            AwsErrorResponse::parse(answer).is_some_and(|refusal| refusal.code == "NoSuchBucket");
        if no_bucket {
            return format!(
                "S3 bucket {:?} does not exist: create it first; a new bucket may take a minute to appear",
                self.name
            )
            .into();
        }
        unexpected_response_cause(answer, method, url, self.service.region())
    }
}
