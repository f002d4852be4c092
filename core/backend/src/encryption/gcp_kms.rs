//! The key provider `gcp_kms`: keys that the Google Cloud Key Management Service encrypts, through its
//! JSON API. A file contains its key only in this form.

use reqsign_core::Signer;
use reqsign_google::Credential;
use serde::{Deserialize, Serialize};
use serde_json::json;
use ureq::http::{Request, StatusCode};

use super::algorithms::random_bytes;
use super::encrypted_file::Base64Bytes;
use super::keys::KeySource;
use super::own_thread::run_on_own_thread;
use crate::arguments::BackendArguments;
use crate::config_error::ConfigError;
use crate::gcp::credentials::{TokenScopes, new_signer};
use crate::gcp::{error_message, new_http_client};
use crate::web::{HttpClient, percent_encode};

/// The URL of the service.
const DEFAULT_ENDPOINT: &str = "https://cloudkms.googleapis.com/";

/// The environment variable with a custom URL, the same as for the provider `google`.
const CUSTOM_ENDPOINT_VARIABLE: &str = "GOOGLE_KMS_CUSTOM_ENDPOINT";

/// The OAuth scopes of tokens for the service.
const TOKEN_SCOPES: TokenScopes = TokenScopes {
    of_account: "https://www.googleapis.com/auth/cloudkms",
    of_impersonated_account: "https://www.googleapis.com/auth/cloudkms",
};

/// Maximum length of a key, in bytes.
pub(super) const MAX_KEY_LENGTH: u32 = 1024;

/// A KMS key.
pub(super) struct GcpKmsKeyProvider {
    client: HttpClient,
    signer: Signer<Credential>,
    /// The URL of the key.
    url: String,
    key_length: usize,
}

/// The metadata in encrypted files.
#[derive(Default, Serialize, Deserialize)]
struct GcpKmsMetadata {
    #[serde(default)]
    ciphertext: Base64Bytes,
}

#[derive(Deserialize)]
struct DecryptResponse {
    plaintext: Base64Bytes,
}

impl GcpKmsKeyProvider {
    /// Reads credentials from the arguments that the backend `gcs` also has.
    ///
    /// # Errors
    /// Returns an error if an argument is invalid, or if the name of the key is incomplete.
    pub(super) fn new(
        arguments: &BackendArguments<'_>,
        name: &str,
        key_length: usize,
    ) -> Result<Self, ConfigError> {
        let parts: Vec<&str> = name.split('/').collect();
        let ["projects", _, "locations", _, "keyRings", _, "cryptoKeys", _] = parts[..] else {
            return Err(ConfigError::new(format!(
                "the argument \"kms_encryption_key\" is {name:?}, and the name of a key has the form \"projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY\""
            )));
        };
        if parts.iter().any(|part| part.is_empty() || part.chars().all(|c| c == '.')) {
            return Err(ConfigError::new(format!(
                "the argument \"kms_encryption_key\" is {name:?}, in which a part is empty"
            )));
        }
        // The content of a request is a key, which no other server may get.
        let client = new_http_client(arguments)?.without_redirects();
        let signer = new_signer(arguments, &client, TOKEN_SCOPES)?;
        let endpoint = arguments
            .read_env_variable(CUSTOM_ENDPOINT_VARIABLE)
            .unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned());
        let endpoint = endpoint.trim_end_matches('/').trim_end_matches("/v1");
        let path: Vec<String> = parts.into_iter().map(percent_encode).collect();
        let url = format!("{endpoint}/v1/{}", path.join("/"));
        Ok(Self { client, signer, url, key_length })
    }

    fn call_service<T: serde::de::DeserializeOwned>(
        &self,
        action: &str,
        body: &serde_json::Value,
    ) -> Result<T, String> {
        let url = format!("{}:{action}", self.url);
        let request = Request::post(&url)
            .header("Content-Type", "application/json")
            .body(body.to_string().into_bytes())
            .map_err(|error| format!("{url:?} is not an address: {error}"))?;
        let answer = run_on_own_thread(self.client.send_authorized(&request, &self.signer))?;
        let answer = answer.map_err(|error| format!("{action}: {error}"))?;
        let remedy = match answer.status {
            StatusCode::OK => {
                // The response may contain the key, so no message quotes it.
                return serde_json::from_slice(&answer.body).map_err(|_| {
                    format!("{action}: POST {url}: the response has an unexpected format")
                });
            }
            StatusCode::UNAUTHORIZED => "the credentials are not valid or have expired: renew them",
            StatusCode::FORBIDDEN => {
                "the credentials lack the permission to encrypt and decrypt with the key, or the service is not enabled in the project"
            }
            StatusCode::NOT_FOUND => "the key must exist: check kms_encryption_key",
            _ => "the service refuses the request",
        };
        // Services quote requests, and this request contains the key.
        let key = body["plaintext"].as_str().filter(|key| !key.is_empty());
        let reason = error_message(&answer);
        let reason = key.map_or_else(|| reason.clone(), |key| reason.replace(key, "redacted"));
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let location = answer.place(&url);
        Err(format!("{action}: POST {location}: HTTP {}{reason}; {remedy}", answer.status))
    }
}

