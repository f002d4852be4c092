//! Calls on the objects of one bucket.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqsign_core::Signer;
use reqsign_google::Credential;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use ureq::http::{Request, StatusCode, header, request};

use crate::cause::Cause;
use crate::gcp::error_message;
use crate::web::{
    Authorize, HttpClient, HttpResponse, is_retryable_status, percent_encode, redact_url,
};

/// The generation of an object that does not exist.
pub(super) const ABSENT_GENERATION: &str = "0";

/// A bucket, and the encryption of its objects.
#[derive(Clone)]
pub(super) struct Bucket {
    pub(super) name: String,
    /// The URL of the API, with a trailing slash.
    pub(super) endpoint: String,
    pub(super) client: HttpClient,
    pub(super) signer: Signer<Credential>,
    pub(super) encryption: ObjectEncryption,
}

/// The encryption of states. Locks use the default encryption of the bucket.
#[derive(Clone)]
pub(super) enum ObjectEncryption {
    /// The default encryption of the bucket.
    Bucket,
    /// With a key of the Key Management Service.
    Kms(String),
    /// With a key that every request includes.
    Customer(Vec<u8>),
}

/// The purpose of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectUse {
    State,
    Lock,
}

/// An object as it was read.
#[derive(Debug)]
pub(super) struct StoredObject {
    pub(super) content: Vec<u8>,
    /// The generation of this version, if the server has any.
    pub(super) generation: Option<String>,
}

/// The result of writing an object.
#[derive(Debug)]
pub(super) enum PutOutcome {
    /// The object is stored with this generation.
    Stored(String),
    /// The stored object has another generation.
    Refused,
    /// The credentials lack the permission.
    Denied(Cause),
}

/// The result of deleting an object with a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeleteOutcome {
    /// The object was deleted.
    Removed,
    /// The object does not exist, and an attempt whose response was lost may have deleted it.
    PerhapsRemoved,
    /// The object does not exist.
    Absent,
}

#[derive(Deserialize)]
struct StoredObjectJson {
    generation: String,
}

#[derive(Deserialize)]
struct ListResponse {
    #[serde(default)]
    items: Vec<ListedObject>,
    #[serde(rename = "nextPageToken")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct ListedObject {
    name: String,
}

impl Bucket {
    fn object_url(&self, object: &str) -> String {
        // The API expects the whole name as one path segment, so its slashes are encoded.
        format!("{}b/{}/o/{}", self.endpoint, percent_encode(&self.name), percent_encode(object))
    }

