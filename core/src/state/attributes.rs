//! The stored attributes of an object, which only their provider can bring into the form of its schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::message::resource::RawState;
use formwork_value::codec::{flatmap, json};
use formwork_value::{Type, Value};

/// The stored attributes of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectAttributes {
    /// JSON in the state form.
    Json(Bytes),
    /// A map of strings with paths as keys, as Terraform 0.11 and earlier stored objects. An object
    /// keeps this form until its provider has upgraded it.
    Flatmap(Arc<BTreeMap<String, String>>),
}

impl Default for ObjectAttributes {
    /// No attributes.
    fn default() -> Self {
        Self::Json(Bytes::from_static(b"{}"))
    }
}

impl ObjectAttributes {
    /// The attributes in the form of a provider request to upgrade or move an object.
    #[must_use]
    pub fn to_raw_state(&self) -> RawState {
        match self {
            Self::Json(text) => RawState::Json(text.clone()),
            Self::Flatmap(members) => RawState::Flat((**members).clone()),
        }
    }

    /// The attributes without those that a type does not have.
    #[must_use]
    pub fn without_undeclared(&self, ty: &Type) -> Self {
        // Invalid JSON is passed unchanged: the provider rejects it.
        match self {
            Self::Json(text) => match json::strip_removed_attributes(text, ty) {
                Ok(Some(stripped)) => Self::Json(stripped.into()),
                _ => self.clone(),
            },
            // The type does not determine which paths were lost: the keys of sets are hashes.
            Self::Flatmap(_) => self.clone(),
        }
    }

    /// The attributes as a value of a type, without a provider.
    ///
    /// # Errors
    /// When the attributes do not conform to the type.
    pub fn decode_as(&self, ty: &Type) -> Result<Value, String> {
        match self {
            Self::Json(text) => json::decode(text, ty).map_err(|error| error.to_string()),
            Self::Flatmap(members) => flatmap::decode(members, ty),
        }
    }

    /// The attributes as JSON: all of an object, or the paths of the flat form; null if they are no JSON.
    #[must_use]
    pub fn to_json_value(&self) -> serde_json::Value {
        match self {
            Self::Json(text) => serde_json::from_slice(text).unwrap_or_default(),
            Self::Flatmap(members) => serde_json::json!(**members),
        }
    }

    /// The attribute `id`, if it is a string.
    #[must_use]
    pub fn id_attribute(&self) -> Option<String> {
        match self {
            Self::Json(_) => Some(self.to_json_value().get("id")?.as_str()?.to_owned()),
            Self::Flatmap(members) => members.get("id").cloned(),
        }
    }
}
