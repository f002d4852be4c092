//! The key provider `aws_kms`: data keys of the AWS Key Management Service, through its JSON API. The
//! service encrypts each key, and a file contains its key only in this form.

use serde::{Deserialize, Serialize};
use serde_json::json;
use ureq::http::Request;

use super::encrypted_file::Base64Bytes;
use super::keys::KeySource;
use super::own_thread::run_on_own_thread;
use crate::arguments::BackendArguments;
use crate::aws::arguments::{
    build_signer, new_http_client, read_credential_settings, read_endpoint, read_max_attempts,
    read_region,
};
use crate::aws::partition::AwsPartition;
use crate::aws::{AwsService, unexpected_response_cause};
use crate::config_error::ConfigError;

/// The data key specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeySpec {
    Aes128,
    Aes256,
}

/// A KMS key.
pub(super) struct AwsKmsKeyProvider {
    service: AwsService,
    url: String,
    key_id: String,
    spec: KeySpec,
}

/// The metadata in encrypted files.
#[derive(Default, Serialize, Deserialize)]
struct AwsKmsMetadata {
    #[serde(default)]
    ciphertext_blob: Base64Bytes,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DataKeyResponse {
    plaintext: Base64Bytes,
    #[serde(default)]
    ciphertext_blob: Base64Bytes,
}

impl KeySpec {
    /// Returns the kind with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Aes128, Self::Aes256].into_iter().find(|spec| spec.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "AES_128",
            Self::Aes256 => "AES_256",
        }
    }

    /// The length of a key, in bytes.
    fn key_length(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes256 => 32,
        }
    }
}

impl AwsKmsKeyProvider {
    /// Reads region and credentials from the arguments that the backend `s3` also has.
    ///
    /// # Errors
    /// Returns an error if an argument is missing or invalid.
    pub(super) fn new(
        arguments: &BackendArguments<'_>,
        key_id: String,
        spec: KeySpec,
    ) -> Result<Self, ConfigError> {
        let (service, url) = key_management_service(arguments)?;
        Ok(Self { service, url, key_id, spec })
    }

    fn call_service(
        &self,
        action: &str,
        body: &serde_json::Value,
    ) -> Result<DataKeyResponse, String> {
        let request = Request::post(&self.url)
            .header("X-Amz-Target", format!("TrentService.{action}"))
            .header("Content-Type", "application/x-amz-json-1.1")
            .body(body.to_string().into_bytes())
            .map_err(|error| format!("{:?} is not an address: {error}", self.url))?;
        let answer = run_on_own_thread(self.service.send_signed(&request))?;
        let answer = answer.map_err(|error| format!("{action}: {error}"))?;
        if !answer.status.is_success() {
            let refusal =
                unexpected_response_cause(&answer, "POST", &self.url, self.service.region());
            return Err(format!("{action}: {refusal}"));
        }
        // The response contains the key, so no message quotes it.
        serde_json::from_slice(&answer.body).map_err(|_| {
            format!("{action}: POST {}: the response has an unexpected format", self.url)
        })
    }
}

impl KeySource for AwsKmsKeyProvider {
    fn generate_data_key(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let body = json!({ "KeyId": self.key_id, "KeySpec": self.spec.name() });
        let DataKeyResponse { plaintext, ciphertext_blob } =
            self.call_service("GenerateDataKey", &body)?;
        if ciphertext_blob.0.is_empty() {
            return Err("the service returned a key without its encrypted form".to_owned());
        }
        let metadata = serde_json::to_vec(&AwsKmsMetadata { ciphertext_blob });
        Ok((plaintext.0, metadata.map_err(|error| error.to_string())?))
    }

    fn decrypt_data_key(&self, metadata: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let AwsKmsMetadata { ciphertext_blob } = serde_json::from_slice(metadata)
            .map_err(|error| format!("its metadata is damaged: {error}"))?;
        if ciphertext_blob.0.is_empty() {
            return Ok(None);
        }
        let body = json!({ "KeyId": self.key_id, "CiphertextBlob": ciphertext_blob });
        Ok(Some(self.call_service("Decrypt", &body)?.plaintext.0))
    }

    fn key_length(&self) -> Option<usize> {
        Some(self.spec.key_length())
    }
}