    /// Reads an object. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn get(
        &self,
        object: &str,
        object_use: ObjectUse,
    ) -> Result<Option<StoredObject>, Cause> {
        let url = format!("{}?alt=media", self.object_url(object));
        let answer = self
            .send_request(self.add_customer_key_headers(Request::get(&url), object_use), Vec::new())
            .await?;
        match answer.status {
            StatusCode::OK => Ok(Some(StoredObject {
                generation: answer.header("x-goog-generation").map(str::to_owned),
                content: answer.body,
            })),
            StatusCode::NOT_FOUND if is_object_missing(&answer) => Ok(None),
            _ => Err(self.unexpected_response_cause(&answer, "GET", &url)),
        }
    }

    /// Writes an object atomically, if the stored object has the given generation.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason or does not respond.
    pub(super) async fn put(
        &self,
        object: &str,
        content: Vec<u8>,
        object_use: ObjectUse,
        generation: Option<&str>,
    ) -> Result<PutOutcome, Cause> {
        // Uploads have a separate path, which starts at the host whatever the path of the endpoint
        // is.
        let host = self.endpoint.split('/').take(3).collect::<Vec<_>>().join("/");
        let mut url = format!(
            "{host}/upload/storage/v1/b/{}/o?uploadType=media&name={}",
            percent_encode(&self.name),
            percent_encode(object)
        );
        if let Some(generation) = generation {
            url.push_str(&format!("&ifGenerationMatch={generation}"));
        }
        // Only a new object specifies its key, because the service stores the keys of existing
        // objects.
        if let (ObjectUse::State, ObjectEncryption::Kms(name)) = (object_use, &self.encryption) {
            url.push_str(&format!("&kmsKeyName={}", percent_encode(name)));
        }
        let request = Request::post(&url).header(header::CONTENT_TYPE, "application/json");
        let answer =
            self.send_request(self.add_customer_key_headers(request, object_use), content).await?;
        match answer.status {
            StatusCode::OK => {
                let stored: StoredObjectJson =
                    serde_json::from_slice(&answer.body).map_err(|error| {
                        let url = redact_url(&url);
                        format!("POST {url}: the response cannot be read: {error}")
                    })?;
                Ok(PutOutcome::Stored(stored.generation))
            }
            StatusCode::PRECONDITION_FAILED => Ok(PutOutcome::Refused),
            StatusCode::FORBIDDEN => {
                Ok(PutOutcome::Denied(self.unexpected_response_cause(&answer, "POST", &url)))
            }
            _ => Err(self.unexpected_response_cause(&answer, "POST", &url)),
        }
    }

    /// Deletes an object, if it has the given generation.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason or does not respond.
    pub(super) async fn delete(
        &self,
        object: &str,
        generation: Option<&str>,
    ) -> Result<DeleteOutcome, Cause> {
        let mut url = self.object_url(object);
        if let Some(generation) = generation {
            url.push_str(&format!("?ifGenerationMatch={generation}"));
        }
        let answer = self.send_request(Request::delete(&url), Vec::new()).await?;
        let absent = match answer.follows_unclear_attempt {
            true => DeleteOutcome::PerhapsRemoved,
            false => DeleteOutcome::Absent,
        };
        match answer.status {
            StatusCode::OK | StatusCode::NO_CONTENT => Ok(DeleteOutcome::Removed),
            StatusCode::PRECONDITION_FAILED => Ok(absent),
            StatusCode::NOT_FOUND if is_object_missing(&answer) => Ok(absent),
            _ => Err(self.unexpected_response_cause(&answer, "DELETE", &url)),
        }
    }

    /// Lists the names of the objects in a directory.
    ///
    /// # Errors
    /// Returns an error if the service refuses the request or does not respond.
    pub(super) async fn list(&self, prefix: &str) -> Result<Vec<String>, Cause> {
        // The delimiter excludes the objects in subdirectories, which are not states of this backend.
        self.list_pages(prefix, "delimiter=%2F&").await?
    }

    /// Lists the names of the objects with a prefix, including those in subdirectories. The inner error means
    /// that the credentials lack the permission.
    ///
    /// # Errors
    /// Returns an error if the service refuses for another reason or does not respond.
    pub(super) async fn list_with_dirs(
        &self,
        prefix: &str,
    ) -> Result<Result<Vec<String>, Cause>, Cause> {
        self.list_pages(prefix, "").await
    }

    async fn list_pages(
        &self,
        prefix: &str,
        query: &str,
    ) -> Result<Result<Vec<String>, Cause>, Cause> {
        let (mut names, mut token) = (Vec::new(), None::<String>);
        loop {
            let token_parameter =
                token.as_deref().map(|token| format!("&pageToken={}", percent_encode(token)));
            let url = format!(
                "{}b/{}/o?{query}prefix={}{}",
                self.endpoint,
                percent_encode(&self.name),
                percent_encode(prefix),
                token_parameter.unwrap_or_default()
            );
            let answer = self.send_request(Request::get(&url), Vec::new()).await?;
            match answer.status {
                StatusCode::OK => {}
                StatusCode::FORBIDDEN => {
                    return Ok(Err(self.unexpected_response_cause(&answer, "GET", &url)));
                }
                _ => return Err(self.unexpected_response_cause(&answer, "GET", &url)),
            }
            let page: ListResponse = serde_json::from_slice(&answer.body)
                .map_err(|error| format!("the list of the bucket cannot be read: {error}"))?;
            names.extend(page.items.into_iter().map(|listed| listed.name));
            match page.next.filter(|next| !next.is_empty()) {
                // A service that returns the same token again would be queried forever.
                Some(next) if token.as_ref() != Some(&next) => token = Some(next),
                _ => return Ok(Ok(names)),
            }
        }
    }

    async fn send_request(
        &self,
        request: request::Builder,
        content: Vec<u8>,
    ) -> Result<HttpResponse, Cause> {
        let signer = RepeatedAtConflicts(&self.signer);
        self.client.send_authorized(&request.body(content)?, &signer).await
    }

    /// Returns the headers with the customer-supplied key.
    fn add_customer_key_headers(
        &self,
        request: request::Builder,
        object_use: ObjectUse,
    ) -> request::Builder {
        // As in Terraform, the key is for states only, so that any run can read the holder of the
        // lock.
        let (ObjectUse::State, ObjectEncryption::Customer(key)) = (object_use, &self.encryption)
        else {
            return request;
        };
        request
            .header("x-goog-encryption-algorithm", "AES256")
            .header("x-goog-encryption-key", STANDARD.encode(key))
            .header("x-goog-encryption-key-sha256", STANDARD.encode(Sha256::digest(key)))
    }

    /// The cause of a failure, from an unexpected response, with a remedy.
    fn unexpected_response_cause(&self, answer: &HttpResponse, method: &str, url: &str) -> Cause {
        let message = error_message(answer);
        let remedy = match answer.status {
            StatusCode::UNAUTHORIZED => "the credentials are not valid or have expired: renew them",
            StatusCode::FORBIDDEN => {
                "the credentials lack the permission for this call: objects must be read, created, deleted and listed"
            }
            StatusCode::NOT_FOUND => "the bucket must exist: check bucket",
            StatusCode::BAD_REQUEST if message.contains("encrypt") => "check encryption_key",
            _ => return answer.unexpected_response_cause(method, url),
        };
        let reason = if message.is_empty() { String::new() } else { format!(": {message}") };
        let (location, name) = (answer.place(url), &self.name);
        format!(
            "{method} {location}: HTTP {} of the bucket {name:?}{reason}; {remedy}",
            answer.status
        )
        .into()
    }
}

/// Returns the signer of requests that are also repeated after a conflict with another request for the same
/// object. Their generation makes this safe.
struct RepeatedAtConflicts<'a>(&'a Signer<Credential>);

#[async_trait::async_trait]
impl Authorize for RepeatedAtConflicts<'_> {
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        self.0.authorize(request).await
    }

    fn is_retryable_response(&self, answer: &HttpResponse) -> bool {
        // The first one is the response to a request that arrived too slowly.
        matches!(answer.status, StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT)
            || is_retryable_status(answer.status)
    }
}

/// Whether a response with the status 404 means that the object is missing, and not the bucket. A page from
/// a proxy means neither.
fn is_object_missing(answer: &HttpResponse) -> bool {
    let message = error_message(answer).to_lowercase();
    !message.contains('<') && !message.contains("bucket")
}
