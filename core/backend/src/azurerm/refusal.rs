//! Error responses: their codes, and remedies.

use serde::Deserialize;
use ureq::http::header;

use crate::cause::Cause;
use crate::web::{HttpResponse, redact_url};

/// The content of an error response.
#[derive(Default, Deserialize)]
struct AzureErrorBody {
    #[serde(rename = "Code", default)]
    code: String,
    #[serde(rename = "Message", default)]
    message: String,
    #[serde(rename = "AuthenticationErrorDetail", default)]
    detail: String,
}

/// Returns the error code, from the header or the content.
pub(super) fn error_code(answer: &HttpResponse) -> String {
    let header = answer.header("x-ms-error-code").map(str::to_owned);
    // A response to HEAD has no content.
    header.unwrap_or_else(|| parse_error_response(answer).code)
}

fn parse_error_response(answer: &HttpResponse) -> AzureErrorBody {
    let text = String::from_utf8_lossy(&answer.body);
    quick_xml::de::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
}

/// The cause of a failure, from an unexpected response, with a remedy.
pub(super) fn unexpected_response_cause(answer: &HttpResponse, method: &str, url: &str) -> Cause {
    let code = error_code(answer);
    // Every error response of the service has a code, so this response comes from, for example, a
    // proxy.
    if code.is_empty() {
        return answer.unexpected_response_cause(method, url);
    }
    let AzureErrorBody { message, detail, .. } = parse_error_response(answer);
    // The further lines of the message contain the ID of the request and the time.
    let message_text = [message.lines().next().unwrap_or_default(), &detail].join(" ");
    let message_text = message_text.trim().trim_end_matches('.');
    let message_text =
        if message_text.is_empty() { String::new() } else { format!(": {message_text}") };
    let remedy = remedy_for_code(&code, &detail, answer)
        .map(|remedy| format!("; {remedy}"))
        .unwrap_or_default();
    let url = redact_url(url);
    format!("{method} {url}: HTTP {}, {code}{message_text}{remedy}", answer.status).into()
}

/// Whether a code means that the credentials lack the permission for a call.
pub(super) fn is_permission_code(code: &str) -> bool {
    matches!(
        code,
        "AuthorizationFailure"
            | "AuthorizationPermissionMismatch"
            | "AuthorizationServiceMismatch"
            | "AuthorizationResourceTypeMismatch"
            | "InsufficientAccountPermissions"
    )
}

/// The remedy for codes that have a specific one.
fn remedy_for_code(code: &str, detail: &str, answer: &HttpResponse) -> Option<String> {
    let text = match code {
        "ContainerNotFound" => "the container must exist: check container_name",
        "ContainerBeingDeleted" => "the container is being deleted: choose another one",
        "AuthenticationFailed" if detail.contains("date header") => {
            let now = answer.header(header::DATE.as_str()).unwrap_or("unknown");
            return Some(format!(
                "the clock of this machine is wrong: the time of the server is {now}"
            ));
        }
        "AuthenticationFailed" | "InvalidAuthenticationInfo" | "NoAuthenticationInformation" => {
            "check access_key or sas_token, which may have expired"
        }
        code if is_permission_code(code) => {
            "the credentials lack the permission for this call: blobs must be read, written, deleted and listed"
        }
        "KeyBasedAuthenticationNotPermitted" => {
            "the account does not accept keys: set use_azuread_auth instead of access_key"
        }
        "SnapshotsPresent" => {
            "the blob has snapshots: delete it and its snapshots with another program"
        }
        "LeaseIdMissing" => "the state is locked by another process",
        "LeaseIdMismatchWithBlobOperation"
        | "LeaseIdMismatchWithLeaseOperation"
        | "LeaseNotPresentWithBlobOperation"
        | "LeaseNotPresentWithLeaseOperation"
        | "LeaseLost" => "another program has released the lock by force",
        _ => return None,
    };
    Some(text.to_owned())
}
