//! The wire form: schema-directed MessagePack. A value is encoded without its type, except where the
//! type is dynamic, so reader and writer must use the same type.

mod read;
mod refinement;
mod salvage;

pub use salvage::salvage_attributes;

use super::{
    DecodeError, EncodeError, LossyDecoded, type_json, utf8_lossy_like_go, wrong_type_error,
};
use crate::ty::ObjectType;
use crate::value::{Map, Object, Tuple};
use crate::{Number, Step, Str, Type, Value};

/// The bytes of an unknown value without refinements.
const UNKNOWN_BYTES: [u8; 3] = [0xd4, 0x00, 0x00];

const NIL_CODE: u8 = 0xc0;

/// Writes a value as the type `ty`. Parts where `ty` is dynamic include their own type.
///
/// # Errors
/// Returns an error if the value contains a mark or does not have the type.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, EncodeError> {
    // The writer is recursive, and a deeper value would overflow the stack.
    if value.depth() > Value::MAX_DEPTH {
        return Err(EncodeError::new("the value is nested too deep"));
    }
    let mut out = Vec::new();
    write_value(&mut out, value, ty)?;
    Ok(out)
}

/// Reads a value of the type `ty`. Bytes after the value are ignored, and invalid bytes of a string
/// become U+FFFD.
///
/// # Errors
/// Returns an error if the bytes are not a value of the type, or are nested too deeply.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, DecodeError> {
    decode_lossy(bytes, ty).map(|decoded| decoded.value)
}

/// Reads a value of the type `ty` like [`decode`], and returns whether a string in it was not valid
/// UTF-8.
///
/// # Errors
/// Returns an error if the bytes are not a value of the type, or are nested too deeply.
pub fn decode_lossy(bytes: &[u8], ty: &Type) -> Result<LossyDecoded, DecodeError> {
    let mut reader = read::MsgpackReader::new(bytes);
    let value = reader.read_value(ty, 0)?;
    Ok(LossyDecoded { value, replaced: reader.replaced })
}

fn write_value(out: &mut Vec<u8>, value: &Value, ty: &Type) -> Result<(), EncodeError> {
    match (value, ty) {
        (Value::Marked(_), _) => {
            Err(EncodeError::new("a sensitive or ephemeral value must have its marks taken off"))
        }
        (Value::Null(Type::Dynamic), _) => {
            out.push(NIL_CODE);
            Ok(())
        }
        // A value of unknown type has no refinements.
        (Value::Unknown(unknown), _) if *unknown.ty() == Type::Dynamic => {
            out.extend_from_slice(&UNKNOWN_BYTES);
            Ok(())
        }
        (_, Type::Dynamic) => write_dynamic(out, value),
        (Value::Null(null_ty), _) if null_ty.conforms_to(ty) => {
            out.push(NIL_CODE);
            Ok(())
        }
        (Value::Unknown(unknown), _) if unknown.ty().conforms_to(ty) => {
            refinement::write_unknown(out, unknown)
        }
        (Value::Bool(truth), Type::Bool) => {
            out.push(if *truth { 0xc3 } else { 0xc2 });
            Ok(())
        }
        (Value::Number(number), Type::Number) => write_number(out, number),
        (Value::String(text), Type::String) => write_str(out, text),
        _ => write_compound_value(out, value, ty),
    }
}

fn write_dynamic(out: &mut Vec<u8>, value: &Value) -> Result<(), EncodeError> {
    let ty = value.ty();
    write_array_header(out, 2)?;
    // cty sends the type as JSON in a byte string, before the value.
    write_bin(out, type_json::encode(&ty).as_bytes())?;
    write_value(out, value, &ty)
}

// Each kind of collection has its own small function, so that deep nesting takes little stack.
fn write_compound_value(out: &mut Vec<u8>, value: &Value, ty: &Type) -> Result<(), EncodeError> {
    match (value, ty) {
        (Value::List(_), Type::List(element)) | (Value::Set(_), Type::Set(element)) => {
            write_array_header(out, value.children().len())?;
            value.children().iter().enumerate().try_for_each(|(at, item)| {
                write_value(out, item, element)
                    .map_err(|error| error.prepend_step(value.step_to_child(at)))
            })
        }
        (Value::Tuple(tuple), Type::Tuple(elements)) => write_tuple(out, tuple, elements),
        (Value::Map(map), Type::Map(element)) => write_map(out, map, element),
        (Value::Object(object), Type::Object(shape)) => write_object(out, object, shape),
        _ => Err(wrong_type_error(value, ty)),
    }
}

