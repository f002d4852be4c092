//! Access to an attribute or an element of a value. It is independent of expressions: the caller adds
//! the span to the errors.

use crate::messages;
use crate::print_value::type_with_article;
use crate::value_kind::ValueKind;
use formwork_value::diag::Message;
use formwork_value::{Diagnostic, Marks, Number, Str, Type, Value, convert};

/// The reason why an attribute or element cannot be accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessError {
    /// The summary of the message.
    pub summary: &'static Message,
    /// The detail, with the requested name and the existing names.
    pub detail: String,
}

impl AccessError {
    fn new(summary: &'static Message, detail: impl Into<String>) -> Self {
        Self { summary, detail: detail.into() }
    }
}

impl AccessError {
    /// Returns the error with a detail that does not show text about a secret key or the keys of a
    /// secret value.
    fn with_redacted_detail(self) -> Self {
        let detail = "The element does not exist. Its key is not shown, because it could reveal a sensitive or ephemeral value.";
        Self { detail: detail.to_owned(), ..self }
    }
}

impl From<AccessError> for Diagnostic {
    fn from(part: AccessError) -> Self {
        Self::error(part.summary, part.detail)
    }
}

/// Returns an attribute of a value, like `value.name`. The marks of the value go to the result.
///
/// # Errors
/// Returns an error if the attribute does not exist.
pub fn access_attribute(value: &Value, name: &str) -> Result<Value, AccessError> {
    let marks = value.marks();
    let part = match value.without_own_marks() {
        Value::Null(_) => return Err(null_attribute_error(name)),
        Value::Object(object) => object
            .get(name)
            .cloned()
            .ok_or_else(|| no_attribute_error(name, non_secret_names(object.names(), marks)))?,
        Value::Map(map) => map.get(name).cloned().ok_or_else(|| {
            AccessError::new(
                messages::MISSING_MAP_ELEMENT,
                format!("This map does not have an element with the key {name:?}."),
            )
        })?,
        Value::Unknown(unknown) => match unknown.ty() {
            Type::Dynamic => Value::dynamic(),
            Type::Map(element) => Value::unknown((**element).clone()),
            Type::Object(object) => match object.attributes.get(name) {
                Some(ty) => Value::unknown(ty.clone()),
                // A later value of this type has the same attributes.
                None => return Err(no_attribute_error(name, object.attributes.keys())),
            },
            ty => return Err(no_attributes_on_type_error(ty, name)),
        },
        other => return Err(no_attributes_on_type_error(&other.ty(), name)),
    };
    Ok(part.mark(marks))
}

/// Greatest number of names that a misspelt one is compared with. With `try` in a `for` the
/// comparison runs for every element.
const MAX_COMPARED_NAMES: usize = 500;

/// Returns the names of an object or a map that may be shown: none if it is secret.
fn non_secret_names(names: &[Str], marks: Marks) -> impl Iterator<Item = &Str> {
    let names = if marks.contains(Marks::SENSITIVE) { &[] } else { names };
    names.iter()
}

fn null_attribute_error(name: &str) -> AccessError {
    AccessError::new(
        messages::ATTEMPT_TO_GET_ATTRIBUTE_FROM_NULL_VALUE,
        format!(
            "This value is null, so it does not have any attributes. The attribute is {name:?}."
        ),
    )
}

fn no_attribute_error<'n>(name: &str, names: impl IntoIterator<Item = &'n Str>) -> AccessError {
    let names: Vec<&str> =
        names.into_iter().map(|name| name.as_str()).take(MAX_COMPARED_NAMES).collect();
    let hint = match crate::suggest::nearest_name(name, names.iter().copied()) {
        Some(near) => format!(" Did you mean {near:?}?"),
        None if names.is_empty() => String::new(),
        // A longer list would hide the message.
        None if names.len() <= 10 => format!(" It has: {}.", names.join(", ")),
        None => String::new(),
    };
    AccessError::new(
        messages::UNSUPPORTED_ATTRIBUTE,
        format!("This object does not have an attribute named {name:?}.{hint}"),
    )
}

fn no_attributes_on_type_error(ty: &Type, name: &str) -> AccessError {
    let detail = match ty {
        Type::List(element) if matches!(**element, Type::Object(_)) => format!(
            "Can't access attributes on a list of objects. Did you mean to access attribute {name:?} for a specific element of the list, or across all elements of the list? Write [0].{name} or [*].{name}."
        ),
        Type::Set(element) if matches!(**element, Type::Object(_)) => format!(
            "Can't access attributes on a set of objects. Did you mean to access an attribute across all elements of the set? Write [*].{name}."
        ),
        Type::String | Type::Number | Type::Bool => {
            format!("Can't access attributes on a primitive-typed value ({}).", ty.friendly_name())
        }
        _ => format!("This value does not have any attributes. It is {}.", type_with_article(ty)),
    };
    AccessError::new(messages::UNSUPPORTED_ATTRIBUTE, detail)
}

