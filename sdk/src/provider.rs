//! Definition of a provider: its configuration, resources, data sources, functions and the rest.

use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;

use crate::action::Action;
use crate::call::Call;
use crate::context::Deferral;
use crate::data_source::DataSource;
use crate::erased::{
    AnyAction, AnyDataSource, AnyEphemeral, AnyList, AnyProviderConfig, AnyResource, AnyStateStore,
    TypedAction, TypedDataSource, TypedEphemeral, TypedList, TypedProviderConfig, TypedResource,
    TypedStateStore,
};
use crate::function::{AnyFunction, TypedFunction};
use crate::list::List;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::schema::Shape;
use crate::server::Server;
use crate::{
    Answer, Draft, Ephemeral, Function, Input, Model, ObjectConversion as _, Problem, Resource,
    StateStore, model, plan,
};

/// Definition of a provider.
pub struct ProviderDef {
    pub(crate) address: String,
    pub(crate) configure: Box<dyn AnyProviderConfig>,
    pub(crate) meta: Option<Shape>,
    pub(crate) resources: BTreeMap<String, Box<dyn AnyResource>>,
    pub(crate) data_sources: BTreeMap<String, Box<dyn AnyDataSource>>,
    pub(crate) ephemeral: BTreeMap<String, Box<dyn AnyEphemeral>>,
    pub(crate) functions: BTreeMap<String, Box<dyn AnyFunction>>,
    /// Shared, because an action continues after the call.
    pub(crate) actions: BTreeMap<String, Arc<dyn AnyAction>>,
    /// Shared, because listing continues after the call.
    pub(crate) lists: BTreeMap<String, Arc<dyn AnyList>>,
    pub(crate) state_stores: BTreeMap<String, Box<dyn AnyStateStore>>,
    /// Errors in the definition. The host receives them with the first answer.
    pub(crate) mistakes: Vec<String>,
}

impl ProviderDef {
    /// Creates a provider with a source address such as `registry.terraform.io/acme/example`.
    #[must_use]
    pub fn new(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            configure: Box::new(TypedProviderConfig::new(NoConfiguration)),
            meta: None,
            resources: BTreeMap::new(),
            data_sources: BTreeMap::new(),
            ephemeral: BTreeMap::new(),
            functions: BTreeMap::new(),
            actions: BTreeMap::new(),
            lists: BTreeMap::new(),
            state_stores: BTreeMap::new(),
            mistakes: Vec::new(),
        }
    }

    /// Checks the name of an addition. `is_there` says whether the name is already in use.
    fn check_added_name(&mut self, what: &str, name: &str, is_there: bool) {
        // The name of a provider may contain a dash, and the name of a resource type begins with
        // it.
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        // Collected and no panic: the host can show them with the schema.
        if is_there {
            self.mistakes.push(format!("the {what} {name:?} is added twice"));
        }
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
            self.mistakes.push(format!(
                "{name:?} is no name of a {what}: it begins with a lower-case letter, and has \
                 lower-case letters, digits, `_` and `-`"
            ));
        }
    }

    /// The source address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sets the configuration of the provider.
    #[must_use]
    pub fn with_configuration(mut self, configure: impl Configure) -> Self {
        self.configure = Box::new(TypedProviderConfig::new(configure));
        self
    }

    /// Declares the `provider_meta` of modules, with the model `M`.
    #[must_use]
    pub fn with_meta<M: Model>(mut self) -> Self {
        self.meta = Some(M::shape());
        self
    }

    /// Adds a resource type.
    #[must_use]
    pub fn resource(mut self, name: &str, resource: impl Resource) -> Self {
        self.check_added_name("resource type", name, self.resources.contains_key(name));
        self.resources.insert(name.to_owned(), Box::new(TypedResource::new(resource)));
        self
    }

    /// Adds a data source.
    #[must_use]
    pub fn data_source(mut self, name: &str, data_source: impl DataSource) -> Self {
        self.check_added_name("data source", name, self.data_sources.contains_key(name));
        self.data_sources.insert(name.to_owned(), Box::new(TypedDataSource::new(data_source)));
        self
    }

    /// Adds an ephemeral resource type.
    #[must_use]
    pub fn ephemeral(mut self, name: &str, ephemeral: impl Ephemeral) -> Self {
        self.check_added_name("ephemeral resource type", name, self.ephemeral.contains_key(name));
        self.ephemeral.insert(name.to_owned(), Box::new(TypedEphemeral::new(ephemeral)));
        self
    }

    /// Adds a function.
    #[must_use]
    pub fn function<F: Function>(self, name: &str) -> Self {
        self.any_function(name, TypedFunction::<F>(PhantomData))
    }

    /// Adds a function whose types are known only when the provider runs.
    #[must_use]
    pub fn any_function(mut self, name: &str, function: impl AnyFunction) -> Self {
        self.check_added_name("function", name, self.functions.contains_key(name));
        self.functions.insert(name.to_owned(), Box::new(function));
        self
    }

    /// Adds an action.
    #[must_use]
    pub fn action<A: Action>(mut self, name: &str, action: A) -> Self {
        // An action leaves no object in which computed values could be stored.
        const { assert!(!A::Model::HAS_COMPUTED, "an action has no computed attributes") }
        self.check_added_name("action", name, self.actions.contains_key(name));
        self.actions.insert(name.to_owned(), Arc::new(TypedAction::new(action)));
        self
    }

    /// Adds a list resource, under the name of the resource type whose objects it finds.
    #[must_use]
    pub fn list<L: List>(mut self, name: &str, list: L) -> Self {
        const {
            // Nothing could fill them in: a list has no plan and no object of its own.
            assert!(!L::Model::HAS_COMPUTED, "what a list is asked has no computed attributes");
            // A host knows what is listed by its identity, as the object itself may be left out.
            assert!(
                L::Object::HAS_IDENTITY,
                "what is listed has an identity: mark its attributes `identity`"
            );
        }
        self.check_added_name("list resource", name, self.lists.contains_key(name));
        self.lists.insert(name.to_owned(), Arc::new(TypedList::new(list)));
        self
    }

    /// Adds a state store.
    #[must_use]
    pub fn state_store<S: StateStore>(mut self, name: &str, store: S) -> Self {
        // A configuration has no object in which computed values could be stored.
        const { assert!(!S::Model::HAS_COMPUTED, "a state store has no computed attributes") }
        self.check_added_name("state store", name, self.state_stores.contains_key(name));
        self.state_stores.insert(name.to_owned(), Box::new(TypedStateStore::new(store)));
        self
    }

    /// Returns an implementation of the contract in this process, for example to wrap it.
    #[must_use]
    pub fn into_provider(self) -> impl Provider {
        Server::new(self)
    }
}

