//! Types as JSON: `"string"`, `["list","number"]`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parse::{self, JsonNode, JsonNodeKind};
use super::{DecodeError, json_text};
use crate::ty::ObjectType;
use crate::{Str, Type};

/// Writes a type compactly, with sorted attribute names.
#[must_use]
pub fn encode(ty: &Type) -> String {
    let mut out = String::new();
    write_type(&mut out, ty);
    out
}

fn write_type(out: &mut String, ty: &Type) {
    match ty {
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::Number => out.push_str("\"number\""),
        Type::String => out.push_str("\"string\""),
        Type::List(element) => write_type_constructor(out, "list", |out| write_type(out, element)),
        Type::Set(element) => write_type_constructor(out, "set", |out| write_type(out, element)),
        Type::Map(element) => write_type_constructor(out, "map", |out| write_type(out, element)),
        Type::Tuple(elements) => {
            write_type_constructor(out, "tuple", |out| {
                write_infallible_sequence(out, ['[', ']'], elements.iter(), write_type);
            });
        }
        Type::Object(shape) => write_type_constructor(out, "object", |out| {
            write_infallible_sequence(out, ['{', '}'], &shape.attributes, |out, (name, ty)| {
                json_text::write_string(out, name);
                out.push(':');
                write_type(out, ty);
            });
            if !shape.optional.is_empty() {
                out.push(',');
                write_infallible_sequence(out, ['[', ']'], &shape.optional, |out, name| {
                    json_text::write_string(out, name);
                });
            }
        }),
    }
}

fn write_type_constructor(out: &mut String, kind: &str, content: impl FnOnce(&mut String)) {
    out.push_str("[\"");
    out.push_str(kind);
    out.push_str("\",");
    content(out);
    out.push(']');
}

fn write_infallible_sequence<T>(
    out: &mut String,
    brackets: [char; 2],
    parts: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    let outcome = json_text::write_sequence(out, brackets, parts, |out, part| {
        each(out, part);
        Ok::<(), std::convert::Infallible>(())
    });
    match outcome {
        Ok(()) => {}
        Err(never) => match never {},
    }
}

/// Reads a type.
///
/// # Errors
/// Returns an error if the text is not the JSON of a type, or is nested deeper than [`Type::MAX_DEPTH`].
pub fn decode(text: &[u8]) -> Result<Type, DecodeError> {
    let node = parse::parse_json_tree(text).map_err(|error| DecodeError::new(error.to_string()))?;
    decode_node(&node)
}

/// Reads a type from a part of a JSON document.
///
/// # Errors
/// Returns an error if the part is not a type, or is nested deeper than [`Type::MAX_DEPTH`].
pub fn decode_node(node: &JsonNode<'_>) -> Result<Type, DecodeError> {
    decode_type(node, 0)
}

fn decode_type(node: &JsonNode<'_>, depth: usize) -> Result<Type, DecodeError> {
    // A provider or a file determines the depth of a type, and later recursions rely on the limit.
    if depth > Type::MAX_DEPTH {
        return Err(DecodeError::new("the type is nested too deep"));
    }
    match &node.kind {
        JsonNodeKind::String(name) => match &**name {
            "dynamic" => Ok(Type::Dynamic),
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            other => Err(DecodeError::new(format!("there is no primitive type {other:?}"))),
        },
        JsonNodeKind::Array(parts) => match parts.as_slice() {
            [kind, content] => decode_type_constructor(kind.as_str(), content, depth),
            // Only an object has a third part: the names of the optional attributes.
            [kind, content, optional] if kind.as_str() == Some("object") => {
                decode_object_type(content, Some(optional), depth)
            }
            _ => Err(DecodeError::new(
                "a type must be a pair of a kind and its element or attribute types",
            )),
        },
        _ => Err(DecodeError::new("a type is a string or an array")),
    }
}

