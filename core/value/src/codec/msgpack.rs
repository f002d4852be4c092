//! The wire form: schema-directed MessagePack.

use super::{DecodeError, EncodeError};
use crate::{Type, Value};

/// Writes a value as the type `ty`; places where `ty` is dynamic carry their own type.
///
/// # Errors
/// When the value holds a mark or does not have the type.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, EncodeError> {
    let _ = (value, ty);
    todo!()
}

/// Reads a value of the type `ty`. Bytes after the value are ignored.
///
/// # Errors
/// When the bytes are not a value of the type, or are nested too deep.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, DecodeError> {
    let _ = (bytes, ty);
    todo!()
}
