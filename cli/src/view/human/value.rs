//! Values as they are written in the language, over as many lines as they need.

use formwork_value::{Marks, Str, Value};

/// What stands for a value that must not be shown.
pub(crate) const SENSITIVE: &str = "(sensitive value)";
/// What stands for a value that is not known yet.
pub(crate) const UNKNOWN: &str = "(known after apply)";

/// Renders a value whose first line goes where the caller is; further lines are indented by
/// `indent` columns.
pub(crate) fn render(value: &Value, indent: usize) -> String {
    if value.marks().contains(Marks::SENSITIVE) {
        return SENSITIVE.into();
    }
    match value.peek() {
        Value::String(text) => string(text, indent),
        Value::List(list) => format!("tolist({})", sequence(list.items(), indent)),
        Value::Set(set) => format!("toset({})", sequence(set.items(), indent)),
        Value::Tuple(tuple) => sequence(tuple.items(), indent),
        Value::Map(map) => format!("tomap({})", pairs(map.iter(), indent)),
        Value::Object(object) => pairs(object.iter(), indent),
        other => scalar(other),
    }
}

/// Renders a value that has no parts and is no text.
pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::Null(_) => "null".into(),
        Value::Unknown(_) => UNKNOWN.into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        // Whatever else it may be, hiding it gives nothing away.
        _ => SENSITIVE.into(),
    }
}

/// A text in quotes, or as a heredoc if it has several lines.
fn string(text: &Str, indent: usize) -> String {
    if !text.contains('\n') {
        return quoted(text);
    }
    let margin = " ".repeat(indent + 2);
    let mut result = String::from("<<-EOT\n");
    for line in text.trim_end_matches('\n').split('\n') {
        result.push_str(&format!("{margin}{}\n", visible(line)));
    }
    result.push_str(&format!("{}EOT", " ".repeat(indent)));
    result
}

/// A text in quotes, escaped as the language does.
pub(crate) fn quoted(text: &str) -> String {
    let mut result = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            c => push_visible(&mut result, c),
        }
    }
    result.push('"');
    result
}

/// A line of text with what cannot be seen written out.
pub(crate) fn visible(line: &str) -> String {
    let mut result = String::new();
    for character in line.chars() {
        match character {
            '\t' => result.push('\t'),
            '\r' => result.push_str("\\r"),
            c => push_visible(&mut result, c),
        }
    }
    result
}

/// Nothing in a value may steer the terminal, nor turn the direction of what follows.
fn push_visible(text: &mut String, character: char) {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || turns {
        text.push_str(&format!("\\u{:04x}", u32::from(character)));
    } else {
        text.push(character);
    }
}

/// A name, in quotes only if it must be.
pub(crate) fn bare(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if first && letters.all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
        name.to_owned()
    } else {
        quoted(name)
    }
}

fn sequence(items: &[Value], indent: usize) -> String {
    if items.is_empty() {
        return "[]".into();
    }
    let margin = " ".repeat(indent + 2);
    let mut result = String::from("[\n");
    for item in items {
        result.push_str(&format!("{margin}{},\n", render(item, indent + 2)));
    }
    result.push_str(&format!("{}]", " ".repeat(indent)));
    result
}

fn pairs<'v>(all: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>, indent: usize) -> String {
    if all.len() == 0 {
        return "{}".into();
    }
    let margin = " ".repeat(indent + 2);
    let mut result = String::from("{\n");
    for (key, value) in all {
        result.push_str(&format!("{margin}{} = {}\n", quoted(key), render(value, indent + 2)));
    }
    result.push_str(&format!("{}}}", " ".repeat(indent)));
    result
}
