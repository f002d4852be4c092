//! States in the state stores of providers (protocol 6). A provider is started only for this purpose,
//! and configured with the `provider` block within the `state_store` block. The caller starts the
//! program and reads the block.

mod client;
mod store_calls;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use formwork_core::addr::ProviderAddr;
use formwork_core::provider::CallDeadlines;
use formwork_core::state::intent_log::IntentLog;
use formwork_plugin_protocol::Provider;
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_value::codec::{hex, json};
use formwork_value::schema::{Block, Nesting};
use formwork_value::{Secrets, Value};
use sha2::{Digest as _, Sha256};

use self::client::StateStoreClient;
use self::store_calls::StoreCalls;
use crate::arguments::BackendArguments;
use crate::cause::Cause;
use crate::config_error::ConfigError;
use crate::kind::{BackendKind, BackendSummary};
pub use crate::provider_store_error::ProviderStoreError;
use crate::remote::{RemoteStore, create_empty_state};
use crate::store::{StateStore, StoreError, StoreOperation};
use crate::wait_report::wait_with_report;
use crate::{
    Backend, DEFAULT_WORKSPACE, WorkspaceError, check_new_workspace, check_removable_workspace,
    remote_state_intent_log, with_default_workspace,
};

/// The argument name that no state store can have, because the `provider` block uses it.
const PROVIDER_ARGUMENT: &str = "provider";

/// A running provider that stores states, with its schemas. It is configured for one state store.
///
/// ```
/// use std::sync::Arc;
///
/// use formwork_backend::provider_store::{
///     ProviderStoreError, ProviderStoreKind, StoreProvider,
/// };
/// use formwork_core::addr::ProviderAddr;
/// use formwork_core::provider::CallDeadlines;
/// use formwork_plugin_protocol::Provider;
/// use formwork_value::{Secrets, Value};
///
/// async fn find_store(
///     provider: Arc<dyn Provider>,
///     addr: ProviderAddr,
///     config: Value,
/// ) -> Result<Option<ProviderStoreKind>, ProviderStoreError> {
///     let (secrets, deadlines) = (Secrets::default(), CallDeadlines::default());
///     let loaded = StoreProvider::load(provider, addr, secrets, deadlines).await?;
///     loaded.store_kind("acme_states", config).transpose()
/// }
/// ```
pub struct StoreProvider {
    calls: Arc<StoreCalls>,
    schema: ProviderSchema,
}

impl StoreProvider {
    /// Fetches the schemas of a provider that was just started. The calls to it have these
    /// deadlines.
    ///
    /// # Errors
    /// Returns an error if the provider does not respond, or reports errors.
    pub async fn load(
        provider: Arc<dyn Provider>,
        addr: ProviderAddr,
        secrets: Secrets,
        deadlines: CallDeadlines,
    ) -> Result<Self, ProviderStoreError> {
        let calls = StoreCalls::new(provider, addr, secrets, deadlines);
        let schema = calls.fetch_provider_schema().await?;
        Ok(Self { calls: Arc::new(calls), schema })
    }

    /// The address of the provider.
    #[must_use]
    pub fn addr(&self) -> &ProviderAddr {
        self.calls.addr()
    }

    /// The schema of the provider's own configuration.
    #[must_use]
    pub fn config_schema(&self) -> &Block {
        &self.schema.provider.block
    }

    /// The names of the provider's state stores.
    pub fn store_names(&self) -> impl Iterator<Item = &str> {
        self.schema.state_stores.keys().map(String::as_str)
    }

    /// Returns one of the state stores as a backend type, or `None` if none has this name.
    ///
    /// # Errors
    /// Returns an error if the schema of the state store has an argument that the `provider` block
    /// hides.
    pub fn store_kind(
        &self,
        type_name: &str,
        config: Value,
    ) -> Option<Result<ProviderStoreKind, ProviderStoreError>> {
        let schema = &self.schema.state_stores.get(type_name)?.block;
        if schema.attributes.contains_key(PROVIDER_ARGUMENT)
            || schema.blocks.contains_key(PROVIDER_ARGUMENT)
        {
            let problem = format!(
                "the state store {type_name:?} has an argument or block named {PROVIDER_ARGUMENT:?}, which is the provider block of the language"
            );
            return Some(Err(self.calls.protocol_error("GetProviderSchema", problem)));
        }
        Some(Ok(ProviderStoreKind {
            calls: self.calls.clone(),
            config_schema: self.config_schema().clone(),
            config,
            type_name: type_name.to_owned(),
            schema: schema.clone(),
        }))
    }
}

