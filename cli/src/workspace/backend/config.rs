//! A backend with the values of its arguments: built in, or a state store of a provider.

use std::sync::Arc;

use formwork_backend::Backend;
use formwork_backend::encrypted_backend::encrypt_backend;
use formwork_backend::kind::{BackendArguments, BackendEnvironment, BackendKind, RequiredArgument};
use formwork_backend::kinds::find_backend_kind;
use formwork_backend::provider_store::ProviderStoreKind;
use formwork_core::config::StateBackendBlock as Block;
use formwork_value::convert::convert;
use formwork_value::diag::Span;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Value};

use super::{hash, unknown_backend_error};
use crate::messages;
use crate::workspace::Workspace;

/// The type of a backend and the values of its arguments.
#[derive(Clone)]
pub(crate) struct BackendConfig {
    kind: BackendKindConfig,
    /// The arguments, an object of the implied type of the schema.
    values: Value,
    /// The block, if the configuration has one.
    block: Option<Span>,
}

/// The type of a backend.
#[derive(Clone)]
enum BackendKindConfig {
    /// A built-in backend.
    Own(&'static dyn BackendKind),
    /// A state store of a running provider.
    Provider(StateStoreConfig),
}

/// A state store of a provider, as `init` records it.
#[derive(Clone)]
pub(crate) struct StateStoreConfig {
    pub(crate) kind: Arc<ProviderStoreKind>,
    pub(crate) origin: StoreOrigin,
}

/// The program of a provider that has a state store.
#[derive(Clone, Debug)]
pub(crate) struct StoreOrigin {
    /// The name of the provider in the configuration.
    pub(crate) name: Str,
    /// The locked version, if the provider is installed.
    pub(crate) version: Option<String>,
    /// The source of the program, in Terraform's terms.
    pub(crate) supply: &'static str,
}

impl PartialEq for BackendConfig {
    fn eq(&self, other: &Self) -> bool {
        // The version of the provider is not compared: another version has the same states.
        self.kind() == other.kind()
            && self.values == other.values
            && match (&self.kind, &other.kind) {
                (BackendKindConfig::Own(_), BackendKindConfig::Own(_)) => true,
                (BackendKindConfig::Provider(a), BackendKindConfig::Provider(b)) => {
                    a.kind.addr() == b.kind.addr() && a.kind.config() == b.kind.config()
                }
                _ => false,
            }
    }
}

impl std::fmt::Debug for BackendConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may contain secrets, so they are not printed.
        f.debug_struct("BackendConfig").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

impl BackendConfig {
    /// Returns the default backend, used without a `backend` block.
    pub(crate) fn local_backend() -> Self {
        let kind = find_backend_kind("local").expect("the list of backends contains the local one");
        let schema = kind.schema();
        let null_arguments = schema
            .attributes
            .iter()
            .map(|(name, attribute)| (name.clone(), Value::null(attribute.implied_type())));
        Self {
            kind: BackendKindConfig::Own(kind),
            values: Value::object(null_arguments),
            block: None,
        }
    }

    /// Creates a built-in backend with values that conform to its schema.
    pub(super) fn of_builtin(kind: &'static dyn BackendKind, values: Value) -> Self {
        Self { kind: BackendKindConfig::Own(kind), values, block: None }
    }

    /// Creates a state store with values that conform to its schema.
    pub(super) fn of_provider(store: StateStoreConfig, values: Value, block: Option<Span>) -> Self {
        Self { kind: BackendKindConfig::Provider(store), values, block }
    }

    /// Reads a `backend` block.
    ///
    /// # Errors
    /// The backend is not supported, or an argument is not valid.
    pub(super) fn from_backend_block(
        diags: &mut Diagnostics,
        block: &Block,
    ) -> Result<Self, Reported> {
        let Some(kind) = find_backend_kind(&block.kind) else {
            return Err(
                diags.error(unknown_backend_error(messages::UNSUPPORTED_BACKEND_TYPE, block))
            );
        };
        let values = block.evaluate_arguments(diags, &kind.schema())?;
        Ok(Self { kind: BackendKindConfig::Own(kind), values, block: Some(block.span) })
    }

    fn backend_kind(&self) -> &dyn BackendKind {
        match &self.kind {
            BackendKindConfig::Own(kind) => *kind,
            BackendKindConfig::Provider(store) => &*store.kind,
        }
    }

    /// Returns the name of the backend type.
    pub(crate) fn kind(&self) -> &str {
        self.backend_kind().name()
    }

    /// Whether the journal of a run is only on the machine of the run, unless the backend stores a copy.
    pub(crate) fn keeps_journals_on_one_machine(&self) -> bool {
        self.backend_kind().keeps_journals_on_one_machine()
    }

