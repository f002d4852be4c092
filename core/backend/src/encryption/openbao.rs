//! The key provider `openbao`: data keys of an OpenBao or Vault transit secrets engine. The server encrypts
//! each key, and a file contains its key only in this form.

use std::path::Path;
use std::time::Duration;

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_text_file};
use serde::{Deserialize, Serialize};
use serde_json::json;
use ureq::http::{HeaderValue, Request};

use super::encrypted_file::Base64Bytes;
use super::keys::KeySource;
use super::own_thread::run_on_own_thread;
use crate::cause::Cause;
use crate::retry::RetryPolicy;
use crate::web::{HttpClient, HttpResponse, TlsSettings, percent_encode};

/// The default address.
const DEFAULT_ADDRESS: &str = "https://127.0.0.1:8200";

/// The number of attempts of a request.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 2, shortest: Duration::from_secs(1), longest: Duration::from_millis(1500) };

/// The arguments of the key provider.
#[derive(Default)]
pub(super) struct OpenBaoSettings {
    pub(super) address: Option<String>,
    pub(super) token: Option<String>,
    pub(super) key_name: String,
    /// The length of data keys, in bytes.
    pub(super) key_length: usize,
    /// The mount path of the engine.
    pub(super) engine: Option<String>,
}

/// A key of a transit secrets engine.
pub(super) struct OpenBaoKeyProvider {
    client: HttpClient,
    /// The URL of the engine, without a trailing slash.
    engine: String,
    key_name: String,
    n_bits: usize,
    token: HeaderValue,
    namespace: Option<HeaderValue>,
}

/// The metadata in encrypted files.
#[derive(Default, Serialize, Deserialize)]
struct OpenBaoMetadata {
    #[serde(default)]
    ciphertext: Base64Bytes,
}

#[derive(Deserialize)]
struct OpenBaoResponse {
    data: DataKeyResponse,
}

#[derive(Deserialize)]
struct DataKeyResponse {
    plaintext: Base64Bytes,
    #[serde(default)]
    ciphertext: String,
}

#[derive(Deserialize)]
struct OpenbaoErrorBody {
    errors: Vec<String>,
}

impl OpenBaoKeyProvider {
    /// Completes the arguments with the environment variables of OpenBao's client.
    ///
    /// # Errors
    /// Returns an error if there is no token, or if a value is invalid. The message has no final
    /// period.
    pub(super) fn new(
        settings: OpenBaoSettings,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let argument_or_variable = |argument: Option<String>, name: &str| {
            argument.filter(|text| !text.is_empty()).or_else(|| variable(name))
        };
        let token = argument_or_variable(settings.token, "BAO_TOKEN")
            .ok_or("no token was found: set the argument \"token\" or BAO_TOKEN")?;
        let token = HeaderValue::from_str(token.trim())
            .map_err(|_| "the token contains invalid characters")?;
        let namespace = variable("BAO_NAMESPACE").map(|name| HeaderValue::from_str(&name));
        let namespace = namespace.transpose().map_err(|_| "BAO_NAMESPACE is not valid")?;
        let address = argument_or_variable(settings.address, "BAO_ADDR")
            .unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
        let authorities = variable("BAO_CACERT").map(|path| {
            read_user_text_file(Path::new(&path), MAX_SMALL_FILE_LEN)
                .map_err(|error| format!("BAO_CACERT {path:?} cannot be read: {error}"))
        });
        let tls = TlsSettings { authorities: authorities.transpose()?, ..TlsSettings::default() };
        let client =
            HttpClient::new(&tls, RETRY_POLICY, &variable).map_err(|error| error.to_string())?;
        let engine = settings.engine.unwrap_or_else(|| "transit".to_owned());
        Ok(Self {
            client: client.without_redirects(),
            engine: format!("{}/v1/{}", address.trim_end_matches('/'), engine.trim_matches('/')),
            key_name: settings.key_name,
            n_bits: settings.key_length * 8,
            token,
            namespace,
        })
    }

    fn call_server(&self, path: &str, body: &serde_json::Value) -> Result<DataKeyResponse, String> {
        let url = format!("{}/{path}/{}", self.engine, percent_encode(&self.key_name));
        let mut request = Request::put(&url)
            .header("X-Vault-Request", "true")
            .header("X-Vault-Token", self.token.clone())
            .header("Content-Type", "application/json");
        if let Some(namespace) = &self.namespace {
            request = request.header("X-Vault-Namespace", namespace.clone());
        }
        let request = request.body(body.to_string().into_bytes());
        let request = request.map_err(|error| format!("{url:?} is not an address: {error}"))?;
        let answer =
            run_on_own_thread(self.client.send(&request))?.map_err(|error| error.to_string())?;
        if !answer.status.is_success() {
            return Err(error_response_cause(&answer, &url).to_string());
        }
        // The response contains the key, so no message quotes it.
        let response: OpenBaoResponse = serde_json::from_slice(&answer.body)
            .map_err(|_| format!("PUT {url}: the response has an unexpected format"))?;
        Ok(response.data)
    }
}

impl KeySource for OpenBaoKeyProvider {
    fn generate_data_key(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let data = self.call_server("datakey/plaintext", &json!({ "bits": self.n_bits }))?;
        if data.ciphertext.is_empty() {
            return Err("the server returned a key without its encrypted form".to_owned());
        }
        let metadata = OpenBaoMetadata { ciphertext: Base64Bytes(data.ciphertext.into_bytes()) };
        let metadata = serde_json::to_vec(&metadata).map_err(|error| error.to_string())?;
        Ok((data.plaintext.0, metadata))
    }

