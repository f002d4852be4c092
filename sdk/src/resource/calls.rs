//! Calls of a resource type, with their values.

use std::any::TypeId;

pub use formwork_plugin_protocol::message::resource::RawState;
use formwork_value::codec::json::{self, ExtraAttributes};
use formwork_value::{Path, Value};

use crate::call::Call;
use crate::context::{Deferral, FurtherImportedObjects, PartialResult, Private, ProviderMeta};
use crate::schema::Shape;
use crate::{
    Answer, Computed, Draft, Identity, Input, Model, ObjectConversion, Problem, Resource, model,
    plan,
};

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
#[non_exhaustive]
pub struct Validate<M: Model> {
    /// The configuration.
    pub config: Draft<M>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A plan to create or change an object, before the host sees it.
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
    /// Plans values that are known early in place of unknown ones. Values of the author are kept.
    pub fn fill_early_values(&mut self, computed: Computed<M>) {
        let found = Draft::<M>::from(computed).to_value();
        // Both are drafts, so a merge of their parts is a draft too.
        if let Ok(planned) =
            ObjectConversion::from_value(&plan::fill_early_values(&self.planned.to_value(), &found))
        {
            self.planned = planned;
        }
    }
}

/// A request to create an object.
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
    pub fn keep(&self, known: impl Into<Draft<M>>) {
        self.partial.keep(known.into().to_value());
    }
}

/// A request to read the real object of a stored one.
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
    pub fn keep(&self, known: impl Into<Draft<M>>) {
        self.partial.keep(known.into().to_value());
    }
}

/// A request to destroy an object.
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
#[non_exhaustive]
pub struct Import<M: Model> {
    /// Import id given by the user.
    pub id: String,
    /// Private data of the object.
    pub private: Private,
    /// Deferral of the answer.
    pub deferral: Deferral,
    pub(crate) others: FurtherImportedObjects,
    // Of a function, so that the call owns no model and needs nothing of it.
    pub(crate) model: std::marker::PhantomData<fn() -> M>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

impl<M: Model> Import<M> {
    /// Finds another object of the resource type that `R` handles, in case the id stands for
    /// several: `call.add_object::<Rules>(RuleIdentity { … })`. A read of it follows as well.
    ///
    /// The command `import` takes all of them if they have one type. `import` blocks accept only
    /// one.
    pub fn add_object<R: Resource>(&self, object: impl Into<Draft<R::Model>>) {
        // As for the first object: Terraform rejects unknown values in an import.
        self.others
            .add(TypeId::of::<R>(), plan::replace_unknown_with_null(&object.into().to_value()));
    }
}

/// A request to import an object by identity.
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
#[non_exhaustive]
pub struct Upgrade {
    /// The object.
    pub stored: StoredValue,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// An object of another resource type, possibly of another provider, to take over.
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

/// An object that an older version of the provider stored.
#[derive(Clone, Debug)]
pub struct StoredValue {
    /// The schema version of the stored object.
    pub version: u64,
    /// The stored data: JSON or, before Terraform 0.12, a flat map of strings.
    pub state: RawState,
}

impl StoredValue {
    /// Reads the object as another model, such as the one of that version. Missing attributes are
    /// null, or empty, zero or false. Unknown attributes are ignored.
    ///
    /// # Errors
    /// When an attribute has another type than in the model.
    pub fn to_model<M: Model>(&self) -> Answer<M> {
        let shape = M::shape();
        let value = self.decode_for_shape(&shape)?;
        // An older object may lack attributes, and a struct has no place for what is absent.
        model::struct_from_object(&plan::zero_values_where_not_nullable(&shape, &value))
    }

    /// Reads the existing attributes: missing ones are null, and unknown ones are ignored.
    ///
    /// # Errors
    /// When an attribute has another type than in the model.
    pub fn to_draft<M: Model>(&self) -> Answer<Draft<M>> {
        model::struct_from_object(&self.decode_for_shape(&M::shape())?)
    }

    pub(crate) fn decode_for_shape(&self, shape: &Shape) -> Answer<Value> {
        self.decode_state(shape).map_err(|why| {
            let detail =
                format!("The stored object does not fit the schema it was stored with: {why}.");
            Problem::new("Unable to read previously saved state", detail)
        })
    }

    /// Other hosts may omit or add attributes, so missing ones become null and extra ones are
    /// dropped.
    fn decode_state(&self, shape: &Shape) -> Result<Value, String> {
        match &self.state {
            RawState::Json(json) => {
                // Old states may have attributes that were removed from the schema.
                json::decode_with_extra_attributes(json, shape.ty(), ExtraAttributes::Drop)
                    .map_err(|error| error.to_string())
            }
            RawState::Flat(texts) => formwork_value::codec::flatmap::decode(texts, shape.ty()),
        }
    }
}
