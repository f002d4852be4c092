//! A value on its way through the contract: decoded, or still as bytes.

use bytes::Bytes;
use formwork_value::codec::{DecodeError, EncodeError, json, msgpack};
use formwork_value::{Plain, Str, Type, Value};

/// A value in a message. In one process it travels as it is; from a child process it stays encoded
/// until somebody who knows the schema asks.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// A value of a type; dynamic places of the type are written with their own type.
    Value(Plain, Type),
    /// MessagePack.
    Msgpack(Bytes),
    /// JSON.
    Json(Bytes),
    /// Nothing was sent; reads as null.
    Absent,
}

impl Payload {
    /// Reads the value as one of type `ty`.
    ///
    /// # Errors
    /// When the bytes are not a value of the type.
    pub fn decode(&self, ty: &Type) -> Result<Plain, DecodeError> {
        let value = match self {
            Self::Value(value, _) => return Ok(value.clone()),
            Self::Msgpack(bytes) => msgpack::decode(bytes, ty)?,
            Self::Json(bytes) => json::decode(bytes, ty)?,
            Self::Absent => Value::null(ty.clone()),
        };
        // A decoder makes no marks, so nothing is taken off here.
        Ok(value.split_marks().0)
    }

    /// Reads what can be read of an object that is not one of type `ty`: each attribute that fits.
    #[must_use]
    pub fn salvage(&self, ty: &Type) -> Vec<(Str, Value)> {
        match self {
            Self::Msgpack(bytes) => msgpack::salvage(bytes, ty),
            Self::Value(..) | Self::Json(_) | Self::Absent => Vec::new(),
        }
    }

    /// Writes the value as MessagePack, unless it is bytes already.
    ///
    /// # Errors
    /// When the value does not have its type.
    pub fn encode(&self) -> Result<Self, EncodeError> {
        match self {
            Self::Value(value, ty) => Ok(Self::Msgpack(msgpack::encode(value.value(), ty)?.into())),
            other => Ok(other.clone()),
        }
    }
}
