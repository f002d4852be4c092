//! The backend `gcs`: an object for each workspace in a bucket of Google Cloud Storage, locked by an object
//! beside it.

mod bucket;
mod client;
mod credentials;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::schema::Block;
use formwork_value::{Type, Value};
use reqsign_core::Signer;
use reqsign_google::Credential;
use ureq::http::Uri;

pub(crate) use self::bucket::error_message;
use self::bucket::{Bucket, ObjectEncryption};
use self::client::GcsClient;
use self::credentials::TokenScope;
use crate::arguments::{BackendArguments, optional_attributes_block};
use crate::cause::Cause;
use crate::client_backend::{ClientBackend, normalize_object_name};
use crate::config_error::ConfigError;
use crate::kind::BackendKind;
use crate::retry::RetryPolicy;
use crate::web::{HttpClient, TlsSettings};
use crate::{Backend, DEFAULT_WORKSPACE};

/// The URL of the service.
const DEFAULT_ENDPOINT: &str = "https://storage.googleapis.com/storage/v1/";

/// The ending of the name of a state.
const STATE_SUFFIX: &str = ".tfstate";

/// Attempts at requests, with the pauses of Google's client.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 5, shortest: Duration::from_secs(1), longest: Duration::from_secs(30) };

/// The type of the backend.
pub(crate) struct GcsBackendKind;

impl BackendKind for GcsBackendKind {
    fn name(&self) -> &'static str {
        "gcs"
    }

    fn schema(&self) -> Block {
        let delegates = Type::list(Type::String);
        optional_attributes_block(&[
            ("access_token", Type::String),
            ("bucket", Type::String),
            ("credentials", Type::String),
            ("encryption_key", Type::String),
            ("impersonate_service_account", Type::String),
            ("impersonate_service_account_delegates", delegates),
            ("kms_encryption_key", Type::String),
            ("prefix", Type::String),
            ("storage_custom_endpoint", Type::String),
        ])
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let name = argument_or_variable(arguments, "bucket", &[]);
        let name = name.ok_or_else(|| ConfigError::new("the attribute \"bucket\" is required"))?;
        if name.contains(['/', '?', '#', ' ']) {
            return Err(ConfigError::new(format!(
                "bucket is {name:?}, which is not the name of a bucket"
            )));
        }
        let prefix = argument_or_variable(arguments, "prefix", &[]).unwrap_or_default();
        let prefix = normalize_object_name(&prefix);
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let client = HttpClient::new(&TlsSettings::default(), RETRY_POLICY, |name| {
            arguments.read_env_variable(name)
        })?;
        let signer = credentials::new_signer(arguments, &client, TokenScope::Storage)?;
        let encryption = read_encryption(arguments)?;
        let bucket =
            Bucket { name, endpoint: read_endpoint(arguments)?, client, signer, encryption };
        Ok(Arc::new(GcsBackend { bucket, prefix, root: arguments.working_directory().to_owned() }))
    }
}

/// The string of an argument, else of a variable. An empty string counts as not set.
fn argument_or_variable(
    arguments: &BackendArguments<'_>,
    name: &str,
    variables: &[&str],
) -> Option<String> {
    let argument = arguments.string(name).filter(|text| !text.is_empty());
    argument.or_else(|| variables.iter().find_map(|name| arguments.read_env_variable(name)))
}

/// The strings of an argument that is a list.
fn string_list_argument(arguments: &BackendArguments<'_>, name: &str) -> Vec<String> {
    let Some(Value::List(list)) = arguments.value(name) else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    list.items().iter().filter_map(text).collect()
}

/// The content of the file of a name, else the text itself.
fn read_file_or_text(arguments: &BackendArguments<'_>, text: String) -> String {
    let home = arguments.read_env_variable("HOME").unwrap_or_default();
    let path = text.strip_prefix("~/").map_or(text.clone(), |rest| format!("{home}/{rest}"));
    // Terraform takes a path or a content in one argument: a text that names no file is a content.
    arguments.read_text(path).unwrap_or(text)
}

