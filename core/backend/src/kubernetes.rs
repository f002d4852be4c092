//! The backend `kubernetes`: a secret for each workspace, several for large states, locked by a lease.

mod client;
mod cluster;
mod cluster_connection;
mod config;
mod journals;
mod kubeconfig;
mod state_copy;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_core::state::intent_log::IntentLog;
use formwork_value::schema::Block;

use self::client::{KubernetesClient, MAX_CHUNK_LEN, SUFFIX_LABEL, WORKSPACE_LABEL};
use self::cluster::ClusterClient;
use self::journals::JournalSecrets;
use crate::arguments::{BackendArguments, RequiredArgument};
use crate::cause::Cause;
use crate::client_backend::ClientBackend;
use crate::config_error::ConfigError;
use crate::journals::{LimitedObjects, ObjectJournals, SharedIntents};
use crate::kind::{BackendKind, BackendSummary};
use crate::{Backend, DEFAULT_WORKSPACE, local_intent_log};

/// The type of the backend.
pub(crate) struct KubernetesBackendKind;

impl BackendKind for KubernetesBackendKind {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "a lease next to the secret",
            release: "`force-unlock`",
        }
    }

    fn schema(&self) -> Block {
        config::schema()
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn required_arguments(&self) -> &'static [RequiredArgument] {
        &config::REQUIRED_ARGUMENTS
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let config::KubernetesSettings { suffix, namespace, labels, connection } =
            config::read_settings(arguments)?;
        let proxies = arguments.environment.variables.clone();
        let cluster = Arc::new(ClusterClient::new(connection, namespace, proxies));
        Ok(Arc::new(KubernetesBackend {
            cluster,
            suffix,
            labels,
            root: arguments.working_directory().to_owned(),
        }))
    }
}

/// A backend that stores states in the secrets of one namespace.
struct KubernetesBackend {
    cluster: Arc<ClusterClient>,
    suffix: String,
    labels: BTreeMap<String, String>,
    root: PathBuf,
}

impl KubernetesBackend {
    /// Returns the journals of the runs that use the state of a workspace.
    fn shared_journals(&self, workspace: &str) -> ObjectJournals<LimitedObjects<JournalSecrets>> {
        let state = self.remote_client(workspace);
        let state_name = state.name().to_owned();
        let secrets = JournalSecrets { cluster: self.cluster.clone(), state };
        ObjectJournals::new(LimitedObjects::new(secrets, MAX_CHUNK_LEN), &state_name)
    }
}

#[async_trait::async_trait]
impl ClientBackend for KubernetesBackend {
    type Client = KubernetesClient;

    const KIND: &'static str = "kubernetes";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        let name = format!("tfstate-{workspace}-{}", self.suffix);
        let own_labels = [
            ("tfstate", "true"),
            (SUFFIX_LABEL, self.suffix.as_str()),
            (WORKSPACE_LABEL, workspace),
            ("app.kubernetes.io/managed-by", "terraform"),
        ];
        let own_labels = own_labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut labels = BTreeMap::from(own_labels);
        // As in Terraform, labels in the configuration replace those of the backend.
        labels.extend(self.labels.clone());
        KubernetesClient::new(self.cluster.clone(), name, labels)
    }

    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let local = local_intent_log(&self.root, &self.journal_id(workspace), workspace);
        Arc::new(SharedIntents::new(local, Arc::new(self.shared_journals(workspace))))
    }

    fn check_workspace_name(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).check_object_name()
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        let secrets = self.cluster.list("tfstate=true").await?;
        let mut names: Vec<String> = secrets
            .iter()
            .filter(|secret| secret.label(SUFFIX_LABEL) == Some(&self.suffix))
            .filter_map(|secret| secret.label(WORKSPACE_LABEL))
            .filter(|name| *name != DEFAULT_WORKSPACE)
            .map(str::to_owned)
            .collect();
        // A large state is in several secrets.
        names.sort();
        names.dedup();
        Ok(names)
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).delete_state().await
    }
}
