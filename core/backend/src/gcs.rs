//! The backend `gcs`: an object for each workspace in a Google Cloud Storage bucket, locked by an object
//! next to it.

mod bucket;
mod client;
mod journals;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::state::intent_log::IntentLog;
use formwork_value::Type;
use formwork_value::schema::Block;
use ureq::http::Uri;

use self::bucket::{Bucket, ObjectEncryption};
use self::client::GcsClient;
use self::journals::GcsObjects;
use crate::arguments::{BackendArguments, RequiredArgument, optional_attributes_block};
use crate::cause::Cause;
use crate::client_backend::{ClientBackend, normalize_object_name};
use crate::config_error::ConfigError;
use crate::gcp::credentials::{TokenScopes, credential_arguments_block, new_signer};
use crate::gcp::{argument_or_variable, new_http_client, read_file_or_text};
use crate::journals::{ObjectJournals, SharedIntents};
use crate::kind::{BackendKind, BackendSummary};
use crate::{Backend, DEFAULT_WORKSPACE, local_intent_log};

/// The URL of the service.
const DEFAULT_ENDPOINT: &str = "https://storage.googleapis.com/storage/v1/";

/// The OAuth scopes of tokens for the service.
const TOKEN_SCOPES: TokenScopes = TokenScopes {
    of_account: "https://www.googleapis.com/auth/devstorage.full_control",
    of_impersonated_account: "https://www.googleapis.com/auth/devstorage.read_write",
};

/// The suffix of the object name of a state.
const STATE_SUFFIX: &str = ".tfstate";

/// The arguments that it cannot do without.
const REQUIRED_ARGUMENTS: [RequiredArgument; 1] =
    [RequiredArgument { name: "bucket", about: "The name of the Google Cloud Storage bucket" }];

/// The type of the backend.
pub(crate) struct GcsBackendKind;

impl BackendKind for GcsBackendKind {
    fn name(&self) -> &'static str {
        "gcs"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "an object next to the state",
            release: "`force-unlock`",
        }
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn schema(&self) -> Block {
        let mut block = credential_arguments_block();
        let own_attributes = optional_attributes_block(&[
            ("bucket", Type::String),
            ("encryption_key", Type::String),
            ("kms_encryption_key", Type::String),
            ("prefix", Type::String),
            ("storage_custom_endpoint", Type::String),
        ]);
        block.attributes.extend(own_attributes.attributes);
        block
    }

    fn required_arguments(&self) -> &'static [RequiredArgument] {
        &REQUIRED_ARGUMENTS
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        Ok(Arc::new(GcsBackend::from_arguments(arguments)?))
    }
}

impl GcsBackend {
    fn from_arguments(arguments: &BackendArguments<'_>) -> Result<Self, ConfigError> {
        arguments.check_required(&REQUIRED_ARGUMENTS)?;
        let name = arguments.string("bucket").unwrap_or_default();
        if name.contains(['/', '?', '#', ' ']) {
            return Err(ConfigError::new(format!(
                "bucket is {name:?}, which is not the name of a bucket"
            )));
        }
        let prefix = argument_or_variable(arguments, "prefix", &[]).unwrap_or_default();
        let prefix = normalize_object_name(&prefix);
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let client = new_http_client(arguments)?;
        let signer = new_signer(arguments, &client, TOKEN_SCOPES)?;
        let encryption = read_encryption(arguments)?;
        let bucket =
            Bucket { name, endpoint: read_endpoint(arguments)?, client, signer, encryption };
        Ok(Self { bucket, prefix, root: arguments.working_directory().to_owned() })
    }

    /// Returns the journals of the runs that use the state of a workspace.
    fn shared_journals(&self, workspace: &str) -> ObjectJournals<GcsObjects> {
        let (bucket, state) = (self.bucket.clone(), self.remote_client(workspace));
        let state_name = format!("{}{workspace}{STATE_SUFFIX}", self.prefix);
        // In a directory: neither program mistakes an object in one for the state of a workspace.
        ObjectJournals::new(GcsObjects { bucket, state }, &state_name)
    }
}

/// Returns the URL to which the paths of the API are appended. As in Terraform, the part after its last
/// slash is removed.
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
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    Ok(format!("{scheme}://{authority}{directory}/"))
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

/// A backend that stores states in the objects of one bucket.
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

    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let local = local_intent_log(&self.root, &self.journal_id(workspace), workspace);
        Arc::new(SharedIntents::new(local, Arc::new(self.shared_journals(workspace))))
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        let objects = self.bucket.list(&self.prefix).await?;
        let names = objects.iter().filter_map(|object| {
            object.strip_prefix(self.prefix.as_str())?.strip_suffix(STATE_SUFFIX)
        });
        Ok(names
            // The default workspace has an object like the others, but is not listed with them.
            .filter(|name| !name.is_empty() && *name != DEFAULT_WORKSPACE)
            .map(str::to_owned)
            .collect())
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).delete_state().await
    }
}