/// Configuration of a provider. Resources share data such as a client with the implementor, which
/// sets it here.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration of a provider",
    note = "write `impl Configure for {Self}`"
)]
pub trait Configure: Send + Sync + 'static {
    /// Arguments of the `provider` block.
    type Model: Model;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Takes the configuration. While planning, values may still be unknown.
    ///
    /// # Errors
    /// When the configuration is unusable. No other call follows.
    fn configure(&self, call: Setup<Self::Model>) -> impl Future<Output = Answer<()>> + Send;
}

/// A request to configure the provider.
#[non_exhaustive]
pub struct Setup<M: Model> {
    /// The configuration, with defaults.
    pub config: Draft<M>,
    /// The attributes and blocks that are not wholly known yet, because they depend on objects that
    /// are still to be created. A provider that must not guess defers everything; if the host does
    /// not allow deferral, it remembers them and lets calls fail.
    pub unknown: Vec<String>,
    /// The version of the host, as it compares with `required_version`.
    pub host_version: String,
    /// Defers all calls until the provider is configured again:
    /// `call.deferral.request(DeferredReason::ProviderConfigUnknown)?`.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(Setup);

impl<M: Model> Setup<M> {
    /// The configuration, wholly known.
    ///
    /// # Errors
    /// When some of it is not known yet: names the attributes.
    pub fn known_config(&self) -> Answer<Input<M>> {
        let Some(first) = self.unknown.first() else {
            return model::struct_from_object(&plan::replace_unknown_with_null(
                &self.config.to_value(),
            ));
        };
        let names: Vec<_> = self.unknown.iter().map(|name| format!("`{name}`")).collect();
        let detail = format!(
            "{} will be known only when what it depends on has been created. Create that first, for \
             example with -target, or give a value that is known.",
            names.join(", ")
        );
        Err(Problem::new("Provider configuration not known yet", detail).at(first))
    }
}

/// No configuration.
struct NoConfiguration;

impl Configure for NoConfiguration {
    type Model = ();

    async fn configure(&self, _: Setup<()>) -> Answer<()> {
        Ok(())
    }
}
