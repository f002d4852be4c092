//! JSON text as the format has it: escapes that are safe inside HTML, two spaces of indentation.
//! Rewrites valid JSON without interpreting it.

/// Maximum nesting of objects and arrays in a part that is stored unchanged. Each level of a value may
/// use two: the value and the wrapper with its type.
const MAX_NESTING: usize = 2 * formwork_value::Value::MAX_DEPTH as usize + 100;

/// Says that a part is nested too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NestedTooDeep;

/// Whether a JSON text is nested deeper than a stored part may be.
pub(super) fn is_too_deep(text: &str) -> bool {
    let text = text.as_bytes();
    let (mut at, mut depth, mut deepest) = (0, 0_usize, 0);
    let mut is_string = false;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => at += 1,
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest > MAX_NESTING
}

/// Returns the JSON text without insignificant whitespace, with the escapes of the format.
pub(super) fn compact_json(text: &str) -> Result<Vec<u8>, NestedTooDeep> {
    let mut out = Vec::with_capacity(text.len());
    let text = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'"' => {
                at = copy_string(text, at, &mut out);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(NestedTooDeep);
        }
        out.push(byte);
    }
    Ok(out)
}

/// Appends the JSON text with line breaks. Each new line is indented by two spaces per level, of which
/// `depth` surround it.
pub(super) fn append_indented(out: &mut Vec<u8>, text: &[u8], depth: usize) {
    let (mut at, mut depth) = (0, depth);
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'"' => at = copy_string(text, at, out),
            b'{' | b'[' => {
                out.push(byte);
                // Go writes an empty object or list without a line break in it.
                let next = text[at..].iter().position(|byte| !byte.is_ascii_whitespace());
                let next_token = at + next.unwrap_or(0);
                if let Some(&close @ (b'}' | b']')) = text.get(next_token) {
                    out.push(close);
                    at = next_token + 1;
                } else {
                    depth += 1;
                    append_line_break(out, depth);
                }
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                append_line_break(out, depth);
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                append_line_break(out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            byte => out.push(byte),
        }
    }
}

/// Starts a line at a level of indentation.
pub(super) fn append_line_break(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

/// Appends a string, quotes included.
pub(super) fn append_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        let short: &[u8] = match c {
            '"' => b"\\\"",
            '\\' => b"\\\\",
            '\n' => b"\\n",
            '\r' => b"\\r",
            '\t' => b"\\t",
            '\u{8}' => b"\\b",
            '\u{c}' => b"\\f",
            // The encoder of Go escapes these for HTML, and Terraform writes states with it.
            '\0'..'\u{20}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => b"",
            _ => continue,
        };
        out.extend_from_slice(&text.as_bytes()[copied..at]);
        if short.is_empty() {
            out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
        } else {
            out.extend_from_slice(short);
        }
        copied = at + c.len_utf8();
    }
    out.extend_from_slice(&text.as_bytes()[copied..]);
    out.push(b'"');
}

/// Copies the rest of a string that begins before `start`, and escapes characters that a writer may have left
/// unescaped. Returns where it ends.
fn copy_string(text: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    out.push(b'"');
    let (mut at, mut copied) = (start, start);
    while let Some(&byte) = text.get(at) {
        let (escape, length): (&[u8], usize) = match byte {
            b'"' => break,
            b'\\' => {
                // The character after the backslash may be a quote, which does not end the string.
                at += 2;
                continue;
            }
            b'<' => (b"\\u003c", 1),
            b'>' => (b"\\u003e", 1),
            b'&' => (b"\\u0026", 1),
            0xe2 if text[at..].starts_with("\u{2028}".as_bytes()) => (b"\\u2028", 3),
            0xe2 if text[at..].starts_with("\u{2029}".as_bytes()) => (b"\\u2029", 3),
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(&text[copied..at]);
        out.extend_from_slice(escape);
        at += length;
        copied = at;
    }
    let end = at.min(text.len());
    out.extend_from_slice(&text[copied.min(end)..end]);
    out.push(b'"');
    end + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact_to_string(text: &str) -> String {
        String::from_utf8(compact_json(text).unwrap()).unwrap()
    }

    fn indent_to_string(text: &str, depth: usize) -> String {
        let mut out = Vec::new();
        append_indented(&mut out, text.as_bytes(), depth);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn spaces_are_removed_and_html_characters_are_escaped() {
        for (text, want) in [
            ("{ \"a b\" : [ 1 ,\t2 ] ,\n\"c\":null}", r#"{"a b":[1,2],"c":null}"#),
            (r#""\"<\\>&\u003c""#, r#""\"\u003c\\\u003e\u0026\u003c""#),
            ("\"\u{2028}é\u{2029}\u{20ac}\"", "\"\\u2028é\\u2029\u{20ac}\""),
            ("[ ]", "[]"),
        ] {
            assert_eq!(compact_to_string(text), want);
        }
    }

    #[test]
    fn every_member_has_its_line_and_empty_brackets_have_none() {
        let text = r#"{"a":[1,{"b":{}}],"c":[ ],"d":"x,{ "}"#;
        let want = "{\n    \"a\": [\n      1,\n      {\n        \"b\": {}\n      }\n    ],\n    \
                    \"c\": [],\n    \"d\": \"x,{ \"\n  }";
        assert_eq!(indent_to_string(text, 1), want);
        assert_eq!(indent_to_string(&indent_to_string(text, 3), 1), want);
    }

    #[test]
    fn strings_are_quoted_as_terraform_does() {
        let mut out = Vec::new();
        append_quoted(&mut out, "\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}<>&\u{2028}é");
        let want = "\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}\\u003c\\u003e\\u0026\\u2028é\"";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(compact_json(&nested(MAX_NESTING)).is_ok());
        assert_eq!(compact_json(&nested(MAX_NESTING + 1)), Err(NestedTooDeep));
        assert!(!is_too_deep(&nested(MAX_NESTING)) && is_too_deep(&nested(MAX_NESTING + 1)));
        assert!(!is_too_deep(&format!("[\"\\\"{}\"]", nested(MAX_NESTING + 1))));
    }
}
