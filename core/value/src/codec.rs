//! How values and types are written down: the wire form and the state form.

pub mod json;
pub mod msgpack;
pub mod type_json;

use crate::Path;

/// Why bytes could not be read as a value of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", if path.0.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct DecodeError {
    /// Where inside the value.
    pub path: Path,
    /// What is wrong.
    pub reason: String,
}

/// Why a value could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", if path.0.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct EncodeError {
    /// Where inside the value.
    pub path: Path,
    /// What is wrong.
    pub reason: String,
}
