//! A managed resource as its author writes it. Planning is done from the model's rules; the hooks are
//! for what rules cannot say.

use async_trait::async_trait;
use bytes::Bytes;
use formwork_value::codec::json::{self, Extra};
use formwork_value::{Diagnostic, Diagnostics, Path, Reported};

use crate::stop::Stop;
use crate::{Answer, Model, model};

/// A resource type. Only [`create`](Self::create) must be written: what is left out suits a resource
/// that exists in the state alone and is never changed in place.
///
/// A handler that fails reports why to `diags` and returns the receipt. One that reports an error and
/// returns an object all the same has done its work in part: the object is kept, a created one as
/// tainted.
#[async_trait]
pub trait Resource: Send + Sync + 'static {
    /// The objects.
    type Model: Model;

    /// Version of the stored form. To be raised when [`upgrade`](Self::upgrade) has something to do.
    const VERSION: u64 = 0;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    fn validate(&self, _diags: &mut Diagnostics, _config: &Self::Model) -> Answer<()> {
        Ok(())
    }

    /// Says more about a plan to create or change an object than the rules do.
    async fn modify_plan(
        &self,
        _diags: &mut Diagnostics,
        _change: &mut Change<Self::Model>,
    ) -> Answer<()> {
        Ok(())
    }

    /// Creates an object and returns it. Everything that was planned unknown must have a value, or be
    /// null.
    async fn create(
        &self,
        diags: &mut Diagnostics,
        call: Create<Self::Model>,
    ) -> Answer<Self::Model>;

    /// Reads the real object; `None` when it is gone.
    async fn read(
        &self,
        _diags: &mut Diagnostics,
        call: Read<Self::Model>,
    ) -> Answer<Option<Self::Model>> {
        Ok(Some(call.current))
    }

    /// Changes an object in place and returns what it has become.
    async fn update(
        &self,
        _diags: &mut Diagnostics,
        call: Update<Self::Model>,
    ) -> Answer<Self::Model> {
        Ok(call.planned)
    }

    /// Destroys an object. That it is gone already is no error.
    async fn delete(&self, _diags: &mut Diagnostics, _call: Delete<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Finds an existing object by what the user calls it. A read follows, so the id alone may do.
    async fn import(&self, diags: &mut Diagnostics, _id: &str) -> Answer<Self::Model> {
        Err(import_not_supported(diags))
    }

    /// Brings an object stored with an older version to this one.
    async fn upgrade(&self, diags: &mut Diagnostics, stored: Stored) -> Answer<Self::Model> {
        let detail = format!(
            "The object was stored with version {} of its schema, the provider has version {} and no \
             way from one to the other. This is a bug in the provider.",
            stored.version,
            Self::VERSION
        );
        Err(diags.error(Diagnostic::error("Unable to upgrade resource state", detail)))
    }
}

/// A plan to create or change an object, before the host sees it.
#[derive(Debug)]
pub struct Change<M> {
    /// The object as it is; `None` to create one.
    pub prior: Option<M>,
    /// What the author wrote.
    pub config: M,
    /// What the object shall be. What the author set must stay as it is here, or be as in the prior
    /// object.
    pub planned: M,
    /// Attributes whose change needs a new object, besides those whose rules say so.
    pub replace: Vec<Path>,
}

/// Asks for an object.
#[derive(Debug)]
pub struct Create<M> {
    /// What the author wrote; the only place where write-only values are.
    pub config: M,
    /// What was planned; unknown is what the provider shall find out.
    pub planned: M,
    /// Whether to hurry.
    pub stop: Stop,
}

/// Asks for the real object behind a stored one.
#[derive(Debug)]
pub struct Read<M> {
    /// The stored object; after an import, what the import knew of it.
    pub current: M,
    /// Whether to hurry.
    pub stop: Stop,
}

/// Asks for a change in place.
#[derive(Debug)]
pub struct Update<M> {
    /// What the author wrote; the only place where write-only values are.
    pub config: M,
    /// The object as it is.
    pub prior: M,
    /// What was planned; unknown is what the provider shall find out.
    pub planned: M,
    /// Whether to hurry.
    pub stop: Stop,
}

/// Asks for an object's end.
#[derive(Debug)]
pub struct Delete<M> {
    /// The object as it is.
    pub prior: M,
    /// Whether to hurry.
    pub stop: Stop,
}

/// An object as an older version of the provider stored it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The version of the schema it was stored with.
    pub version: u64,
    /// The object as JSON.
    pub json: Bytes,
}

impl Stored {
    /// Reads the object as one of another model: what is missing is null, what is too much is left
    /// out.
    ///
    /// # Errors
    /// When an attribute has another type than the model says.
    pub fn read<M: Model>(&self, diags: &mut Diagnostics) -> Answer<M> {
        let ty = M::shape().block.implied_type();
        match json::decode_with(&self.json, &ty, Extra::Drop) {
            Ok(value) => model::read(diags, &value),
            Err(error) => Err(diags.error(unreadable(&error.to_string()))),
        }
    }
}

/// The error that a stored object cannot be read.
pub(crate) fn unreadable(why: &str) -> Diagnostic {
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