    /// Returns the state store, if the backend is one.
    pub(crate) fn state_store(&self) -> Option<&StateStoreConfig> {
        match &self.kind {
            BackendKindConfig::Own(_) => None,
            BackendKindConfig::Provider(store) => Some(store),
        }
    }

    /// Returns the schema of the arguments.
    pub(crate) fn schema(&self) -> formwork_value::schema::Block {
        self.backend_kind().schema()
    }

    /// The required arguments that have no value.
    pub(crate) fn unset_required_arguments(&self) -> Vec<&'static RequiredArgument> {
        let Value::Object(values) = &self.values else { return Vec::new() };
        let is_unset = |name: &str| values.get(name).is_none_or(Value::is_null);
        let required = self.backend_kind().required_arguments().iter();
        required.filter(|argument| is_unset(argument.name)).collect()
    }

    /// Returns the values of the arguments.
    pub(super) fn values(&self) -> &Value {
        &self.values
    }

    /// Whether an argument takes a list, a set, a map or an object.
    pub(crate) fn has_structured_argument(&self, name: &str) -> bool {
        let schema = self.schema();
        let attribute = schema.attributes.get(name);
        attribute.is_some_and(|attribute| !attribute.implied_type().is_primitive())
    }

    /// Sets an argument to a string, which is converted to the type of the argument.
    ///
    /// # Errors
    /// The argument does not exist (`None`), or the string cannot be converted (the reason).
    pub(crate) fn set(&mut self, name: &str, text: &str) -> Result<(), Option<String>> {
        let schema = self.schema();
        let attribute = schema.attributes.get(name).ok_or(None)?;
        let value = convert(&Value::string(text), &attribute.implied_type());
        self.set_argument(name, value.map_err(|error| Some(error.reason))?);
        Ok(())
    }

    /// Sets the arguments that are not null in an object of the implied type of the schema.
    pub(crate) fn merge(&mut self, values: &Value) {
        let Value::Object(values) = values else { return };
        for (name, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            self.set_argument(name, value.clone());
        }
    }

    fn set_argument(&mut self, name: &str, value: Value) {
        let Value::Object(values) = &self.values else { return };
        let pairs = values.iter().map(|(argument, old)| {
            (argument.clone(), if argument == name { value.clone() } else { old.clone() })
        });
        let pairs: Vec<(Str, Value)> = pairs.collect();
        self.values = Value::object(pairs);
    }

    /// Returns the value of a string argument.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let Value::Object(values) = &self.values else { return None };
        match values.get(name)? {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Whether this is the local backend.
    pub(crate) fn is_local(&self) -> bool {
        matches!(&self.kind, BackendKindConfig::Own(kind) if kind.name() == "local")
    }

    /// Creates the backend, with the workspace's cipher for its states. It sends no requests.
    ///
    /// # Errors
    /// An argument is missing or invalid.
    pub(crate) fn configure(
        &self,
        diags: &mut Diagnostics,
        workspace: &Workspace<'_>,
    ) -> Result<Arc<dyn Backend>, Reported> {
        let environment = workspace.backend_environment(&workspace.root);
        let arguments = BackendArguments { values: &self.values, environment: &environment };
        let configured = self.backend_kind().configure(&arguments);
        let configured =
            configured.map(|backend| encrypt_backend(backend, workspace.state_cipher()));
        configured.map_err(|error| {
            let detail = format!(
                "The backend {:?} cannot be configured: {error}. Correct the `backend` block, the options -backend-config or the environment, and run \"formwork init -reconfigure\" if the backend was already initialized. Nothing was changed.",
                self.kind()
            );
            let diagnostic = Diagnostic::error(messages::INVALID_BACKEND_CONFIGURATION, detail);
            diags.error(match self.block {
                Some(block) => diagnostic.at(block),
                None => diagnostic,
            })
        })
    }

    /// Warns about deprecated arguments and environment variables.
    pub(super) fn warn_of_deprecated(
        &self,
        diags: &mut Diagnostics,
        environment: &BackendEnvironment,
    ) {
        let arguments = BackendArguments { values: &self.values, environment };
        self.backend_kind()
            .warnings(&arguments)
            .into_iter()
            .for_each(|warning| diags.warn(warning));
    }

    /// Returns the hash by which Terraform detects changes of a block.
    pub(super) fn hash(&self) -> u64 {
        match self.state_store() {
            None => hash::backend_hash(self.kind(), &self.values),
            Some(StateStoreConfig { kind, origin }) => hash::state_store_hash(&[
                Value::string(self.kind()),
                self.values.clone(),
                Value::string(kind.addr().to_string().as_str()),
                Value::string(origin.version.as_deref().unwrap_or_default()),
                Value::string(origin.name.as_str()),
                kind.config().clone(),
            ]),
        }
    }
}