fn decode_type_constructor(
    kind: Option<&str>,
    content: &JsonNode<'_>,
    depth: usize,
) -> Result<Type, DecodeError> {
    let collection = match kind {
        Some("list") => Type::list,
        Some("set") => Type::set,
        Some("map") => Type::map,
        Some("object") => return decode_object_type(content, None, depth),
        Some("tuple") => return decode_tuple_type(content, depth),
        other => return Err(unknown_kind_error(other)),
    };
    decode_type(content, depth + 1).map(collection)
}

fn unknown_kind_error(kind: Option<&str>) -> DecodeError {
    match kind {
        Some(other) => DecodeError::new(format!("the type kind {other:?} does not exist")),
        None => DecodeError::new("the kind of a type must be a string"),
    }
}

// Plain loops, because chains of iterators would take several times the stack at each level.

fn decode_tuple_type(content: &JsonNode<'_>, depth: usize) -> Result<Type, DecodeError> {
    let Some(nodes) = content.as_array() else {
        return Err(DecodeError::new("the types of a tuple must be an array"));
    };
    let mut elements = Vec::with_capacity(nodes.len());
    for node in nodes {
        elements.push(decode_type(node, depth + 1)?);
    }
    Ok(Type::tuple(elements))
}

fn decode_object_type(
    content: &JsonNode<'_>,
    optional: Option<&JsonNode<'_>>,
    depth: usize,
) -> Result<Type, DecodeError> {
    let Some(members) = content.as_object() else {
        return Err(DecodeError::new("the attribute types of an object must be an object"));
    };
    let mut shape = ObjectType::default();
    for member in members {
        let ty = decode_type(&member.value, depth + 1)?;
        shape.attributes.insert(Str::new(&member.name), ty);
    }
    if let Some(optional) = optional {
        shape.optional = decode_optional_names(optional, &shape)?;
    }
    Ok(Type::Object(Arc::new(shape)))
}

fn decode_optional_names(
    node: &JsonNode<'_>,
    shape: &ObjectType,
) -> Result<BTreeSet<Str>, DecodeError> {
    let list = node
        .as_array()
        .ok_or_else(|| DecodeError::new("the optional attributes must be an array"))?;
    let name = |name: &JsonNode<'_>| {
        name.as_str()
            .map(Str::new)
            .filter(|name| shape.attributes.contains_key(name.as_str()))
            .ok_or_else(|| DecodeError::new("an optional attribute has no type"))
    };
    list.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_encoded_compactly_and_decoded() {
        let table = [
            "\"dynamic\"",
            "[\"list\",\"string\"]",
            "[\"set\",[\"map\",\"bool\"]]",
            "[\"tuple\",[]]",
            "[\"tuple\",[\"number\",\"dynamic\"]]",
            "[\"object\",{}]",
            // Go's encoder escapes this character for HTML, including in names.
            "[\"object\",{\"a\":\"string\",\"b\":[\"object\",{\"\\u003c\":\"bool\"}]}]",
            "[\"object\",{\"a\":\"string\",\"b\":\"number\"},[\"b\"]]",
        ];
        for text in table {
            assert_eq!(encode(&decode(text.as_bytes()).unwrap()), text);
        }
    }

    #[test]
    fn invalid_types_are_refused() {
        let table = [
            "\"str\"",
            "1",
            "null",
            "[]",
            "[\"list\"]",
            "[\"list\",\"x\"]",
            "[1,\"string\"]",
            "[\"tuple\",\"string\"]",
            "[\"object\",[]]",
            "[\"box\",\"string\"]",
            "[\"list\",\"string\",[]]",
            "[\"object\",{},[\"a\"]]",
            "\"string",
        ];
        for text in table {
            assert!(decode(text.as_bytes()).is_err(), "{text}");
        }
        let deep = format!("{}\"string\"{}", "[\"list\",".repeat(501), "]".repeat(501));
        assert_eq!(decode(deep.as_bytes()).unwrap_err().reason, "the type is nested too deep");
    }
}
