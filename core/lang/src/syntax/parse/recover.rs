//! Tokens that are wrong in themselves, and finding the place to go on from after an error.

use formwork_value::{Reported, Span};

use super::Parser;
use crate::syntax::lex::{Token, TokenKind};

impl Parser<'_> {
    /// Reports every token that is wrong wherever it stands.
    pub(super) fn reject_tokens(&mut self) {
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if matches!(token.kind, TokenKind::Invalid | TokenKind::QuotedNewline) {
                self.rejected = Some(self.reject(token));
            }
        }
    }

    fn reject(&mut self, token: Token) -> Reported {
        if token.kind == TokenKind::QuotedNewline {
            let start = token.start as usize;
            let span = Span::new(self.source, start, start + 1);
            return self.error(
                "Invalid multi-line string",
                "A quoted string must end on the line on which it begins. Write \\n for a line end, or use a heredoc, which begins with <<EOT and ends with EOT on a line of its own.",
                span,
            );
        }
        let text = self.slice(token);
        let (summary, detail) = match text {
            "&" => (
                "Unsupported operator",
                "There are no operators on bits. Logical \"and\" is written &&.",
            ),
            "|" => (
                "Unsupported operator",
                "There are no operators on bits. Logical \"or\" is written ||.",
            ),
            "~" => (
                "Unsupported operator",
                "There are no operators on bits. Logical \"not\" is written !.",
            ),
            "^" => ("Unsupported operator", "There are no operators on bits."),
            "**" => {
                ("Unsupported operator", "There is no operator for powers; use the function pow.")
            }
            "'" => {
                ("Invalid character", "Strings stand in double quotes (\"), not in single quotes.")
            }
            "`" => (
                "Invalid character",
                "Backticks have no meaning here. A text of several lines is written as a heredoc, which begins with <<EOT and ends with EOT on a line of its own.",
            ),
            ";" => (
                "Invalid character",
                "Arguments and blocks end with the line, and elements of collections are separated by commas; a semicolon has no meaning.",
            ),
            "\u{201c}" | "\u{201d}" => (
                "Invalid character",
                "This is a typographic quotation mark. Strings stand in straight double quotes (\").",
            ),
            _ => ("Invalid character", "The language has no use for this character here."),
        };
        self.error(summary, detail, self.span(token))
    }

    /// Goes on behind the item of a body that has an error, of which the token at index `from` is
    /// part: behind its line, or before the brace that closes the body. Brackets that open and close
    /// on the way are passed over as a whole.
    pub(super) fn skip_item(&mut self, from: usize) {
        let mut open: Vec<TokenKind> = Vec::new();
        self.at = from;
        self.newlines = true;
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::End => return,
                TokenKind::Newline if open.is_empty() => {
                    self.at += 1;
                    return;
                }
                kind if closer(kind).is_some() => open.extend(closer(kind)),
                // The lexer took the string for closed.
                TokenKind::QuotedNewline if token.start == token.end => {
                    open.pop_if(|closer| *closer == TokenKind::CloseQuote);
                }
                kind if is_closer(kind) => match open.iter().rposition(|closer| *closer == kind) {
                    Some(depth) => open.truncate(depth),
                    // Something in between was never closed, but this closes the body around it all.
                    None if kind == TokenKind::CloseBrace => return,
                    None => {}
                },
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Goes on behind the token that closes the sequence `opener` began, which was taken already.
    pub(super) fn skip_sequence(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.bump().kind {
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => depth += 1,
                TokenKind::CloseSequence if depth == 0 => return,
                TokenKind::CloseSequence => depth -= 1,
                TokenKind::End => return,
                _ => {}
            }
        }
    }
}

fn closer(opener: TokenKind) -> Option<TokenKind> {
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

fn is_closer(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::CloseBrace
            | TokenKind::CloseBracket
            | TokenKind::CloseParen
            | TokenKind::CloseQuote
            | TokenKind::CloseHeredoc
            | TokenKind::CloseSequence
    )
}
