//! Finds where in a block a part of its value is written. Pure.

use formwork_lang::syntax::{Block, Body, Expr, ExprKind, TemplatePart};
use formwork_value::{Diagnostic, Diagnostics, Path, Span, Step};

/// Lets problems with a part of a block, reported at its header, point at the location of the part.
/// If nothing is written there, or a provider names no part, they point behind the header of the
/// deepest block that the path leads to, as Terraform's do.
pub(crate) fn point_at_parts(diags: &mut Diagnostics, body: &Body, header: Span) {
    diags.map_from(0, |problem| {
        // A diagnostic with another place was placed by code that knew it better.
        let Some(path) = problem.path.as_ref().filter(|_| problem.subject == Some(header)) else {
            return problem;
        };
        let place = subject_at(body, &path.0);
        let path = Some(path.clone()).filter(|path| !path.0.is_empty());
        Diagnostic { subject: Some(place), path, ..problem }
    });
}

/// The place of the argument at a path, or of its element that a final index or key means. What is not
/// written there, and what stands within an argument below that, counts as missing in the deepest block
/// that the path leads to.
fn subject_at(body: &Body, steps: &[Step]) -> Span {
    let (element, steps) = match steps.split_last() {
        Some((last @ (Step::Index(_) | Step::Key(_)), rest)) => (Some(last), rest),
        _ => (None, steps),
    };
    let Some((last, way)) = steps.split_last() else { return body.missing };
    let body = deepest(body, way);
    let Step::Attribute(name) = last else { return body.missing };
    let Some(argument) = body.find(name) else { return body.missing };
    let element = element.and_then(|step| element_of(&argument.expr, step));
    element.unwrap_or(argument.expr.span)
}

/// The body of the deepest block that the steps lead to.
fn deepest<'b>(body: &'b Body, steps: &[Step]) -> &'b Body {
    match step_into(body, steps) {
        Some((block, rest)) => deepest(&block.body, rest),
        None => body,
    }
}

/// The place of an element of a list, or the beginning of the value of a key; `None` if neither is
/// written out.
fn element_of(expr: &Expr, step: &Step) -> Option<Span> {
    match (&expr.kind, step) {
        (ExprKind::Tuple(items), Step::Index(index)) => Some(items.get(index.to_usize()?)?.span),
        (ExprKind::Object(items), Step::Key(key)) => {
            // A key that is an expression ends the search: it may be the wanted one, so no later
            // item may be taken for it.
            for item in items {
                if item.key.as_literal()? == key {
                    return Some(beginning(&item.value));
                }
            }
            None
        }
        _ => None,
    }
}

/// The beginning of an expression: its first operand, its name or its opening bracket.
fn beginning(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Text(_, text) => *text,
        ExprKind::Template(parts) => match parts.first() {
            Some(TemplatePart::Literal(_, text)) => *text,
            Some(TemplatePart::Interpolation(inner)) => beginning(inner),
            _ => expr.span,
        },
        ExprKind::Call(call) => Span { end: call.parens.start + 1, ..call.name.span },
        ExprKind::Unary { op_span, .. } => *op_span,
        ExprKind::Binary { left, .. } => beginning(left),
        ExprKind::Conditional { condition, .. } => beginning(condition),
        ExprKind::Parens(inner) => beginning(inner),
        ExprKind::Tuple(_) | ExprKind::Object(_) | ExprKind::For(_) => {
            Span { end: expr.span.start + 1, ..expr.span }
        }
        _ => expr.span,
    }
}

/// Location of the part at a path, as far as the path leads: `None` if nothing of it is written.
/// Below an argument the whole argument is the location.
pub(crate) fn place_in(body: &Body, path: &Path) -> Option<Span> {
    argument_at(body, &path.0).or_else(|| header_at(body, &path.0))
}

/// The place of the argument that the steps lead to or into.
fn argument_at(body: &Body, steps: &[Step]) -> Option<Span> {
    let Step::Attribute(name) = steps.first()? else { return None };
    if let Some(attribute) = body.find(name) {
        return Some(attribute.expr.span);
    }
    let (block, rest) = step_into(body, steps)?;
    argument_at(&block.body, rest)
}

/// The header of the deepest block that the steps lead to.
fn header_at(body: &Body, steps: &[Step]) -> Option<Span> {
    let (block, rest) = step_into(body, steps)?;
    header_at(&block.body, rest).or(Some(block.header))
}

/// The block that the first steps lead to, and the steps that are left.
fn step_into<'b, 's>(body: &'b Body, steps: &'s [Step]) -> Option<(&'b Block, &'s [Step])> {
    let (Step::Attribute(name), rest) = steps.split_first()? else { return None };
    let mut blocks = body.blocks.iter().filter(|block| block.kind.name == *name);
    Some(match rest.split_first() {
        Some((Step::Index(index), rest)) => (blocks.nth(index.to_usize()?)?, rest),
        Some((Step::Key(key), rest)) => {
            (blocks.find(|block| block.labels.first().is_some_and(|l| l.name == *key))?, rest)
        }
        _ => (blocks.next()?, rest),
    })
}
