//! Decodes an object that does not fit its type, attribute by attribute. It is used for responses that
//! must not be lost although they are invalid.

use super::DecodeError;
use super::read::MsgpackReader;
use crate::{Str, Type, Value};

/// Returns the attributes of an object that can be decoded, in the order of the bytes. It stops at the
/// first position that cannot be parsed.
#[must_use]
pub fn salvage_attributes(bytes: &[u8], ty: &Type) -> Vec<(Str, Value)> {
    let Type::Object(shape) = ty else { return Vec::new() };
    let mut reader = MsgpackReader::new(bytes);
    let mut attributes: Vec<(Str, Value)> = Vec::new();
    for _ in 0..reader.read_map_header().unwrap_or(0) {
        let Ok(pair) = read_raw_entry(&mut reader) else { break };
        let (name, raw) = pair;
        let Some(ty) = shape.attributes.get(name.as_str()) else { continue };
        // The bytes are read by a separate reader, so an error inside does not lose the position.
        if let Ok(value) = MsgpackReader::new(raw).read_value(ty, 1)
            && attributes.iter().all(|(other, _)| *other != name)
        {
            attributes.push((name, value));
        }
    }
    attributes
}

fn read_raw_entry<'b>(reader: &mut MsgpackReader<'b>) -> Result<(Str, &'b [u8]), DecodeError> {
    let name = Str::new(&reader.read_text()?);
    Ok((name, reader.skip_value()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[(&str, Value)]) {
        let list = Type::List(Type::String.into());
        let ty = Type::object([("id", Type::String), ("size", Type::Number), ("tags", list)]);
        let expected: Vec<_> =
            expected.iter().map(|(name, value)| (Str::new(name), value.clone())).collect();
        assert_eq!(salvage_attributes(bytes, &ty), expected, "{bytes:?}");
    }

    #[test]
    fn valid_attributes_are_kept_despite_invalid_ones() {
        let id = ("id", Value::string("a"));
        // An attribute is missing.
        check(b"\x82\xa2id\xa1a\xa4size\x07", &[id.clone(), ("size", Value::int(7))]);
        // One has another type: a nested one, which must be skipped as a whole.
        check(b"\x82\xa4size\x92\x81\xa1x\xc4\x02ab\xc3\xa2id\xa1a", std::slice::from_ref(&id));
        // One is not in the schema, one is not a string.
        check(b"\x83\xa3new\xca\0\0\0\0\xa4tags\x91\xc3\xa2id\xa1a", std::slice::from_ref(&id));
        // A string with invalid bytes is kept, with replacement characters.
        check(b"\x81\xa2id\xa2\xff\xff", &[("id", Value::string("\u{fffd}\u{fffd}"))]);
        // The end is missing, in a value and in a name.
        check(b"\x83\xa2id\xa1a\xa4size\xcd\x01", std::slice::from_ref(&id));
        check(b"\x83\xa2id\xa1a\xa4si", std::slice::from_ref(&id));
        // The header declares more entries than exist.
        check(b"\xdf\xff\xff\xff\xff\xa2id\xa1a", &[]);
        check(b"\x82\xa2id\xa1a\xa4tags\xdd\xff\xff\xff\xff", &[id]);
        // The bytes cannot be parsed.
        check(b"\xc1 this is no value", &[]);
        check(b"", &[]);
        check(b"\xc0", &[]);
    }
}
