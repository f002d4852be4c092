//! Definition of a provider: its configuration, resources, data sources, functions and the rest.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::action::Action;
pub use crate::configure::{Configure, Setup};
use crate::data_source::DataSource;
use crate::erased::{
    AnyAction, AnyDataSource, AnyEphemeral, AnyList, AnyProviderConfig, AnyResource, AnyStateStore,
    TypedAction, TypedDataSource, TypedEphemeral, TypedList, TypedProviderConfig, TypedResource,
    TypedStateStore,
};
use crate::function::{AnyFunction, TypedFunction};
use crate::list::List;
use crate::schema::Shape;
use crate::{Answer, Ephemeral, Function, Model, Resource, StateStore};

/// Definition of a provider.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// # /// A note.
/// # #[derive(Model)]
/// # struct Note {
/// #     #[attr(required)]
/// #     title: String,
/// #     #[attr(computed, keep)]
/// #     id: String,
/// # }
/// #
/// struct Notes;
///
/// impl Resource for Notes {
///     type Model = Note;
/// #
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
///     // …
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/notes")
///     .resource("notes_note", Notes);
/// assert_eq!(provider.address(), "registry.terraform.io/acme/notes");
/// ```
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

    /// Checks the name of an addition. `is_there` is whether the name is already in use.
    fn check_added_name(&mut self, kind: &str, name: &str, is_there: bool) {
        // The name of a provider may contain a dash, and the name of a resource type begins with
        // it.
        let is_name_char =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
        // Collected and no panic: the host can show them with the schema.
        if is_there {
            self.mistakes.push(format!("the {kind} {name:?} is added twice"));
        }
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_name_char) {
            self.mistakes.push(format!(
                "{name:?} is not a valid name of a {kind}: a name begins with a lower-case \
                 letter, and has lower-case letters, digits, `_` and `-`"
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
            assert!(
                !L::Model::HAS_COMPUTED,
                "the configuration of a list has no computed \
                attributes"
            );
            // A host identifies listed objects by their identity, because the object itself may be
            // omitted.
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
}

/// No configuration.
struct NoConfiguration;

impl Configure for NoConfiguration {
    type Model = ();

    async fn configure(&self, _: Setup<()>) -> Answer<()> {
        Ok(())
    }
}
