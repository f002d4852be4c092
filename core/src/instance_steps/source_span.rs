//! Finds the source span of a part of the value of a block. Pure.

use formwork_lang::syntax::{Block, Body, Expr, ExprKind, TemplatePart};
use formwork_value::{Diagnostic, Diagnostics, Path, Span, Step};

/// Moves diagnostics about a part of a block from the block header to the span of the part. If the part
/// is not written, or the provider names no part, they point after the header of the deepest block on
/// the path, as in Terraform.
pub(crate) fn point_diagnostics_at_parts(diags: &mut Diagnostics, body: &Body, header: Span) {
    diags.map_from_position(0, |problem| {
        // A diagnostic with another span was placed by code with more precise information.
        let Some(path) = problem.path.as_ref().filter(|_| problem.subject == Some(header)) else {
            return problem;
        };
        let span = span_of_path(body, &path.0);
        let path = Some(path.clone()).filter(|path| !path.0.is_empty());
        Diagnostic { subject: Some(span), path, ..problem }
    });
}

/// Returns the span of the argument at a path, or of the element that a final index or key selects. A
/// part that is not written, or is nested deeper within an argument, counts as missing in the deepest
/// block on the path.
fn span_of_path(body: &Body, steps: &[Step]) -> Span {
    let (element, steps) = match steps.split_last() {
        Some((last @ (Step::Index(_) | Step::Key(_)), rest)) => (Some(last), rest),
        _ => (None, steps),
    };
    let Some((last, way)) = steps.split_last() else { return body.missing };
    let body = deepest_block_body(body, way);
    let Step::Attribute(name) = last else { return body.missing };
    let Some(argument) = body.find_attribute(name) else { return body.missing };
    match element.map_or(ElementSpan::NotListed, |step| element_span(&argument.expr, step)) {
        ElementSpan::Found(span) => span,
        ElementSpan::Absent => argument.name.span,
        ElementSpan::NotListed => argument.expr.span,
    }
}

/// The span of an element within the expression of an argument.
enum ElementSpan {
    /// The element is written at this span.
    Found(Span),
    /// The elements are literal, and this element is not one of them.
    Absent,
    /// The expression does not have literal elements.
    NotListed,
}

/// Returns the body of the deepest block on a path.
fn deepest_block_body<'b>(body: &'b Body, steps: &[Step]) -> &'b Body {
    match step_into_block(body, steps) {
        Some((block, rest)) => deepest_block_body(&block.body, rest),
        None => body,
    }
}

/// Returns the span of an element of a list, or the start of the value of a key.
fn element_span(expr: &Expr, step: &Step) -> ElementSpan {
    match (&expr.kind, step) {
        (ExprKind::Tuple(items), Step::Index(index)) => {
            let item = index.to_usize().and_then(|index| items.get(index));
            item.map_or(ElementSpan::Absent, |item| ElementSpan::Found(item.span))
        }
        (ExprKind::Object(items), Step::Key(key)) => {
            // A key that is an expression ends the search, because it may be the requested one.
            for item in items {
                match item.key.as_string_literal() {
                    Some(item_key) if item_key == key => {
                        return ElementSpan::Found(expr_start_span(&item.value));
                    }
                    Some(_) => {}
                    None => return ElementSpan::NotListed,
                }
            }
            ElementSpan::Absent
        }
        _ => ElementSpan::NotListed,
    }
}

/// Returns the start of an expression: its first operand, its name or its opening bracket.
fn expr_start_span(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Text(_, text) => *text,
        ExprKind::Template(parts) => match parts.first() {
            Some(TemplatePart::Literal(_, text)) => *text,
            Some(TemplatePart::Interpolation(inner)) => expr_start_span(inner),
            _ => expr.span,
        },
        ExprKind::Call(call) => Span { end: call.parens.start + 1, ..call.name.span },
        ExprKind::Unary { op_span, .. } => *op_span,
        ExprKind::Binary { left, .. } => expr_start_span(left),
        ExprKind::Conditional { condition, .. } => expr_start_span(condition),
        ExprKind::Parens(inner) => expr_start_span(inner),
        ExprKind::Tuple(_) | ExprKind::Object(_) | ExprKind::For(_) => {
            Span { end: expr.span.start + 1, ..expr.span }
        }
        _ => expr.span,
    }
}

/// Returns the span of the longest written prefix of a path, or `None` if none of it is written. For a
/// part of an argument, it is the span of the whole argument.
pub(crate) fn find_written_span(body: &Body, path: &Path) -> Option<Span> {
    argument_span(body, &path.0).or_else(|| block_header_span(body, &path.0))
}

/// Returns the span of the argument at the path or at a prefix of it.
fn argument_span(body: &Body, steps: &[Step]) -> Option<Span> {
    let Step::Attribute(name) = steps.first()? else { return None };
    if let Some(attribute) = body.find_attribute(name) {
        return Some(attribute.expr.span);
    }
    let (block, rest) = step_into_block(body, steps)?;
    argument_span(&block.body, rest)
}

/// Returns the header of the deepest block on a path.
fn block_header_span(body: &Body, steps: &[Step]) -> Option<Span> {
    let (block, rest) = step_into_block(body, steps)?;
    block_header_span(&block.body, rest).or(Some(block.header))
}

/// Returns the block at the start of a path, and the remaining steps.
fn step_into_block<'b, 's>(body: &'b Body, steps: &'s [Step]) -> Option<(&'b Block, &'s [Step])> {
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

#[cfg(test)]
mod tests {
    use formwork_lang::syntax::parse_file;
    use formwork_value::Number;
    use formwork_value::diag::Sources;

    use super::*;

    #[test]
    fn an_element_without_source_points_to_the_name_of_its_argument() {
        let text = "list = [\"a\", \"b\"]\nmap = { k = \"v\" }\nfound = { (var.k) = 1 }\nmade = concat([], [])\n";
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let source = sources.add("main.tf", text);
        let body = parse_file(&mut diags, &sources, source);
        let span_text = |name: &str, element: Step| {
            sources.text_of_span(span_of_path(&body, &[Step::Attribute(name.into()), element]))
        };
        let (index, key) =
            (|at: i64| Step::Index(Number::from(at)), |key: &str| Step::Key(key.into()));
        assert_eq!(span_text("list", index(1)), "\"b\"");
        assert_eq!(span_text("list", index(2)), "list");
        assert_eq!(span_text("list", index(-1)), "list");
        assert_eq!(span_text("map", key("absent")), "map");
        // The kinds do not match, or the elements are not literal.
        assert_eq!(span_text("list", key("k")), "[\"a\", \"b\"]");
        assert_eq!(span_text("map", index(0)), "{ k = \"v\" }");
        assert_eq!(span_text("found", key("k")), "{ (var.k) = 1 }");
        assert_eq!(span_text("made", index(0)), "concat([], [])");
    }
}
