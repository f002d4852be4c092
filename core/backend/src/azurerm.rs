//! The backend `azurerm`: a blob for each workspace in an Azure Storage container, locked by a lease.

mod account;
mod client;
mod cloud;
mod config;
mod container;
mod identity;
mod journals;
mod refusal;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use formwork_core::state::intent_log::IntentLog;
use formwork_value::Diagnostic;
use formwork_value::schema::Block;

use self::account::StorageAccount;
use self::client::AzureClient;
use self::container::Container;
use self::journals::AzureObjects;
use crate::arguments::{BackendArguments, RequiredArgument};
use crate::cause::Cause;
use crate::client_backend::ClientBackend;
use crate::config_error::ConfigError;
use crate::journals::{ObjectJournals, SharedIntents};
use crate::kind::{BackendKind, BackendSummary};
use crate::messages;
use crate::retry::RetryPolicy;
use crate::web::{HttpClient, TlsSettings};
use crate::{Backend, DEFAULT_WORKSPACE, local_intent_log};

/// The separator between the key and the workspace name in the name of a blob.
const WORKSPACE_NAME_SEPARATOR: &str = "env:";

/// The number of attempts of a request, the same as in Azure's own clients.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 4, shortest: Duration::from_millis(800), longest: Duration::from_secs(30) };

/// The type of the backend.
pub(crate) struct AzureBackendKind;

impl BackendKind for AzureBackendKind {
    fn name(&self) -> &'static str {
        "azurerm"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "the lease of the blob",
            release: "`force-unlock`",
        }
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn schema(&self) -> Block {
        config::schema()
    }

    fn required_arguments(&self) -> &'static [RequiredArgument] {
        &config::REQUIRED_ARGUMENTS
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let settings = config::read_settings(arguments)?;
        let client = HttpClient::new(&TlsSettings::default(), RETRY_POLICY, |name| {
            arguments.read_env_variable(name)
        })?;
        let client = client.without_redirects();
        let config::AzureSettings { account, container, key, snapshot, credentials } = settings;
        let account =
            StorageAccount::new(account, credentials, client, HttpClient::for_local_services()?);
        let container = Container::new(container, Arc::new(account));
        let root = arguments.working_directory().to_owned();
        Ok(Arc::new(AzureBackend { container, key, snapshot, root }))
    }

    fn warnings(&self, arguments: &BackendArguments<'_>) -> Vec<Diagnostic> {
        let endpoint = arguments.value("endpoint").map(|_| {
            Diagnostic::warning(
                messages::DEPRECATED_PARAMETER,
                "The parameter \"endpoint\" is deprecated and has no effect. Use parameter \"msi_endpoint\" instead.",
            )
        });
        endpoint.into_iter().collect()
    }
}

/// A backend that stores states in the blobs of one container.
struct AzureBackend {
    container: Container,
    key: String,
    snapshot: bool,
    root: PathBuf,
}

impl AzureBackend {
    /// Returns the blob name of a workspace's state.
    fn state_blob(&self, workspace: &str) -> String {
        match workspace {
            DEFAULT_WORKSPACE => self.key.clone(),
            // The same names as in Terraform, so that both find the same workspaces.
            _ => format!("{}{WORKSPACE_NAME_SEPARATOR}{workspace}", self.key),
        }
    }

    /// Returns the journals of the runs that use the state of a workspace.
    fn shared_journals(&self, workspace: &str) -> ObjectJournals<AzureObjects> {
        let blob = self.state_blob(workspace);
        let container = self.container.clone();
        // The names contain a slash, so neither program mistakes such a blob for the state of a
        // workspace.
        ObjectJournals::new(AzureObjects { container, blob: blob.clone() }, &blob)
    }
}

#[async_trait::async_trait]
impl ClientBackend for AzureBackend {
    type Client = AzureClient;

    const KIND: &'static str = "azurerm";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        AzureClient::new(self.container.clone(), self.state_blob(workspace), self.snapshot)
    }

    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let local = local_intent_log(&self.root, &self.journal_id(workspace), workspace);
        Arc::new(SharedIntents::new(local, Arc::new(self.shared_journals(workspace))))
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        let prefix = format!("{}{WORKSPACE_NAME_SEPARATOR}", self.key);
        let blobs = self.container.list(&prefix).await?;
        let names = blobs.iter().filter_map(|blob| blob.strip_prefix(&prefix));
        Ok(names
            // The name of a workspace has no slash: such a blob belongs to another key with the
            // same prefix.
            .filter(|name| !name.is_empty() && !name.contains('/'))
            .map(str::to_owned)
            .collect())
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).delete_state().await
    }
}
