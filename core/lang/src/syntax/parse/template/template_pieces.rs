//! The flat form of a template, and the effects of strip markers and indentation.

use std::borrow::Cow;

use formwork_value::Span;
use unicode_segmentation::UnicodeSegmentation as _;

use super::ExprWithHeight;
use crate::syntax::Ident;

/// A piece of a template. Outside quotes every line has at least one piece.
pub(super) enum TemplatePiece<'a> {
    Literal { text: Cow<'a, str>, span: Span },
    Interpolation(ExprWithHeight),
    If(ExprWithHeight, Span),
    Else(Span),
    EndIf(Span),
    For { key: Option<Ident>, value: Ident, collection: ExprWithHeight, span: Span },
    EndFor(Span),
}

impl TemplatePiece<'_> {
    /// Returns the keyword of a directive, or an empty string for other pieces.
    pub(super) fn directive_keyword(&self) -> &'static str {
        match self {
            Self::Literal { .. } | Self::Interpolation(_) => "",
            Self::If(..) => "if",
            Self::Else(_) => "else",
            Self::EndIf(_) => "endif",
            Self::For { .. } => "for",
            Self::EndFor(_) => "endfor",
        }
    }

    pub(super) fn span(&self) -> Span {
        match self {
            Self::Literal { span, .. }
            | Self::If(_, span)
            | Self::Else(span)
            | Self::EndIf(span)
            | Self::For { span, .. }
            | Self::EndFor(span) => *span,
            Self::Interpolation(tree) => tree.expr.span,
        }
    }

    /// Sets the span of a whole directive.
    pub(super) fn with_span(self, span: Span) -> Self {
        match self {
            Self::If(tree, _) => Self::If(tree, span),
            Self::Else(_) => Self::Else(span),
            Self::EndIf(_) => Self::EndIf(span),
            Self::For { key, value, collection, .. } => Self::For { key, value, collection, span },
            Self::EndFor(_) => Self::EndFor(span),
            other => other,
        }
    }

    /// Removes the spaces at the start of text, including line ends.
    pub(super) fn strip_start(&mut self) {
        if let Self::Literal { text, .. } = self {
            let length = text.len() - text.trim_start().len();
            cut_text_start(text, length);
        }
    }

    /// Removes the spaces at the end of text, including line ends.
    pub(super) fn strip_end(&mut self) {
        if let Self::Literal { text, .. } = self {
            let length = text.trim_end().len();
            match text {
                Cow::Borrowed(borrowed) => *borrowed = &borrowed[..length],
                Cow::Owned(owned) => owned.truncate(length),
            }
        }
    }
}

fn cut_text_start(text: &mut Cow<'_, str>, length: usize) {
    match text {
        Cow::Borrowed(borrowed) => *borrowed = &borrowed[length..],
        Cow::Owned(owned) => drop(owned.drain(..length)),
    }
}

/// Removes the common indentation of all lines. A line of only spaces is not considered and not changed.
/// An interpolation at the start of a line counts as text. A line whose preceding line break was removed
/// by a `~` is not a separate line.
pub(super) fn remove_common_indent(pieces: &mut [TemplatePiece<'_>]) {
    let mut common = usize::MAX;
    let mut starts = Vec::new();
    let mut line_start = true;
    for (at, piece) in pieces.iter().enumerate() {
        let TemplatePiece::Literal { text, .. } = piece else {
            // An interpolation at the start of a line has no spaces before it.
            if std::mem::replace(&mut line_start, false) {
                common = 0;
            }
            continue;
        };
        if std::mem::replace(&mut line_start, false) {
            let rest = text.trim_start();
            if !(rest.is_empty() && text.ends_with('\n')) {
                let spaces = &text[..text.len() - rest.len()];
                common = common.min(if has_single_byte_clusters(spaces) {
                    spaces.len()
                } else {
                    spaces.graphemes(true).count()
                });
                starts.push(at);
            }
        }
        // A piece without a line end is followed by a sequence or the end, so no line begins there.
        line_start = text.ends_with('\n');
    }
    for at in starts {
        if let TemplatePiece::Literal { text, .. } = &mut pieces[at] {
            // The text after the spaces could combine with the last space.
            let length = match text.get(..=common) {
                Some(begin) if has_single_byte_clusters(begin) => common,
                _ => text.graphemes(true).take(common).map(str::len).sum(),
            };
            cut_text_start(text, length);
        }
    }
}

/// Returns whether each byte is a separate grapheme cluster.
fn has_single_byte_clusters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && byte != b'\r')
}

/// Joins adjacent strings and drops empty ones.
pub(super) fn join_literals(pieces: Vec<TemplatePiece<'_>>) -> Vec<TemplatePiece<'_>> {
    let mut joined: Vec<TemplatePiece<'_>> = Vec::with_capacity(pieces.len().min(16));
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (
                Some(TemplatePiece::Literal { text: before, span }),
                TemplatePiece::Literal { text, span: next },
            ) => {
                before.to_mut().push_str(&text);
                *span = span.to(next);
            }
            (_, piece) => joined.push(piece),
        }
    }
    // A strip marker may remove all of a text.
    joined.retain(|piece| !matches!(piece, TemplatePiece::Literal { text, .. } if text.is_empty()));
    joined
}
