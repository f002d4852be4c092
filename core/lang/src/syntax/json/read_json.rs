//! Parser from JSON to expressions. Every string keeps its source, every object its members in order,
//! including duplicates. After an error the parser continues after the invalid value, inserts a missing
//! comma or colon, or continues after the enclosing array or object.

use formwork_value::diag::{Message, SourceId, Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Number, Reported, Span};

use super::JsonString;
use crate::messages;
use crate::stack::with_stack;
use crate::suggest::nearest_name;
use crate::syntax::parse::{MAX_REPORTED_ERRORS, ParserInput};
use crate::syntax::{Expr, ExprKind, MAX_DEPTH, ObjectItem};

/// Reads a whole source as one JSON value.
pub(super) fn read_json(
    diags: &mut Diagnostics,
    sources: &Sources,
    source: SourceId,
) -> Result<Expr, Reported> {
    let text = sources.source_text(source);
    let mut reader = JsonReader {
        diags,
        sources,
        source,
        text,
        at: 0,
        depth: 0,
        n_errors: 0,
        failed: None,
        ended: None,
    };
    let value = reader.read_value()?;
    reader.skip_space();
    if reader.failed.is_none() && reader.at < text.len() {
        let detail = "A JSON file contains exactly one value, which ends before this.";
        return Err(reader.report_error_here(messages::EXTRANEOUS_DATA_AFTER_VALUE, detail));
    }
    reader.failed.map_or(Ok(value), Err)
}

/// Summary and detail for a property without a colon.
const COLON_ERROR: (&Message, &str) = (
    messages::MISSING_PROPERTY_VALUE_COLON,
    "A colon must separate a property name from its value.",
);

struct JsonReader<'a> {
    diags: &'a mut Diagnostics,
    sources: &'a Sources,
    source: SourceId,
    text: &'a str,
    at: usize,
    depth: usize,
    n_errors: usize,
    /// The receipt of an error. The value is then not used.
    failed: Option<Reported>,
    /// Whether the unexpected end of the document was reported. It is reported once.
    ended: Option<Reported>,
}

