//! The path from the outermost value of a JSON file to a span.

use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Span};

use super::read_json;
use crate::syntax::{Expr, ExprKind};

/// Returns the path to the innermost object or array that encloses a span, as in `a.b[0]`.
pub(in crate::syntax) fn json_path_to(sources: &Sources, span: Span) -> Option<String> {
    let mut value = read_json::read_json(&mut Diagnostics::new(), sources, span.source).ok()?;
    let mut path = String::new();
    while let Some((step, inner)) = enclosing_step(value, span) {
        path.push_str(&step);
        value = inner;
    }
    let path = path.strip_prefix('.').unwrap_or(&path);
    (!path.is_empty()).then(|| path.to_owned())
}

/// Returns the member or element that encloses a span, with its path step.
fn enclosing_step(value: Expr, span: Span) -> Option<(String, Expr)> {
    let leads = |inner: &Expr| {
        matches!(inner.kind, ExprKind::Object(_) | ExprKind::Tuple(_))
            && contains_span(inner.span, span)
    };
    match value.kind {
        ExprKind::Object(items) => {
            // Only objects and arrays are steps, because the innermost name would repeat the argument.
            let item = items.into_iter().find(|item| leads(&item.value))?;
            let ExprKind::Json(name) = item.key.kind else { return None };
            Some((format!(".{}", name.text), item.value))
        }
        ExprKind::Tuple(elements) => {
            let mut numbered = elements.into_iter().enumerate();
            let (number, element) = numbered.find(|(_, element)| leads(element))?;
            Some((format!("[{number}]"), element))
        }
        _ => None,
    }
}

/// Returns whether a span is inside another. A span with the same start is not inside.
pub(in crate::syntax) fn contains_span(outer: Span, span: Span) -> bool {
    outer.start < span.start && span.start <= outer.end
}