impl KeySource for GcpKmsKeyProvider {
    fn generate_data_key(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let key = random_bytes(self.key_length).map_err(|error| error.to_string())?;
        let body = json!({ "plaintext": Base64Bytes(key.clone()) });
        let metadata: GcpKmsMetadata = self.call_service("encrypt", &body)?;
        if metadata.ciphertext.0.is_empty() {
            return Err("the service returned no encrypted form of the key".to_owned());
        }
        Ok((key, serde_json::to_vec(&metadata).map_err(|error| error.to_string())?))
    }

    fn decrypt_data_key(&self, metadata: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let metadata: GcpKmsMetadata = serde_json::from_slice(metadata)
            .map_err(|error| format!("its metadata is damaged: {error}"))?;
        if metadata.ciphertext.0.is_empty() {
            return Ok(None);
        }
        let DecryptResponse { plaintext } = self.call_service("decrypt", &json!(metadata))?;
        Ok(Some(plaintext.0))
    }

    fn key_length(&self) -> Option<usize> {
        Some(self.key_length)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use formwork_value::{Str, Value};

    use super::*;
    use crate::arguments::BackendEnvironment;
    use crate::scripted_server::{ScriptedReply, ScriptedServer};

    const KEY: &str = "projects/p/locations/global/keyRings/r/cryptoKeys/k";

    fn new_gcp_kms(url: &str, name: &str) -> Result<GcpKmsKeyProvider, ConfigError> {
        let variables =
            [(CUSTOM_ENDPOINT_VARIABLE, url), ("GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.token")];
        let variables: BTreeMap<String, String> =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let environment = BackendEnvironment { variables, ..BackendEnvironment::default() };
        let none: [(Str, Value); 0] = [];
        let values = Value::object(none);
        GcpKmsKeyProvider::new(
            &BackendArguments { values: &values, environment: &environment },
            name,
            32,
        )
    }

    /// The formats are those of the service's API reference, and those that OpenTofu 1.12 stores.
    #[test]
    fn a_key_is_encrypted_and_decrypted_by_the_service() {
        let key = BASE64_STANDARD.encode([7; 32]);
        let server = ScriptedServer::start([
            ScriptedReply::new("200 OK", "{\"name\":\"v/1\",\"ciphertext\":\"YWJj\"}"),
            ScriptedReply::new("200 OK", format!("{{\"plaintext\":\"{key}\"}}")),
        ]);
        let provider = new_gcp_kms(&server.url, KEY).unwrap();
        let (data_key, metadata) = provider.generate_data_key().unwrap();
        assert_eq!((data_key.len(), metadata.as_slice()), (32, &br#"{"ciphertext":"YWJj"}"#[..]));
        assert_eq!(provider.decrypt_data_key(&metadata), Ok(Some(vec![7; 32])));
        assert_eq!(provider.decrypt_data_key(b"{}"), Ok(None));
        let requests = server.received_requests();
        let paths: Vec<_> = requests.iter().map(|request| request.line.as_str()).collect();
        let path = format!("POST /v1/{KEY}");
        assert_eq!(paths, [format!("{path}:encrypt"), format!("{path}:decrypt")]);
        let request_body = format!("{{\"plaintext\":\"{}\"}}", BASE64_STANDARD.encode(&data_key));
        assert_eq!(requests[0].body, request_body.as_bytes());
        assert_eq!(requests[1].body, br#"{"ciphertext":"YWJj"}"#);
        assert_eq!(requests[0].headers["authorization"], "Bearer ya29.token");
    }

    #[test]
    fn a_refusal_is_reported_with_call_and_remedy() {
        let denied = r#"{"error":{"code":403,"message":"Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource."}}"#;
        let server = ScriptedServer::start([
            ScriptedReply::new("403 Forbidden", denied),
            ScriptedReply::new(
                "404 Not Found",
                r#"{"error":{"code":404,"message":"KeyRing not found."}}"#,
            ),
            ScriptedReply::new("200 OK", "{\"plaintext\":\"hunter2!\"}"),
            ScriptedReply::new("203 Non-Authoritative Information", "{\"plaintext\":\"hunter2!\"}"),
            ScriptedReply::new("200 OK", "{}"),
        ]);
        let provider = new_gcp_kms(&server.url, KEY).unwrap();
        let message = provider.generate_data_key().unwrap_err();
        assert!(message.starts_with("encrypt: POST http://127.0.0.1"), "{message}");
        assert!(
            message.contains("useToEncrypt' denied") && message.contains("lack the permission"),
            "{message}"
        );
        let message = provider.generate_data_key().unwrap_err();
        assert!(
            message.ends_with("KeyRing not found; the key must exist: check kms_encryption_key"),
            "{message}"
        );
        let message = provider.decrypt_data_key(br#"{"ciphertext":"YWJj"}"#).unwrap_err();
        assert!(
            message.contains("an unexpected format") && !message.contains("hunter2"),
            "{message}"
        );
        let message = provider.decrypt_data_key(br#"{"ciphertext":"YWJj"}"#).unwrap_err();
        assert!(message.contains("HTTP 203") && !message.contains("hunter2"), "{message}");
        let message = provider.generate_data_key().unwrap_err();
        assert_eq!(message, "the service returned no encrypted form of the key");
    }

    #[test]
    fn a_key_is_not_sent_to_the_target_of_a_redirect() {
        let target = ScriptedServer::start([ScriptedReply::new("200 OK", "{}")]);
        let lead = ScriptedReply::new("307 Temporary Redirect", "");
        let server = ScriptedServer::start([lead.header(&format!("Location: {}", target.url))]);
        let said = new_gcp_kms(&server.url, KEY).unwrap().generate_data_key().unwrap_err();
        assert!(said.contains("HTTP 307"), "{said}");
        assert!(target.request_lines().is_empty());
    }

    #[test]
    fn the_name_of_a_key_is_complete() {
        for name in [
            "",
            "k",
            "projects/p/locations/l/keyRings/r",
            "projects//locations/l/keyRings/r/cryptoKeys/k",
            "projects/../locations/l/keyRings/r/cryptoKeys/k",
            &format!("{KEY}/cryptoKeyVersions/1"),
        ] {
            let message = new_gcp_kms("http://127.0.0.1:9", name).err().unwrap().to_string();
            assert!(message.starts_with("the argument \"kms_encryption_key\" is"), "{message}");
        }
    }
}
