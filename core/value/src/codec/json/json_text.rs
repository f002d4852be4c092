//! Writes JSON incrementally, with the escapes of Go's encoder, which Terraform's files use.

/// Writes a string with its quotes.
///
/// Go's encoder makes its output safe in HTML, so `<`, `>` and `&` are also escaped.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut copied = 0;
    for (at, char) in text.char_indices() {
        let short = match char {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            // U+2028 and U+2029 end a line in JavaScript, so Go escapes them like the characters of
            // HTML.
            '\0'..'\u{20}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => "",
            _ => continue,
        };
        out.push_str(&text[copied..at]);
        out.push_str(short);
        if short.is_empty() {
            out.push_str("\\u");
            for shift in [12, 8, 4, 0] {
                let digit = (u32::from(char) >> shift) & 0xf;
                out.push(char::from_digit(digit, 16).unwrap_or('0'));
            }
        }
        copied = at + char.len_utf8();
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// Writes a sequence between brackets, with commas. `each` writes one of its items.
pub(crate) fn write_sequence<T, E>(
    out: &mut String,
    brackets: [char; 2],
    parts: impl IntoIterator<Item = T>,
    mut each: impl FnMut(&mut String, T) -> Result<(), E>,
) -> Result<(), E> {
    out.push(brackets[0]);
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, part)?;
    }
    out.push(brackets[1]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_the_language_does() {
        let mut out = String::new();
        write_string(&mut out, "\"\\\u{8}\u{c}\n\r\t\u{1}\u{7f}<a>&\u{2028}\u{2029}é😀/");
        assert_eq!(
            out,
            "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\u{7f}\\u003ca\\u003e\\u0026\\u2028\\u2029é😀/\""
        );
    }
}
