//! An object in the form in which an older version of the provider, or another provider, stored it.

use formwork_plugin_protocol::message::resource::RawState;
use formwork_value::Value;
use formwork_value::codec::json::{self, ExtraAttributes};

use crate::schema::Shape;
use crate::{Answer, Draft, Model, Problem, model, plan};

/// An object that an older version of the provider stored.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::resource::StoredValue;
/// use formwork_sdk::resource::calls::RawState;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(required)]
///     title: String,
/// }
///
/// // The model has no attribute `color` any more.
/// let json = r#"{"title":"a","color":"red"}"#;
/// let stored = StoredValue { version: 0, state: RawState::Json(json.into()) };
/// let note: Note = stored.to_model().unwrap();
/// assert_eq!(note.title, "a");
/// ```
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
        // An older object may lack attributes, and a struct cannot represent absent ones.
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
        self.decode_state(shape).map_err(|reason| {
            let detail =
                format!("The stored object does not fit the schema it was stored with: {reason}.");
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
