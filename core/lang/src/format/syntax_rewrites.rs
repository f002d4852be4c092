//! Syntax rewrites of the formatter: labels get quotes, `"${x}"` becomes `x`, and legacy type
//! strings become types.

use std::ops::Range;

use super::spaced_token::{SpacedToken, cut_unchanged_tokens};
use crate::print_value::escape_literal;
use crate::stack::with_stack;
use crate::syntax::lex::{Token, TokenKind};
use crate::syntax::{Body, Expr, ExprKind, Ident};

/// A rewritten part of the text.
pub(super) struct Rewrite<'b> {
    /// The replaced bytes.
    pub(super) span: Range<usize>,
    kind: RewriteKind<'b>,
}

enum RewriteKind<'b> {
    /// The labels of a block: all are quoted, and only spaces remain between them.
    Labels(&'b [Ident]),
    /// A string that is a single interpolation.
    Unwrap,
    /// The type of a variable in the current syntax: the type and its element type.
    Type(&'static str, Option<&'static str>),
}

/// Position of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyPosition {
    File,
    /// In a `variable` block that is not in another block.
    Variable,
    Block,
}

/// Finds the parts to rewrite, in the order of the text.
pub(super) fn find_rewrites<'b>(text: &str, body: &'b Body) -> Vec<Rewrite<'b>> {
    let mut rewrites = Vec::new();
    find_rewrites_in_body(text, body, BodyPosition::File, &mut rewrites);
    // A body stores arguments and blocks separately, but the text is processed from its start.
    rewrites.sort_by_key(|rewrite| rewrite.span.start);
    rewrites
}

fn find_rewrites_in_body<'b>(
    text: &str,
    body: &'b Body,
    position: BodyPosition,
    rewrites: &mut Vec<Rewrite<'b>>,
) {
    for attr in &body.attributes {
        let span = attr.expr.span.range();
        let kind = if position == BodyPosition::Variable && attr.name.name == "type" {
            legacy_type_rewrite(&text[span.clone()])
        } else {
            is_quoted_interpolation(text, &attr.expr).then_some(RewriteKind::Unwrap)
        };
        rewrites.extend(kind.map(|kind| Rewrite { span, kind }));
    }
    for block in &body.blocks {
        if let Some(last) = block.labels.last() {
            let span = block.kind.span.range().end..last.span.range().end;
            rewrites.push(Rewrite { span, kind: RewriteKind::Labels(&block.labels) });
        }
        let is_variable = position == BodyPosition::File && block.kind.name == "variable";
        let position = if is_variable { BodyPosition::Variable } else { BodyPosition::Block };
        with_stack(|| find_rewrites_in_body(text, &block.body, position, rewrites));
    }
}

/// Legacy types, which are written in quotes or without their element type.
fn legacy_type_rewrite<'b>(text: &str) -> Option<RewriteKind<'b>> {
    Some(match text {
        "\"string\"" => RewriteKind::Type("string", None),
        // In quotes, lists and maps of Terraform 0.11 had strings; without quotes, elements of any
        // type.
        "\"list\"" => RewriteKind::Type("list", Some("string")),
        "\"map\"" => RewriteKind::Type("map", Some("string")),
        "list" => RewriteKind::Type("list", Some("any")),
        "set" => RewriteKind::Type("set", Some("any")),
        "map" => RewriteKind::Type("map", Some("any")),
        _ => return None,
    })
}

/// Whether an expression is a string in quotes that is a single interpolation.
fn is_quoted_interpolation(text: &str, expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Wrap(_)) && text[expr.span.range()].starts_with('"')
}

impl Rewrite<'_> {
    /// Adds the pieces that replace the tokens of this part.
    pub(super) fn push_rewritten_tokens<'t>(
        &self,
        text: &'t str,
        tokens: &[Token],
        pieces: &mut Vec<SpacedToken<'t>>,
    ) {
        match self.kind {
            RewriteKind::Labels(labels) => {
                labels.iter().for_each(|label| push_quoted_label(label, pieces));
            }
            RewriteKind::Type(word, element) => {
                pieces.push(SpacedToken::new(TokenKind::Ident, word));
                if let Some(element) = element {
                    pieces.push(SpacedToken::new(TokenKind::OpenParen, "("));
                    pieces.push(SpacedToken::new(TokenKind::Ident, element));
                    pieces.push(SpacedToken::new(TokenKind::CloseParen, ")"));
                }
            }
            RewriteKind::Unwrap => unwrap_interpolation(text, tokens, pieces),
        }
    }
}

fn push_quoted_label(label: &Ident, pieces: &mut Vec<SpacedToken<'_>>) {
    pieces.push(SpacedToken::new(TokenKind::OpenQuote, "\""));
    if !label.name.is_empty() {
        pieces.push(SpacedToken::new(TokenKind::QuotedText, escape_literal(&label.name)));
    }
    pieces.push(SpacedToken::new(TokenKind::CloseQuote, "\""));
}

/// Takes the text between `"${` and `}"`. An expression of several lines is enclosed in parentheses,
/// because outside of a string a line end would end it.
fn unwrap_interpolation<'t>(text: &'t str, tokens: &[Token], pieces: &mut Vec<SpacedToken<'t>>) {
    let inside = match tokens {
        [_, _, inside @ .., _, _] if !has_interpolation(inside) => inside,
        _ => return cut_unchanged_tokens(text, tokens, pieces),
    };
    // Line ends next to the markers are dropped, because outside of the string they end the argument.
    let is_newline = |token: &&Token| token.kind == TokenKind::Newline;
    let n_before = inside.iter().take_while(is_newline).count();
    let n_behind = inside[n_before..].iter().rev().take_while(is_newline).count();
    let inside = &inside[n_before..inside.len() - n_behind];
    let mut inner = Vec::with_capacity(inside.len() + 2);
    cut_unchanged_tokens(text, inside, &mut inner);
    let wrap = has_significant_newline(&inner) && !is_parenthesized(&inner);
    if wrap {
        pieces.push(SpacedToken::new(TokenKind::OpenParen, "("));
    }
    pieces.append(&mut inner);
    if wrap {
        pieces.push(SpacedToken::new(TokenKind::CloseParen, ")"));
    }
}

/// Returns whether another interpolation exists outside of quoted strings. Such strings are not
/// rewritten.
fn has_interpolation(inside: &[Token]) -> bool {
    let mut n_quotes = 0;
    for token in inside {
        match token.kind {
            TokenKind::OpenQuote => n_quotes += 1,
            TokenKind::CloseQuote => n_quotes -= 1,
            TokenKind::OpenInterpolation if n_quotes == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Whether a line ends inside, in a way that would end the argument. A comment at the end of a line
/// counts only if no open bracket continues the argument. The last one is harmless.
fn has_significant_newline(inner: &[SpacedToken<'_>]) -> bool {
    let mut n_open = 0;
    inner.iter().enumerate().any(|(at, piece)| {
        n_open += piece.bracket_change();
        piece.kind == TokenKind::Newline
            || (piece.ends_line() && n_open == 0 && at + 1 < inner.len())
    })
}

/// Returns whether one pair of parentheses encloses the whole expression.
fn is_parenthesized(inner: &[SpacedToken<'_>]) -> bool {
    let mut n_open = 0;
    let closes = inner.iter().position(|piece| {
        n_open += piece.bracket_change();
        n_open == 0
    });
    inner.first().is_some_and(|first| first.kind == TokenKind::OpenParen)
        && closes == inner.len().checked_sub(1)
}