/// Creates the client of the Key Management Service and its URL, with region and credentials from
/// arguments and the environment.
///
/// # Errors
/// Returns an error if an argument is missing or invalid.
fn key_management_service(
    arguments: &BackendArguments<'_>,
) -> Result<(AwsService, String), ConfigError> {
    let region = read_region(arguments)?;
    let client = new_http_client(arguments, read_max_attempts(arguments)?)?;
    let signer = build_signer(arguments, &client, read_credential_settings(arguments, &region)?)?;
    let fips = arguments.bool("use_fips_endpoint").unwrap_or(false);
    let default_url = || AwsPartition::from_region(&region).service_url("kms", &region, fips);
    let url = read_endpoint(arguments, "kms")?.unwrap_or_else(default_url);
    Ok((AwsService::new(client, &signer, "kms", &region), url))
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

    fn key_provider_for(server: &ScriptedServer) -> AwsKmsKeyProvider {
        let variables = [
            ("AWS_ENDPOINT_URL_KMS", server.url.as_str()),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ];
        let variables: BTreeMap<String, String> =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let environment = BackendEnvironment { variables, ..BackendEnvironment::default() };
        let none: [(Str, Value); 0] = [];
        let values = Value::object(none);
        let arguments = BackendArguments { values: &values, environment: &environment };
        AwsKmsKeyProvider::new(&arguments, "alias/state".to_owned(), KeySpec::Aes256).unwrap()
    }

    /// The formats are those of the service's API reference, and those that OpenTofu 1.12.6 stores.
    #[test]
    fn a_data_key_is_generated_and_decrypted_by_the_service() {
        let key = BASE64_STANDARD.encode([7; 32]);
        let server = ScriptedServer::start([
            ScriptedReply::new(
                "200 OK",
                format!("{{\"CiphertextBlob\":\"YWJj\",\"KeyId\":\"k\",\"Plaintext\":\"{key}\"}}"),
            ),
            ScriptedReply::new("200 OK", format!("{{\"KeyId\":\"k\",\"Plaintext\":\"{key}\"}}")),
        ]);
        let provider = key_provider_for(&server);
        let (data_key, metadata) = provider.generate_data_key().unwrap();
        assert_eq!(
            (data_key, metadata.as_slice()),
            (vec![7; 32], &br#"{"ciphertext_blob":"YWJj"}"#[..])
        );
        assert_eq!(provider.decrypt_data_key(&metadata), Ok(Some(vec![7; 32])));
        assert_eq!(provider.decrypt_data_key(b"{}"), Ok(None));
        let requests = server.received_requests();
        let targets: Vec<_> =
            requests.iter().map(|request| request.headers["x-amz-target"].as_str()).collect();
        assert_eq!(targets, ["TrentService.GenerateDataKey", "TrentService.Decrypt"]);
        assert_eq!(requests[0].body, br#"{"KeyId":"alias/state","KeySpec":"AES_256"}"#);
        assert_eq!(requests[1].body, br#"{"CiphertextBlob":"YWJj","KeyId":"alias/state"}"#);
        let signature = &requests[0].headers["authorization"];
        assert!(signature.contains("/eu-west-1/kms/aws4_request"), "{signature}");
    }

    #[test]
    fn a_refusal_is_reported_with_call_and_code() {
        let refusal =
            r#"{"__type":"NotFoundException","message":"Alias arn:aws:kms:x is not found."}"#;
        let server = ScriptedServer::start([
            ScriptedReply::new("400 Bad Request", refusal),
            ScriptedReply::new("200 OK", "{\"Plaintext\":\"hunter2!\",\"CiphertextBlob\":5}"),
        ]);
        let provider = key_provider_for(&server);
        let message = provider.generate_data_key().unwrap_err();
        assert!(message.starts_with("GenerateDataKey: POST http://127.0.0.1"), "{message}");
        assert!(
            message.ends_with(
                "HTTP 400 Bad Request, NotFoundException: Alias arn:aws:kms:x is not found"
            ),
            "{message}"
        );
        let message = provider.generate_data_key().unwrap_err();
        assert!(
            message.contains("an unexpected format") && !message.contains("hunter2"),
            "{message}"
        );
    }
}
