//! Tokens inside a heredoc, and its opening.

use unicode_ident::{is_xid_continue, is_xid_start};

use super::{LexMode, Lexer, TokenKind};

impl Lexer<'_> {
    /// Takes `<<NAME` or `<<-NAME` with the line end that must follow immediately. Anything else is not
    /// a heredoc.
    pub(super) fn lex_heredoc_opening(&mut self) -> bool {
        let flush = usize::from(self.peek(2) == b'-');
        let start = self.at + 2 + flush;
        let rest = self.text.get(start..).unwrap_or("");
        let starts = rest.chars().next().is_some_and(|char| char == '_' || is_xid_start(char));
        if !starts {
            return false;
        }
        let continues = |char: char| char == '-' || is_xid_continue(char);
        let length = rest.find(|char| !continues(char)).unwrap_or(rest.len());
        let newline = match &rest.as_bytes()[length..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        let name = start..start + length;
        self.push_token_of_length(TokenKind::OpenHeredoc, name.end + newline - self.at);
        self.modes.push(LexMode::Heredoc { name, line_start: true });
        true
    }

    /// Takes one token of a heredoc: a line, a part of one, or its end.
    pub(super) fn lex_heredoc(&mut self) {
        let Some(LexMode::Heredoc { name, line_start }) = self.modes.last_mut() else { return };
        let (name, at_line_start) = (name.clone(), std::mem::replace(line_start, false));
        let start = self.at;
        self.skip_text(|byte| byte == b'\n');
        if self.peek(0) != b'\n' {
            if self.at > start {
                return self.push_token(TokenKind::Text, start);
            }
            return self.lex_sequence_opening();
        }
        // The delimiter counts only if a line end follows: at the end of the file, HCL treats it as text
        // and reports an unclosed heredoc.
        let line = &self.text[start..self.at];
        // The closing name may be indented in both forms of a heredoc.
        if at_line_start && line.trim() == &self.text[name] {
            // The line end is not part of the marker, because it ends the argument.
            self.at -= usize::from(line.ends_with('\r'));
            self.push_token(TokenKind::CloseHeredoc, start);
            self.modes.pop();
            return;
        }
        self.push_text_to_line_end(start);
        if let Some(LexMode::Heredoc { line_start, .. }) = self.modes.last_mut() {
            *line_start = true;
        }
    }
}