fn write_tuple(out: &mut Vec<u8>, tuple: &Tuple, elements: &[Type]) -> Result<(), EncodeError> {
    let items = tuple.items();
    if items.len() != elements.len() {
        return Err(wrong_length_error(items.len(), elements.len()));
    }
    write_array_header(out, items.len())?;
    items.iter().zip(elements).enumerate().try_for_each(|(at, (item, ty))| {
        write_value(out, item, ty).map_err(|error| error.prepend_step(Some(Step::Index(at.into()))))
    })
}

fn wrong_length_error(length: usize, required: usize) -> EncodeError {
    EncodeError::new(format!("a tuple of length {required} is required, but this one has {length}"))
}

fn write_map(out: &mut Vec<u8>, map: &Map, element: &Type) -> Result<(), EncodeError> {
    write_map_header(out, map.keys().len())?;
    map.iter().try_for_each(|(key, item)| {
        write_str(out, key)?;
        write_value(out, item, element)
            .map_err(|error| error.prepend_step(Some(Step::Key(key.clone()))))
    })
}

fn write_object(out: &mut Vec<u8>, object: &Object, shape: &ObjectType) -> Result<(), EncodeError> {
    // Both sides are sorted by name, so equal sets of names are equal sequences.
    if !object.names().iter().eq(shape.attributes.keys()) {
        return Err(EncodeError::new(super::describe_name_difference(object.names(), shape)));
    }
    write_map_header(out, shape.attributes.len())?;
    object.values().iter().zip(&shape.attributes).try_for_each(|(item, (name, ty))| {
        write_str(out, name)?;
        write_value(out, item, ty)
            .map_err(|error| error.prepend_step(Some(Step::Attribute(name.clone()))))
    })
}

/// Writes a number in the smallest form that keeps it exactly, as cty does, because other readers
/// compare the response with their own message.
fn write_number(out: &mut Vec<u8>, number: &Number) -> Result<(), EncodeError> {
    if let Some(integer) = number.to_i64() {
        write_int(out, integer);
        return Ok(());
    }
    // Whole numbers that do not fit are strings, even if a float would be exact.
    match number.to_f64_exact().filter(|float| float.is_infinite() || !number.is_integer()) {
        Some(float) => {
            out.push(0xcb);
            out.extend_from_slice(&float.to_be_bytes());
            Ok(())
        }
        None => write_text(out, &number.to_string()),
    }
}

fn write_int(out: &mut Vec<u8>, number: i64) {
    let bytes = number.to_be_bytes();
    // Big-endian, so the low bytes are at the end.
    let (code, n_bytes) = match number {
        -32..=0x7f => return out.push(bytes[7]),
        0x80..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -0x80..=-33 => (0xd0, 1),
        -0x8000..=-0x81 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        _ => (0xd3, 8),
    };
    out.push(code);
    out.extend_from_slice(&bytes[8 - n_bytes..]);
}

fn write_str(out: &mut Vec<u8>, text: &Str) -> Result<(), EncodeError> {
    write_text(out, text.as_str())
}

fn write_text(out: &mut Vec<u8>, text: &str) -> Result<(), EncodeError> {
    match text.len() {
        length @ 0..=31 => out.push(0xa0 | length_to_byte(length)),
        length @ 32..=0xff => out.extend_from_slice(&[0xd9, length_to_byte(length)]),
        length => write_long_length(out, 0xda, length)?,
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn write_bin(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), EncodeError> {
    match bytes.len() {
        length @ 0..=0xff => out.extend_from_slice(&[0xc4, length_to_byte(length)]),
        length => write_long_length(out, 0xc5, length)?,
    }
    out.extend_from_slice(bytes);
    Ok(())
}

fn write_array_header(out: &mut Vec<u8>, length: usize) -> Result<(), EncodeError> {
    if length < 16 {
        out.push(0x90 | length_to_byte(length));
        return Ok(());
    }
    write_long_length(out, 0xdc, length)
}

fn write_map_header(out: &mut Vec<u8>, length: usize) -> Result<(), EncodeError> {
    if length < 16 {
        out.push(0x80 | length_to_byte(length));
        return Ok(());
    }
    write_long_length(out, 0xde, length)
}

/// Writes a length in two or four bytes. `code` is the code of the two-byte form, and the next one that
/// of the four-byte form.
fn write_long_length(out: &mut Vec<u8>, code: u8, length: usize) -> Result<(), EncodeError> {
    if let Ok(length) = u16::try_from(length) {
        out.push(code);
        out.extend_from_slice(&length.to_be_bytes());
    } else if let Ok(length) = u32::try_from(length) {
        out.push(code + 1);
        out.extend_from_slice(&length.to_be_bytes());
    } else {
        return Err(EncodeError::new("more than 4 GiB in one piece cannot be sent"));
    }
    Ok(())
}

/// Returns the length as a byte. It is only called with lengths that fit.
fn length_to_byte(length: usize) -> u8 {
    u8::try_from(length).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests;
