//! A value of a message: decoded, or still as bytes.

use std::borrow::Cow;

use bytes::Bytes;
use formwork_value::codec::{
    DecodeError, EncodeError, LossyDecoded, json, msgpack, utf8_lossy_like_go,
};
use formwork_value::{Plain, Str, Type, Value};

/// A value in a message. In one process it is passed as decoded; from a child process it stays
/// encoded until code with the schema decodes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// A value of a type; dynamic parts are encoded with their own type.
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
        self.decode_lossy(ty).map(|(value, _)| value)
    }

    /// Reads the value as one of type `ty`, and returns whether a string in it was not valid UTF-8:
    /// each invalid byte is then U+FFFD.
    ///
    /// # Errors
    /// When the bytes are not a value of the type.
    pub fn decode_lossy(&self, ty: &Type) -> Result<(Plain, bool), DecodeError> {
        // Invalid strings are replaced and not refused: a whole object would be lost over one of
        // them.
        let (value, replaced) = match self {
            Self::Value(value, _) => return Ok((value.clone(), false)),
            Self::Msgpack(bytes) => {
                let LossyDecoded { value, replaced } = msgpack::decode_lossy(bytes, ty)?;
                (value, replaced)
            }
            Self::Json(bytes) => {
                let text = utf8_lossy_like_go(bytes);
                (json::decode(text.as_bytes(), ty)?, matches!(text, Cow::Owned(_)))
            }
            Self::Absent => (Value::null(ty.clone()), false),
        };
        // A decoder creates no marks, so there are none to remove here.
        Ok((value.split_marks().0, replaced))
    }

    /// Reads the readable part of an object that is not one of type `ty`: each attribute that fits.
    #[must_use]
    pub fn salvage_attributes(&self, ty: &Type) -> Vec<(Str, Value)> {
        match self {
            Self::Msgpack(bytes) => msgpack::salvage_attributes(bytes, ty),
            Self::Value(..) | Self::Json(_) | Self::Absent => Vec::new(),
        }
    }

    /// The number of bytes of the value as it is sent; 0 if it cannot be encoded.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        match self.encode() {
            Ok(Self::Msgpack(bytes) | Self::Json(bytes)) => bytes.len(),
            Ok(Self::Value(..) | Self::Absent) | Err(_) => 0,
        }
    }

    /// Writes the value as MessagePack, unless it is bytes already.
    ///
    /// # Errors
    /// When the value does not have its type.
    pub fn encode(&self) -> Result<Self, EncodeError> {
        match self {
            Self::Value(value, ty) => Ok(Self::Msgpack(msgpack::encode(value.value(), ty)?.into())),
            other_payload => Ok(other_payload.clone()),
        }
    }
}
