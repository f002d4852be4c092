//! Strings in arguments that are objects, sets or maps.

use formwork_value::Value;

/// Returns an attribute of an object, or `None` if it is null.
pub(super) fn nested_value<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name).filter(|value| !value.is_null()),
        _ => None,
    }
}

/// Returns a string attribute of an object.
pub(super) fn string_member(value: Option<&Value>, name: &str) -> Option<String> {
    match nested_value(value?, name)? {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns the strings of a set.
pub(super) fn strings_of_set(value: Option<&Value>) -> Vec<String> {
    let Some(Value::Set(set)) = value else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    set.items().iter().filter_map(text).collect()
}

/// Returns the strings of a map.
pub(super) fn strings_of_map(value: Option<&Value>) -> Vec<(String, String)> {
    let Some(Value::Map(map)) = value else { return Vec::new() };
    let pair = |(name, value): (&formwork_value::Str, &Value)| match value {
        Value::String(text) => Some((name.to_string(), text.to_string())),
        _ => None,
    };
    map.iter().filter_map(pair).collect()
}