/// A state store of a provider as a backend type. The configuration of the provider is part of it.
///
/// See [`StoreProvider`] for an example.
pub struct ProviderStoreKind {
    calls: Arc<StoreCalls>,
    config_schema: Block,
    config: Value,
    type_name: String,
    schema: Block,
}

impl ProviderStoreKind {
    /// The address of the provider.
    #[must_use]
    pub fn addr(&self) -> &ProviderAddr {
        self.calls.addr()
    }

    /// The schema of the provider's own configuration.
    #[must_use]
    pub fn config_schema(&self) -> &Block {
        &self.config_schema
    }

    /// The provider's own configuration.
    #[must_use]
    pub fn config(&self) -> &Value {
        &self.config
    }

    /// The same state store of the same process, with another configuration of the provider.
    #[must_use]
    pub fn with_provider_config(&self, config: Value) -> Self {
        Self {
            calls: self.calls.clone(),
            config_schema: self.config_schema.clone(),
            config,
            type_name: self.type_name.clone(),
            schema: self.schema.clone(),
        }
    }
}

impl BackendKind for ProviderStoreKind {
    fn name(&self) -> &str {
        &self.type_name
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "of the provider",
            release: "as the provider defines",
        }
    }

    fn schema(&self) -> Block {
        self.schema.clone()
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        let setup = StateStoreSetup {
            type_name: self.type_name.clone(),
            provider: EncodedConfig::new(&self.config, &self.config_schema)?,
            store: EncodedConfig::new(arguments.values, &self.schema)?,
        };
        Ok(Arc::new(ProviderStoreBackend {
            calls: self.calls.clone(),
            setup: Arc::new(setup),
            root: arguments.working_directory().to_owned(),
        }))
    }
}

/// Returns a configuration in its form for a call.
struct EncodedConfig {
    value: Value,
    schema: Block,
}

impl EncodedConfig {
    fn new(value: &Value, schema: &Block) -> Result<Self, ConfigError> {
        if value.is_null() {
            return Err(ConfigError::new("the configuration is null"));
        }
        Ok(Self { value: value.clone(), schema: schema.clone() })
    }

    /// Returns the configuration as JSON, to compare it with others. Contains its secrets.
    fn comparison_key(&self) -> String {
        // A value that has no JSON form is unknown, which a constant never is.
        json::encode_untyped(&self.value).unwrap_or_default()
    }

    /// Returns the configuration as JSON without secrets and without arguments that are not set, so that
    /// another token, or a release with more arguments, leads to the same states.
    fn config_without_secrets(&self) -> String {
        let mut config = serde_json::from_str(&self.comparison_key()).unwrap_or_default();
        retain_identifying_arguments(&self.schema, &mut config);
        config.to_string()
    }
}

/// Removes secrets and unset arguments from the values of a block.
fn retain_identifying_arguments(block: &Block, values: &mut serde_json::Value) {
    let Some(members) = values.as_object_mut() else { return };
    members.retain(|name, value| {
        let is_secret =
            block.attributes.get(name.as_str()).is_some_and(|attribute| attribute.sensitive);
        !is_secret && !value.is_null()
    });
    for (name, nested) in &block.blocks {
        match (nested.nesting, members.get_mut(name.as_str())) {
            (Nesting::Single | Nesting::Group, Some(values)) => {
                retain_identifying_arguments(&nested.block, values);
            }
            (_, Some(serde_json::Value::Array(several))) => {
                several
                    .iter_mut()
                    .for_each(|values| retain_identifying_arguments(&nested.block, values));
            }
            (_, Some(serde_json::Value::Object(several))) => {
                several
                    .values_mut()
                    .for_each(|values| retain_identifying_arguments(&nested.block, values));
            }
            _ => {}
        }
    }
}

