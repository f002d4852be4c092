//! Error recovery: invalid tokens, and the position at which parsing continues after an error.

use std::collections::HashMap;

use formwork_value::Reported;

use super::Parser;
use crate::messages;
use crate::syntax::lex::{Token, TokenKind};

/// Returns whether to report an invalid token, given the previous ones. As in Terraform, an error that
/// is repeated throughout a file is reported only where it first occurs, and a string in wrong quotes
/// only at its start.
fn should_report_token(text: &str, counts: &mut HashMap<char, usize>) -> bool {
    let Some(first) = text.chars().next() else { return true };
    let is_bitwise = matches!(text, "&" | "|" | "^" | "~");
    let count = counts.entry(if is_bitwise { '&' } else { first }).or_default();
    *count += 1;
    match text {
        "'" | "`" => *count % 2 == 1,
        ";" | "**" => *count == 1,
        _ if is_bitwise => *count <= 4,
        _ => true,
    }
}

impl Parser<'_> {
    /// Reports tokens that are invalid in any position.
    pub(super) fn report_invalid_tokens(&mut self, tokens: &[Token]) {
        let mut before: Option<Token> = None;
        let mut counts: HashMap<char, usize> = HashMap::new();
        for &token in tokens {
            // A file may contain the same byte many times in a row.
            let goes_on = before.is_some_and(|before| {
                before.end == token.start && self.token_text(before) == self.token_text(token)
            });
            let is_reported = should_report_token(self.token_text(token), &mut counts);
            if !goes_on && is_reported {
                self.rejected = Some(self.report_invalid_token(token));
            }
            before = Some(token);
        }
    }

    fn report_invalid_token(&mut self, token: Token) -> Reported {
        if token.kind == TokenKind::QuotedNewline {
            let start = token.start as usize;
            let span = self.byte_range_span(start, start + 1);
            return self.report_error(
                messages::INVALID_MULTI_LINE_STRING,
                "A quoted string must end on the line on which it begins. Write \\n for a line end, or use a heredoc, which begins with <<EOT and ends with EOT on a line of its own.",
                span,
            );
        }
        let text = self.token_text(token);
        let (summary, detail) = match text {
            "&" => (
                messages::UNSUPPORTED_OPERATOR,
                "Bitwise operators are not supported. Did you mean boolean AND (\"&&\")?",
            ),
            "|" => (
                messages::UNSUPPORTED_OPERATOR,
                "Bitwise operators are not supported. Did you mean boolean OR (\"||\")?",
            ),
            "~" => (
                messages::UNSUPPORTED_OPERATOR,
                "Bitwise operators are not supported. Did you mean boolean NOT (\"!\")?",
            ),
            "^" => (messages::UNSUPPORTED_OPERATOR, "Bitwise operators are not supported."),
            "**" => (
                messages::UNSUPPORTED_OPERATOR,
                "\"**\" is not a supported operator. Use the function pow.",
            ),
            "'" => (
                messages::INVALID_CHARACTER,
                "Strings are enclosed in double quotes (\"), not in single quotes.",
            ),
            "`" => (
                messages::INVALID_CHARACTER,
                "Backticks have no meaning here. Write a string of several lines as a heredoc, which begins with <<EOT and ends with EOT on its own line.",
            ),
            ";" => (
                messages::INVALID_CHARACTER,
                "The \";\" character is not valid. Use newlines to separate arguments and blocks, and commas to separate items in collection values.",
            ),
            _ if text.starts_with('\0') => (
                messages::INVALID_CHARACTER,
                "The file contains a zero byte. It is not UTF-8, or it is damaged.",
            ),
            "\u{201c}" | "\u{201d}" => (
                messages::INVALID_CHARACTER,
                "This is a typographic quotation mark. Strings are enclosed in straight double quotes (\").",
            ),
            _ => (messages::INVALID_CHARACTER, "This character is not used within the language."),
        };
        self.report_error(summary, detail, self.token_span(token))
    }

    /// Skips the item of a body that has an error and contains the token at index `from`: to the end of
    /// its line, or to the brace that closes the body. Matched brackets are skipped as a whole.
    pub(super) fn skip_item(&mut self, from: usize) {
        let mut open = OpenBrackets::default();
        self.at = from;
        // The error may be inside brackets, where line ends are not significant, but the item ends with
        // a line.
        self.newlines = true;
        loop {
            let token = self.peek_token();
            match token.kind {
                TokenKind::EndOfText => return,
                TokenKind::Newline if open.is_empty() => {
                    self.at += 1;
                    return;
                }
                // The lexer treated the string as closed.
                TokenKind::QuotedNewline if token.start == token.end => {
                    open.close_bracket(TokenKind::CloseQuote);
                }
                // An inner bracket was never closed, but this one closes the enclosing body.
                TokenKind::CloseBrace if !open.close_bracket(token.kind) => return,
                TokenKind::CloseBrace => {}
                kind => open.track_token(kind),
            }
            self.at += 1;
        }
    }

    /// Skips to the end of the sequence that began with `opener`, which was already consumed.
    pub(super) fn skip_sequence(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.take_token().kind {
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => depth += 1,
                TokenKind::CloseSequence if depth == 0 => return,
                TokenKind::CloseSequence => depth -= 1,
                TokenKind::EndOfText => return,
                _ => {}
            }
        }
    }
}

/// The open brackets, by their closing token.
#[derive(Default)]
struct OpenBrackets {
    closers: Vec<TokenKind>,
    /// Number of open brackets of each kind, so that an unmatched closing bracket needs no search.
    counts: HashMap<TokenKind, usize>,
}

impl OpenBrackets {
    fn is_empty(&self) -> bool {
        self.closers.is_empty()
    }

    fn track_token(&mut self, kind: TokenKind) {
        match closing_bracket(kind) {
            Some(closer) => {
                self.closers.push(closer);
                *self.counts.entry(closer).or_default() += 1;
            }
            None => {
                self.close_bracket(kind);
            }
        }
    }

    /// Closes the innermost matching bracket, and the unclosed ones inside it. Returns whether one
    /// exists.
    fn close_bracket(&mut self, kind: TokenKind) -> bool {
        if self.counts.get(&kind).is_none_or(|count| *count == 0) {
            return false;
        }
        while let Some(closer) = self.closers.pop() {
            if let Some(count) = self.counts.get_mut(&closer) {
                *count -= 1;
            }
            if closer == kind {
                break;
            }
        }
        true
    }
}

fn closing_bracket(opener: TokenKind) -> Option<TokenKind> {
    Some(match opener {
        TokenKind::OpenBrace => TokenKind::CloseBrace,
        TokenKind::OpenBracket => TokenKind::CloseBracket,
        TokenKind::OpenParen => TokenKind::CloseParen,
        TokenKind::OpenQuote => TokenKind::CloseQuote,
        TokenKind::OpenHeredoc => TokenKind::CloseHeredoc,
        TokenKind::OpenInterpolation | TokenKind::OpenDirective => TokenKind::CloseSequence,
        _ => return None,
    })
}
