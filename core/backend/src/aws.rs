//! Requests to AWS services: signing with Signature Version 4, retries while the service is busy, and
//! the error codes of responses.

pub(crate) mod arguments;
pub(crate) mod arn;
pub(crate) mod credentials;
mod nested_values;
pub(crate) mod partition;
mod profile;
mod role;
pub(crate) mod schema;
mod sts;

use std::sync::Arc;

use reqsign_aws_v4::{Credential, RequestSigner};
use reqsign_core::hash::hex_sha256;
use reqsign_core::{SignRequest as _, Signer};
use serde::Deserialize;
use ureq::http::{HeaderValue, Request, StatusCode, header};

use crate::cause::Cause;
use crate::web::Authorize;
use crate::web::{HttpClient, HttpResponse, is_retryable_status, redact_url};

/// Transient error codes, which some services return with the status 400.
const THROTTLING_CODES: [&str; 6] = [
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestTimeout",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
];

/// Error codes for a concurrent request for the same object or entry. AWS recommends to retry the request.
const CONFLICT_CODES: [&str; 5] = [
    "ConditionalRequestConflict",
    "OperationAborted",
    "ReplicatedWriteConflictException",
    "TransactionConflictException",
    "TransactionInProgressException",
];

/// An AWS service, or one that is compatible with it.
#[derive(Clone)]
pub(crate) struct AwsService {
    client: HttpClient,
    signer: Signer<Credential>,
    region: String,
}

impl AwsService {
    /// A service in a region, which the signatures include.
    pub(crate) fn new(
        client: HttpClient,
        signer: &Signer<Credential>,
        name: &str,
        region: &str,
    ) -> Self {
        let signer = signer.clone().with_request_signer(RequestSigner::new(name, region));
        Self { client, signer, region: region.to_owned() }
    }

    /// The region that requests are signed for.
    pub(crate) fn region(&self) -> &str {
        &self.region
    }

    /// Signs and sends a request, and retries it if the service is busy or does not respond.
    ///
    /// # Errors
    /// Returns an error if there are no credentials, or if no response arrived. A response with any
    /// status is returned.
    pub(crate) async fn send_signed(
        &self,
        request: &Request<Vec<u8>>,
    ) -> Result<HttpResponse, Cause> {
        self.client.send_authorized(request, self).await
    }
}

#[async_trait::async_trait]
impl Authorize for AwsService {
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        self.signer.authorize(add_content_hash_header(request)?).await
    }

    fn is_retryable_response(&self, answer: &HttpResponse) -> bool {
        is_retryable_response(answer)
    }
}

/// Signs a request with existing credentials.
///
/// # Errors
/// Returns an error if the credentials have expired, or if the request cannot be signed.
async fn sign_request(
    credential: &Credential,
    service: &str,
    region: &str,
    request: Request<Vec<u8>>,
) -> reqsign_core::Result<Request<Vec<u8>>> {
    let request = add_content_hash_header(request).map_err(|error| {
        reqsign_core::Error::request_invalid(format!("the request cannot be signed: {error}"))
    })?;
    let (mut parts, body) = request.into_parts();
    let context = reqsign_core::Context::new();
    let signer = RequestSigner::new(service, region);
    signer.sign_request(&context, &mut parts, Some(credential), None).await?;
    Ok(Request::from_parts(parts, body))
}

/// Adds the checksum of the content, which the signature covers.
fn add_content_hash_header(mut request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
    // S3 refuses a signed request without this header.
    let hash = HeaderValue::from_str(&hex_sha256(request.body()))?;
    request.headers_mut().insert("x-amz-content-sha256", hash);
    Ok(request)
}

fn is_retryable_response(answer: &HttpResponse) -> bool {
    is_retryable_status(answer.status)
        || (matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
            && AwsErrorResponse::parse(answer)
                .is_some_and(|refusal| refusal.is_throttling() || refusal.is_conflict()))
}

