//! Tokens inside a quoted template.

use super::{Lexer, TokenKind};

/// Distance after a line end within which the next item is searched for.
const ITEM_SEARCH_DISTANCE: usize = 256;

impl Lexer<'_> {
    /// Takes one token of a quoted template.
    pub(super) fn lex_quoted(&mut self) {
        match self.peek(0) {
            b'"' => {
                self.push_token_of_length(TokenKind::CloseQuote, 1);
                self.modes.pop();
            }
            b'\n' => self.lex_quoted_newline(1),
            b'\r' if self.peek(1) == b'\n' => self.lex_quoted_newline(2),
            b'$' | b'%' if self.peek(1) == b'{' => self.lex_sequence_opening(),
            _ => self.lex_quoted_text(),
        }
    }

    fn lex_quoted_text(&mut self) {
        let start = self.at;
        loop {
            self.skip_text(|byte| matches!(byte, b'"' | b'\n' | b'\r' | b'\\'));
            match (self.peek(0), self.peek(1)) {
                // A character after a backslash does not end the string, unless it is a line end.
                (b'\\', b'\n' | b'\r') | (b'\r', b'\n') => {
                    self.at += usize::from(self.peek(0) == b'\\');
                    break;
                }
                (b'\\', next) if self.at + 1 < self.bytes.len() => {
                    // `\$${` is an invalid escape and then an interpolation, so the dollar is kept.
                    let stays = matches!(next, b'$' | b'%');
                    self.at += 1 + usize::from(!stays && next.is_ascii());
                }
                (b'\\' | b'\r', _) if self.at < self.bytes.len() => self.at += 1,
                _ => break,
            }
        }
        self.push_token(TokenKind::QuotedText, start);
    }

    /// A line end in a quoted template is always an error. If the next line begins like an item of a
    /// body, the closing quote is probably missing, and the string is treated as closed so that the rest
    /// of the file can be parsed. Otherwise the string continues.
    fn lex_quoted_newline(&mut self, length: usize) {
        if self.is_item_start_near(self.at + length) {
            // The line end is kept for the search for the end of the argument.
            self.push_token_of_length(TokenKind::QuotedNewline, 0);
            self.modes.pop();
        } else {
            self.push_token_of_length(TokenKind::QuotedNewline, length);
        }
    }

    fn is_item_start_near(&self, at: usize) -> bool {
        // Only a limited distance is searched, because a longer search for every line end would be
        // quadratic.
        let near = &self.bytes[at..self.bytes.len().min(at + ITEM_SEARCH_DISTANCE)];
        let line = near.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        if matches!(line.first(), Some(b'}' | b']' | b')')) {
            return true;
        }
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let n_name = line.iter().take_while(is_name).count();
        let rest = line[n_name..].trim_ascii_start();
        // A label needs a space before its quote. `a"` is more likely the end of the string.
        let spaced = line.get(n_name).is_some_and(u8::is_ascii_whitespace);
        n_name > 0 && matches!((rest.first(), spaced), (Some(b'=' | b'{'), _) | (Some(b'"'), true))
    }
}
