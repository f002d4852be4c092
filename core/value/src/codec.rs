//! Encodings of values and types: the wire form, the state form and the legacy flatmap form.

pub mod flatmap;
pub mod hex;
pub mod json;
pub mod msgpack;

#[cfg(test)]
pub(crate) mod value_strategies;

use std::borrow::Cow;

pub use json::type_json;

use crate::ty::ObjectType;
use crate::{Path, Step, Str, Type, Value};

/// A decoded value.
#[derive(Clone, Debug, PartialEq)]
pub struct LossyDecoded {
    /// The value.
    pub value: Value,
    /// Whether a string in it was not valid UTF-8. Each invalid byte is U+FFFD in the value.
    pub replaced: bool,
}

/// Decodes a string, in which each invalid byte becomes U+FFFD. As in Go, each byte of a truncated
/// sequence is replaced separately.
#[must_use]
pub fn utf8_lossy_like_go(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}

/// The error of decoding a value of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", format_path_prefix(path))]
pub struct DecodeError {
    /// Path of the offending part inside the value.
    pub path: Path,
    /// Description of the problem.
    pub reason: String,
}

/// The error of encoding a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", format_path_prefix(path))]
pub struct EncodeError {
    /// Path of the offending part inside the value.
    pub path: Path,
    /// Description of the problem.
    pub reason: String,
}

fn format_path_prefix(path: &Path) -> String {
    if path.0.is_empty() { String::new() } else { format!("{path}: ") }
}

impl DecodeError {
    fn new(reason: impl Into<String>) -> Self {
        Self { path: Path::root(), reason: reason.into() }
    }

    /// Adds an outer step to the path of the error. Errors are rare and nesting is limited, so paths are
    /// built on return and cost nothing without an error.
    fn prepend_step(mut self, step: Step) -> Self {
        self.path.0.insert(0, step);
        self
    }
}

impl EncodeError {
    fn new(reason: impl Into<String>) -> Self {
        Self { path: Path::root(), reason: reason.into() }
    }

    fn prepend_step(mut self, step: Option<Step>) -> Self {
        if let Some(step) = step {
            self.path.0.insert(0, step);
        }
        self
    }
}

/// Returns the error for a `value` that does not have type `ty`.
fn wrong_type_error(value: &Value, ty: &Type) -> EncodeError {
    EncodeError::new(format!(
        "{} required, but this is {}",
        required_type_name(ty),
        value.ty().friendly_name()
    ))
}

/// Returns the type with its article, as in "a list is required".
fn required_type_name(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "a value of any type".into(),
        Type::Object(_) => "an object".into(),
        Type::List(_) => "a list".into(),
        Type::Set(_) => "a set".into(),
        Type::Map(_) => "a map".into(),
        Type::Tuple(_) => "a tuple".into(),
        primitive => primitive.friendly_name(),
    }
}

/// Returns the error for the first attribute by which an object with `names` differs from the type
/// `shape`.
fn describe_name_difference(names: &[Str], shape: &ObjectType) -> String {
    // The names of an object are always sorted, which the search relies on.
    let missing = shape.attributes.keys().find(|name| names.binary_search(name).is_err());
    let extra = names.iter().find(|name| !shape.attributes.contains_key(name.as_str()));
    match (missing, extra) {
        (Some(name), _) => format!("attribute {name:?} is required"),
        (None, Some(name)) => format!("unsupported attribute {name:?}"),
        (None, None) => "attributes do not match".into(),
    }
}
