//! Inspects values as the rules do: parts of null are null, parts of unknown are unknown, and
//! refinements of unknown values are ignored.

use std::hash::{Hash as _, Hasher};

use formwork_value::{Str, Type, Value};

/// The longest value that a message shows in full.
const MAX_SHOWN_VALUE_LENGTH: usize = 400;

/// An attribute of an object; of a null object null, of an unknown one unknown. `ty` is the type of
/// the attribute.
pub(super) fn attribute_value(object: &Value, name: &str, ty: impl FnOnce() -> Type) -> Value {
    match object {
        Value::Object(object) => object.get(name).cloned().unwrap_or_else(|| Value::null(ty())),
        Value::Unknown(_) => Value::unknown(ty()),
        _ => Value::null(ty()),
    }
}

/// The elements of a collection of objects by key: of a map, or of the object that replaces it
/// where types differ.
pub(super) fn map_elements_by_key(collection: &Value) -> impl Iterator<Item = (&Str, &Value)> {
    let keys = match collection {
        Value::Map(map) => map.keys(),
        Value::Object(object) => &object.names()[..],
        _ => &[],
    };
    keys.iter().zip(collection.children())
}

/// The element under a key.
pub(super) fn element_under_key<'v>(collection: &'v Value, key: &str) -> Option<&'v Value> {
    match collection {
        Value::Map(map) => map.get(key),
        Value::Object(object) => object.get(key),
        _ => None,
    }
}

/// Whether two values are identical: unknown equals unknown of the same type, regardless of
/// refinements; null equals null.
pub(super) fn are_identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // Regardless of their types: nulls of dynamic attributes may have different ones.
        (Value::Null(_), Value::Null(_)) => true,
        (Value::Unknown(a), Value::Unknown(b)) => {
            a.ty() == b.ty() || *a.ty() == Type::Dynamic || *b.ty() == Type::Dynamic
        }
        // Sets have a fixed order of iteration, so their elements can be compared in pairs.
        (Value::List(_), Value::List(_))
        | (Value::Set(_), Value::Set(_))
        | (Value::Tuple(_), Value::Tuple(_)) => are_children_identical(a, b),
        (Value::Map(a_map), Value::Map(b_map)) => {
            a_map.keys() == b_map.keys() && are_children_identical(a, b)
        }
        (Value::Object(a_object), Value::Object(b_object)) => {
            a_object.names() == b_object.names() && are_children_identical(a, b)
        }
        (a, b) => a == b,
    }
}

fn are_children_identical(a: &Value, b: &Value) -> bool {
    a.children().len() == b.children().len()
        && a.children().iter().zip(b.children()).all(|(a, b)| are_identical(a, b))
}

/// Feeds a value to a hasher so that values that are [`are_identical`] feed the same.
pub(super) fn hash_value(value: &Value, into: &mut impl Hasher) {
    match value {
        // Without types, as in `are_identical`: values that are the same must have the same hash.
        Value::Null(_) => 0u8.hash(into),
        Value::Unknown(_) => 1u8.hash(into),
        Value::Bool(truth) => truth.hash(into),
        Value::Number(number) => number.hash(into),
        Value::String(text) => text.hash(into),
        _ => {
            value.children().len().hash(into);
            value.children().iter().for_each(|child| hash_value(child, into));
        }
    }
}

/// A value as a message shows it: much as the language writes it, cut when it is very long.
pub(super) fn display_value(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    if out.len() > MAX_SHOWN_VALUE_LENGTH {
        // A cut inside a character would panic.
        let end = (0..=MAX_SHOWN_VALUE_LENGTH)
            .rev()
            .find(|position| out.is_char_boundary(*position))
            .unwrap_or(0);
        out.truncate(end);
        out.push('…');
    }
    out
}

fn write_value(value: &Value, out: &mut String) {
    // A value that is too long is not formatted to its end, only to be cut.
    if out.len() > MAX_SHOWN_VALUE_LENGTH {
        return;
    }
    let brackets = match value {
        Value::Null(_) => return out.push_str("null"),
        Value::Unknown(_) => return out.push_str("(known after apply)"),
        Value::Bool(truth) => return out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => return out.push_str(&number.to_string()),
        // Escaped, so that a provider's string cannot steer a terminal.
        Value::String(text) => return out.push_str(&format!("{:?}", text.as_str())),
        // Providers receive no marks, so a mark in a value must not be sent.
        Value::Marked(_) => return out.push_str("(sensitive value)"),
        Value::Map(_) | Value::Object(_) => ["{", "}"],
        _ => ["[", "]"],
    };
    out.push_str(brackets[0]);
    let mut names = map_elements_by_key(value);
    for (index, child) in value.children().iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        if let Some((name, _)) = names.next() {
            out.push_str(&format!("{:?} = ", name.as_str()));
        }
        write_value(child, out);
    }
    out.push_str(brackets[1]);
}
