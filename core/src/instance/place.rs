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
    match element.map_or(Element::Hidden, |step| element_of(&argument.expr, step)) {
        Element::At(place) => place,
        Element::Absent => argument.name.span,
        Element::Hidden => argument.expr.span,
    }
}

/// The place of an element within the expression of an argument.
enum Element {
    /// It is written there.
    At(Span),
    /// The elements are written out, and it is none of them.
    Absent,
    /// The expression does not write its elements out.
    Hidden,
}

/// The body of the deepest block that the steps lead to.
fn deepest<'b>(body: &'b Body, steps: &[Step]) -> &'b Body {
    match step_into(body, steps) {
        Some((block, rest)) => deepest(&block.body, rest),
        None => body,
    }
}

/// The place of an element of a list, or the beginning of the value of a key.
fn element_of(expr: &Expr, step: &Step) -> Element {
    match (&expr.kind, step) {
        (ExprKind::Tuple(items), Step::Index(index)) => {
            let item = index.to_usize().and_then(|index| items.get(index));
            item.map_or(Element::Absent, |item| Element::At(item.span))
        }
        (ExprKind::Object(items), Step::Key(key)) => {
            // A key that is an expression ends the search: it may be the wanted one, so no later
            // item may be taken for it.
            for item in items {
                match item.key.as_literal() {
                    Some(found) if found == key => return Element::At(beginning(&item.value)),
                    Some(_) => {}
                    None => return Element::Hidden,
                }
            }
            Element::Absent
        }
        _ => Element::Hidden,
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

#[cfg(test)]
mod tests {
    use formwork_lang::syntax::parse_file;
    use formwork_value::Number;
    use formwork_value::diag::Sources;

    use super::*;

    #[test]
    fn an_element_that_is_not_written_leads_to_the_name_of_its_argument() {
        let text = "list = [\"a\", \"b\"]\nmap = { k = \"v\" }\nfound = { (var.k) = 1 }\nmade = concat([], [])\n";
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let source = sources.add("main.tf", text);
        let body = parse_file(&mut diags, &sources, source);
        let place = |name: &str, element: Step| {
            sources.slice(subject_at(&body, &[Step::Attribute(name.into()), element]))
        };
        let (index, key) =
            (|at: i64| Step::Index(Number::from(at)), |key: &str| Step::Key(key.into()));
        assert_eq!(place("list", index(1)), "\"b\"");
        assert_eq!(place("list", index(2)), "list");
        assert_eq!(place("list", index(-1)), "list");
        assert_eq!(place("map", key("absent")), "map");
        // The kinds do not fit, or the elements are not written out.
        assert_eq!(place("list", key("k")), "[\"a\", \"b\"]");
        assert_eq!(place("map", index(0)), "{ k = \"v\" }");
        assert_eq!(place("found", key("k")), "{ (var.k) = 1 }");
        assert_eq!(place("made", index(0)), "concat([], [])");
    }
}
