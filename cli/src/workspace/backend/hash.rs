//! The hash by which Terraform detects changes of a `backend` or `state_store` block: the checksum of the
//! string by which Terraform orders sets of values.

use formwork_lang::print_value::quote_like_go;
use formwork_value::Value;

/// Returns the hash of a backend type and the values of its arguments.
pub(super) fn backend_hash(kind: &str, values: &Value) -> u64 {
    let mut text = format!("<{};", quote_like_go(kind));
    write_value(&mut text, values);
    text.push_str(";>");
    u64::from(crc32fast::hash(text.as_bytes()))
}

/// Returns the hash of a state store: its type, its arguments, and the address, version, name and
/// configuration of its provider.
pub(super) fn state_store_hash(parts: &[Value; 6]) -> u64 {
    let mut text = String::new();
    write_enclosed(&mut text, '<', '>', parts.iter());
    u64::from(crc32fast::hash(text.as_bytes()))
}

fn write_value(text: &mut String, value: &Value) {
    match value.without_own_marks() {
        Value::Null(_) => text.push('~'),
        Value::Unknown(_) => text.push('?'),
        Value::Bool(true) => text.push('T'),
        Value::Bool(false) => text.push('F'),
        Value::String(string) => text.push_str(&quote_like_go(string)),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::Map(map) => {
            text.push('{');
            for (name, value) in map.iter() {
                text.push_str(&quote_like_go(name));
                text.push(':');
                write_value(text, value);
                text.push(';');
            }
            text.push('}');
        }
        Value::Object(object) => {
            write_enclosed(text, '<', '>', object.iter().map(|(_, value)| value));
        }
        Value::Tuple(_) => {
            write_enclosed(text, '<', '>', value.without_own_marks().children().iter());
        }
        other => write_enclosed(text, '[', ']', other.children().iter()),
    }
}

fn write_enclosed<'v>(
    text: &mut String,
    open: char,
    close: char,
    values: impl Iterator<Item = &'v Value>,
) {
    text.push(open);
    for value in values {
        write_value(text, value);
        text.push(';');
    }
    text.push(close);
}
