//! Numbers and the content of strings, with escapes resolved.

use std::borrow::Cow;

use formwork_value::{Number, Reported};

use super::{Parsed, Parser};
use crate::messages;
use crate::syntax::lex::{Token, TokenKind};

impl<'a> Parser<'a> {
    /// Parses a number token.
    pub(super) fn parse_number(&mut self, token: Token) -> Parsed<Number> {
        Number::parse(self.token_text(token)).ok_or_else(|| {
            self.report_error(
                messages::INVALID_NUMBER_LITERAL,
                "This is not a number that can be represented. A number is digits, optionally followed by a point with digits and by an exponent.",
                self.token_span(token),
            )
        })
    }

    /// Returns the text of a template token, with escapes resolved. Backslash escapes exist only in
    /// quotes.
    pub(super) fn unescape_token(&mut self, token: Token) -> Parsed<Cow<'a, str>> {
        let text = self.token_text(token);
        let quoted = token.kind == TokenKind::QuotedText;
        let Some(mut at) = find_escape(text, 0, quoted) else { return Ok(Cow::Borrowed(text)) };
        let mut result = String::with_capacity(text.len());
        let mut done = 0;
        let mut wrong = None;
        loop {
            result.push_str(&text[done..at]);
            let escape = &text[at..];
            done = at
                + match escape.as_bytes()[0] {
                    b'\\' => match unescape_backslash(escape) {
                        Ok((char, length)) => {
                            result.push(char);
                            length
                        }
                        // The rest of the text is also checked, so that all invalid escapes of a string
                        // are reported.
                        Err((detail, length)) => {
                            wrong = Some(self.report_invalid_escape(token, at, length, detail));
                            length
                        }
                    },
                    // `$${` and `%%{` represent `${` and `%{`.
                    sign => {
                        result.push(char::from(sign));
                        2
                    }
                };
            match find_escape(text, done, quoted) {
                Some(next) => at = next,
                None => break,
            }
        }
        result.push_str(&text[done..]);
        wrong.map_or(Ok(Cow::Owned(result)), Err)
    }

    fn report_invalid_escape(
        &mut self,
        token: Token,
        at: usize,
        length: usize,
        detail: String,
    ) -> Reported {
        let start = token.start as usize + at;
        let span = self.byte_range_span(start, start + length);
        self.report_error(messages::INVALID_ESCAPE_SEQUENCE, detail, span)
    }
}

/// Finds the next escape at or after an offset: a backslash in quotes, or a doubled sign before a brace.
fn find_escape(text: &str, from: usize, quoted: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    (from..bytes.len()).find(|&at| match bytes[at] {
        b'\\' => quoted,
        sign @ (b'$' | b'%') => {
            bytes.get(at + 1) == Some(&sign) && bytes.get(at + 2) == Some(&b'{')
        }
        _ => false,
    })
}

/// Reads a backslash escape. Returns the character and its length, or the error and its length.
fn unescape_backslash(escape: &str) -> Result<(char, usize), (String, usize)> {
    let Some(selector) = escape[1..].chars().next() else {
        return Err(("Nothing follows the backslash.".to_owned(), 1));
    };
    let simple = match selector {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '"' => '"',
        '\\' => '\\',
        'u' => return unescape_unicode(escape, 4),
        'U' => return unescape_unicode(escape, 8),
        other => {
            let detail = format!(
                "The symbol \"{other}\" is not a valid escape sequence selector. Valid selectors are n, r, t, \", \\, u and U. Write a literal backslash as two."
            );
            return Err((detail, 1 + other.len_utf8()));
        }
    };
    Ok((simple, 2))
}

fn unescape_unicode(escape: &str, n_digits: usize) -> Result<(char, usize), (String, usize)> {
    let digits = escape[2..].bytes().take(n_digits).take_while(u8::is_ascii_hexdigit).count();
    let length = 2 + digits;
    if digits < n_digits {
        let n_digits = if n_digits == 4 { "four" } else { "eight" };
        let detail = format!(
            "The {} escape sequence must be followed by {n_digits} hexadecimal digits.",
            &escape[..2]
        );
        return Err((detail, length));
    }
    let code = u32::from_str_radix(&escape[2..length], 16).ok();
    match code.and_then(char::from_u32) {
        Some(char) => Ok((char, length)),
        None => Err((format!("{} is not a Unicode character.", &escape[..length]), length)),
    }
}
