//! Prints values in the syntax of the language, as `console` shows them. Sensitive and ephemeral
//! values are hidden; there are no colours.

use std::fmt::Write as _;

use formwork_value::quote::is_visible_char;
pub use formwork_value::quote::quote_like_go;
use formwork_value::{Marks, Str, Type, Value};

/// Writes a value as an expression, on several lines if it has parts.
#[must_use]
pub fn print_value(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, 0);
    out
}

/// Returns the name of a type with an article, for use in sentences: `a list of string`, `an object`.
#[must_use]
pub fn type_with_article(ty: &Type) -> String {
    let name = ty.friendly_name();
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// Escapes a string for use between the quotes of a string literal.
#[must_use]
pub fn escape_literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // A doubled sign keeps the brace from opening a template sequence.
            '$' | '%' if chars.peek() == Some(&'{') => out.extend([char, char]),
            ' ' => out.push(' '),
            _ if is_visible_char(char) => out.push(char),
            '\0'..='\u{ffff}' => {
                push_formatted(&mut out, format_args!("\\u{:04x}", u32::from(char)));
            }
            _ => push_formatted(&mut out, format_args!("\\U{:08x}", u32::from(char))),
        }
    }
    out
}

fn write_value(out: &mut String, value: &Value, indent: usize) {
    // Checked before the marks: an unknown value has nothing to hide.
    if value.is_unknown() {
        return out.push_str("(known after apply)");
    }
    if value.marks().contains(Marks::SENSITIVE) {
        return out.push_str("(sensitive value)");
    }
    if value.marks().contains(Marks::EPHEMERAL) {
        return out.push_str("(ephemeral value)");
    }
    match value.without_own_marks() {
        Value::Null(ty) => out.push_str(&typed_null_text(ty)),
        Value::Bool(bool) => push_formatted(out, format_args!("{bool}")),
        Value::Number(number) => push_formatted(out, format_args!("{number}")),
        Value::String(text) => write_string(out, text, indent),
        Value::List(list) => {
            write_call(out, "tolist", |out| write_sequence(out, list.items(), indent));
        }
        Value::Set(set) => {
            write_call(out, "toset", |out| write_sequence(out, set.items(), indent));
        }
        Value::Map(map) => {
            write_call(out, "tomap", |out| write_mapping(out, map.iter(), indent));
        }
        Value::Tuple(tuple) => write_sequence(out, tuple.items(), indent),
        Value::Object(object) => write_mapping(out, object.iter(), indent),
        Value::Unknown(_) | Value::Marked(_) => {}
    }
}

fn push_formatted(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

fn typed_null_text(ty: &Type) -> String {
    let of =
        |name: &str, element: &Type| format!("{name}(null) /* of {} */", element.friendly_name());
    match ty {
        Type::Dynamic => "null".into(),
        Type::String => "tostring(null)".into(),
        Type::Number => "tonumber(null)".into(),
        Type::Bool => "tobool(null)".into(),
        Type::List(element) => of("tolist", element),
        Type::Set(element) => of("toset", element),
        Type::Map(element) => of("tomap", element),
        other => format!("null /* {} */", other.friendly_name()),
    }
}

fn write_call(out: &mut String, name: &str, inner: impl FnOnce(&mut String)) {
    out.push_str(name);
    out.push('(');
    inner(out);
    out.push(')');
}

fn push_new_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

fn write_sequence(out: &mut String, items: &[Value], indent: usize) {
    if items.is_empty() {
        return out.push_str("[]");
    }
    out.push('[');
    for item in items {
        push_new_line(out, indent + 2);
        write_value(out, item, indent + 2);
        out.push(',');
    }
    push_new_line(out, indent);
    out.push(']');
}

fn write_mapping<'v>(
    out: &mut String,
    pairs: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>,
    indent: usize,
) {
    if pairs.len() == 0 {
        return out.push_str("{}");
    }
    out.push('{');
    for (key, value) in pairs {
        push_new_line(out, indent + 2);
        write_string(out, key, indent + 2);
        out.push_str(" = ");
        write_value(out, value, indent + 2);
    }
    push_new_line(out, indent);
    out.push('}');
}

/// Writes a string in quotes, or as a heredoc if it has several lines.
fn write_string(out: &mut String, text: &str, indent: usize) {
    if !text.contains('\n') {
        return out.push_str(&quote_like_go(text));
    }
    let mut delimiter = String::from("EOT");
    // A line that equals the delimiter would end the heredoc.
    while text.split('\n').any(|line| line.trim() == delimiter) {
        delimiter.push('_');
    }
    // Only the form with a hyphen may be indented.
    out.push_str(if indent > 0 { "<<-" } else { "<<" });
    out.push_str(&delimiter);
    for line in text.split('\n').chain([delimiter.as_str()]) {
        push_new_line(out, indent);
        out.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use formwork_value::{Marks, Type, Value};

    use super::{print_value, quote_like_go};

    #[test]
    fn quotes_like_the_console() {
        assert_eq!(quote_like_go("a\"\\\n\t\u{7}\u{1}"), r#""a\"\\\n\t\a\x01""#);
        assert_eq!(quote_like_go("é\u{200d}\u{a0}\u{7f}\u{e000}"), r#""é\u200d\u00a0\x7f\ue000""#);
        assert_eq!(quote_like_go("\u{1f600}\u{e0001}e\u{33f}"), "\"\u{1f600}\\U000e0001e\u{33f}\"");
    }

    #[test]
    fn shows_every_kind_of_value() {
        let value = Value::object([
            ("list", Value::list(Type::Bool, vec![Value::Bool(true), Value::null(Type::Bool)])),
            ("map", Value::map(Type::String, [("a b", Value::string("x\ny"))])),
            ("none", Value::tuple(Vec::new())),
            ("null", Value::null(Type::Dynamic)),
            ("secret", Value::string("x").mark(Marks::SENSITIVE)),
            ("typed", Value::null(Type::list(Type::String))),
            ("unknown", Value::unknown(Type::String)),
        ]);
        expect![[r#"
            {
              "list" = tolist([
                true,
                tobool(null),
              ])
              "map" = tomap({
                "a b" = <<-EOT
                x
                y
                EOT
              })
              "none" = []
              "null" = null
              "secret" = (sensitive value)
              "typed" = tolist(null) /* of string */
              "unknown" = (known after apply)
            }"#]]
        .assert_eq(&print_value(&value));
    }

    #[test]
    fn a_heredoc_ends_with_a_word_that_the_text_does_not_have() {
        assert_eq!(print_value(&Value::string("EOT\nx")), "<<EOT_\nEOT\nx\nEOT_");
    }
}