/// Returns an element of a value, like `value[key]`. The marks of the value go to the result, and those
/// of the key unless the value is an object.
///
/// # Errors
/// Returns an error if the element does not exist, or if the value cannot have elements.
pub fn access_index(value: &Value, key: &Value) -> Result<Value, AccessError> {
    let mut marks = value.marks();
    // The choice of an attribute of an object reveals nothing about its value.
    if !matches!(value.without_own_marks(), Value::Object(_)) {
        marks |= key.marks();
    }
    let secret = !key.marks().is_empty() || value.marks().contains(Marks::SENSITIVE);
    let hide = |part: AccessError| if secret { part.with_redacted_detail() } else { part };
    let (value, key) = (value.without_own_marks(), key.without_own_marks());
    if value.is_null() {
        return Err(AccessError::new(
            messages::ATTEMPT_TO_INDEX_NULL_VALUE,
            "This value is null, so it does not have any indices.",
        ));
    }
    if key.is_null() {
        return Err(invalid_index_error("Can't use a null value as an indexing key."));
    }
    // A key of unknown type may still become valid, so nothing is refused yet.
    if ValueKind::of(key) == ValueKind::Dynamic {
        return Ok(Value::dynamic().mark(marks));
    }
    let element = match ValueKind::of(value) {
        ValueKind::Dynamic => Value::dynamic(),
        ValueKind::List | ValueKind::Tuple => element_at_position(value, key).map_err(hide)?,
        ValueKind::Map | ValueKind::Object => element_by_key(value, key).map_err(hide)?,
        ValueKind::Set => {
            return Err(invalid_index_error(
                "Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set. Convert it with tolist(), or use a `for` expression.",
            ));
        }
        _ => {
            let ty = type_with_article(&value.ty());
            return Err(invalid_index_error(format!(
                "This value does not have any indices. It is {ty}."
            )));
        }
    };
    Ok(element.mark(marks))
}

fn invalid_index_error(detail: impl Into<String>) -> AccessError {
    AccessError::new(messages::INVALID_INDEX, detail)
}

/// Returns the error for a key without an element, with the reason.
fn no_element_error(reason: &str) -> AccessError {
    invalid_index_error(format!(
        "The given key does not identify an element in this collection value{reason}."
    ))
}

fn element_at_position(value: &Value, key: &Value) -> Result<Value, AccessError> {
    let key = convert::convert(key, &Type::Number)
        .map_err(|refused| no_element_error(&format!(": {}", refused.reason)))?;
    let Value::Number(number) = &key else { return Ok(unknown_of_element_type(value)) };
    // Checked even if the elements are unknown, because no later value makes such an index valid.
    check_sequence_index(number)?;
    let at = number.to_usize();
    match value {
        Value::Unknown(unknown) => match unknown.ty() {
            Type::Tuple(elements) => match at.and_then(|at| elements.get(at)) {
                Some(element) => Ok(Value::unknown(element.clone())),
                None => Err(out_of_range_error(number, elements.len())),
            },
            _ => Ok(unknown_of_element_type(value)),
        },
        known => {
            let items = known.children();
            at.and_then(|at| items.get(at))
                .cloned()
                .ok_or_else(|| out_of_range_error(number, items.len()))
        }
    }
}

fn check_sequence_index(number: &Number) -> Result<(), AccessError> {
    if !number.is_integer() {
        return Err(no_element_error(
            ": indexing a sequence requires a whole number, but the given index has a fractional part",
        ));
    }
    if *number < Number::from(0_i64) {
        let reason = ": a negative number is not a valid index for a sequence";
        return Err(no_element_error(reason));
    }
    Ok(())
}

fn out_of_range_error(number: &Number, len: usize) -> AccessError {
    const INDEX_TOO_LARGE_DETAIL: &str =
        ": the given index is greater than or equal to the length of the collection";
    no_element_error(&match len {
        0 => ": the collection has no elements".to_owned(),
        1 => format!(
            "{INDEX_TOO_LARGE_DETAIL}. The index is {number}, and the only element has the index 0"
        ),
        _ => format!(
            "{INDEX_TOO_LARGE_DETAIL}. The index is {number}, and the elements have the indices 0 to {}",
            len - 1
        ),
    })
}

/// Returns an element for an unknown key.
fn unknown_of_element_type(value: &Value) -> Value {
    Value::unknown(match value {
        Value::List(list) => list.element_type().clone(),
        Value::Map(map) => map.element_type().clone(),
        Value::Unknown(unknown) => unknown.ty().element().cloned().unwrap_or(Type::Dynamic),
        _ => Type::Dynamic,
    })
}

fn element_by_key(value: &Value, key: &Value) -> Result<Value, AccessError> {
    let by_number = matches!(key, Value::Number(_));
    let key = convert::convert(key, &Type::String)
        .map_err(|refused| no_element_error(&format!(": {}", refused.reason)))?;
    let Value::String(key) = &key else { return Ok(unknown_of_element_type(value)) };
    match value {
        Value::Map(map) => {
            map.get(key).cloned().ok_or_else(|| no_key_error(key, map.keys(), false))
        }
        Value::Object(object) => object
            .get(key)
            .cloned()
            .ok_or_else(|| no_key_error(key, object.names().iter(), by_number)),
        Value::Unknown(unknown) => match unknown.ty() {
            // Terraform checks the key of an object only when it is known.
            Type::Object(_) => Ok(Value::dynamic()),
            _ => Ok(unknown_of_element_type(value)),
        },
        _ => Ok(Value::dynamic()),
    }
}

fn no_key_error<'n>(
    key: &str,
    keys: impl IntoIterator<Item = &'n Str>,
    by_number: bool,
) -> AccessError {
    let keys = keys.into_iter().map(|key| key.as_str()).take(MAX_COMPARED_NAMES);
    let near = crate::suggest::nearest_name(key, keys);
    let hint = match near {
        _ if by_number => {
            ". An object only supports looking up attributes by name, not by numeric index"
                .to_owned()
        }
        Some(near) => format!(". The key is {key:?}; {near:?} exists"),
        None => format!(". The key is {key:?}"),
    };
    no_element_error(&hint)
}