/// The URL that the paths of the API follow. As in Terraform, what comes after its last slash is left out.
fn read_endpoint(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let variables = ["GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"];
    let Some(url) = argument_or_variable(arguments, "storage_custom_endpoint", &variables) else {
        return Ok(DEFAULT_ENDPOINT.to_owned());
    };
    let parsed: Option<Uri> = url.parse().ok();
    let parsed = parsed.filter(|parsed| {
        matches!(parsed.scheme_str(), Some("http" | "https")) && parsed.query().is_none()
    });
    let parts =
        parsed.as_ref().and_then(|url| Some((url.scheme_str()?, url.authority()?, url.path())));
    let Some((scheme, authority, path)) = parts else {
        return Err(ConfigError::new(format!(
            "storage_custom_endpoint is {url:?}, which is not a URL with http or https"
        )));
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Ok(format!("{scheme}://{authority}{folder}/"))
}

fn read_encryption(arguments: &BackendArguments<'_>) -> Result<ObjectEncryption, ConfigError> {
    let names = ["encryption_key", "kms_encryption_key"];
    let key = argument_or_variable(arguments, names[0], &["GOOGLE_ENCRYPTION_KEY"]);
    let kms = argument_or_variable(arguments, names[1], &["GOOGLE_KMS_ENCRYPTION_KEY"]);
    // Terraform refuses both arguments even if one is an empty string.
    let both_set = names.iter().all(|name| arguments.value(name).is_some());
    match (key, kms) {
        (Some(_), Some(_)) => {
            Err(ConfigError::new("can't set both encryption_key and kms_encryption_key"))
        }
        _ if both_set => {
            Err(ConfigError::new("can't set both encryption_key and kms_encryption_key"))
        }
        (None, None) => Ok(ObjectEncryption::Bucket),
        (None, Some(name)) => Ok(ObjectEncryption::Kms(name)),
        (Some(key), None) => {
            let key = STANDARD.decode(read_file_or_text(arguments, key).trim()).ok();
            let key = key.filter(|key| key.len() == 32);
            key.map(ObjectEncryption::Customer).ok_or_else(|| {
                ConfigError::new("encryption_key is not a key of 32 bytes, encoded in base64")
            })
        }
    }
}

/// The Key Management Service: a client, and the signer of its requests.
///
/// # Errors
/// When the credentials are invalid.
pub(crate) fn key_management_client(
    arguments: &BackendArguments<'_>,
) -> Result<(HttpClient, Signer<Credential>), ConfigError> {
    let client = HttpClient::new(&TlsSettings::default(), RETRY_POLICY, |name| {
        arguments.read_env_variable(name)
    })?;
    let signer = credentials::new_signer(arguments, &client, TokenScope::KeyManagement)?;
    Ok((client, signer))
}

/// A backend over the objects of one bucket.
struct GcsBackend {
    bucket: Bucket,
    prefix: String,
    root: PathBuf,
}

#[async_trait::async_trait]
impl ClientBackend for GcsBackend {
    type Client = GcsClient;

    const KIND: &'static str = "gcs";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        GcsClient::new(self.bucket.clone(), format!("{}{workspace}", self.prefix))
    }

    fn backend_location(&self) -> String {
        format!("gs://{}/{}", self.bucket.name, self.prefix)
    }

    fn journal_id(&self, _workspace: &str) -> String {
        format!("{}\n{}\n{}", self.bucket.endpoint, self.bucket.name, self.prefix)
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        let objects = self.bucket.list(&self.prefix).await?;
        let found = objects.iter().filter_map(|object| {
            object.strip_prefix(self.prefix.as_str())?.strip_suffix(STATE_SUFFIX)
        });
        Ok(found
            // The default workspace has an object like the others, but is not listed with them.
            .filter(|name| !name.is_empty() && *name != DEFAULT_WORKSPACE)
            .map(str::to_owned)
            .collect())
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).delete_state().await
    }
}
