//! Base64 and PEM as Go programs read them, because configurations are written for them: line
//! breaks in base64 are ignored, and the first valid block of a PEM document counts, regardless of
//! the text around it.

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine as _};

/// Bits beyond the last byte are dropped, not complained of.
const BASE64_ALLOWING_UNUSED_BITS: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// Decodes base64 text.
pub(crate) fn decode_base64(text: &str) -> Result<Vec<u8>, DecodeError> {
    BASE64_ALLOWING_UNUSED_BITS.decode(text.replace(['\r', '\n'], ""))
}

/// Checks an attribute whose value is base64.
pub(crate) fn check_base64(text: &impl AsRef<str>) -> Result<(), String> {
    decode_base64(text.as_ref()).map(drop).map_err(|_| "must be base64".to_owned())
}

/// A block of a PEM text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PemBlock {
    /// Label, such as `CERTIFICATE`.
    pub(crate) label: String,
    pub(crate) content: Vec<u8>,
}

/// The first block of a PEM document that has an end and base64 in between. Headers are skipped.
pub(crate) fn first_pem_block(text: &str) -> Option<PemBlock> {
    let mut open: Option<(&str, String)> = None;
    let mut is_head = false;
    for line in text.lines().map(str::trim) {
        let edge = |word: &str| line.strip_prefix(word)?.strip_suffix("-----");
        if let Some(label) = edge("-----BEGIN ") {
            open = Some((label, String::new()));
            is_head = true;
        } else if let Some(end) = edge("-----END ") {
            let complete = open.take().filter(|(label, _)| *label == end);
            let read =
                complete.and_then(|(label, digits)| Some((label, decode_base64(&digits).ok()?)));
            if let Some((label, content)) = read {
                return Some(PemBlock { label: label.to_owned(), content });
            }
        } else if let Some((_, digits)) = &mut open {
            is_head = is_head && line.contains(':');
            if !is_head {
                digits.extend(line.chars().filter(|letter| !letter.is_whitespace()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_in_base64_are_ignored_and_other_characters_are_not() {
        assert_eq!(decode_base64("aGFs\r\nbG8=\n").unwrap(), b"hallo");
        assert_eq!(decode_base64("").unwrap(), b"");
        for invalid in ["aGFs bG8=", "aGFsbG8", "aGFs-_8="] {
            assert!(decode_base64(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn the_first_valid_block_is_read_regardless_of_other_text() {
        let valid_block = "-----BEGIN A B-----\naGFsbG8=\n-----END A B-----";
        let other_block = "-----BEGIN C-----\nYQ==\n-----END C-----\n";
        let table = [
            valid_block.to_owned(),
            format!("{valid_block}\n{other_block}"),
            format!("who: me\n{valid_block}\n\n\nafter"),
            valid_block.replace('\n', "\r\n"),
            valid_block.replace("aGFs", "  aG Fs\n\t"),
            valid_block.replace("aGFs", "Proc-Type: 4\nDEK: x\n\naGFs"),
            format!("-----BEGIN C-----\n{valid_block}"),
            format!("-----BEGIN C-----\n!\n-----END C-----\n{valid_block}"),
            format!("{}{valid_block}", other_block.replace("END C", "END D")),
        ];
        for text in table {
            let block = PemBlock { label: "A B".to_owned(), content: b"hallo".to_vec() };
            assert_eq!(first_pem_block(&text), Some(block), "{text}");
        }
        for none in ["", "YQ==", "-----BEGIN C-----\nYQ==", "-----END C-----"] {
            assert_eq!(first_pem_block(none), None, "{none}");
        }
    }
}
