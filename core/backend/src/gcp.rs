//! Requests to Google Cloud services: the client with its retries, the arguments that several services
//! share, and error messages. The services themselves are in the files that use them.

pub(crate) mod credentials;

use std::time::Duration;

use serde::Deserialize;

use crate::arguments::BackendArguments;
use crate::config_error::ConfigError;
use crate::retry::RetryPolicy;
use crate::web::{HttpClient, HttpResponse, TlsSettings};

/// The attempts of a request, with the pauses of Google's client.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 5, shortest: Duration::from_secs(1), longest: Duration::from_secs(30) };

/// The content of an error response.
#[derive(Deserialize)]
struct GcpErrorBody {
    error: ErrorDetail,
}

#[derive(Deserialize)]
struct ErrorDetail {
    #[serde(default)]
    message: String,
}

/// Creates the client of all services.
///
/// # Errors
/// As [`HttpClient::new`].
pub(crate) fn new_http_client(arguments: &BackendArguments<'_>) -> Result<HttpClient, ConfigError> {
    HttpClient::new(&TlsSettings::default(), RETRY_POLICY, |name| arguments.read_env_variable(name))
}

/// Returns the string of an argument, or otherwise of a variable. An empty string counts as not
/// set.
pub(crate) fn argument_or_variable(
    arguments: &BackendArguments<'_>,
    name: &str,
    variables: &[&str],
) -> Option<String> {
    let argument = arguments.string(name).filter(|text| !text.is_empty());
    argument.or_else(|| variables.iter().find_map(|name| arguments.read_env_variable(name)))
}

/// Returns the content of the named file, or otherwise the string itself.
pub(crate) fn read_file_or_text(arguments: &BackendArguments<'_>, text: String) -> String {
    let home = arguments.read_env_variable("HOME").unwrap_or_default();
    let path = text.strip_prefix("~/").map_or(text.clone(), |rest| format!("{home}/{rest}"));
    // Terraform accepts a path or content in one argument: a string that is not the path of a file
    // is content.
    arguments.read_text(path).unwrap_or(text)
}

/// Returns the message of an error response.
pub(crate) fn error_message(answer: &HttpResponse) -> String {
    let refusal: Option<GcpErrorBody> = serde_json::from_slice(&answer.body).ok();
    let message = match refusal {
        Some(refusal) => refusal.error.message,
        // Contents are refused with plain text.
        None => answer.refusal.clone(),
    };
    message.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
}
