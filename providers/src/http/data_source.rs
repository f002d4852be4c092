//! The data source `http`.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_sdk::prelude::*;

use super::send_request::{self, Failure, RequestArguments, Response, RetryPolicy};

/// Response of a server to a request.
#[derive(Model)]
#[attr(conflicts(ca_cert_pem, insecure), together(client_cert_pem, client_key_pem))]
pub(super) struct HttpModel {
    /// URL of the request: `http://` or `https://`.
    #[attr(required, check = send_request::check_url)]
    url: String,
    /// Request method: `GET` if not set, `HEAD`, or `POST` for queries.
    #[attr(optional, one_of = ["GET", "POST", "HEAD"])]
    method: Option<String>,
    /// The headers of the request.
    #[attr(optional)]
    request_headers: Option<BTreeMap<String, String>>,
    /// The body of the request.
    #[attr(optional)]
    request_body: Option<String>,
    /// Timeout of the request in milliseconds.
    #[attr(optional, range = 1..)]
    request_timeout_ms: Option<i64>,
    /// The certificates of those whom the server's certificate may be signed by, in PEM.
    #[attr(optional)]
    ca_cert_pem: Option<String>,
    /// The certificate to show to the server, in PEM.
    #[attr(optional)]
    client_cert_pem: Option<String>,
    /// The private key of the certificate to show, in PEM.
    #[attr(optional)]
    client_key_pem: Option<String>,
    /// Whether to skip the verification of the server certificate. Any machine may then read the
    /// request, and answer.
    #[attr(optional)]
    insecure: Option<bool>,
    /// The headers of the answer; several of one name are joined with commas.
    #[attr(computed)]
    response_headers: BTreeMap<String, String>,
    /// Body of the response as a string. Bytes that are not UTF-8 become the replacement character.
    #[attr(computed)]
    response_body: String,
    /// The same as `response_body`.
    #[attr(computed, deprecated = "Use `response_body`.")]
    body: String,
    /// The body of the answer in base64.
    #[attr(computed)]
    response_body_base64: String,
    /// The status of the answer.
    #[attr(computed)]
    status_code: i64,
    /// The URL.
    #[attr(computed)]
    id: String,
    /// Whether to retry when no response comes, or one with a status of 429, or of 500 or more
    /// except 501. Each delay is twice as long as the previous one.
    #[block]
    retry: Option<RetryBlock>,
}

/// Whether to retry.
#[derive(Clone, Debug, Nested)]
pub(super) struct RetryBlock {
    /// Number of retries.
    #[attr(optional, range = 0..)]
    attempts: Option<i64>,
    /// Shortest wait in milliseconds; 1000 if not set.
    #[attr(optional, range = 0..)]
    min_delay_ms: Option<i64>,
    /// Longest wait in milliseconds; 30000 if not set.
    #[attr(optional, range = 0..)]
    max_delay_ms: Option<i64>,
}

/// The data source.
pub(super) struct HttpDataSource;

impl DataSource for HttpDataSource {
    type Model = HttpModel;

    fn validate(&self, call: Validate<HttpModel>) -> Answer<()> {
        let Some(retry) = call.config.retry.get() else { return Ok(()) };
        match (retry.min_delay_ms.get(), retry.max_delay_ms.get()) {
            (Some(min), Some(max)) if min > max => {
                let detail = format!(
                    "`max_delay_ms` is {max}, which is less than `min_delay_ms` with its {min}."
                );
                Err(Problem::new("Invalid Attribute Value", detail).at("retry.max_delay_ms"))
            }
            _ => Ok(()),
        }
    }

    async fn read(&self, call: ReadData<HttpModel>) -> Answer<HttpModelComputed> {
        let ReadData { config, call, .. } = call;
        let settings = RequestArguments {
            method: config.method.as_deref().filter(|method| !method.is_empty()).unwrap_or("GET"),
            url: &config.url,
            headers: config.request_headers.as_ref(),
            body: config.request_body.as_deref(),
            timeout: config.request_timeout_ms.map(duration_from_millis),
            authorities: config.ca_cert_pem.as_deref(),
            identity: config.client_cert_pem.as_deref().zip(config.client_key_pem.as_deref()),
            is_insecure: config.insecure.unwrap_or(false),
        };
        let retry_policy = config.retry.as_ref().map(RetryBlock::retry_policy).unwrap_or_default();
        let response = send_request::send_with_retries(&settings, retry_policy).await;
        let Response { status, headers, body } =
            response.map_err(|failure| failure_to_problem(&failure))?;
        if std::str::from_utf8(&body).is_err() {
            call.warn(Problem::new(
                "Response body is not recognized as UTF-8",
                "`response_body` has replacement characters where the body is not UTF-8; \
                 `response_body_base64` has all of it.",
            ));
        }
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(HttpModelComputed {
            response_headers: headers,
            body: text.clone(),
            response_body: text,
            response_body_base64: STANDARD.encode(&body),
            status_code: i64::from(status),
            id: config.url,
        })
    }
}

impl RetryBlock {
    fn retry_policy(&self) -> RetryPolicy {
        let defaults = RetryPolicy::default();
        RetryPolicy {
            retries: self.attempts.and_then(|n| u64::try_from(n).ok()).unwrap_or(defaults.retries),
            first: self.min_delay_ms.map_or(defaults.first, duration_from_millis),
            max_delay: self.max_delay_ms.map_or(defaults.max_delay, duration_from_millis),
        }
    }
}

fn duration_from_millis(number: i64) -> Duration {
    Duration::from_millis(u64::try_from(number).unwrap_or_default())
}

fn failure_to_problem(failure: &Failure) -> Problem {
    let summary = match failure {
        Failure::Authorities => "Error configuring TLS client",
        Failure::Identity(_) => "error creating x509 key pair",
        Failure::Request(_) => "Error creating request",
        Failure::Body(_) => "Error reading response body",
        Failure::Late { .. } | Failure::NoAnswer { .. } => "Error making request",
    };
    Problem::new(summary, format!("{failure}."))
}

#[cfg(test)]
mod tests;
