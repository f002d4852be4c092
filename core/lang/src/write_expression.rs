//! Writes a value as an expression, with one object attribute per line, without canonical formatting.

use formwork_value::{Type, Value, convert};

use formwork_value::quote::is_visible_char;

/// Returns an expression that evaluates to the value, with the types that literals have: a set or list
/// becomes a tuple, a map an object. The first part that is unknown is an error.
///
/// # Errors
/// Returns an error if a part of the value is unknown.
pub fn write_expression(value: &Value) -> Result<String, UnknownValueError> {
    let mut out = String::new();
    write_value(&mut out, value)?;
    Ok(out)
}

/// Returns an attribute name as written before the equals sign in an object, quoted if required.
#[must_use]
pub fn quote_key_if_needed(name: &str) -> String {
    if is_valid_name(name) {
        return name.to_owned();
    }
    let mut out = String::new();
    write_quoted(&mut out, name);
    out
}

/// Returns whether a string is a name: letters, digits, `_` and `-`, beginning with a letter.
#[must_use]
pub fn is_valid_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(unicode_ident::is_xid_start)
        && letters.all(|letter| letter == '-' || unicode_ident::is_xid_continue(letter))
}

/// An unknown value has no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a part of the value is not known yet")]
pub struct UnknownValueError;

fn write_value(out: &mut String, value: &Value) -> Result<(), UnknownValueError> {
    match value.without_own_marks() {
        Value::Null(_) => out.push_str("null"),
        Value::Unknown(_) => return Err(UnknownValueError),
        Value::Bool(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Value::String(text) => write_quoted(out, text),
        Value::Number(number) => match convert::convert(value.without_own_marks(), &Type::String) {
            Ok(Value::String(text)) => out.push_str(&text),
            // Every number has a string form, so this branch is only a fallback.
            _ => out.push_str(&number.to_string()),
        },
        Value::Map(map) => write_object(out, map.iter().map(|(key, part)| (key.as_str(), part)))?,
        Value::Object(parts) => {
            write_object(out, parts.iter().map(|(name, part)| (name.as_str(), part)))?;
        }
        several => {
            out.push('[');
            for (at, part) in several.children().iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                write_value(out, part)?;
            }
            out.push(']');
        }
    }
    Ok(())
}

fn write_object<'v>(
    out: &mut String,
    parts: impl ExactSizeIterator<Item = (&'v str, &'v Value)>,
) -> Result<(), UnknownValueError> {
    if parts.len() == 0 {
        out.push_str("{}");
        return Ok(());
    }
    out.push_str("{\n");
    for (name, part) in parts {
        out.push_str(&quote_key_if_needed(name));
        out.push_str(" = ");
        write_value(out, part)?;
        out.push('\n');
    }
    out.push('}');
    Ok(())
}

fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '%' if letters.peek() == Some(&'{') => {
                // Otherwise a template would begin here.
                out.push(letter);
                out.push(letter);
            }
            ' ' => out.push(' '),
            _ if is_visible_char(letter) => out.push(letter),
            _ if u32::from(letter) <= 0xffff => {
                out.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => out.push_str(&format!("\\U{:08x}", u32::from(letter))),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::testing::eval;

    #[test]
    fn written_values_are_read_back_unchanged() {
        let table = [
            ("[1.5, null, true, \"x\"]", "[1.5, null, true, \"x\"]"),
            ("{}", "{}"),
            ("{b = [], \"c d\" = {e = 1}}", "{\nb = []\n\"c d\" = {\ne = 1\n}\n}"),
            ("1e40", "10000000000000000000000000000000000000000"),
            (r#""a\t\"\\$${b}%%{c}$\u0001é\n""#, r#""a\t\"\\$${b}%%{c}$\u0001é\n""#),
        ];
        for (text, expected) in table {
            let read = eval(text).unwrap();
            let written = write_expression(&read).unwrap();
            assert_eq!(written, expected);
            assert_eq!(eval(&written).unwrap(), read);
        }
        assert_eq!(write_expression(&Value::tuple(vec![Value::dynamic()])), Err(UnknownValueError));
    }
}
