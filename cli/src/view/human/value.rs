//! Human-readable rendering of values without parts.

use formwork_value::Value;

use crate::view::sanitize;

/// Placeholder for a value that must not be shown.
pub(crate) const SENSITIVE_PLACEHOLDER: &str = "(sensitive value)";
/// Placeholder for a value that is not known yet.
pub(crate) const UNKNOWN_PLACEHOLDER: &str = "(known after apply)";

/// Renders a value that has no parts and is not a string.
pub(crate) fn render_scalar(value: &Value) -> String {
    match value {
        Value::Null(_) => "null".into(),
        Value::Unknown(_) => UNKNOWN_PLACEHOLDER.into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        // Other values are hidden, which is always safe.
        _ => SENSITIVE_PLACEHOLDER.into(),
    }
}

/// A string in quotes, escaped by the rules of the language.
pub(crate) fn quote_text(text: &str) -> String {
    let mut result = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            c => sanitize::push_visible_form(&mut result, c),
        }
    }
    result.push('"');
    result
}

/// A name, in quotes only if required.
pub(crate) fn quote_if_needed(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && letters.all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        name.to_owned()
    } else {
        quote_text(name)
    }
}
