//! The backend `s3`: an object for each workspace in a bucket of S3 or a compatible server, locked by an
//! object next to it or by an item in a table.

mod bucket;
mod client;
mod config;
mod dynamodb_table;
mod endpoint;
mod journals;
mod kms_key;
mod schema;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_core::state::intent_log::IntentLog;
use formwork_value::Diagnostic;
use formwork_value::schema::Block;

use self::bucket::Bucket;
use self::client::S3Client;
use self::config::{DEPRECATED_ARGUMENTS, DEPRECATED_VARIABLES, S3Settings};
use self::dynamodb_table::DynamoDbTable;
use self::journals::S3Objects;
use crate::arguments::{BackendArguments, RequiredArgument};
use crate::aws::AwsService;
use crate::aws::arguments::{build_signer, new_http_client};
use crate::cause::Cause;
use crate::client_backend::{ClientBackend, normalize_object_name};
use crate::config_error::ConfigError;
use crate::journals::{ObjectJournals, SharedIntents};
use crate::kind::{BackendKind, BackendSummary};
use crate::messages;
use crate::{Backend, DEFAULT_WORKSPACE, local_intent_log};

/// The type of the backend.
pub(crate) struct S3BackendKind;

impl BackendKind for S3BackendKind {
    fn name(&self) -> &'static str {
        "s3"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "an object next to the state (`use_lockfile`), an entry of a table (`dynamodb_table`), or both",
            release: "`force-unlock`",
        }
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn schema(&self) -> Block {
        schema::schema()
    }

    fn required_arguments(&self) -> &'static [RequiredArgument] {
        &config::REQUIRED_ARGUMENTS
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        Ok(Arc::new(S3Backend::configure(arguments)?))
    }

    fn warnings(&self, arguments: &BackendArguments<'_>) -> Vec<Diagnostic> {
        let parameters = DEPRECATED_ARGUMENTS
            .iter()
            .filter(|(deprecated_name, _)| arguments.value(deprecated_name).is_some());
        let parameters = parameters.map(|(deprecated_name, current_name)| {
            let detail =
                format!("The parameter \"{deprecated_name}\" is deprecated. Use parameter \"{current_name}\" instead.");
            Diagnostic::warning(messages::DEPRECATED_PARAMETER, detail)
        });
        let variables = DEPRECATED_VARIABLES
            .iter()
            .filter(|(deprecated_name, _)| arguments.read_env_variable(deprecated_name).is_some());
        let variables = variables.map(|(deprecated_name, current_name)| {
            let detail = format!("The environment variable \"{deprecated_name}\" is deprecated. Use environment variable \"{current_name}\" instead.");
            Diagnostic::warning(messages::DEPRECATED_ENVIRONMENT_VARIABLE, detail)
        });
        parameters.chain(variables).collect()
    }
}

/// A backend that uses one bucket.
struct S3Backend {
    settings: S3Settings,
    bucket: Bucket,
    table: Option<DynamoDbTable>,
    root: PathBuf,
}

impl S3Backend {
    fn configure(arguments: &BackendArguments<'_>) -> Result<Self, ConfigError> {
        let settings = config::read_settings(arguments)?;
        let client = new_http_client(arguments, settings.max_attempts)?;
        let signer = build_signer(arguments, &client, settings.credentials.clone())?;
        let region = settings.region.as_str();
        let bucket = Bucket {
            name: settings.bucket.clone(),
            url: settings.addressing.bucket_url(&settings.bucket, region),
            service: AwsService::new(client.clone(), &signer, "s3", region),
            encryption: settings.encryption.clone(),
            acl: settings.acl.clone(),
            checksum: settings.checksum,
        };
        let table = settings.table.clone().map(|(name, url)| DynamoDbTable {
            name,
            url,
            service: AwsService::new(client, &signer, "dynamodb", region),
        });
        Ok(Self { settings, bucket, table, root: arguments.working_directory().to_owned() })
    }

    /// Returns the journals, in the bucket, of the runs that use the state of a workspace.
    fn shared_journals(&self, workspace: &str) -> ObjectJournals<S3Objects> {
        let (bucket, state) = (self.bucket.clone(), self.remote_client(workspace));
        ObjectJournals::new(S3Objects { bucket, state }, &self.state_key(workspace))
    }

    /// Returns the key of a workspace's state.
    fn state_key(&self, workspace: &str) -> String {
        let S3Settings { key, workspace_key_prefix: prefix, .. } = &self.settings;
        match workspace {
            DEFAULT_WORKSPACE => key.clone(),
            _ => normalize_object_name(&format!("{prefix}/{workspace}/{key}")),
        }
    }

    /// Returns the name of the workspace whose state has this key.
    fn workspace_of<'k>(&self, key: &'k str) -> Option<&'k str> {
        let (workspace, object_name) =
            key.strip_prefix(self.workspace_prefix().as_str())?.split_once('/')?;
        // The states of other configurations may have the same prefix.
        (object_name == normalize_object_name(&self.settings.key) && !workspace.is_empty())
            .then_some(workspace)
    }

    /// Returns the prefix of the keys of other workspaces.
    fn workspace_prefix(&self) -> String {
        let prefix = normalize_object_name(&self.settings.workspace_key_prefix);
        if prefix.is_empty() { prefix } else { format!("{prefix}/") }
    }
}

#[async_trait::async_trait]
impl ClientBackend for S3Backend {
    type Client = S3Client;

    const KIND: &'static str = "s3";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        let (bucket, table) = (self.bucket.clone(), self.table.clone());
        S3Client::new(bucket, self.state_key(workspace), self.settings.use_lockfile, table)
    }

    fn backend_location(&self) -> String {
        format!("s3://{}", self.settings.bucket)
    }

    fn journal_id(&self, workspace: &str) -> String {
        // The same for every way to address a bucket, so that no journal is missed.
        let S3Settings { bucket, region, addressing, .. } = &self.settings;
        let service = addressing.endpoint.as_deref().unwrap_or(region).trim_end_matches('/');
        format!("{service}\n{bucket}\n{}", self.state_key(workspace))
    }

    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let local = local_intent_log(&self.root, &self.journal_id(workspace), workspace);
        Arc::new(SharedIntents::new(local, Arc::new(self.shared_journals(workspace))))
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        let prefix = self.settings.workspace_key_prefix.as_str();
        let directory = self.workspace_prefix();
        let objects = match self.bucket.list(&directory).await? {
            Some(objects) => objects,
            // As in Terraform, credentials for one key are sufficient for a configuration without
            // workspaces.
            None if prefix == "env:" => Vec::new(),
            None => {
                let bucket = &self.settings.bucket;
                return Err(format!("the credentials lack the permission to list the objects of the bucket {bucket:?} with the prefix {directory:?} (s3:ListBucket)").into());
            }
        };
        let workspaces = objects.iter().filter_map(|object| self.workspace_of(&object.name));
        Ok(workspaces.map(str::to_owned).collect())
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).delete_state().await
    }
}