/// An error response of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct AwsErrorResponse {
    /// The code, for example `NoSuchKey`.
    #[serde(rename = "Code", default)]
    pub(crate) code: String,
    /// The human-readable message.
    #[serde(rename = "Message", default)]
    pub(crate) message: String,
}

/// The error response of STS, in which the error is nested one level deeper.
#[derive(Deserialize)]
struct StsErrorResponse {
    #[serde(rename = "Error")]
    error: AwsErrorResponse,
}

/// The error response of DynamoDB.
#[derive(Deserialize)]
struct DynamoDbErrorResponse {
    #[serde(rename = "__type", default)]
    kind: String,
    #[serde(alias = "Message", default)]
    message: String,
}

impl AwsErrorResponse {
    /// Reads the error in the content of a response: XML of S3 or STS, or JSON of DynamoDB.
    pub(crate) fn parse(answer: &HttpResponse) -> Option<Self> {
        let text = std::str::from_utf8(&answer.body).ok()?;
        if let Ok(DynamoDbErrorResponse { kind, message }) = serde_json::from_str(text) {
            // DynamoDB puts a namespace before the code, as in
            // `com.amazonaws.dynamodb.v20120810#Code`.
            let code = kind.rsplit('#').next().unwrap_or_default().to_owned();
            return Some(Self { code, message }).filter(|refusal| !refusal.code.is_empty());
        }
        // Tried first: every field of `AwsErrorResponse` has a default, so the nested error of STS would
        // parse as an empty one.
        let nested = quick_xml::de::from_str::<StsErrorResponse>(text).map(|error| error.error);
        let refusal = nested.or_else(|_| quick_xml::de::from_str(text)).ok()?;
        Some(refusal).filter(|refusal: &Self| !refusal.code.is_empty())
    }

    fn is_throttling(&self) -> bool {
        THROTTLING_CODES.contains(&self.code.as_str())
    }

    /// Whether another request for the same object or entry was in progress. This does not mean that a
    /// condition failed.
    pub(crate) fn is_conflict(&self) -> bool {
        CONFLICT_CODES.contains(&self.code.as_str())
    }

    /// The remedy for codes that have a specific one.
    fn remedy(&self, answer: &HttpResponse, region: &str) -> Option<String> {
        if self.is_conflict() {
            return Some(
                "other requests for the same object were in progress at each attempt".to_owned(),
            );
        }
        let text = match self.code.as_str() {
            "AccessDenied" | "AccessDeniedException" | "AllAccessDisabled" => {
                "the credentials lack the permission for this call".to_owned()
            }
            "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" => {
                "the session of the credentials has ended: log in again, or renew AWS_SESSION_TOKEN"
                    .to_owned()
            }
            "InvalidAccessKeyId"
            | "SignatureDoesNotMatch"
            | "UnrecognizedClientException"
            | "InvalidSignatureException"
            | "InvalidClientTokenId" => "check access key, secret key and session token".to_owned(),
            "RequestTimeTooSkewed" => {
                let now = answer.header(header::DATE.as_str()).unwrap_or("unknown");
                format!("the clock of this machine is wrong: the time of the server is {now}")
            }
            "AuthorizationHeaderMalformed"
            | "PermanentRedirect"
            | "IllegalLocationConstraintException" => {
                let actual = answer.header("x-amz-bucket-region")?;
                format!(
                    "requested bucket from {region:?}, actual location {actual:?}: set `region`"
                )
            }
            _ => return None,
        };
        Some(text)
    }
}

