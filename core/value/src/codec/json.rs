//! The state form: schema-directed JSON, and the simple form, in which the JSON determines the types.

mod decode;
pub mod json_text;
pub mod parse;
mod strip_removed;
pub mod type_json;

pub use strip_removed::strip_removed_attributes;

use super::{DecodeError, EncodeError, wrong_type_error};
use crate::value::Object;
use crate::{Step, Type, Value};

/// Writes a value as the type `ty`, compactly, with the escapes of the state format (`<`, `>`, `&`,
/// U+2028, U+2029); parts where `ty` is dynamic are wrapped as `{"value":…,"type":…}`.
///
/// # Errors
/// Returns an error if the value contains an unknown value, a mark or an infinity, or does not have the
/// type.
pub fn encode(value: &Value, ty: &Type) -> Result<String, EncodeError> {
    check_depth(value)?;
    let mut out = String::new();
    write_as_type(&mut out, value, ty)?;
    Ok(out)
}

/// Returns the value that results from encoding and decoding: numbers have the precision of decoded
/// numbers. Returns `None` if all of them already have it.
#[must_use]
pub fn with_stored_number_precision(value: &Value) -> Option<Value> {
    if let Value::Number(number) = value {
        return number.with_text_precision().map(Value::Number);
    }
    let parts: Vec<Option<Value>> =
        value.children().iter().map(with_stored_number_precision).collect();
    if parts.iter().all(Option::is_none) {
        return None;
    }
    let pairs = parts.into_iter().zip(value.children());
    Some(value.with_children(pairs.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect()))
}

/// The treatment of attributes that the type does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraAttributes {
    /// Undeclared attributes are an error.
    Refuse,
    /// Undeclared attributes are ignored, because a newer schema may have removed them.
    Drop,
}

/// Reads a value of the type `ty`. Missing attributes are null, undeclared ones an error.
///
/// # Errors
/// Returns an error if the text is not the JSON of a value of the type, or is nested too deeply.
pub fn decode(text: &[u8], ty: &Type) -> Result<Value, DecodeError> {
    decode_with_extra_attributes(text, ty, ExtraAttributes::Refuse)
}

/// Reads a value of the type `ty`. Missing attributes are null. `extra` determines the treatment of
/// undeclared ones.
///
/// # Errors
/// Returns an error if the text is not the JSON of a value of the type, or is nested too deeply.
pub fn decode_with_extra_attributes(
    text: &[u8],
    ty: &Type,
    extra: ExtraAttributes,
) -> Result<Value, DecodeError> {
    decode_node(&parse_json_tree(text)?, ty, extra)
}

/// Reads a part of a JSON text as a value of the type `ty`.
///
/// # Errors
/// Returns an error if the part is not a value of the type.
pub fn decode_node(
    node: &parse::JsonNode<'_>,
    ty: &Type,
    extra: ExtraAttributes,
) -> Result<Value, DecodeError> {
    decode::TypedDecoder::new(extra).decode_typed(node, ty)
}

/// Writes a value with its own types, without wrappers, as `jsonencode` and the JSON views do.
///
/// # Errors
/// Returns an error if the value contains an unknown value, a mark or an infinity.
pub fn encode_untyped(value: &Value) -> Result<String, EncodeError> {
    check_depth(value)?;
    let mut out = String::new();
    write_untyped(&mut out, value)?;
    Ok(out)
}

/// Reads any JSON as the value of the corresponding types, as `jsondecode` does: objects and tuples.
///
/// # Errors
/// Returns an error if the text is not JSON, or is nested too deeply.
pub fn decode_untyped(text: &[u8]) -> Result<Value, DecodeError> {
    decode::decode_untyped_value(&parse_json_tree(text)?)
}

fn parse_json_tree(text: &[u8]) -> Result<parse::JsonNode<'_>, DecodeError> {
    parse::parse_json_tree(text).map_err(|error| DecodeError::new(error.to_string()))
}

fn check_depth(value: &Value) -> Result<(), EncodeError> {
    if value.depth() > Value::MAX_DEPTH {
        return Err(EncodeError::new("the value is nested too deep"));
    }
    Ok(())
}

