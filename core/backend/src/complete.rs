//! Arguments with nested objects: those that an object lacks are null, as in a `backend` block.

use formwork_value::convert::ConversionError;
use formwork_value::schema::{AttributeKind, Block, NestedAttributes, Role};
use formwork_value::{Str, Value};

/// Forces a value into the schema of a backend.
///
/// # Errors
/// As [`Block::coerce`].
pub fn coerce(schema: &Block, value: &Value) -> Result<Value, ConversionError> {
    let Some(parts) = members(value) else { return schema.coerce(value) };
    let parts = parts.into_iter().map(|(name, part)| {
        let attribute = schema.attributes.get(&name).map(|attribute| &attribute.kind);
        let part = match attribute {
            Some(AttributeKind::Nested(nested)) => completed(nested, &part),
            _ => part,
        };
        (name, part)
    });
    schema.coerce(&Value::object(parts.collect::<Vec<_>>()).mark(value.marks()))
}

/// An object with null for the optional attributes that it lacks.
fn completed(nested: &NestedAttributes, value: &Value) -> Value {
    let Some(mut parts) = members(value) else { return value.clone() };
    for (name, attribute) in &nested.attributes {
        if attribute.role != Role::Required && !parts.iter().any(|(other, _)| other == name) {
            parts.push((name.clone(), Value::null(attribute.implied_type())));
        }
    }
    Value::object(parts).mark(value.marks())
}

/// The members of an object or a map.
fn members(value: &Value) -> Option<Vec<(Str, Value)>> {
    let pair = |(name, value): (&Str, &Value)| (name.clone(), value.clone());
    match value.peek() {
        Value::Object(object) => Some(object.iter().map(pair).collect()),
        Value::Map(map) => Some(map.iter().map(pair).collect()),
        _ => None,
    }
}
