//! The backend `kubernetes`: a secret for each workspace, several where the state is large, locked by a lease.

mod access;
mod cluster;
mod config;
mod kubeconfig;
mod place;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use formwork_core::state::intents::IntentLog;
use formwork_value::schema::Block;

use self::cluster::Cluster;
use self::place::{KubernetesPlace, SUFFIX, WORKSPACE};
use crate::kind::{Arguments, BackendKind, ConfigError};
use crate::remote::{Cause, RemotePlace as _, RemoteStore, create_empty};
use crate::store::{StateStore, StoreError, StoreOperation};
use crate::{
    Backend, DEFAULT_WORKSPACE, WorkspaceError, check_new_workspace, check_removable_workspace,
    intents_beside, with_default,
};

/// The type of the backend.
pub(crate) struct KubernetesKind;

impl BackendKind for KubernetesKind {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn schema(&self) -> Block {
        config::schema()
    }

    fn configure(&self, arguments: &Arguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let config::Settings { suffix, namespace, labels, connection } = config::read(arguments)?;
        let proxies = arguments.environment.variables.clone();
        let cluster = Arc::new(Cluster::new(connection, namespace, proxies));
        Ok(Arc::new(Kubernetes { cluster, suffix, labels, root: arguments.root().to_owned() }))
    }
}

/// A backend over the secrets of one namespace.
struct Kubernetes {
    cluster: Arc<Cluster>,
    suffix: String,
    labels: BTreeMap<String, String>,
    root: PathBuf,
}

impl Kubernetes {
    fn place(&self, workspace: &str) -> KubernetesPlace {
        let name = format!("tfstate-{workspace}-{}", self.suffix);
        let own = [
            ("tfstate", "true"),
            (SUFFIX, self.suffix.as_str()),
            (WORKSPACE, workspace),
            ("app.kubernetes.io/managed-by", "terraform"),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut labels = BTreeMap::from(own);
        labels.extend(self.labels.clone());
        KubernetesPlace::new(self.cluster.clone(), name, labels)
    }

    fn failed(&self, doing: StoreOperation) -> impl Fn(Cause) -> StoreError + use<> {
        let location = self.location(DEFAULT_WORKSPACE);
        move |cause| StoreError::failed(doing, location.clone(), cause)
    }

    async fn names(&self) -> Result<Vec<String>, Cause> {
        let secrets = self.cluster.list("tfstate=true").await?;
        let mut names: Vec<String> = secrets
            .iter()
            .filter(|secret| secret.label(SUFFIX) == Some(&self.suffix))
            .filter_map(|secret| secret.label(WORKSPACE))
            .filter(|name| *name != DEFAULT_WORKSPACE)
            .map(str::to_owned)
            .collect();
        // A large state is in several secrets.
        names.sort();
        names.dedup();
        Ok(with_default(names))
    }
}

#[async_trait::async_trait]
impl Backend for Kubernetes {
    fn kind(&self) -> &str {
        "kubernetes"
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        Ok(self.names().await.map_err(self.failed(StoreOperation::List))?)
    }

    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        check_new_workspace(&self.workspaces().await?, name)?;
        Ok(create_empty(self.place(name)).await.map_err(self.failed(StoreOperation::Create))?)
    }

    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        check_removable_workspace(&self.workspaces().await?, name)?;
        Ok(self.place(name).delete().await.map_err(self.failed(StoreOperation::Delete))?)
    }

    async fn open(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        let place = self.place(workspace);
        place.check_name().map_err(self.failed(StoreOperation::Open))?;
        Ok(Box::new(RemoteStore::new(place)))
    }

    fn location(&self, workspace: &str) -> String {
        self.place(workspace).location()
    }

    fn intents(&self, workspace: &str) -> Arc<dyn IntentLog> {
        intents_beside(&self.root, &self.location(DEFAULT_WORKSPACE), workspace)
    }
}
