//! Calls of a resource type, with their values.

use std::any::TypeId;

pub use formwork_plugin_protocol::message::resource::RawState;
use formwork_value::Path;

use crate::call::Call;
use crate::context::{Deferral, FurtherImportedObjects, PartialResult, Private, ProviderMeta};
use crate::{Computed, Draft, Identity, Input, Model, ObjectConversion, Resource, plan};

pub use super::stored_value::StoredValue;

/// Implements dereferencing to [`Call`] for the struct of a call.
macro_rules! deref_to_call {
    ($($name:ident)* $(, without_model: $($plain:ident)*)?) => {
        $(
            impl<M: $crate::Model> ::std::ops::Deref for $name<M> {
                type Target = $crate::Call;

                fn deref(&self) -> &Self::Target {
                    &self.call
                }
            }
        )*
        $($(
            impl ::std::ops::Deref for $plain {
                type Target = $crate::Call;

                fn deref(&self) -> &Self::Target {
                    &self.call
                }
            }
        )*)?
    };
}

pub(crate) use deref_to_call;

deref_to_call!(Validate ModifyPlan Create Read Update Delete Import ImportByIdentity, without_model: Upgrade ForeignObject);

/// A request to validate a configuration.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
///
/// struct Notes;
///
/// impl Resource for Notes {
///     type Model = Note;
///
///     fn validate(&self, call: Validate<Note>) -> Answer<()> {
///         // An unknown title is validated when it is known.
///         match call.config.title.get() {
///             Some(title) if title.contains('\n') => {
///                 Err(Problem::new("Invalid title", "A title is one line.").at("title"))
///             }
///             _ => Ok(()),
///         }
///     }
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// }
/// # let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// let refusal = wait(note.apply([("title", Value::string("a\nb"))])).unwrap_err();
/// assert_eq!(refusal.0, "Invalid title: A title is one line.");
/// ```
#[non_exhaustive]
pub struct Validate<M: Model> {
    /// The configuration.
    pub config: Draft<M>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A plan to create or change an object, before the host sees it.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
///
/// struct Notes;
///
/// impl Resource for Notes {
///     type Model = Note;
///
///     async fn modify_plan(&self, change: &mut ModifyPlan<Note>) -> Answer<()> {
///         // The id of a new note is known before the note exists.
///         if let (None, Some(title)) = (&change.prior, change.planned.title.get()) {
///             let id = format!("note-{title}");
///             change.fill_early_values(NoteComputed { id });
///         }
///         Ok(())
///     }
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// }
/// # let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// let planned = wait(note.plan([("title", Value::string("a"))])).unwrap();
/// let id = Path::root().attribute("id");
/// assert_eq!(id.find(&planned.object), Some(&Value::string("note-a")));
/// ```
#[non_exhaustive]
pub struct ModifyPlan<M: Model> {
    /// The prior object; `None` to create one.
    pub prior: Option<M>,
    /// The configuration.
    pub config: Draft<M>,
    /// The planned object. Attributes that the author set must remain unchanged here, or have their
    /// prior value.
    pub planned: Draft<M>,
    /// Attributes whose change requires replacement, besides those with the rule.
    pub replace: Vec<Path>,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

impl<M: Model> ModifyPlan<M> {
    /// Plans values that are known early instead of unknown ones. Values of the author are kept.
    pub fn fill_early_values(&mut self, computed: Computed<M>) {
        let early = Draft::<M>::from(computed).to_value();
        // Both are drafts, so a merge of their parts is a draft too.
        if let Ok(planned) =
            ObjectConversion::from_value(&plan::fill_early_values(&self.planned.to_value(), &early))
        {
            self.planned = planned;
        }
    }
}

/// A request to create an object.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
///
/// struct Notes;
///
/// # async fn publish(_: &str) -> Answer<()> { Err(Problem::from_detail("it is closed")) }
/// impl Resource for Notes {
///     type Model = Note;
///
///     async fn create(&self, call: Create<Note>) -> Answer<NoteComputed> {
///         let id = format!("note-{}", call.planned.title);
///         // The note exists, even if it cannot be published.
///         call.keep(NoteDraft { id: id.clone().into(), ..NoteDraft::default() });
///         publish(&id).await?;
///         Ok(NoteComputed { id })
///     }
/// }
/// # let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// assert!(wait(note.apply([("title", Value::string("a"))])).is_err());
/// assert_eq!(note.get("id"), &Value::string("note-a"));
/// ```
#[non_exhaustive]
pub struct Create<M: Model> {
    /// The configuration.
    pub config: Draft<M>,
    /// The attributes that the author may set, with defaults and planned values; write-only values
    /// too.
    pub planned: Input<M>,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    pub(crate) partial: PartialResult,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

impl<M: Model> Create<M> {
    /// Keeps a partial result in case the handler fails: at least the attributes that find the
    /// object again. If the handler fails, this is stored; otherwise its result is stored.
    pub fn keep(&self, partial: impl Into<Draft<M>>) {
        self.partial.keep(partial.into().to_value());
    }
}

/// A request to read the real object of a stored one.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
///
/// struct Notes;
///
/// # async fn find_title(_: &str) -> Answer<Option<String>> { Ok(None) }
/// impl Resource for Notes {
///     type Model = Note;
///
///     async fn read(&self, call: Read<Note>) -> Answer<Option<Note>> {
///         let Note { id, .. } = call.current;
///         let title = find_title(&id).await?;
///         Ok(title.map(|title| Note { title, id }))
///     }
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// }
/// # let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// # wait(note.apply([("title", Value::string("a"))])).unwrap();
/// // The service has no such note.
/// wait(note.read()).unwrap();
/// assert!(note.object().is_null());
/// ```
#[non_exhaustive]
pub struct Read<M: Model> {
    /// The stored object; after an import, the part that the import set. Missing values are empty,
    /// zero or false.
    pub current: M,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to update an object in place.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Page { #[attr(required)] text: String, #[attr(computed)] revision: i64 }
///
/// struct Pages;
///
/// impl Resource for Pages {
///     type Model = Page;
///
///     async fn update(&self, call: Update<Page>) -> Answer<PageComputed> {
///         Ok(PageComputed { revision: call.prior.revision + 1 })
///     }
/// #     async fn create(&self, _: Create<Page>) -> Answer<PageComputed> {
/// #         Ok(PageComputed { revision: 1 })
/// #     }
/// }
/// # let provider = ProviderDef::new("acme/pages").resource("pages_page", Pages);
/// # let mut page = wait(TestObject::new(provider, "pages_page")).unwrap();
/// wait(page.apply([("text", Value::string("a"))])).unwrap();
/// wait(page.apply([("text", Value::string("b"))])).unwrap();
/// assert_eq!(page.get("revision"), &Value::int(2));
/// ```
#[non_exhaustive]
pub struct Update<M: Model> {
    /// The configuration.
    pub config: Draft<M>,
    /// The prior object.
    pub prior: M,
    /// The attributes that the author may set, with defaults and planned values; write-only values
    /// too.
    pub planned: Input<M>,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    pub(crate) partial: PartialResult,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

impl<M: Model> Update<M> {
    /// Keeps a partial result in case the handler fails.
    pub fn keep(&self, partial: impl Into<Draft<M>>) {
        self.partial.keep(partial.into().to_value());
    }
}

/// A request to destroy an object.
///
/// ```
/// use std::io::ErrorKind;
///
/// use formwork_sdk::prelude::*;
/// # #[derive(Model)]
/// # struct File { #[attr(required, replace)] path: String }
///
/// /// Deletes a file. An absent one is not an error.
/// async fn delete(call: &Delete<File>) -> Answer<()> {
///     match std::fs::remove_file(&call.prior.path) {
///         Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
///         removed => Ok(removed?),
///     }
/// }
/// ```
#[non_exhaustive]
pub struct Delete<M: Model> {
    /// The prior object. Missing values are empty, zero or false.
    pub prior: M,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to import an object by id.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
///
/// struct Notes;
///
/// impl Resource for Notes {
///     type Model = Note;
///
///     async fn import(&self, call: Import<Note>) -> Answer<NoteDraft> {
///         let Some(id) = call.id.strip_prefix("notes/") else {
///             return Err(Problem::new("Invalid import id", "Write `notes/` and an id."));
///         };
///         Ok(NoteDraft { id: id.into(), ..NoteDraft::default() })
///     }
/// #     async fn read(&self, call: Read<Note>) -> Answer<Option<Note>> {
/// #         Ok(Some(Note { title: "a".to_owned(), ..call.current }))
/// #     }
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// }
/// # let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// wait(note.import("notes/n-7")).unwrap();
/// assert_eq!(note.get("id"), &Value::string("n-7"));
/// ```
#[non_exhaustive]
pub struct Import<M: Model> {
    /// Import id given by the user.
    pub id: String,
    /// Private data of the object.
    pub private: Private,
    /// Deferral of the answer.
    pub deferral: Deferral,
    pub(crate) further_objects: FurtherImportedObjects,
    // Of a function type, so that the call does not own a model, and needs no bounds on it.
    pub(crate) model: std::marker::PhantomData<fn() -> M>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

impl<M: Model> Import<M> {
    /// Adds another object of the resource type that `R` handles, if the id identifies several:
    /// `call.add_object::<Rules>(RuleIdentity { … })`. A read of it follows as well.
    ///
    /// The command `import` adds all of them if they have the same type. `import` blocks accept
    /// only one.
    pub fn add_object<R: Resource>(&self, object: impl Into<Draft<R::Model>>) {
        // As for the first object: Terraform rejects unknown values in an import.
        self.further_objects
            .add(TypeId::of::<R>(), plan::replace_unknown_with_null(&object.into().to_value()));
    }
}

/// A request to import an object by identity.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep, identity)] id: String }
///
/// /// Finds a note. The service ignores the case of ids, and hosts compare it.
/// fn find_note(call: ImportByIdentity<Note>) -> NoteDraft {
///     let id = call.identity.id.to_lowercase();
///     NoteDraft::from(NoteIdentity { id })
/// }
/// ```
#[non_exhaustive]
pub struct ImportByIdentity<M: Model> {
    /// The attributes with the word `identity`.
    pub identity: Identity<M>,
    /// Private data of the object.
    pub private: Private,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to upgrade an object that an older version of the provider stored.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
///
/// struct Notes;
///
/// /// A note of version 0.
/// #[derive(Model)]
/// struct NoteV0 {
///     #[attr(required)]
///     name: String,
/// }
///
/// impl Resource for Notes {
///     type Model = Note;
///
///     const VERSION: u64 = 1;
///
///     async fn upgrade(&self, call: Upgrade) -> Answer<NoteDraft> {
///         let old: NoteV0 = call.stored.to_model()?;
///         Ok(NoteDraft { title: old.name.into(), ..NoteDraft::default() })
///     }
/// #     async fn create(&self, _: Create<Note>) -> Answer<NoteComputed> {
/// #         Ok(NoteComputed { id: "n-1".to_owned() })
/// #     }
/// }
/// # let provider = ProviderDef::new("acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// wait(note.upgrade(0, r#"{"name":"a"}"#)).unwrap();
/// assert_eq!(note.get("title"), &Value::string("a"));
/// ```
#[non_exhaustive]
pub struct Upgrade {
    /// The object.
    pub stored: StoredValue,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// An object of another resource type, possibly of another provider, to take over.
///
/// ```
/// use formwork_sdk::prelude::*;
/// # #[derive(Model)]
/// # struct Note { #[attr(required)] title: String, #[attr(computed, keep)] id: String }
/// # #[derive(Model)]
/// # struct Page { #[attr(required)] heading: String }
///
/// /// Takes over the pages of another provider as notes.
/// fn take_over(from: ForeignObject) -> Answer<Option<NoteDraft>> {
///     if from.type_name != "pages_page" {
///         return Ok(None);
///     }
///     let page: Page = from.stored.to_model()?;
///     Ok(Some(NoteDraft { title: page.heading.into(), ..NoteDraft::default() }))
/// }
/// ```
#[non_exhaustive]
pub struct ForeignObject {
    /// The source address of the provider it belonged to.
    pub provider: String,
    /// The resource type that it had.
    pub type_name: String,
    /// The stored object.
    pub stored: StoredValue,
    /// Private data from the former provider, which the object keeps as this handler leaves it.
    /// Data of providers that do not use this SDK is opaque.
    pub private: Private,
    /// Identity under the former provider; `None` if it had none.
    pub identity: Option<StoredValue>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}
