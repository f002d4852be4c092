//! Protobuf messages as lists of numbered fields, so that a check can send and read what no generated
//! code would.

use bytes::Bytes;

/// A field's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Integers, booleans and enumerations.
    Varint(u64),
    /// Eight bytes.
    Fixed64([u8; 8]),
    /// Four bytes.
    Fixed32([u8; 4]),
    /// Bytes, strings and messages.
    Bytes(Bytes),
}

/// A message: fields in the order of the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Msg(pub Vec<(u32, Field)>);

impl Msg {
    /// Returns the empty message.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a message; `None` if the bytes are none.
    #[must_use]
    pub fn parse(bytes: &Bytes) -> Option<Self> {
        let mut fields = Vec::new();
        let mut rest = bytes.clone();
        while !rest.is_empty() {
            let tag = read_varint(&mut rest)?;
            // protobuf has no field 0, so such bytes are not a message.
            let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
            let field = match tag & 7 {
                0 => Field::Varint(read_varint(&mut rest)?),
                1 => Field::Fixed64(take_bytes(&mut rest, 8)?[..].try_into().ok()?),
                2 => {
                    let length = usize::try_from(read_varint(&mut rest)?).ok()?;
                    Field::Bytes(take_bytes(&mut rest, length)?)
                }
                5 => Field::Fixed32(take_bytes(&mut rest, 4)?[..].try_into().ok()?),
                // Groups (3 and 4) are obsolete, and 6 and 7 do not exist.
                _ => return None,
            };
            fields.push((number, field));
        }
        Some(Self(fields))
    }

