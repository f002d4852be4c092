//! The backend `azurerm`: a blob for each workspace in a container of Azure Storage, locked by a lease.

mod account;
mod cloud;
mod config;
mod container;
mod identity;
mod place;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use formwork_core::state::intents::IntentLog;
use formwork_value::Diagnostic;
use formwork_value::schema::Block;

use self::account::Account;
use self::container::Container;
use self::place::AzurePlace;
use crate::kind::{Arguments, BackendKind, ConfigError};
use crate::remote::{Cause, RemotePlace as _, RemoteStore, create_empty};
use crate::retry::Retries;
use crate::store::{StateStore, StoreError, StoreOperation};
use crate::web::{Client, Tls};
use crate::{
    Backend, DEFAULT_WORKSPACE, WorkspaceError, check_new_workspace, check_removable_workspace,
    intents_beside, with_default,
};

/// The part of the name of a blob that precedes the name of a workspace.
const WORKSPACE: &str = "env:";

/// Attempts at requests: as many as the clients of Azure make.
const RETRIES: Retries =
    Retries { most: 4, shortest: Duration::from_millis(800), longest: Duration::from_secs(30) };

/// The type of the backend.
pub(crate) struct AzureKind;

impl BackendKind for AzureKind {
    fn name(&self) -> &'static str {
        "azurerm"
    }

    fn schema(&self) -> Block {
        config::schema()
    }

    fn configure(&self, arguments: &Arguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let settings = config::read(arguments)?;
        let client = Client::new(&Tls::default(), RETRIES, |name| arguments.variable(name))?;
        let client = client.without_redirects();
        let config::Settings { account, container, key, snapshot, credentials } = settings;
        let account = Account::new(account, credentials, (client, Client::nearby()?));
        let container = Container::new(container, Arc::new(account));
        let root = arguments.root().to_owned();
        Ok(Arc::new(Azure { container, key, snapshot, root }))
    }

    fn warnings(&self, arguments: &Arguments<'_>) -> Vec<Diagnostic> {
        let endpoint = arguments.value("endpoint").map(|_| {
            Diagnostic::warning(
                "Deprecated Parameter",
                "The parameter \"endpoint\" is deprecated and has no effect. Use parameter \"msi_endpoint\" instead.",
            )
        });
        endpoint.into_iter().collect()
    }
}

/// A backend over the blobs of one container.
struct Azure {
    container: Container,
    key: String,
    snapshot: bool,
    root: PathBuf,
}

impl Azure {
    fn place(&self, workspace: &str) -> AzurePlace {
        let blob = match workspace {
            DEFAULT_WORKSPACE => self.key.clone(),
            _ => format!("{}{WORKSPACE}{workspace}", self.key),
        };
        AzurePlace::new(self.container.clone(), blob, self.snapshot)
    }

    fn failed(&self, doing: StoreOperation) -> impl Fn(Cause) -> StoreError + use<> {
        let location = self.location(DEFAULT_WORKSPACE);
        move |cause| StoreError::failed(doing, location.clone(), cause)
    }

    async fn names(&self) -> Result<Vec<String>, Cause> {
        let prefix = format!("{}{WORKSPACE}", self.key);
        let blobs = self.container.list(&prefix).await?;
        let found = blobs.iter().filter_map(|blob| blob.strip_prefix(&prefix));
        Ok(with_default(found.filter(|name| !name.is_empty() && !name.contains('/'))))
    }
}

#[async_trait::async_trait]
impl Backend for Azure {
    fn kind(&self) -> &str {
        "azurerm"
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
        Ok(Box::new(RemoteStore::new(self.place(workspace))))
    }

    fn location(&self, workspace: &str) -> String {
        self.place(workspace).location()
    }

    fn intents(&self, workspace: &str) -> Arc<dyn IntentLog> {
        intents_beside(&self.root, &self.location(DEFAULT_WORKSPACE), workspace)
    }
}
