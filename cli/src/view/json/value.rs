//! Values in JSON views: the known parts, and in the same structure the unknown and the sensitive parts.

use formwork_value::codec::json;
use formwork_value::{Marks, Path, Step, Type, Value};

use super::json_builder::Json;

/// A value as its plain JSON. Unknown attributes are omitted, unknown elements are null, marks are ignored.
pub(crate) fn value_to_json(value: &Value) -> Json {
    match value.without_own_marks() {
        Value::Unknown(_) | Value::Null(_) => Json::Null,
        plain if plain.is_wholly_known() => {
            let plain = plain.clone().split_marks().0.into_value();
            // Only infinities cannot be encoded.
            json::encode_untyped(&plain).map_or(Json::Null, Json::Written)
        }
        Value::Object(object) => members_to_json(object.iter()),
        Value::Map(map) => members_to_json(map.iter()),
        plain => Json::Array(plain.children().iter().map(value_to_json).collect()),
    }
}

fn members_to_json<'v>(parts: impl Iterator<Item = (&'v formwork_value::Str, &'v Value)>) -> Json {
    let known_parts = parts.filter(|(_, value)| !value.is_unknown());
    Json::Object(
        known_parts.map(|(name, value)| (name.to_string(), value_to_json(value))).collect(),
    )
}

/// The type of a value as JSON.
pub(crate) fn type_to_json(ty: &Type) -> Json {
    Json::Written(formwork_value::codec::type_json::encode(ty))
}

/// The unknown parts of a value, in the structure of the value: unknown parts are `true`, and `false` members
/// are omitted.
pub(crate) fn unknown_to_json(value: &Value) -> Json {
    shape_of_parts(value, &|value| value.is_unknown())
}

/// The sensitive parts of a value, in the structure of the value. The structure of an unknown part is empty.
pub(crate) fn sensitive_to_json(value: &Value) -> Json {
    shape_of_parts(value, &|value| value.marks().contains(Marks::SENSITIVE))
}

fn shape_of_parts(value: &Value, holds: &dyn Fn(&Value) -> bool) -> Json {
    if holds(value) {
        return Json::Bool(true);
    }
    let parts = |pairs: &mut dyn Iterator<Item = (String, &Value)>| {
        let shaped = pairs.map(|(name, part)| (name, shape_of_parts(part, holds)));
        Json::Object(shaped.filter(|(_, json)| *json != Json::Bool(false)).collect())
    };
    match value.without_own_marks() {
        Value::Object(object) => {
            parts(&mut object.iter().map(|(name, part)| (name.to_string(), part)))
        }
        Value::Map(map) => parts(&mut map.iter().map(|(name, part)| (name.to_string(), part))),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            Json::Array(value.children().iter().map(|part| shape_of_parts(part, holds)).collect())
        }
        Value::Unknown(_) => match value.ty() {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => Json::Array(Vec::new()),
            Type::Map(_) | Type::Object(_) => Json::Object(Vec::new()),
            _ => Json::Bool(false),
        },
        _ => Json::Bool(false),
    }
}

/// A path as an array of names, keys and indices.
pub(crate) fn path_to_json(path: &Path) -> Json {
    let steps = path.0.iter().map(|step| match step {
        Step::Attribute(name) | Step::Key(name) => Json::text(name.as_str()),
        Step::Index(index) => Json::Written(index.to_string()),
    });
    Json::Array(steps.collect())
}
