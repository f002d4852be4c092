//! Calls of a resource type, with their values.

use std::any::TypeId;

pub use formwork_plugin_protocol::message::resource::RawState;
use formwork_value::codec::json::{self, Extra};
use formwork_value::{Path, Value};

use crate::call::Call;
use crate::context::{Deferral, Meta, Others, Partial, Private};
use crate::schema::Shape;
use crate::{
    Answer, Computed, Draft, Identity, Input, Model, Problem, Resource, View, flatmap, model, plan,
};

/// Makes a struct of a call a [`Call`].
macro_rules! calls {
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

pub(crate) use calls;

calls!(Validate Change Create Read Update Delete Import ImportByIdentity, without_model: Upgrade Foreign);

/// Asks whether something can be so.
#[non_exhaustive]
pub struct Validate<M: Model> {
    /// The configuration.
    pub config: Draft<M>,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// A plan to create or change an object, before the host sees it.
#[non_exhaustive]
pub struct Change<M: Model> {
    /// The object as it is; `None` to create one.
    pub prior: Option<M>,
    /// The configuration.
    pub config: Draft<M>,
    /// The planned object. Attributes that the author set must stay as they are here, or be as in
    /// the prior object.
    pub planned: Draft<M>,
    /// Attributes whose change needs a new object, besides those whose rules say so.
    pub replace: Vec<Path>,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: Meta,
    /// To put the answer off.
    pub deferral: Deferral,
    /// The rest, for those who take the values out.
    pub call: Call,
}

impl<M: Model> Change<M> {
    /// Plans values that were found out already and are unknown in the plan. Values of the author
    /// stay as they are.
    pub fn fill(&mut self, computed: Computed<M>) {
        let found = Draft::<M>::from(computed).to_value();
        // Both are drafts, so what is put together of their parts is one.
        if let Ok(planned) = View::from_value(&plan::foretold(&self.planned.to_value(), &found)) {
            self.planned = planned;
        }
    }
}

/// Asks for an object.
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
    pub meta: Meta,
    pub(crate) partial: Partial,
    /// The rest, for those who take the values out.
    pub call: Call,
}

impl<M: Model> Create<M> {
    /// Keeps what has been made already, in case the rest fails: at least what it takes to find the
    /// object again. If the handler fails, this is what is stored; if it does not, what it returns.
    pub fn keep(&self, known: impl Into<Draft<M>>) {
        self.partial.keep(known.into().to_value());
    }
}

/// Asks for the real object behind a stored one.
#[non_exhaustive]
pub struct Read<M: Model> {
    /// The stored object; after an import, the part that the import filled. Missing values are
    /// empty, zero or false.
    pub current: M,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: Meta,
    /// To put the answer off.
    pub deferral: Deferral,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Asks for a change in place.
#[non_exhaustive]
pub struct Update<M: Model> {
    /// The configuration.
    pub config: Draft<M>,
    /// The object as it is.
    pub prior: M,
    /// The attributes that the author may set, with defaults and planned values; write-only values
    /// too.
    pub planned: Input<M>,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: Meta,
    pub(crate) partial: Partial,
    /// The rest, for those who take the values out.
    pub call: Call,
}

impl<M: Model> Update<M> {
    /// Keeps what has been changed already, in case the rest fails.
    pub fn keep(&self, known: impl Into<Draft<M>>) {
        self.partial.keep(known.into().to_value());
    }
}

/// Asks for an object's end.
#[non_exhaustive]
pub struct Delete<M: Model> {
    /// The prior object. Missing values are empty, zero or false.
    pub prior: M,
    /// Private data of the object.
    pub private: Private,
    /// The `provider_meta` of the module.
    pub meta: Meta,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Asks for an object that exists, by what the user calls it.
#[non_exhaustive]
pub struct Import<M: Model> {
    /// Import id given by the user.
    pub id: String,
    /// Private data of the object.
    pub private: Private,
    /// To put the answer off.
    pub deferral: Deferral,
    pub(crate) others: Others,
    pub(crate) model: std::marker::PhantomData<fn() -> M>,
    /// The rest, for those who take the values out.
    pub call: Call,
}

impl<M: Model> Import<M> {
    /// Finds another object along with this one, of the resource type that `R` handles, in case the id
    /// stands for several: `call.along::<Rules>(RuleIdentity { … })`. A read of it follows as well.
    ///
    /// Terraform's command `import` takes all of them, if their types have the same attributes as the one
    /// that was asked for; `import` blocks, and Formwork, refuse more than one.
    pub fn along<R: Resource>(&self, object: impl Into<Draft<R::Model>>) {
        self.others.add(TypeId::of::<R>(), plan::settled(&object.into().to_value()));
    }
}

/// Asks for an object that exists, by its identity.
#[non_exhaustive]
pub struct ImportByIdentity<M: Model> {
    /// The attributes that are marked so.
    pub identity: Identity<M>,
    /// Private data of the object.
    pub private: Private,
    /// To put the answer off.
    pub deferral: Deferral,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Asks for the newest form of an object that an older version of the provider stored.
#[non_exhaustive]
pub struct Upgrade {
    /// The object.
    pub stored: Stored,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// An object of another resource type, perhaps of another provider, that shall become one of this.
#[non_exhaustive]
pub struct Foreign {
    /// The source address of the provider it belonged to.
    pub provider: String,
    /// The resource type that it had.
    pub type_name: String,
    /// The object.
    pub stored: Stored,
    /// Private data from the former provider. It stays with the object in the form that this
    /// handler gives it; data of providers that do not use this SDK is opaque.
    pub private: Private,
    /// Identity under the former provider; `None` if there was none.
    pub identity: Option<Stored>,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// An object as an older version of the provider stored it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The version of the schema it was stored with.
    pub version: u64,
    /// The object as it was stored: as JSON or, before Terraform 0.12, as a flat map of texts.
    pub state: RawState,
}

impl Stored {
    /// Reads the object as one of another model, such as the one of that version: missing
    /// attributes are absent, or empty, zero or false, and unknown ones are left out.
    ///
    /// # Errors
    /// When an attribute has another type than in the model.
    pub fn read<M: Model>(&self) -> Answer<M> {
        let shape = M::shape();
        let value = self.value(&shape)?;
        model::read(&plan::filled(&shape, &value))
    }

    /// Reads the attributes that the object has: missing ones are null, and unknown ones are left
    /// out.
    ///
    /// # Errors
    /// When an attribute has another type than in the model.
    pub fn draft<M: Model>(&self) -> Answer<Draft<M>> {
        model::read(&self.value(&M::shape())?)
    }

    pub(crate) fn value(&self, shape: &Shape) -> Answer<Value> {
        self.value_of(shape).map_err(|why| {
            let detail =
                format!("The stored object does not fit the schema it was stored with: {why}.");
            Problem::new("Unable to read previously saved state", detail)
        })
    }

    /// A host that differs in what it has left out or in should not break anything, so what is missing
    /// is null and what is too much is dropped.
    fn value_of(&self, shape: &Shape) -> Result<Value, String> {
        match &self.state {
            RawState::Json(json) => {
                json::decode_with(json, shape.ty(), Extra::Drop).map_err(|error| error.to_string())
            }
            RawState::Flat(texts) => flatmap::decode(texts, shape.ty()),
        }
    }
}