    fn decrypt_data_key(&self, metadata: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let OpenBaoMetadata { ciphertext } = serde_json::from_slice(metadata)
            .map_err(|error| format!("its metadata is damaged: {error}"))?;
        if ciphertext.0.is_empty() {
            return Ok(None);
        }
        let ciphertext = String::from_utf8(ciphertext.0)
            .map_err(|_| "the encrypted key in its metadata is not UTF-8")?;
        let data = self.call_server("decrypt", &json!({ "ciphertext": ciphertext }))?;
        Ok(Some(data.plaintext.0))
    }

    fn key_length(&self) -> Option<usize> {
        Some(self.n_bits / 8)
    }
}

/// The cause of a failure, with the errors that the server reports.
fn error_response_cause(answer: &HttpResponse, url: &str) -> Cause {
    match serde_json::from_slice::<OpenbaoErrorBody>(&answer.body) {
        Ok(refusal) if !refusal.errors.is_empty() => {
            let errors = refusal.errors.join("; ");
            let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("PUT {url}: HTTP {}: {errors}", answer.status).into()
        }
        _ => answer.unexpected_response_cause("PUT", url),
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;
    use crate::scripted_server::{ScriptedReply, ScriptedServer};

    fn key_provider_for(
        server: &ScriptedServer,
        variables: &[(&str, &str)],
    ) -> Result<OpenBaoKeyProvider, String> {
        let settings = OpenBaoSettings {
            address: Some(format!("{}/", server.url)),
            key_name: "state-key".to_owned(),
            key_length: 32,
            ..OpenBaoSettings::default()
        };
        OpenBaoKeyProvider::new(settings, |name| {
            let entry = variables.iter().find(|(variable, _)| *variable == name);
            entry.map(|(_, value)| (*value).to_owned())
        })
    }

    /// The formats are those of OpenBao's API documentation, and those that OpenTofu 1.12.6 sends and
    /// stores.
    #[test]
    fn a_data_key_is_generated_and_decrypted_by_the_server() {
        let key = [7; 32];
        let plaintext = BASE64_STANDARD.encode(key);
        let server = ScriptedServer::start([
            ScriptedReply::new(
                "200 OK",
                format!(
                    "{{\"data\":{{\"ciphertext\":\"vault:v1:abc\",\"plaintext\":\"{plaintext}\"}}}}"
                ),
            ),
            ScriptedReply::new("200 OK", format!("{{\"data\":{{\"plaintext\":\"{plaintext}\"}}}}")),
        ]);
        let variables = [("BAO_TOKEN", "secret-token"), ("BAO_NAMESPACE", "team")];
        let provider = key_provider_for(&server, &variables).unwrap();
        let (data_key, metadata) = provider.generate_data_key().unwrap();
        // The encrypted key is a string from the server, encoded in base64 once more.
        assert_eq!(
            (data_key, metadata.as_slice()),
            (key.to_vec(), &br#"{"ciphertext":"dmF1bHQ6djE6YWJj"}"#[..])
        );
        assert_eq!(provider.decrypt_data_key(&metadata), Ok(Some(key.to_vec())));
        let requests = server.received_requests();
        assert_eq!(
            server.request_lines(),
            ["PUT /v1/transit/datakey/plaintext/state-key", "PUT /v1/transit/decrypt/state-key"]
        );
        assert_eq!(requests[0].body, b"{\"bits\":256}");
        assert_eq!(requests[1].body, b"{\"ciphertext\":\"vault:v1:abc\"}");
        assert_eq!(requests[1].headers["x-vault-token"], "secret-token");
        assert_eq!(requests[1].headers["x-vault-namespace"], "team");
        assert_eq!(provider.decrypt_data_key(b"{}"), Ok(None));
    }

    #[test]
    fn a_refusal_is_reported_with_the_request_and_without_token_or_key() {
        let server = ScriptedServer::start([
            ScriptedReply::new(
                "403 Forbidden",
                "{\"errors\":[\"1 error occurred:\\n\\t* permission denied\\n\"]}",
            ),
            ScriptedReply::new(
                "200 OK",
                "{\"data\":{\"plaintext\":\"hunter2!\",\"ciphertext\":5}}",
            ),
            ScriptedReply::new(
                "400 Bad Request",
                "{\"errors\":[\"invalid ciphertext: no prefix\"]}",
            ),
        ]);
        let provider = key_provider_for(&server, &[("BAO_TOKEN", "secret-token")]).unwrap();
        let message = provider.generate_data_key().unwrap_err();
        assert!(message.ends_with("/v1/transit/datakey/plaintext/state-key: HTTP 403 Forbidden: 1 error occurred: * permission denied"), "{message}");
        let message = provider.generate_data_key().unwrap_err();
        assert!(
            message.contains("an unexpected format") && !message.contains("hunter2"),
            "{message}"
        );
        let message = provider.decrypt_data_key(br#"{"ciphertext":"YWJj"}"#).unwrap_err();
        assert!(
            message.contains("invalid ciphertext") && !message.contains("secret-token"),
            "{message}"
        );
        assert!(provider.decrypt_data_key(b"[").unwrap_err().contains("its metadata is damaged"));
    }

    #[test]
    fn a_token_is_required() {
        let server = ScriptedServer::start([]);
        assert!(key_provider_for(&server, &[]).err().unwrap().contains("BAO_TOKEN"));
    }
}