/// The two configurations of a state store.
struct StateStoreSetup {
    type_name: String,
    provider: EncodedConfig,
    store: EncodedConfig,
}

impl StateStoreSetup {
    /// A digest that differs between stores of the same type and provider.
    fn identity_digest(&self) -> String {
        short_digest(&format!(
            "{}\n{}",
            self.provider.comparison_key(),
            self.store.comparison_key()
        ))
    }

    /// Like [`StateStoreSetup::digest`], but not affected by a change of secrets, so that journals
    /// are still found.
    fn digest_without_secrets(&self) -> String {
        short_digest(&format!(
            "{}\n{}",
            self.provider.config_without_secrets(),
            self.store.config_without_secrets()
        ))
    }
}

fn short_digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..8])
}

/// The states of all workspaces in a state store.
struct ProviderStoreBackend {
    calls: Arc<StoreCalls>,
    setup: Arc<StateStoreSetup>,
    root: PathBuf,
}

impl ProviderStoreBackend {
    fn store_location(&self) -> String {
        format!("{} of provider {}", self.setup.type_name, self.calls.addr().display_string())
    }

    fn remote_client(&self, workspace: &str) -> StateStoreClient {
        StateStoreClient {
            calls: self.calls.clone(),
            setup: self.setup.clone(),
            workspace: workspace.to_owned(),
            location: self.location(workspace),
        }
    }

    fn store_error(&self, operation: StoreOperation) -> impl Fn(Cause) -> StoreError + use<> {
        let location = self.store_location();
        move |cause| StoreError::failed(operation, location.clone(), cause)
    }

    async fn list_states(&self) -> Result<Vec<String>, Cause> {
        let session = self.calls.configured_session(&self.setup).await?;
        Ok(self.calls.list_states(&session).await?)
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        let session = self.calls.configured_session(&self.setup).await?;
        Ok(self.calls.delete_state(&session, workspace).await?)
    }
}

#[async_trait::async_trait]
impl Backend for ProviderStoreBackend {
    fn kind(&self) -> &str {
        &self.setup.type_name
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        let listing =
            wait_with_report(self.store_location(), StoreOperation::List, self.list_states());
        let names = listing.await.map_err(self.store_error(StoreOperation::List))?;
        // The default one always exists, even if the store has no state for it yet.
        Ok(with_default_workspace(names.into_iter().filter(|name| name != DEFAULT_WORKSPACE)))
    }

    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        check_new_workspace(&self.workspaces().await?, name)?;
        let making = wait_with_report(
            self.store_location(),
            StoreOperation::Create,
            create_empty_state(self.remote_client(name)),
        );
        Ok(making.await.map_err(self.store_error(StoreOperation::Create))?)
    }

    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        check_removable_workspace(&self.workspaces().await?, name)?;
        let removal = wait_with_report(
            self.store_location(),
            StoreOperation::Delete,
            self.delete_state(name),
        );
        Ok(removal.await.map_err(self.store_error(StoreOperation::Delete))?)
    }

    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        // Configured here, so that a configuration error is not reported as an error of a state.
        let session = wait_with_report(
            self.store_location(),
            StoreOperation::Open,
            self.calls.configured_session(&self.setup),
        );
        session.await.map_err(|error| self.store_error(StoreOperation::Open)(error.into()))?;
        Ok(Box::new(RemoteStore::new(self.remote_client(workspace))))
    }

    fn location(&self, workspace: &str) -> String {
        format!("{workspace:?} in {}", self.store_location())
    }

    fn identity(&self, workspace: &str) -> String {
        // The location shows no arguments, because they may be secrets.
        format!("{}\n{}\n{workspace}", self.store_location(), self.setup.identity_digest())
    }

    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let key = format!("{}\n{}", self.store_location(), self.setup.digest_without_secrets());
        remote_state_intent_log(&self.root, &key, workspace)
    }
}