    /// Serializes the message.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::new();
        for (number, field) in &self.0 {
            let number = u64::from(*number) << 3;
            match field {
                Field::Varint(value) => {
                    put_varint(&mut out, number);
                    put_varint(&mut out, *value);
                }
                Field::Fixed64(bytes) => {
                    put_varint(&mut out, number | 1);
                    out.extend_from_slice(bytes);
                }
                Field::Bytes(bytes) => {
                    put_varint(&mut out, number | 2);
                    put_varint(&mut out, bytes.len() as u64);
                    out.extend_from_slice(bytes);
                }
                Field::Fixed32(bytes) => {
                    put_varint(&mut out, number | 5);
                    out.extend_from_slice(bytes);
                }
            }
        }
        out.into()
    }

    /// Adds an integer, unless it is zero.
    #[must_use]
    pub fn with_nonzero_int(mut self, number: u32, value: u64) -> Self {
        // proto3 leaves a zero out on the wire.
        if value != 0 {
            self.0.push((number, Field::Varint(value)));
        }
        self
    }

    /// Adds bytes, even if they are empty.
    #[must_use]
    pub fn with_bytes(mut self, number: u32, value: impl Into<Bytes>) -> Self {
        self.0.push((number, Field::Bytes(value.into())));
        self
    }

    /// Adds a string.
    #[must_use]
    pub fn with_text(self, number: u32, value: &str) -> Self {
        self.with_bytes(number, value.as_bytes().to_vec())
    }

    /// Adds a message.
    #[must_use]
    pub fn with_message(self, number: u32, value: &Self) -> Self {
        self.with_bytes(number, value.encode())
    }

    /// Adds a message if there is one.
    #[must_use]
    pub fn with_optional_message(self, number: u32, value: Option<&Self>) -> Self {
        match value {
            Some(value) => self.with_message(number, value),
            None => self,
        }
    }

    /// Whether the message has the field.
    #[must_use]
    pub fn has_field(&self, number: u32) -> bool {
        self.0.iter().any(|(field_number, _)| *field_number == number)
    }

    /// Returns an integer; zero if it is absent.
    #[must_use]
    pub fn get_int(&self, number: u32) -> u64 {
        // By the rules of protobuf, the last one wins.
        let number_value = self.0.iter().rev().find_map(|(field_number, field)| match field {
            Field::Varint(value) if *field_number == number => Some(*value),
            _ => None,
        });
        number_value.unwrap_or(0)
    }

    /// Returns a boolean.
    #[must_use]
    pub fn get_bool(&self, number: u32) -> bool {
        self.get_int(number) != 0
    }

    /// Iterates over a repeated field of bytes.
    pub fn repeated_bytes(&self, number: u32) -> impl DoubleEndedIterator<Item = &Bytes> {
        self.0.iter().filter_map(move |(field_number, field)| match field {
            Field::Bytes(bytes) if *field_number == number => Some(bytes),
            _ => None,
        })
    }

    /// Returns bytes; empty if they are absent.
    #[must_use]
    pub fn get_bytes(&self, number: u32) -> Bytes {
        // As for integers, the last one wins.
        self.repeated_bytes(number).next_back().cloned().unwrap_or_default()
    }

    /// Returns a string, with U+FFFD instead of invalid bytes.
    #[must_use]
    pub fn get_text(&self, number: u32) -> String {
        String::from_utf8_lossy(&self.get_bytes(number)).into_owned()
    }

    /// Returns a message, if it is present and can be read.
    #[must_use]
    pub fn get_msg(&self, number: u32) -> Option<Self> {
        self.repeated_bytes(number).next_back().and_then(Self::parse)
    }

    /// Returns a repeated message; unreadable ones are left out.
    #[must_use]
    pub fn repeated_messages(&self, number: u32) -> Vec<Self> {
        self.repeated_bytes(number).filter_map(Self::parse).collect()
    }

    /// Returns a map from strings to messages, in the order of the wire, duplicates included.
    #[must_use]
    pub fn map_entries(&self, number: u32) -> Vec<(String, Self)> {
        let entries = self.repeated_messages(number).into_iter();
        entries.map(|entry| (entry.get_text(1), entry.get_msg(2).unwrap_or_default())).collect()
    }

    /// Removes a field.
    #[must_use]
    pub fn without_field(mut self, number: u32) -> Self {
        self.0.retain(|(field_number, _)| *field_number != number);
        self
    }

    /// Replaces a field by bytes.
    #[must_use]
    pub fn replace_field(self, number: u32, value: impl Into<Bytes>) -> Self {
        self.without_field(number).with_bytes(number, value)
    }

    /// Adds another message's repeated field under a new number.
    #[must_use]
    pub(crate) fn copy_repeated_field(mut self, other: &Self, from: u32, to: u32) -> Self {
        let values = other.repeated_bytes(from).cloned();
        self.0.extend(values.map(|bytes| (to, Field::Bytes(bytes))));
        self
    }
}

fn read_varint(rest: &mut Bytes) -> Option<u64> {
    let mut value = 0_u64;
    // At most ten bytes: a longer one does not fit.
    for shift in (0..64).step_by(7) {
        let byte = *take_bytes(rest, 1)?.first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take_bytes(rest: &mut Bytes, length: usize) -> Option<Bytes> {
    // `split_to` panics beyond the end.
    (length <= rest.len()).then(|| rest.split_to(length))
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        out.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    out.push(low);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_encoded_and_decoded() {
        let inner = Msg::new().with_text(1, "name").with_nonzero_int(2, 300);
        let outer = Msg::new()
            .with_message(3, &inner)
            .with_bytes(4, vec![1, 2])
            .with_nonzero_int(5, u64::MAX);
        let read = Msg::parse(&outer.encode()).unwrap();
        assert_eq!(read, outer);
        assert_eq!(read.get_msg(3), Some(inner));
        assert_eq!(read.get_int(5), u64::MAX);
    }

    #[test]
    fn bytes_that_are_not_a_message_are_refused() {
        // A length beyond the end, a wire type that does not exist, an endless number, and field 0.
        for bytes in [&[0x0a_u8, 0x05, 1][..], &[0x07], &[0xff; 11], &[0x00, 0x01]] {
            assert_eq!(Msg::parse(&Bytes::copy_from_slice(bytes)), None, "{bytes:?}");
        }
    }
}
