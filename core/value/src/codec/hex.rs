//! Bytes as hexadecimal digits.

/// Returns two lower-case digits for each byte.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    // Only one loop of the crate `hex` would be used, so it is not a direct dependency.
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(super::encode(&[]), "");
        assert_eq!(super::encode(&[0, 9, 0x1f, 0xa0, 0xff]), "00091fa0ff");
    }
}
