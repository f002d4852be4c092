//! The backend `kubernetes`: a secret for each workspace, several where the state is large, locked by a lease.

mod client;
mod cluster;
mod cluster_connection;
mod config;
mod kubeconfig;
mod state_copy;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_value::schema::Block;

use self::client::{KubernetesClient, SUFFIX_LABEL, WORKSPACE_LABEL};
use self::cluster::ClusterClient;
use crate::arguments::BackendArguments;
use crate::cause::Cause;
use crate::client_backend::ClientBackend;
use crate::config_error::ConfigError;
use crate::kind::BackendKind;
use crate::{Backend, DEFAULT_WORKSPACE};

/// The type of the backend.
pub(crate) struct KubernetesBackendKind;

impl BackendKind for KubernetesBackendKind {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn schema(&self) -> Block {
        config::schema()
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

/// A backend over the secrets of one namespace.
struct KubernetesBackend {
    cluster: Arc<ClusterClient>,
    suffix: String,
    labels: BTreeMap<String, String>,
    root: PathBuf,
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
        let own = [
            ("tfstate", "true"),
            (SUFFIX_LABEL, self.suffix.as_str()),
            (WORKSPACE_LABEL, workspace),
            ("app.kubernetes.io/managed-by", "terraform"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut labels = BTreeMap::from(own);
        // As in Terraform, labels of the configuration replace those of the backend.
        labels.extend(self.labels.clone());
        KubernetesClient::new(self.cluster.clone(), name, labels)
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
