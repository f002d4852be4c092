//! The state form: schema-directed JSON.

use super::{DecodeError, EncodeError};
use crate::{Type, Value};

/// Writes a value as the type `ty`, compactly, with the escapes of the state format (`<`, `>`, `&`,
/// U+2028, U+2029); places where `ty` is dynamic are wrapped as `{"value":…,"type":…}`.
///
/// # Errors
/// When the value holds an unknown, a mark, an infinity, or does not have the type.
pub fn encode(value: &Value, ty: &Type) -> Result<String, EncodeError> {
    let _ = (value, ty);
    todo!()
}

/// Reads a value of the type `ty`. Missing attributes are null, other ones an error.
///
/// # Errors
/// When the text is not JSON of a value of the type, or is nested too deep.
pub fn decode(text: &[u8], ty: &Type) -> Result<Value, DecodeError> {
    let _ = (text, ty);
    todo!()
}

/// Writes a value with its own types, without wrappers, as `jsonencode` and the JSON views do.
///
/// # Errors
/// When the value holds an unknown, a mark or an infinity.
pub fn encode_simple(value: &Value) -> Result<String, EncodeError> {
    let _ = value;
    todo!()
}

/// Reads any JSON as the value it most naturally is, as `jsondecode` does: objects and tuples.
///
/// # Errors
/// When the text is not JSON, or is nested too deep.
pub fn decode_simple(text: &[u8]) -> Result<Value, DecodeError> {
    let _ = text;
    todo!()
}