impl JsonReader<'_> {
    /// Reads a value. An invalid or missing value is reported and becomes an invalid expression.
    ///
    /// # Errors
    /// Returns an error if the document ends before the value, or if the value is nested too deeply, so
    /// that parsing cannot continue after it.
    fn read_value(&mut self) -> Result<Expr, Reported> {
        self.skip_space();
        if self.depth >= MAX_DEPTH {
            let detail = format!("Arrays and objects may be nested up to {MAX_DEPTH} levels deep.");
            return Err(self.report_error_here(messages::TOO_MANY_NESTED_LEVELS, &detail));
        }
        self.depth += 1;
        let value = with_stack(|| self.read_value_without_limit());
        self.depth -= 1;
        value
    }

    fn read_value_without_limit(&mut self) -> Result<Expr, Reported> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.read_object().map(ExprKind::Object),
            Some(b'[') => self.read_array().map(ExprKind::Tuple),
            Some(b'"') => return Ok(self.read_string()),
            Some(b'-' | b'0'..=b'9') => self.read_number(),
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.read_literal_word(),
            Some(_) => {
                let detail = "A value begins with a brace, a bracket, a quote, a digit or a minus sign, or is one of true, false and null.";
                let reported = self.report_error_here(messages::INVALID_START_OF_VALUE, detail);
                // The parser continues at the next byte that can end a value.
                self.skip_while(|byte| !b",]}\n".contains(&byte));
                Err(reported)
            }
            None => {
                let (detail, here) =
                    ("The document ends where a value is expected.", self.current_span());
                return Err(self.report_unexpected_end(messages::MISSING_VALUE, detail, here));
            }
        };
        let kind = kind.unwrap_or_else(|reported| {
            self.failed = Some(reported);
            ExprKind::Invalid
        });
        Ok(Expr { kind, span: self.span_from(start) })
    }

    /// Reads an object. Afterwards the position is after it, even if it has errors.
    fn read_object(&mut self) -> Result<Vec<ObjectItem>, Reported> {
        let open = self.current_span();
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                // A brace after a comma is an error, which is reported at the comma.
                Some(b'}') if items.is_empty() => break,
                _ => {}
            }
            let key = self.read_key()?;
            self.skip_space();
            match self.peek() {
                Some(b':') => self.at += 1,
                // A value follows, so the colon is missing.
                Some(b'{' | b'[') => {
                    self.failed = Some(self.report_error_here(COLON_ERROR.0, COLON_ERROR.1));
                }
                _ => return Err(self.report_and_skip_container(COLON_ERROR.0, COLON_ERROR.1)),
            }
            // A failed value leaves the position inside this object, but the caller expects it after the
            // object.
            let value = self.read_value().inspect_err(|_| self.skip_rest_of_container())?;
            items.push(ObjectItem { key, bare: false, value });
            if !self.take_comma_or_closer(b'}', open)? {
                break;
            }
        }
        self.at += 1;
        Ok(items)
    }

    /// Reads a property name. A name without quotes is reported and skipped.
    ///
    /// # Errors
    /// Returns an error if no name follows. The position is then after the whole object.
    fn read_key(&mut self) -> Result<Expr, Reported> {
        let (summary, detail) = (
            messages::INVALID_OBJECT_PROPERTY_NAME,
            "The property names of an object are strings in quotes.",
        );
        let (start, rest) = (self.at, self.text[self.at..].chars().next());
        match rest {
            Some('"') => Ok(self.read_string()),
            Some(first) if first.is_alphabetic() || first == '_' => {
                self.skip_while(|byte| !b":,]}\n\"{[".contains(&byte));
                self.failed = Some(self.report_error(summary, detail, self.span_from(start)));
                Ok(Expr { kind: ExprKind::Invalid, span: self.span_from(start) })
            }
            _ => Err(self.report_and_skip_container(summary, detail)),
        }
    }

    /// Reads an array, like [`Self::read_object`].
    fn read_array(&mut self) -> Result<Vec<Expr>, Reported> {
        let open = self.current_span();
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some(b']') && items.is_empty() {
                break;
            }
            // As for an object, the position must be after the array even after an error.
            items.push(self.read_value().inspect_err(|_| self.skip_rest_of_container())?);
            if !self.take_comma_or_closer(b']', open)? {
                break;
            }
        }
        self.at += 1;
        Ok(items)
    }

    /// Takes the comma after a member or element. Returns `false` before the closing bracket.
    ///
    /// # Errors
    /// Returns an error if neither follows. The position is then after the whole container.
    fn take_comma_or_closer(&mut self, closer: u8, open: Span) -> Result<bool, Reported> {
        // Tools search for Terraform's spelling of the missing token.
        let (construct, missing, mismatched, other_closer) = match closer {
            b'}' => (
                "object",
                messages::MISSING_ATTRIBUTE_SEPERATOR_COMMA,
                messages::MISMATCHED_BRACES,
                b']',
            ),
            _ => (
                "array",
                messages::MISSING_ITEM_SEPERATOR_COMMA,
                messages::MISMATCHED_BRACKETS,
                b'}',
            ),
        };
        let closer_name = if closer == b'}' { "brace" } else { "bracket" };
        self.skip_space();
        let here = self.current_span();
        match self.peek() {
            Some(byte) if byte == closer => Ok(false),
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                if self.peek() != Some(closer) {
                    return Ok(true);
                }
                self.at += 1;
                let detail = "JSON does not allow a comma after the last item.";
                Err(self.report_error(messages::TRAILING_COMMA.with(&[&construct]), detail, here))
            }
            None => {
                let detail = format!(
                    "The document ends before the {closer_name} that closes this {construct}."
                );
                // Terraform prints the same for an array.
                Err(self.report_unexpected_end(messages::UNCLOSED_OBJECT, &detail, open))
            }
            Some(byte) if byte == other_closer => {
                self.at += 1;
                let detail = format!("This {construct} must be closed with a {closer_name}.");
                Err(self.report_error(mismatched, &detail, here))
            }
            // Another item begins, so the comma is missing.
            Some(byte) if byte == b'"' || (closer == b']' && b"{[".contains(&byte)) => {
                let detail = "Separate items with a comma.";
                self.failed = Some(self.report_error_here(missing, detail));
                Ok(true)
            }
            Some(_) => Err(self.report_and_skip_container(missing, "Separate items with a comma.")),
        }
    }

    /// Reports the token at this position, and continues after the enclosing array or object.
    fn report_and_skip_container(&mut self, summary: impl Into<Summary>, detail: &str) -> Reported {
        if self.peek().is_none() {
            let here = self.current_span();
            return self.report_unexpected_end(summary, detail, here);
        }
        let reported = self.report_error_here(summary, detail);
        self.skip_rest_of_container();
        reported
    }

    /// Skips bytes that satisfy a predicate.
    fn skip_while(&mut self, is_such: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_such) {
            self.at += 1;
        }
    }

    /// Skips to the end of the enclosing array or object.
    fn skip_rest_of_container(&mut self) {
        let mut depth = 1_usize;
        while let Some(byte) = self.peek().filter(|_| depth > 0) {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            // The document may have ended within a string.
            self.at = (self.at + 1).min(self.text.len());
        }
    }

    /// Skips to the closing quote of a string, or to the end of its line.
    fn skip_string(&mut self) {
        let mut rest = self.text.bytes().enumerate().skip(self.at + 1);
        let end = loop {
            match rest.next() {
                Some((_, b'\\')) => drop(rest.next()),
                Some((at, b'"' | b'\n')) => break at,
                Some(_) => {}
                None => break self.text.len(),
            }
        };
        self.at = end;
    }

    /// Reports an unexpected end of the document.
    fn report_unexpected_end(
        &mut self,
        summary: impl Into<Summary>,
        detail: &str,
        span: Span,
    ) -> Reported {
        if let Some(reported) = self.ended {
            return reported;
        }
        let reported = self.report_error(summary, detail, span);
        *self.ended.insert(reported)
    }

    /// Reads a string as an expression that keeps its source.
    fn read_string(&mut self) -> Expr {
        let start = self.at;
        let text = self.read_quoted_characters().unwrap_or_else(|reported| {
            self.failed = Some(reported);
            // A failed string can end anywhere, so its closing quote is searched for from its start.
            self.at = start;
            self.skip_string();
            String::new()
        });
        self.at = (self.at + 1).min(self.text.len());
        let span = self.span_from(start);
        let input = ParserInput {
            text: &text,
            source: self.source,
            base: span.start + 1,
            sources: Some(self.sources),
        };
        Expr { kind: ExprKind::Json(Box::new(JsonString::new(input, span))), span }
    }

    /// Reads the content of a string, up to its closing quote.
    fn read_quoted_characters(&mut self) -> Result<String, Reported> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(plain) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') else {
                self.at = self.text.len();
                let detail = "The document ends before the quote that closes this string.";
                return Err(self.report_unexpected_end(
                    messages::INVALID_JSON_STRING,
                    detail,
                    self.span_from(start),
                ));
            };
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => return Ok(text),
                Some(b'\\') => text.push(self.read_escape()?),
                _ => {
                    let detail = "A JSON string must be on one line. Write \\n for a line end and \\t for a tab.";
                    return Err(self.report_error_here(messages::INVALID_JSON_STRING, detail));
                }
            }
        }
    }

    fn read_escape(&mut self) -> Result<char, Reported> {
        self.at += 1;
        let letter = self.peek().unwrap_or(0);
        let char = match letter {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(letter),
            b'u' => return self.read_unicode_escape(),
            _ => return Err(self.report_bad_escape()),
        };
        self.at += 1;
        Ok(char)
    }

    /// Reads a Unicode escape, from the `u` after the backslash. An unpaired surrogate becomes a
    /// replacement character.
    fn read_unicode_escape(&mut self) -> Result<char, Reported> {
        let unit = self.read_utf16_unit(self.at + 1).ok_or_else(|| self.report_bad_escape())?;
        self.at += 5;
        let follows = self.text.get(self.at..self.at + 2) == Some("\\u");
        let low = self
            .read_utf16_unit(self.at + 2)
            .filter(|low| follows && (0xdc00..0xe000).contains(low));
        let code = match (unit, low) {
            // Characters above U+FFFF are written as a surrogate pair of UTF-16.
            (0xd800..0xdc00, Some(low)) => {
                self.at += 6;
                0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => unit,
        };
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Returns the four digits of an escape at an offset.
    fn read_utf16_unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4)?;
        let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        all.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    }

    fn report_bad_escape(&mut self) -> Reported {
        let detail = "Invalid escape sequence. Valid escapes are \" \\ / b f n r t, and u followed by four hexadecimal digits.";
        self.report_error_here(messages::INVALID_JSON_STRING, detail)
    }

    fn read_number(&mut self) -> Result<ExprKind, Reported> {
        let start = self.at;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        // The number parser determines the value, and `is_json_number` whether JSON allows the spelling.
        if let Some(number) = Number::parse(text).filter(|_| is_json_number(text)) {
            return Ok(ExprKind::Number(number));
        }
        let detail = format!(
            "{text:?} is not a number. A number is digits without leading zeros, optionally followed by a point with digits and by an exponent."
        );
        Err(self.report_error(messages::INVALID_JSON_NUMBER, &detail, self.span_from(start)))
    }

    fn read_literal_word(&mut self) -> Result<ExprKind, Reported> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        Ok(match word {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" => ExprKind::Null,
            _ => {
                // Python and other generators write `True` and `None`.
                let meant =
                    nearest_name(&word.to_lowercase(), ["true", "false", "null"].into_iter());
                let meant = meant.map(|word| format!(" Did you mean {word}?")).unwrap_or_default();
                let detail = format!("{word:?} is not true, false or null.{meant}");
                return Err(self.report_error(
                    messages::INVALID_JSON_KEYWORD,
                    &detail,
                    self.span_from(start),
                ));
            }
        })
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next character.
    fn current_span(&self) -> Span {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Span::new(self.source, self.at, self.at + length)
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }

    fn report_error_here(&mut self, summary: impl Into<Summary>, detail: &str) -> Reported {
        let here = self.current_span();
        self.report_error(summary, detail, here)
    }

    fn report_error(&mut self, summary: impl Into<Summary>, detail: &str, span: Span) -> Reported {
        self.n_errors += 1;
        match self.failed {
            // A file that is not JSON could have an error on every line.
            Some(reported) if self.n_errors > MAX_REPORTED_ERRORS => reported,
            _ => self.diags.error(Diagnostic::error(summary, detail).at(span)),
        }
    }
}

/// Returns whether a string is a JSON number. The native syntax also allows leading zeros and a leading
/// point.
fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}
