//! Strings in character encodings other than UTF-8, by their registered names.

mod code_pages;

use base64::Engine as _;
use encoding_rs::Encoding;
use formwork_value::{Type, Value};

use crate::functions::encoding::BASE64_ALLOWING_UNUSED_BITS;
use crate::functions::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("textencodebase64", text_encode_base64)
            .with_param("string", Type::String)
            .with_param("encoding", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Encodes a string in another character encoding, and the result as Base64.",
                ["The string.", "The IANA name of the encoding."],
            )
            .with_example(r#"textencodebase64("hé", "UTF-16LE")"#, r#""aADpAA==""#),
        Builtin::new("textdecodebase64", text_decode_base64)
            .with_param("source", Type::String)
            .with_param("encoding", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Decodes Base64 to a string in another character encoding.",
                ["The Base64 string, with padding.", "The IANA name of the encoding."],
            )
            .with_example(r#"textdecodebase64("aADpAA==", "UTF-16LE")"#, r#""hé""#),
    ]
}

/// Converter between strings and encoded bytes.
enum Charset {
    Utf8,
    /// UTF-16: the byte order, and whether a byte order mark determines it.
    Utf16 {
        big: bool,
        marked: bool,
    },
    /// The first characters of Unicode, one byte each.
    First(u32),
    /// ASCII, and the characters of the other bytes.
    Page(&'static str),
    Listed(&'static Encoding),
}

impl Charset {
    fn from_name(name: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|alias| alias.eq_ignore_ascii_case(name));
        if is(&["UTF-8", "csUTF8"]) {
            return Some(Self::Utf8);
        }
        for (names, big, marked) in [
            (&["UTF-16", "csUTF16"], true, true),
            (&["UTF-16LE", "csUTF16LE"], false, false),
            (&["UTF-16BE", "csUTF16BE"], true, false),
        ] {
            if is(names) {
                return Some(Self::Utf16 { big, marked });
            }
        }
        if is(&code_pages::LATIN_1_NAMES) {
            return Some(Self::First(256));
        }
        if is(&code_pages::ASCII_NAMES) {
            return Some(Self::First(128));
        }
        if let Some((_, page)) =
            code_pages::CODE_PAGE_UPPER_HALVES.iter().find(|(names, _)| is(names))
        {
            return Some(Self::Page(page));
        }
        let (_, encoding) = code_pages::NAMED_ENCODINGS.iter().find(|(names, _)| is(names))?;
        Some(Self::Listed(encoding))
    }

    /// Encodes a string. Returns `None` if a character cannot be encoded.
    fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Utf8 => Some(text.as_bytes().to_vec()),
            Self::Utf16 { big, marked } => {
                // Go's encoder for plain `UTF-16` writes a mark and big-endian units, and so does
                // Terraform.
                let mark = marked.then_some(0xfeff);
                let units = mark.into_iter().chain(text.encode_utf16());
                let bytes = |unit: u16| if *big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                Some(units.flat_map(bytes).collect())
            }
            Self::First(n) => text
                .chars()
                .map(|char| u8::try_from(u32::from(char)).ok().filter(|byte| u32::from(*byte) < *n))
                .collect(),
            Self::Page(page) => text
                .chars()
                .map(|char| {
                    if char.is_ascii() {
                        return u8::try_from(char).ok();
                    }
                    let at = page.chars().position(|symbol| symbol == char)?;
                    u8::try_from(at + 128).ok()
                })
                .collect(),
            Self::Listed(encoding) => {
                let (bytes, _, unmappable) = encoding.encode(text);
                (!unmappable).then(|| bytes.into_owned())
            }
        }
    }

    /// Decodes bytes. Returns `None` if some are invalid.
    fn decode(&self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::Utf8 => String::from_utf8(bytes.to_vec()).ok(),
            Self::Utf16 { big, marked } => {
                let (pairs, rest) = bytes.as_chunks::<2>();
                let (big, pairs) = match pairs {
                    // A mark overrides the default order only for the name that allows one.
                    [[0xfe, 0xff], pairs @ ..] if *marked => (true, pairs),
                    [[0xff, 0xfe], pairs @ ..] if *marked => (false, pairs),
                    _ => (*big, pairs),
                };
                let unit = |pair: &[u8; 2]| {
                    if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }
                };
                let units: Vec<u16> = pairs.iter().map(unit).collect();
                // An incomplete unit at the end is invalid.
                rest.is_empty().then(|| String::from_utf16(&units).ok()).flatten()
            }
            Self::First(n) => bytes
                .iter()
                .map(|byte| Some(char::from(*byte)).filter(|char| u32::from(*char) < *n))
                .collect(),
            Self::Page(page) => bytes
                .iter()
                .map(|byte| match usize::from(*byte).checked_sub(128) {
                    None => Some(char::from(*byte)),
                    Some(at) => page.chars().nth(at),
                })
                .collect(),
            Self::Listed(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
                // Undefined bytes of a single-byte page decode to a control character here, and are
                // invalid in Terraform.
                let undefined = |char: char| ('\u{80}'..='\u{9f}').contains(&char);
                let strict = encoding.is_single_byte() && text.chars().any(undefined);
                (!strict).then(|| text.into_owned())
            }
        }
    }
}

fn charset_argument(args: &Args<'_>) -> Result<Charset, CallError> {
    let name = args.text(1)?;
    Charset::from_name(name).ok_or_else(|| {
        let reason = format!(
            "{:?} is not a supported IANA encoding name or alias in this Formwork version",
            name.as_str()
        );
        CallError::for_argument(1, reason)
    })
}

fn text_encode_base64(args: &Args<'_>) -> FunctionResult {
    let charset = charset_argument(args)?;
    let bytes = charset.encode(args.text(0)?).ok_or_else(|| {
        let reason = "it has characters that do not exist in this encoding";
        CallError::for_argument(0, reason)
    })?;
    args.string_result(BASE64_ALLOWING_UNUSED_BITS.encode(bytes))
}

fn text_decode_base64(args: &Args<'_>) -> FunctionResult {
    let charset = charset_argument(args)?;
    let letters: String =
        args.text(0)?.chars().filter(|char| !matches!(char, '\n' | '\r')).collect();
    let bytes = BASE64_ALLOWING_UNUSED_BITS
        .decode(letters)
        .map_err(|_| CallError::for_argument(0, "it is not base64 with padding"))?;
    let text = charset
        .decode(&bytes)
        .ok_or_else(|| CallError::for_argument(0, "its bytes are not valid in this encoding"))?;
    args.string_result(text)
}
