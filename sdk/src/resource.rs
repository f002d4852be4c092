//! A managed resource as its author writes it. Planning is done from the model's rules; the hooks are
//! for what rules cannot say.

use async_trait::async_trait;
pub use formwork_plugin_protocol::message::resource::RawState;
use formwork_value::codec::json::{self, Extra};
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Value};

use crate::context::{Deferral, Meta, Partial, Private};
use crate::schema::Shape;
use crate::stop::Stop;
use crate::{Answer, Computed, Draft, Input, Model, Upgrades, View, flat, model, plan};

/// A resource type. Only [`create`](Self::create) must be written: what is left out suits a resource
/// that exists in the state alone and whose computed attributes stay when it is changed.
///
/// Handlers return what they found out and nothing else: what the author of the configuration wrote,
/// and what the plan promised, is carried over by the server.
///
/// A handler that fails reports why to `diags` and returns the receipt. One that reports an error and
/// returns an object all the same has done its work in part: the object is kept, a created one as
/// tainted. So it is with what a handler gave to [`Partial::keep`] before it failed.
#[async_trait]
pub trait Resource: Send + Sync + 'static {
    /// The objects.
    type Model: Model;

    /// Version of the stored form. To be raised when objects that are stored already no longer fit;
    /// [`upgrades`](Self::upgrades) has something to do then.
    const VERSION: u64 = 0;

    /// The older versions of the stored form, and the way from each.
    #[must_use]
    fn upgrades() -> Upgrades<Self::Model> {
        Upgrades::none()
    }

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. What is reported without an error returned counts as well.
    fn validate(&self, _diags: &mut Diagnostics, _config: &Draft<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Says more about a plan to create or change an object than the rules do.
    ///
    /// # Errors
    /// When what the author wrote cannot be done.
    async fn modify_plan(
        &self,
        _diags: &mut Diagnostics,
        _change: &mut Change<Self::Model>,
    ) -> Answer<()> {
        Ok(())
    }

    /// Creates an object and returns what was computed.
    ///
    /// # Errors
    /// When there is no object, or only half of one: see [`Partial::keep`].
    async fn create(
        &self,
        diags: &mut Diagnostics,
        call: Create<Self::Model>,
    ) -> Answer<Computed<Self::Model>>;

    /// Reads the real object; `None` when it is gone.
    ///
    /// # Errors
    /// When that cannot be found out. The object stays what it was.
    async fn read(
        &self,
        _diags: &mut Diagnostics,
        call: Read<Self::Model>,
    ) -> Answer<Option<Self::Model>> {
        Ok(Some(call.current))
    }

    /// Changes an object in place and returns what was computed. Only what the plan left unknown
    /// counts.
    ///
    /// # Errors
    /// When it is not changed, or only in part: see [`Partial::keep`].
    async fn update(
        &self,
        _diags: &mut Diagnostics,
        call: Update<Self::Model>,
    ) -> Answer<Computed<Self::Model>> {
        Ok(call.prior.into())
    }

    /// Destroys an object. That it is gone already is no error.
    ///
    /// # Errors
    /// When it is still there.
    async fn delete(&self, _diags: &mut Diagnostics, _call: Delete<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Finds an existing object by what the user calls it. A read follows, so the id alone may do.
    ///
    /// # Errors
    /// When the id is nothing that an object could be called. Always, if this is left out.
    async fn import(&self, diags: &mut Diagnostics, _id: &str) -> Answer<Draft<Self::Model>> {
        Err(import_not_supported(diags))
    }

    /// Finds an existing object by its identity: the attributes that are marked so, all others being
    /// null. A read follows.
    ///
    /// # Errors
    /// When it is nothing that an object could have.
    async fn import_by_identity(
        &self,
        _diags: &mut Diagnostics,
        identity: Draft<Self::Model>,
    ) -> Answer<Draft<Self::Model>> {
        Ok(identity)
    }

    /// Brings an object stored with an older version to this one, if [`upgrades`](Self::upgrades)
    /// cannot say how: by asking somebody, say, or from the stored text as it is.
    ///
    /// # Errors
    /// When there is no way from its version, or the object is not of that version.
    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Draft<Self::Model>> {
        Self::upgrades().upgrade(diags, &stored).map(Into::into)
    }

    /// Takes over an object of another resource type; `None` when there is no way from that type.
    ///
    /// # Errors
    /// When there is a way, but not for this object.
    async fn take_over(
        &self,
        _diags: &mut Diagnostics,
        _from: Foreign,
    ) -> Answer<Option<Draft<Self::Model>>> {
        Ok(None)
    }
}

/// A plan to create or change an object, before the host sees it.
#[non_exhaustive]
pub struct Change<M: Model> {
    /// The object as it is; `None` to create one.
    pub prior: Option<M>,
    /// What the author wrote.
    pub config: Draft<M>,
    /// What the object shall be. What the author set must stay as it is here, or be as in the prior
    /// object.
    pub planned: Draft<M>,
    /// Attributes whose change needs a new object, besides those whose rules say so.
    pub replace: Vec<Path>,
    /// What the provider keeps beside the object.
    pub private: Private,
    /// What the module says about itself.
    pub meta: Meta,
    /// To put the answer off.
    pub deferral: Deferral,
}

impl<M: Model> Change<M> {
    /// Plans what has been found out already, where the plan does not know it yet. What the author
    /// wrote stays as it is.
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
    /// What the author wrote.
    pub config: Draft<M>,
    /// What the author has a say in, with defaults and what was planned; write-only values too.
    pub planned: Input<M>,
    /// Takes what has been made already, in case the rest fails.
    pub partial: Partial<M>,
    /// Whether to hurry.
    pub stop: Stop,
    /// What the provider keeps beside the object.
    pub private: Private,
    /// What the module says about itself.
    pub meta: Meta,
}

/// Asks for the real object behind a stored one.
#[non_exhaustive]
pub struct Read<M: Model> {
    /// The stored object; after an import, what the import knew of it. What the state lacks is empty,
    /// zero or false here.
    pub current: M,
    /// Whether to hurry.
    pub stop: Stop,
    /// What the provider keeps beside the object.
    pub private: Private,
    /// What the module says about itself.
    pub meta: Meta,
    /// To put the answer off.
    pub deferral: Deferral,
}

/// Asks for a change in place.
#[non_exhaustive]
pub struct Update<M: Model> {
    /// What the author wrote.
    pub config: Draft<M>,
    /// The object as it is.
    pub prior: M,
    /// What the author has a say in, with defaults and what was planned; write-only values too.
    pub planned: Input<M>,
    /// Takes what has been changed already, in case the rest fails.
    pub partial: Partial<M>,
    /// Whether to hurry.
    pub stop: Stop,
    /// What the provider keeps beside the object.
    pub private: Private,
    /// What the module says about itself.
    pub meta: Meta,
}

/// Asks for an object's end.
#[non_exhaustive]
pub struct Delete<M: Model> {
    /// The object as it is. What the state lacks is empty, zero or false here.
    pub prior: M,
    /// Whether to hurry.
    pub stop: Stop,
    /// What the provider keeps beside the object.
    pub private: Private,
    /// What the module says about itself.
    pub meta: Meta,
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
    /// Reads the object as one of another model, such as the one of that version: what is missing is
    /// absent, or empty, zero or false, and what is too much is left out.
    ///
    /// # Errors
    /// When an attribute has another type than the model says.
    pub fn read<M: Model>(&self, diags: &mut Diagnostics) -> Answer<M> {
        let shape = M::shape();
        let value = self.value(diags, &shape)?;
        model::read(diags, &plan::filled(&shape, &value))
    }

    /// Reads as much of the object as there is: what is missing is null, and what is too much is left
    /// out.
    ///
    /// # Errors
    /// When an attribute has another type than the model says.
    pub fn draft<M: Model>(&self, diags: &mut Diagnostics) -> Answer<Draft<M>> {
        let value = self.value(diags, &M::shape())?;
        model::read(diags, &value)
    }

    pub(crate) fn value(&self, diags: &mut Diagnostics, shape: &Shape) -> Answer<Value> {
        self.value_of(shape).map_err(|why| diags.error(unreadable(&why)))
    }

    /// A host that differs in what it has left out or in should not break anything, so what is missing
    /// is null and what is too much is dropped.
    fn value_of(&self, shape: &Shape) -> Result<Value, String> {
        match &self.state {
            RawState::Json(json) => {
                json::decode_with(json, shape.ty(), Extra::Drop).map_err(|error| error.to_string())
            }
            RawState::Flat(texts) => flat::decode(texts, shape.ty()),
        }
    }
}

/// An object of another resource type, perhaps of another provider, that shall become one of this.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Foreign {
    /// The source address of the provider it belonged to.
    pub provider: String,
    /// The resource type that it had.
    pub type_name: String,
    /// The object.
    pub stored: Stored,
}

/// The error that a stored object cannot be read.
fn unreadable(why: &str) -> Diagnostic {
    let detail = format!("The stored object does not fit the schema it was stored with: {why}.");
    Diagnostic::error("Unable to read previously saved state", detail)
}

/// Reports that objects of this type cannot be imported.
fn import_not_supported(diags: &mut Diagnostics) -> Reported {
    diags.error(Diagnostic::error(
        "Resource import not supported",
        "Objects of this resource type cannot be imported; create a new one.",
    ))
}
