//! Parses JSON to a tree with the byte range of every part. Numbers keep their digits, members their
//! order and their duplicates. The caller interprets them.

use std::borrow::Cow;
use std::ops::Range;

use crate::Value;

/// A part of a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonNode<'t> {
    /// Kind and content of the part.
    pub kind: JsonNodeKind<'t>,
    /// Byte range of the part in the text.
    pub range: Range<usize>,
}

/// Kind of a part of a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonNodeKind<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(&'t str),
    /// A string with escapes resolved. Unpaired surrogates are U+FFFD.
    String(Cow<'t, str>),
    /// An array.
    Array(Vec<JsonNode<'t>>),
    /// An object, with its members as written, including duplicates.
    Object(Vec<JsonMember<'t>>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonMember<'t> {
    /// The name, with escapes resolved.
    pub name: Cow<'t, str>,
    /// Byte range of the name in the text, including its quotes.
    pub name_range: Range<usize>,
    /// The value.
    pub value: JsonNode<'t>,
}

/// The error of invalid JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON at line {line}, column {column}: {reason}")]
pub struct JsonSyntaxError {
    /// Byte offset from the beginning of the text.
    pub offset: usize,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 1.
    pub column: usize,
    /// Description of the problem.
    pub reason: String,
}

impl<'t> JsonNode<'t> {
    /// Returns the last member of a name, if this is an object that has one.
    #[must_use]
    pub fn find_member(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            JsonNodeKind::Object(members) => {
                // As in Go, the last of several members of one name is used.
                members.iter().rev().find(|member| member.name == name).map(|member| &member.value)
            }
            _ => None,
        }
    }

    /// Returns the string, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            JsonNodeKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements, if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match &self.kind {
            JsonNodeKind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the members, if this is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&[JsonMember<'t>]> {
        match &self.kind {
            JsonNodeKind::Object(members) => Some(members),
            _ => None,
        }
    }
}

/// Parses a whole document as one JSON value.
///
/// # Errors
/// Returns an error if the document is not valid UTF-8 or not JSON, if it continues after the value, or
/// if it is nested deeper than [`Value::MAX_DEPTH`].
pub fn parse_json_tree(text: &[u8]) -> Result<JsonNode<'_>, JsonSyntaxError> {
    let text = std::str::from_utf8(text)
        .map_err(|error| syntax_error(text, error.valid_up_to(), "not valid UTF-8"))?;
    let mut reader = JsonParser { text, at: 0 };
    let outcome = reader.parse_value(0).and_then(|node| {
        reader.skip_space();
        match reader.peek() {
            None => Ok(node),
            Some(_) => Err(SyntaxErrorAt(reader.at, "there is more after the value".into())),
        }
    });
    outcome.map_err(|SyntaxErrorAt(offset, reason)| syntax_error(text.as_bytes(), offset, reason))
}

fn syntax_error(text: &[u8], offset: usize, reason: impl Into<String>) -> JsonSyntaxError {
    let before = &text[..offset.min(text.len())];
    // Computed only for an error, because counting lines while parsing would slow down valid documents.
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    JsonSyntaxError {
        offset,
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        column: before.len() - line_start + 1,
        reason: reason.into(),
    }
}

/// An offset and the error there.
struct SyntaxErrorAt(usize, String);

struct JsonParser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> JsonParser<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes `byte` if it is next, after white space.
    fn take_if_next(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Returns the error for an unexpected character.
    fn expected_error(&self, wanted: &str) -> SyntaxErrorAt {
        let next = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        SyntaxErrorAt(
            self.at,
            match next {
                Some(char) => format!("{wanted} expected, found {char:?}"),
                None => format!("{wanted} expected, but the document ends here"),
            },
        )
    }

    fn parse_value(&mut self, depth: u16) -> Result<JsonNode<'t>, SyntaxErrorAt> {
        self.skip_space();
        let start = self.at;
        let kind = match self.peek() {
            // The limit is checked before the recursion, because the document determines its depth and
            // every recursion over the tree relies on the limit.
            _ if depth > Value::MAX_DEPTH => Err(SyntaxErrorAt(start, "nested too deep".into())),
            Some(b'{') => self.read_object(depth),
            Some(b'[') => self.read_array(depth),
            _ => self.read_leaf(),
        };
        kind.map(|kind| JsonNode { kind, range: start..self.at })
    }

    fn read_leaf(&mut self) -> Result<JsonNodeKind<'t>, SyntaxErrorAt> {
        match self.peek() {
            Some(b'"') => {
                let text = self.read_string();
                text.map(JsonNodeKind::String)
            }
            Some(b'-' | b'0'..=b'9') => self.read_number(),
            Some(b't') => self.read_keyword("true", JsonNodeKind::Bool(true)),
            Some(b'f') => self.read_keyword("false", JsonNodeKind::Bool(false)),
            Some(b'n') => self.read_keyword("null", JsonNodeKind::Null),
            _ => Err(self.expected_error("a value")),
        }
    }

    fn read_keyword(
        &mut self,
        word: &str,
        kind: JsonNodeKind<'t>,
    ) -> Result<JsonNodeKind<'t>, SyntaxErrorAt> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.expected_error("a value"));
        }
        self.at += word.len();
        Ok(kind)
    }

    fn read_array(&mut self, depth: u16) -> Result<JsonNodeKind<'t>, SyntaxErrorAt> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take_if_next(b']') {
            return Ok(JsonNodeKind::Array(items));
        }
        loop {
            items.push(self.parse_value(depth + 1)?);
            if self.take_if_next(b']') {
                return Ok(JsonNodeKind::Array(items));
            }
            if !self.take_if_next(b',') {
                return Err(self.expected_error("a comma or the end of the array"));
            }
        }
    }

    fn read_object(&mut self, depth: u16) -> Result<JsonNodeKind<'t>, SyntaxErrorAt> {
        self.at += 1;
        let mut members = Vec::new();
        if self.take_if_next(b'}') {
            return Ok(JsonNodeKind::Object(members));
        }
        loop {
            self.skip_space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected_error("a name in quotes"));
            }
            let name = self.read_string()?;
            let name_range = start..self.at;
            if !self.take_if_next(b':') {
                return Err(self.expected_error("a colon"));
            }
            members.push(JsonMember { name, name_range, value: self.parse_value(depth + 1)? });
            if self.take_if_next(b'}') {
                return Ok(JsonNodeKind::Object(members));
            }
            if !self.take_if_next(b',') {
                return Err(self.expected_error("a comma or the end of the object"));
            }
        }
    }

    fn read_number(&mut self) -> Result<JsonNodeKind<'t>, SyntaxErrorAt> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        // A number does not begin with additional zeros.
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.skip_digits()?;
        }
        Ok(JsonNodeKind::Number(&self.text[start..self.at]))
    }

    fn skip_digits(&mut self) -> Result<(), SyntaxErrorAt> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.expected_error("a digit")) } else { Ok(()) }
    }

    fn read_string(&mut self) -> Result<Cow<'t, str>, SyntaxErrorAt> {
        self.at += 1;
        let start = self.at;
        let mut owned: Option<String> = None;
        let mut copied = start;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let tail = &self.text[copied..self.at];
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(tail),
                        Some(text) => Cow::Owned(text + tail),
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(&self.text[copied..self.at]);
                    let resolved = self.read_escape()?;
                    text.push(resolved);
                    copied = self.at;
                }
                Some(0..0x20) => return Err(self.expected_error("an escaped control character")),
                // Continuation bytes are never ASCII, so none of them ends the string.
                Some(_) => self.at += 1,
                None => return Err(self.expected_error("a quote at the end of the string")),
            }
        }
    }

    /// Reads an escape. `at` is the position of its backslash.
    fn read_escape(&mut self) -> Result<char, SyntaxErrorAt> {
        self.at += 1;
        let resolved = match self.peek() {
            Some(b'u') => {
                self.at += 1;
                return self.read_unicode_escape();
            }
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            _ => return Err(self.expected_error("an escape sequence")),
        };
        self.at += 1;
        Ok(resolved)
    }

    /// Reads the four digits after `\u`, and the second half of a surrogate pair if there is one.
    fn read_unicode_escape(&mut self) -> Result<char, SyntaxErrorAt> {
        let first = self.read_four_hex_digits()?;
        if let code @ 0xd800..0xdc00 = first {
            let after_first = self.at;
            if self.text[self.at..].starts_with("\\u") {
                self.at += 2;
                if let second @ 0xdc00..0xe000 = self.read_four_hex_digits()? {
                    let code = 0x1_0000 + ((code - 0xd800) << 10) + (second - 0xdc00);
                    return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
            // An unpaired surrogate is invalid, and the character after it is read separately.
            self.at = after_first;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn read_four_hex_digits(&mut self) -> Result<u32, SyntaxErrorAt> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.expected_error("a hexadecimal digit"))?;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(text: &str) -> String {
        match parse_json_tree(text.as_bytes()).unwrap().kind {
            JsonNodeKind::String(text) => text.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_part_has_its_position() {
        let text = r#" {"a": [1, "x"], "a": -0.5e+3} "#;
        let node = parse_json_tree(text.as_bytes()).unwrap();
        let members = node.as_object().unwrap();
        assert_eq!(&text[members[0].name_range.clone()], "\"a\"");
        assert_eq!(&text[members[0].value.range.clone()], r#"[1, "x"]"#);
        assert_eq!(node.find_member("a").unwrap().kind, JsonNodeKind::Number("-0.5e+3"));
        assert_eq!(members[0].value.as_array().unwrap()[1].as_str(), Some("x"));
    }

    #[test]
    fn escapes_are_resolved_and_half_pairs_replaced() {
        let table = [
            (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r#""a\u00e9b""#, "aéb"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""\ud83dx""#, "\u{fffd}x"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud800\ud83d\ude00""#, "\u{fffd}😀"),
        ];
        for (text, want) in table {
            assert_eq!(text_of(text), want, "{text}");
        }
    }

    #[test]
    fn invalid_json_is_refused_with_its_position() {
        let table = [
            ("", "line 1, column 1: a value expected, but the document ends here"),
            ("[1,]", "line 1, column 4: a value expected, found ']'"),
            ("[1 2]", "line 1, column 4: a comma or the end of the array expected, found '2'"),
            ("{\n a:1}", "line 2, column 2: a name in quotes expected, found 'a'"),
            ("{\"a\" 1}", "line 1, column 6: a colon expected, found '1'"),
            ("01", "line 1, column 2: there is more after the value"),
            ("-", "line 1, column 2: a digit expected, but the document ends here"),
            ("1.", "line 1, column 3: a digit expected, but the document ends here"),
            ("tru", "line 1, column 1: a value expected, found 't'"),
            ("\"a\tb\"", "line 1, column 3: an escaped control character expected, found '\\t'"),
            ("\"\\x\"", "line 1, column 3: an escape sequence expected, found 'x'"),
            (
                "\"\\u12",
                "line 1, column 6: a hexadecimal digit expected, but the document ends here",
            ),
            (
                "\"abc",
                "line 1, column 5: a quote at the end of the string expected, but the document ends here",
            ),
        ];
        for (text, want) in table {
            let error = parse_json_tree(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("invalid JSON at {want}"), "{text}");
        }
        assert_eq!(parse_json_tree(b"\"\xff\"").unwrap_err().reason, "not valid UTF-8");
    }

    #[test]
    fn nesting_has_a_limit() {
        let deep = "[".repeat(100_000);
        assert_eq!(parse_json_tree(deep.as_bytes()).unwrap_err().reason, "nested too deep");
        let allowed = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert!(parse_json_tree(allowed.as_bytes()).is_ok());
    }
}
