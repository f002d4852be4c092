//! Functions that encode and decode values: Base64, JSON, URLs, CSV, YAML.

mod charset;
mod csv;
mod gzip;
mod yaml;

use crate::value_kind::ValueKind;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use formwork_value::codec::json;
use formwork_value::{Refinement, Str, Type, Value};

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

/// Base64 with padding, whose last letter may have unused bits.
pub(super) const BASE64_ALLOWING_UNUSED_BITS: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

pub(super) fn builtins() -> Vec<Builtin> {
    let mut list = vec![
        builtin_on_string("base64encode", |args| {
            args.string_result(STANDARD.encode(args.text(0)?.as_bytes()))
        })
        .described_as("Encodes a string as Base64.", ["The string."])
        .with_example(r#"base64encode("héllo")"#, r#""aMOpbGxv""#),
        builtin_on_string("base64decode", base64_decode)
            .described_as("Decodes a string from Base64.", ["The Base64 string, with padding."])
            .with_example(r#"base64decode("aGk=")"#, r#""hi""#),
        builtin_on_string("urlencode", url_encode)
            .described_as("Escapes a string for use in a URL.", ["The string."])
            .with_example(r#"urlencode("a b/é~")"#, r#""a+b%2F%C3%A9~""#),
        Builtin::new("jsonencode", json_encode)
            .with_param("val", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .with_return_type(Type::String)
            .described_as("Encodes a value as JSON.", ["The value."])
            .with_example(
                r#"jsonencode({b = "<", a = [1, null]})"#,
                r#""{\"a\":[1,null],\"b\":\"\\u003c\"}""#,
            ),
        Builtin::new("jsondecode", json_decode)
            .with_param("str", Type::String)
            .may_return_null()
            .described_as("Decodes a value from JSON.", ["The JSON document."])
            .with_example(r#"jsondecode("{\"a\":[1.50]}")"#, "{\n  \"a\" = [\n    1.5,\n  ]\n}"),
        csv::csv_decode_builtin(),
        gzip::base64_gzip_builtin(),
    ];
    list.extend(charset::builtins());
    list.extend(yaml::builtins());
    list
}

fn builtin_on_string(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body).with_param("str", Type::String).with_return_type(Type::String)
}

fn base64_decode(args: &Args<'_>) -> FunctionResult {
    let text = args.text(0)?;
    let secret = |message: &str| CallError::new(message.to_owned());
    // Only line ends are allowed between the characters.
    let letters: String = text.chars().filter(|char| !matches!(char, '\n' | '\r')).collect();
    let bytes = BASE64_ALLOWING_UNUSED_BITS
        .decode(letters)
        .map_err(|_| secret(&format!("failed to decode base64 data {text:?}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| secret("the decoded bytes are not valid UTF-8, which strings require"))?;
    args.string_result(text)
}

fn url_encode(args: &Args<'_>) -> FunctionResult {
    let text = args.text(0)?;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            // The escapes are those of a query and not of a path, as in Go's `url.QueryEscape`.
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    args.string_result(out)
}

fn json_encode(args: &Args<'_>) -> FunctionResult {
    let value = args.value(0);
    if !value.is_wholly_known() {
        return Ok(unknown_json_string(value));
    }
    json::encode_untyped(value)
        .map_err(|error| CallError::new(error.to_string()))
        .and_then(|text| args.string_result(text))
}

/// The type determines the first character of the JSON.
fn unknown_json_string(value: &Value) -> Value {
    // `null` begins with another character, so a value that may be null has no known prefix.
    let not_null = match value {
        Value::Unknown(unknown) => unknown.refinement().not_null,
        _ => true,
    };
    let first = match ValueKind::of(value) {
        _ if !not_null => None,
        ValueKind::String => Some("\""),
        ValueKind::Object | ValueKind::Map => Some("{"),
        ValueKind::Tuple | ValueKind::List | ValueKind::Set => Some("["),
        _ => None,
    };
    let refinement =
        Refinement { not_null: true, prefix: first.map(Str::new), ..Refinement::default() };
    Value::refined(Type::String, refinement)
}

fn json_decode(args: &Args<'_>) -> FunctionResult {
    let text = args.text(0)?;
    args.charge_bytes(text.len())?;
    json::decode_untyped(text.as_bytes())
        .map_err(|error| CallError::new(format!("the string is not valid JSON: {error}")))
}
