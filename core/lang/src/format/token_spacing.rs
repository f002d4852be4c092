//! Spaces between two tokens of a line.

use super::spaced_token::SpacedToken;
use crate::syntax::lex::TokenKind as T;

/// Whether a space belongs between `piece` and `after`; `before` is what precedes `piece` in its part of
/// the line. The first rule that matches the pair decides.
pub(super) fn needs_space_between(
    before: Option<&SpacedToken<'_>>,
    piece: &SpacedToken<'_>,
    after: &SpacedToken<'_>,
) -> bool {
    let (left, right) = (piece.kind, after.kind);
    // A number and its attribute access would become one number. Terraform does not prevent this.
    if left == T::Dot
        && before.is_some_and(|token| token.kind == T::Number)
        && continues_number(after)
    {
        return true;
    }
    if right == T::Newline
        || joins_without_space(left, right)
        || right == T::Comma
        || right == T::Ellipsis
    {
        return false;
    }
    if left == T::Comma {
        return true;
    }
    if is_inside_string(left, right) {
        return false;
    }
    // The lexer treats `in` as a name. After another name it is the keyword of a `for`, whose collection
    // may be a list in brackets.
    if piece.text == "in" && left == T::Ident && before.is_some_and(|token| token.kind == T::Ident)
    {
        return true;
    }
    let indexable = matches!(left, T::Ident | T::Number) || piece.bracket_change() < 0;
    if (right == T::OpenBracket && indexable) || left == T::Bang {
        return false;
    }
    if left == T::Minus {
        return before.is_some_and(|token| !makes_minus_a_sign(token.kind));
    }
    if left == T::OpenBrace || right == T::CloseBrace {
        return !(left == T::OpenBrace && right == T::CloseBrace);
    }
    let opens_sequence = matches!(left, T::OpenInterpolation | T::OpenDirective);
    if (opens_sequence && right == T::OpenBrace)
        || (left == T::CloseBrace && right == T::CloseSequence)
    {
        return true;
    }
    let sequences =
        left == T::CloseSequence && matches!(right, T::OpenInterpolation | T::OpenDirective);
    !sequences && piece.bracket_change() <= 0 && after.bracket_change() >= 0
}

/// Returns whether a number followed by a point and this token would be one number: a fraction or an
/// exponent.
fn continues_number(after: &SpacedToken<'_>) -> bool {
    let exponent = || after.text.strip_prefix(['e', 'E']);
    let is_exponent =
        || exponent().is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    after.kind == T::Number || (after.kind == T::Ident && is_exponent())
}

/// Parts of a traversal, and a function name and its parenthesis.
fn joins_without_space(left: T, right: T) -> bool {
    matches!(
        (left, right),
        (T::Ident, T::OpenParen)
            | (T::Ident, T::DoubleColon)
            | (T::DoubleColon, T::Ident)
            | (T::Dot, _)
            | (_, T::Dot)
    )
}

/// The content of strings, in which every space is significant.
fn is_inside_string(left: T, right: T) -> bool {
    matches!(left, T::QuotedText | T::Text | T::OpenQuote | T::OpenHeredoc)
        || matches!(right, T::QuotedText | T::Text | T::CloseQuote | T::CloseHeredoc)
}

/// Returns whether a minus after this token is a sign and not a subtraction.
fn makes_minus_a_sign(kind: T) -> bool {
    matches!(
        kind,
        T::OpenParen
            | T::OpenBrace
            | T::OpenBracket
            | T::Equals
            | T::Colon
            | T::Comma
            | T::Question
            | T::Plus
            | T::Star
            | T::Slash
            | T::Percent
            | T::Minus
            | T::Equal
            | T::NotEqual
            | T::Greater
            | T::GreaterOrEqual
            | T::Less
            | T::LessOrEqual
            | T::And
            | T::Or
            | T::Bang
    )
}
