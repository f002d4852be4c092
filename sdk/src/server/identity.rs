//! Identities of objects: the attributes that the model marks.

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::resource::RawState;
use formwork_plugin_protocol::message::schema::{IdentityAttribute, IdentitySchema};
use formwork_value::codec::json::{self, ExtraAttributes};
use formwork_value::{Type, Value};

use crate::schema::{IdentityRequirement, Shape};
use crate::{Answer, Problem};

/// The schema of the identity, if there is one.
pub(super) fn identity_schema(shape: &Shape, version: u64) -> Option<IdentitySchema> {
    let attributes = shape.identity.iter().filter_map(|(name, identifies)| {
        let attribute = shape.block.attributes.get(name)?;
        let described = IdentityAttribute {
            ty: attribute.implied_type(),
            required_for_import: *identifies == IdentityRequirement::Required,
            optional_for_import: *identifies == IdentityRequirement::Optional,
            description: attribute.docs.description.clone(),
        };
        Some((name.as_str().to_owned(), described))
    });
    let attributes: std::collections::BTreeMap<_, _> = attributes.collect();
    (!attributes.is_empty()).then_some(IdentitySchema { version, attributes })
}

/// The identity of an object; `None` while parts of it are missing.
pub(super) fn object_identity(shape: &Shape, object: &Payload) -> Option<Payload> {
    if shape.identity.is_empty() {
        return None;
    }
    let object = object.decode(shape.ty()).ok()?;
    let Value::Object(parts) = object.value() else { return None };
    let mut identity = Vec::new();
    for (name, identifies) in &shape.identity {
        let part = parts.get(name)?;
        if !part.is_wholly_known()
            || (part.is_null() && *identifies == IdentityRequirement::Required)
        {
            return None;
        }
        identity.push((name.clone(), part.clone()));
    }
    Some(encode_identity(shape, Value::object(identity)))
}

/// Encodes an identity for the host.
pub(super) fn encode_identity(shape: &Shape, identity: Value) -> Payload {
    // Models have no marks, so none are removed here.
    Payload::Value(identity.split_marks().0, identity_type(shape))
}

/// Decodes an identity from the host.
pub(super) fn decode_identity(shape: &Shape, payload: &Payload) -> Answer<Value> {
    let identity = payload
        .decode(&identity_type(shape))
        .map_err(|error| unreadable_identity_problem(&error.to_string()))?;
    Ok(identity.into_value())
}

/// Reads a stored identity leniently: missing attributes are null.
pub(super) fn decode_stored_identity(shape: &Shape, state: &RawState) -> Answer<Payload> {
    // Protocol: flat objects are older than identities, so there is none.
    let RawState::Json(text) = state else { return Ok(Payload::Absent) };
    // The stored identity may have attributes that this version removed.
    match json::decode_with_extra_attributes(text, &identity_type(shape), ExtraAttributes::Drop) {
        Ok(identity) => Ok(encode_identity(shape, identity)),
        Err(error) => Err(unreadable_identity_problem(&error.to_string())),
    }
}

/// The identity of an object under another type, if it is valid under this one.
pub(super) fn identity_after_move(shape: &Shape, source: &RawState) -> Option<Payload> {
    let RawState::Json(text) = source else { return None };
    // Strict: with other attributes it is another kind of identity that only looks alike.
    let identity =
        json::decode_with_extra_attributes(text, &identity_type(shape), ExtraAttributes::Refuse)
            .ok()?;
    let Value::Object(parts) = &identity else { return None };
    let is_whole = shape.identity.iter().all(|(name, identifies)| {
        let is_there = parts.get(name).is_some_and(|part| !part.is_null());
        is_there || *identifies == IdentityRequirement::Optional
    });
    (is_whole && !shape.identity.is_empty()).then(|| encode_identity(shape, identity))
}

fn identity_type(shape: &Shape) -> Type {
    let attributes = shape.identity.keys().filter_map(|name| {
        let attribute = shape.block.attributes.get(name)?;
        Some((name.clone(), attribute.implied_type()))
    });
    Type::object(attributes)
}

fn unreadable_identity_problem(reason: &str) -> Problem {
    let detail = format!("The identity does not fit the resource type: {reason}.");
    Problem::new("Unreadable identity", detail)
}