fn write_as_type(out: &mut String, value: &Value, ty: &Type) -> Result<(), EncodeError> {
    match (value, ty) {
        // A null of unknown type is not wrapped.
        (Value::Null(null_ty), _)
            if *null_ty == Type::Dynamic || (*ty != Type::Dynamic && null_ty.conforms_to(ty)) =>
        {
            out.push_str("null");
            Ok(())
        }
        // The schema leaves the type open, so a reader needs it with the value.
        (Value::Null(_) | Value::Bool(_) | Value::Number(_) | Value::String(_), Type::Dynamic)
        | (Value::List(_) | Value::Set(_) | Value::Map(_), Type::Dynamic)
        | (Value::Tuple(_) | Value::Object(_), Type::Dynamic) => {
            let value_ty = value.ty();
            out.push_str("{\"value\":");
            write_as_type(out, value, &value_ty)?;
            out.push_str(",\"type\":");
            out.push_str(&type_json::encode(&value_ty));
            out.push('}');
            Ok(())
        }
        (Value::Bool(_), Type::Bool)
        | (Value::Number(_), Type::Number)
        | (Value::String(_), Type::String)
        | (Value::Marked(_) | Value::Unknown(_), _) => write_primitive(out, value),
        (Value::List(_), Type::List(element)) | (Value::Set(_), Type::Set(element)) => {
            write_children(out, value, |out, _, item| write_as_type(out, item, element))
        }
        (Value::Map(_), Type::Map(element)) => {
            write_children(out, value, |out, _, item| write_as_type(out, item, element))
        }
        (Value::Tuple(tuple), Type::Tuple(elements)) if tuple.items().len() == elements.len() => {
            write_children(out, value, |out, at, item| write_as_type(out, item, &elements[at]))
        }
        (Value::Object(object), Type::Object(shape)) => {
            // Both sides are sorted by name, so equal sets of names are equal sequences.
            if !object.names().iter().eq(shape.attributes.keys()) {
                return Err(EncodeError::new(super::describe_name_difference(
                    object.names(),
                    shape,
                )));
            }
            let mut types = shape.attributes.values();
            write_children(out, value, |out, _, item| match types.next() {
                Some(ty) => write_as_type(out, item, ty),
                None => Ok(()),
            })
        }
        _ => Err(wrong_type_error(value, ty)),
    }
}

fn write_untyped(out: &mut String, value: &Value) -> Result<(), EncodeError> {
    match value {
        Value::Null(_) => {
            out.push_str("null");
            Ok(())
        }
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Tuple(_) | Value::Object(_) => {
            write_children(out, value, |out, _, item| write_untyped(out, item))
        }
        _ => write_primitive(out, value),
    }
}

/// Writes the children of a value between its brackets.
fn write_children(
    out: &mut String,
    value: &Value,
    mut each: impl FnMut(&mut String, usize, &Value) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let names = match value {
        Value::Map(map) => Some(map.keys()),
        Value::Object(object) => Some(&**Object::names(object)),
        _ => None,
    };
    let brackets = if names.is_some() { ['{', '}'] } else { ['[', ']'] };
    json_text::write_sequence(
        out,
        brackets,
        value.children().iter().enumerate(),
        |out, (at, item)| {
            if let Some(name) = names.and_then(|names| names.get(at)) {
                json_text::write_string(out, name);
                out.push(':');
            }
            each(out, at, item).map_err(|error| error.prepend_step(value.step_to_child(at)))
        },
    )
}

fn write_primitive(out: &mut String, value: &Value) -> Result<(), EncodeError> {
    match value {
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) if !number.is_infinite() => out.push_str(&number.to_string()),
        Value::Number(_) => return Err(EncodeError::new("infinity cannot be written as JSON")),
        Value::String(text) => json_text::write_string(out, text),
        // Marks cannot be encoded. A state stores them in a separate list of paths.
        Value::Marked(_) => {
            return Err(EncodeError::new(
                "a sensitive or ephemeral value must have its marks taken off",
            ));
        }
        _ => return Err(EncodeError::new("the value is not known")),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
