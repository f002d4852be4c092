//! Calls on the objects of one bucket.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use serde::Deserialize;
use sha2::Sha256;
use ureq::http::{Request, StatusCode, header, request};

use super::config::Encryption;
use super::endpoint::path;
use crate::aws::{Refusal, Service, refused};
use crate::cause::Cause;
use crate::web::{HttpResponse, encoded};

/// A bucket, with the form in which its objects are written.
#[derive(Clone)]
pub(super) struct Bucket {
    pub(super) name: String,
    /// The URL, without a slash at the end.
    pub(super) url: String,
    pub(super) service: Service,
    pub(super) encryption: Encryption,
    pub(super) acl: Option<String>,
    pub(super) checksum: bool,
}

/// An object as it was read.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) content: Vec<u8>,
    /// The tag of this version, if the server has any.
    pub(super) tag: Option<String>,
}

/// A condition on the stored object, under which a new one replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// None.
    Any,
    /// There is no object.
    Absent,
    /// The object is the version with this tag.
    Tag(String),
}

/// The outcome of writing an object.
#[derive(Debug)]
pub(super) enum Put {
    /// It is stored, with this tag.
    Stored(Option<String>),
    /// The condition does not hold.
    Refused,
    /// The server has no conditional writes.
    Unsupported(Cause),
    /// The credentials do not permit it.
    Denied(Cause),
}

#[derive(Deserialize)]
struct Listing {
    #[serde(rename = "Contents", default)]
    contents: Vec<Listed>,
    #[serde(rename = "NextContinuationToken")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "Key")]
    key: String,
}

impl Bucket {
    fn url(&self, key: &str) -> String {
        format!("{}/{}", self.url, path(key))
    }

    /// Reads an object; `None` if there is none.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn get(&self, key: &str) -> Result<Option<Object>, Cause> {
        let url = self.url(key);
        // S3 keeps no such key, so each read brings it along again.
        let request = self.with_customer_key(Request::get(&url)).body(Vec::new())?;
        let answer = self.service.send(&request).await?;
        let tag = || answer.header(header::ETAG.as_str()).map(str::to_owned);
        match answer.status {
            StatusCode::OK => Ok(Some(Object { tag: tag(), content: answer.body })),
            StatusCode::NOT_FOUND if self.has_no_object(&answer) => Ok(None),
            _ => Err(self.failed(&answer, "GET", &url)),
        }
    }

    fn has_no_object(&self, answer: &HttpResponse) -> bool {
        // A page of a proxy says nothing about the object.
        answer.body.is_empty()
            || Refusal::read(answer).is_some_and(|refusal| refusal.code == "NoSuchKey")
    }

    /// Writes an object, in one step, if a condition holds.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn put(
        &self,
        key: &str,
        content: Vec<u8>,
        condition: &Condition,
    ) -> Result<Put, Cause> {
        let url = self.url(key);
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
            Condition::Any => request,
            Condition::Absent => request.header(header::IF_NONE_MATCH, "*"),
            Condition::Tag(tag) => request.header(header::IF_MATCH, tag),
        };
        request = match &self.encryption {
            Encryption::Bucket => request,
            Encryption::Service => request.header("x-amz-server-side-encryption", "AES256"),
            Encryption::Kms(id) => request
                .header("x-amz-server-side-encryption", "aws:kms")
                .header("x-amz-server-side-encryption-aws-kms-key-id", id),
            Encryption::Customer(_) => self.with_customer_key(request),
        };
        let request = request.body(content)?;
        let answer = self.service.send(&request).await?;
        let is_conditional = *condition != Condition::Any;
        match answer.status {
            StatusCode::OK => {
                Ok(Put::Stored(answer.header(header::ETAG.as_str()).map(str::to_owned)))
            }
            // The second one: a change is under way.
            StatusCode::PRECONDITION_FAILED | StatusCode::CONFLICT if is_conditional => {
                Ok(Put::Refused)
            }
            // A condition on a version that is not there any more.
            StatusCode::NOT_FOUND if is_conditional && self.has_no_object(&answer) => {
                Ok(Put::Refused)
            }
            StatusCode::NOT_IMPLEMENTED if is_conditional => {
                Ok(Put::Unsupported(self.failed(&answer, "PUT", &url)))
            }
            StatusCode::FORBIDDEN
                if Refusal::read(&answer).is_some_and(|refusal| refusal.code == "AccessDenied") =>
            {
                Ok(Put::Denied(self.failed(&answer, "PUT", &url)))
            }
            _ => Err(self.failed(&answer, "PUT", &url)),
        }
    }

    /// Removes an object, if there is one.
    ///
    /// # Errors
    /// When the service refuses or does not answer.
    pub(super) async fn delete(&self, key: &str) -> Result<(), Cause> {
        let url = self.url(key);
        let answer = self.service.send(&Request::delete(&url).body(Vec::new())?).await?;
        match answer.status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(()),
            StatusCode::NOT_FOUND if self.has_no_object(&answer) => Ok(()),
            _ => Err(self.failed(&answer, "DELETE", &url)),
        }
    }

    /// Lists the keys that begin with a prefix; `None` if that is not permitted.
    ///
    /// # Errors
    /// When the service refuses for another reason or does not answer.
    pub(super) async fn list(&self, prefix: &str) -> Result<Option<Vec<String>>, Cause> {
        let mut keys = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let token = after.as_deref().map(encoded);
            let token = token.map(|token| format!("continuation-token={token}&"));
            let url = format!(
                "{}/?{}list-type=2&max-keys=1000&prefix={}",
                self.url,
                token.unwrap_or_default(),
                encoded(prefix)
            );
            let answer = self.service.send(&Request::get(&url).body(Vec::new())?).await?;
            // Other codes with this status are about wrong keys or clocks, and must not pass for no
            // permission.
            if answer.status == StatusCode::FORBIDDEN
                && Refusal::read(&answer).is_some_and(|refusal| refusal.code == "AccessDenied")
            {
                return Ok(None);
            }
            if answer.status != StatusCode::OK {
                return Err(self.failed(&answer, "GET", &url));
            }
            let text = std::str::from_utf8(&answer.body)?;
            let page: Listing = quick_xml::de::from_str(text)
                .map_err(|error| format!("the list of the bucket cannot be read: {error}"))?;
            keys.extend(page.contents.into_iter().map(|listed| listed.key));
            match page.next {
                // A server that names the same page again would be asked for ever.
                Some(next) if after.as_ref() != Some(&next) => after = Some(next),
                _ => return Ok(Some(keys)),
            }
        }
    }

    /// The headers with the key that this backend brings along.
    fn with_customer_key(&self, request: request::Builder) -> request::Builder {
        let Encryption::Customer(key) = &self.encryption else { return request };
        request
            .header("x-amz-server-side-encryption-customer-algorithm", "AES256")
            .header("x-amz-server-side-encryption-customer-key", STANDARD.encode(key))
            // The service compares the sum, so that a key that was damaged on its way encrypts
            // nothing.
            .header(
                "x-amz-server-side-encryption-customer-key-MD5",
                STANDARD.encode(Md5::digest(key)),
            )
    }

    fn failed(&self, answer: &HttpResponse, method: &str, url: &str) -> Cause {
        let no_bucket = Refusal::read(answer).is_some_and(|refusal| refusal.code == "NoSuchBucket");
        if no_bucket {
            return format!(
                "S3 bucket {:?} does not exist: it must be made before; a new one may take a minute to appear",
                self.name
            )
            .into();
        }
        refused(answer, method, url, self.service.region())
    }
}