/// The cause of a failure, from an unexpected response.
pub(crate) fn unexpected_response_cause(
    answer: &HttpResponse,
    method: &str,
    url: &str,
    region: &str,
) -> Cause {
    let redacted_url = redact_url(url);
    // A response to HEAD has no content, but S3 returns the right region in a header.
    let redirect = answer.header("x-amz-bucket-region").filter(|actual| *actual != region);
    match (AwsErrorResponse::parse(answer), redirect) {
        (Some(refusal), _) => {
            let AwsErrorResponse { code, message } = &refusal;
            let remedy = refusal.remedy(answer, region);
            let remedy = remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
            let message = message.trim_end_matches('.');
            format!("{method} {redacted_url}: HTTP {}, {code}: {message}{remedy}", answer.status).into()
        }
        (None, Some(actual)) => format!(
            "{method} {redacted_url}: HTTP {}; requested bucket from {region:?}, actual location {actual:?}: set `region`",
            answer.status
        )
        .into(),
        (None, None) => answer.unexpected_response_cause(method, url),
    }
}

/// Creates a signer for no particular service, with a chain of credentials.
fn new_signer(chain: Arc<credentials::CredentialChain>) -> Signer<Credential> {
    // The service and region are set for each service. The credentials are read only once.
    let context = chain.context().clone();
    Signer::new(context, chain, RequestSigner::new("", ""))
}

#[cfg(test)]
mod tests {
    use ureq::http::HeaderMap;

    use super::*;

    fn test_response(status: u16, body: &str) -> HttpResponse {
        let status = StatusCode::from_u16(status).unwrap();
        HttpResponse {
            status,
            headers: HeaderMap::new(),
            body: body.as_bytes().to_vec(),
            follows_unclear_attempt: false,
            refusal: String::new(),
            redirected_to: None,
        }
    }

    #[test]
    fn error_responses_are_parsed_in_the_format_of_each_service() {
        let code = |body: &str| {
            AwsErrorResponse::parse(&test_response(400, body)).map(|refusal| refusal.code)
        };
        let s3 = "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>m</Message><Key>k</Key></Error>";
        let sts = "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>m</Message></Error><RequestId>1</RequestId></ErrorResponse>";
        let table = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"m"}"#;
        assert_eq!(code(s3).as_deref(), Some("NoSuchKey"));
        assert_eq!(code(sts).as_deref(), Some("AccessDenied"));
        assert_eq!(code(table).as_deref(), Some("ConditionalCheckFailedException"));
        assert_eq!(code("<html>no</html>"), None);
        assert_eq!(code("{}"), None);
    }

    #[test]
    fn a_throttled_or_conflicting_request_is_repeated_with_any_status() {
        let slow = r#"{"__type":"ProvisionedThroughputExceededException","message":"m"}"#;
        assert!(is_retryable_response(&test_response(400, slow)));
        assert!(is_retryable_response(&test_response(503, "")));
        let conflict = "<Error><Code>ConditionalRequestConflict</Code><Message>m</Message></Error>";
        assert!(is_retryable_response(&test_response(409, conflict)));
        let conflict = r#"{"__type":"a#TransactionConflictException","message":"m"}"#;
        assert!(is_retryable_response(&test_response(400, conflict)));
        assert!(!is_retryable_response(&test_response(409, "")));
        assert!(!is_retryable_response(&test_response(400, r#"{"__type":"ValidationException"}"#)));
        assert!(!is_retryable_response(&test_response(403, "")));
    }

    #[test]
    fn an_error_response_is_reported_with_code_and_remedy() {
        let expired = test_response(
            400,
            "<Error><Code>ExpiredToken</Code><Message>Too old.</Message></Error>",
        );
        let cause =
            unexpected_response_cause(&expired, "GET", "https://u:p@h/b", "eu-west-1").to_string();
        assert!(
            cause.starts_with(
                "GET https://h/b: HTTP 400 Bad Request, ExpiredToken: Too old; the session"
            ),
            "{cause}"
        );
        let mut elsewhere = test_response(301, "");
        elsewhere.headers.insert("x-amz-bucket-region", HeaderValue::from_static("us-west-2"));
        let cause =
            unexpected_response_cause(&elsewhere, "GET", "https://h/b", "eu-west-1").to_string();
        assert!(
            cause.ends_with(
                "requested bucket from \"eu-west-1\", actual location \"us-west-2\": set `region`"
            ),
            "{cause}"
        );
    }
}
