//! Pieces of a source text during formatting: tokens with the spaces before them.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

use super::syntax_rewrites::Rewrite;
use crate::syntax::lex::{Token, TokenKind, lex};

/// A token and the spaces before it.
#[derive(Clone, Debug)]
pub(super) struct SpacedToken<'t> {
    pub(super) kind: TokenKind,
    /// The text of the token; a line comment includes its line end.
    pub(super) text: Cow<'t, str>,
    /// Number of spaces before the token.
    pub(super) spaces: usize,
}

impl<'t> SpacedToken<'t> {
    pub(super) fn new(kind: TokenKind, text: impl Into<Cow<'t, str>>) -> Self {
        Self { kind, text: text.into(), spaces: 0 }
    }

    /// Returns whether a line ends with the token.
    pub(super) fn ends_line(&self) -> bool {
        self.kind == TokenKind::Newline
            || (self.kind == TokenKind::Comment && self.text.ends_with('\n'))
    }

    /// Width on the screen, with the spaces before it.
    pub(super) fn width(&self) -> usize {
        let text = self.text.as_ref();
        // Terraform aligns by grapheme clusters, which are the columns of most terminals.
        let width = if text.is_ascii() { text.len() } else { text.graphemes(true).count() };
        self.spaces + width
    }

    /// Number of brackets it opens, negative for closing.
    pub(super) fn bracket_change(&self) -> isize {
        use TokenKind as T;
        match self.kind {
            T::OpenBrace
            | T::OpenBracket
            | T::OpenParen
            | T::OpenInterpolation
            | T::OpenDirective => 1,
            T::CloseBrace | T::CloseBracket | T::CloseParen | T::CloseSequence => -1,
            _ => 0,
        }
    }
}

/// Splits a source into pieces and applies the rewrites, which are in order and do not overlap.
pub(super) fn cut_spaced_tokens<'t>(
    text: &'t str,
    rewrites: &[Rewrite<'_>],
) -> Vec<SpacedToken<'t>> {
    let tokens = lex(text);
    let mut pieces = Vec::with_capacity(tokens.len());
    let mut rewrites = rewrites.iter().peekable();
    let (mut at, mut end) = (0, bom_length(text));
    while at < tokens.len() {
        let start = tokens[at].start as usize;
        if let Some(rewrite) = rewrites.next_if(|rewrite| rewrite.span.start <= start) {
            let n_tokens = tokens[at..]
                .iter()
                .take_while(|token| (token.start as usize) < rewrite.span.end)
                .count();
            let before = pieces.len();
            rewrite.push_rewritten_tokens(text, &tokens[at..at + n_tokens], &mut pieces);
            if let Some(first) = pieces.get_mut(before) {
                first.spaces = start - end;
            }
            end = rewrite.span.end;
            at += n_tokens.max(1);
            continue;
        }
        let piece = take_spaced_token(text, &tokens, &mut at);
        pieces.push(SpacedToken { spaces: start.saturating_sub(end), ..piece });
        end = start + pieces.last().map_or(0, |piece| piece.text.len());
    }
    pieces
}

/// Adds the tokens of a part of the text, with the spaces between them.
pub(super) fn cut_unchanged_tokens<'t>(
    text: &'t str,
    tokens: &[Token],
    pieces: &mut Vec<SpacedToken<'t>>,
) {
    let mut at = 0;
    let mut end = tokens.first().map_or(0, |token| token.start as usize);
    while at < tokens.len() {
        let start = tokens[at].start as usize;
        let piece = take_spaced_token(text, tokens, &mut at);
        let length = piece.text.len();
        pieces.push(SpacedToken { spaces: start - end, ..piece });
        end = start + length;
    }
}

/// Takes the next token, or a line comment together with its line end.
fn take_spaced_token<'t>(text: &'t str, tokens: &[Token], index: &mut usize) -> SpacedToken<'t> {
    let token = tokens[*index];
    *index += 1;
    let mut end = token.end;
    // HCL's scanner takes the line end into a line comment, and the rules of the layout rely on
    // that: such a comment ends its line.
    if token.kind == TokenKind::Comment
        && !text[token.start as usize..].starts_with("/*")
        && let Some(newline) = tokens.get(*index).filter(|next| next.kind == TokenKind::Newline)
    {
        end = newline.end;
        *index += 1;
    }
    SpacedToken::new(token.kind, &text[token.start as usize..end as usize])
}

/// Length of a byte order mark at the start, which is not kept.
fn bom_length(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Joins the pieces to a source.
pub(super) fn join_spaced_tokens(pieces: &[SpacedToken<'_>]) -> String {
    let length = pieces.iter().map(|piece| piece.spaces + piece.text.len()).sum();
    let mut text = String::with_capacity(length);
    for piece in pieces {
        text.extend(std::iter::repeat_n(' ', piece.spaces));
        text.push_str(&piece.text);
    }
    text
}
