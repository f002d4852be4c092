//! Expressions that must be references: entries of `depends_on`, `ignore_changes`, `provider`.

use formwork_lang::refs::{self, Traversal, TraversalStep};
use formwork_lang::syntax::{Attribute, Expr, ExprKind, Ident};
use formwork_value::diag::{Message, Summary};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use super::LocalProviderConfig;
use super::provider::check_local_name;
use crate::addr::reference::step_span;
use crate::addr::{AddressStep, InstanceKey, Reference, Target, split_address};
use crate::messages;

/// Parses an expression that is a reference, including the old form in quotes.
pub(super) fn parse_traversal_expr(
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<Traversal, Reported> {
    if let Some(traversal) = refs::as_traversal(expr) {
        return Ok(traversal);
    }
    // JSON has no other notation for a reference, so there quotes are not the old form.
    let is_json = matches!(expr.kind, ExprKind::Json(_));
    let text = expr.as_string_literal().filter(|_| !is_json);
    if let Some(text) = text {
        diags.warn(
            Diagnostic::warning(
                messages::QUOTED_REFERENCES_ARE_DEPRECATED,
                "In this context, references are expected literally rather than in quotes. Terraform 0.11 and earlier required quotes, but quoted references are now deprecated and will be removed in a future version of Terraform. Remove the quotes surrounding this reference to silence this warning.",
            )
            .at(expr.span),
        );
        if let Some(traversal) = parse_quoted_traversal(text, expr.span) {
            return Ok(traversal);
        }
    }
    let bad = match text {
        Some(text) => quoted_reference_problem(text, expr.span),
        None => refs::find_null_or_bool_key(expr)
            .map(|key| unusable_key_error(messages::INVALID_INDEX_KEY, key)),
    };
    Err(diags.error(bad.unwrap_or_else(|| not_a_reference_error(expr.span))))
}

/// The error for a quoted string that is not a reference, at the first invalid token.
fn quoted_reference_problem(text: &str, span: Span) -> Option<Diagnostic> {
    // With escapes, offsets in the string differ from those in the file.
    let is_plain = text.len() + 2 == (span.end - span.start) as usize;
    let first = |at: usize| text.get(at..)?.chars().next();
    let skip = |at: usize| at + text[at..].len() - text[at..].trim_start().len();
    let name = |at: usize| {
        let starts = first(at).is_some_and(|c| c.is_alphabetic() || c == '_');
        let end = text[at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        if starts { end.unwrap_or(text.len() - at) } else { 0 }
    };
    let problem = |at: usize, summary: &'static Message, detail: &str| {
        let length = name(at).max(first(at).map_or(0, char::len_utf8));
        let start = span.start + 1 + u32::try_from(at).unwrap_or(u32::MAX);
        let end = start + u32::try_from(length).unwrap_or(u32::MAX);
        Some(Diagnostic::error(summary, detail).at(Span { start, end, ..span }))
    };
    let mut at = skip(0);
    if !is_plain {
        return None;
    }
    if name(at) == 0 {
        return problem(at, messages::VARIABLE_NAME_REQUIRED, "A reference begins with a name.");
    }
    loop {
        at = skip(at + name(at));
        if first(at)? != '.' {
            let detail = "Expected an attribute access or an index operator.";
            return (first(at)? != '[')
                .then(|| problem(at, messages::INVALID_CHARACTER, detail))?;
        }
        at = skip(at + 1);
        if name(at) == 0 {
            return problem(
                at,
                messages::ATTRIBUTE_NAME_REQUIRED,
                "Expected a name after the dot.",
            );
        }
    }
}

/// Reads an expression that names a module, a resource or an instance, with constant keys. Returns the
/// address and its span.
pub(super) fn parse_target_expr(diags: &mut Diagnostics, expr: &Expr) -> Result<Target, Reported> {
    let Some(traversal) = refs::as_traversal(expr) else {
        let bad = refs::find_null_or_bool_key(expr)
            .map(|key| unusable_key_error(messages::INVALID_ADDRESS, key));
        return Err(diags.error(bad.unwrap_or_else(|| not_a_reference_error(expr.span))));
    };
    let mut steps = vec![AddressStep::Name(traversal.root.name.clone())];
    for step in &traversal.steps {
        steps.push(match step {
            TraversalStep::Attribute(name) => AddressStep::Name(name.name.clone()),
            TraversalStep::Key(key, _) => AddressStep::Key(InstanceKey::Str(key.clone())),
            TraversalStep::Index(at, span) => match at.to_i64().map(u64::try_from) {
                Some(Ok(at)) => AddressStep::Key(InstanceKey::Int(at)),
                _ => {
                    let detail =
                        format!("`[{at}]` is not an instance: instance numbers start at 0.");
                    return Err(
                        diags.error(Diagnostic::error(messages::INVALID_ADDRESS, detail).at(*span))
                    );
                }
            },
            TraversalStep::Splat(span) => return Err(diags.error(not_a_reference_error(*span))),
        });
    }
    Target::from_steps(&steps).map_err(|bad| {
        let span = superfluous_steps_span(&traversal, &steps).unwrap_or(expr.span);
        diags.error(Diagnostic::error(bad.summary, bad.detail).at(span))
    })
}

/// The span of the superfluous steps after the name of a resource or an instance.
fn superfluous_steps_span(traversal: &Traversal, steps: &[AddressStep]) -> Option<Span> {
    let is_resource = |n: &usize| {
        matches!(Target::from_steps(&steps[..*n]), Ok(Target::Resource(_) | Target::Instance(_)))
    };
    let n_known = (2..steps.len()).rev().find(is_resource)?;
    let last = traversal.steps.get(n_known - 2)?;
    Some(Span { start: step_span(last).end, ..traversal.span })
}

/// The syntax of a reference in a context where nothing is evaluated, for errors.
pub(super) const STATIC_REFERENCE_RULE: &str = "A single static variable reference is required: only attribute access and indexing with constant keys. No calculations, function calls, template expressions, etc are allowed here.";

/// The error of a constant key that no instance can have.
fn unusable_key_error(summary: impl Into<Summary>, key: Span) -> Diagnostic {
    let detail = "Invalid index for resource instance: either a string or an integer is required. Write the key of one instance, such as [0] or [\"key\"].";
    Diagnostic::error(summary, detail).at(key)
}

fn not_a_reference_error(span: Span) -> Diagnostic {
    Diagnostic::error(messages::STATIC_REFERENCE_REQUIRED, STATIC_REFERENCE_RULE).at(span)
}

fn parse_quoted_traversal(text: &str, span: Span) -> Option<Traversal> {
    let mut steps = split_address(text).ok()?.into_iter();
    let Some(AddressStep::Name(root)) = steps.next() else { return None };
    let steps = steps
        .map(|step| match step {
            AddressStep::Name(name) => TraversalStep::Attribute(Ident { name, span }),
            AddressStep::Key(InstanceKey::Str(key)) => TraversalStep::Key(key, span),
            AddressStep::Key(InstanceKey::Int(at)) => TraversalStep::Index(at.into(), span),
            AddressStep::Key(InstanceKey::None) => TraversalStep::Splat(span),
        })
        .collect();
    Some(Traversal { root: Ident { name: root, span }, steps, span })
}

/// The entries of an expression that must be a literal list.
pub(super) fn expect_list_entries(
    diags: &mut Diagnostics,
    expr: Expr,
) -> Result<Vec<Expr>, Reported> {
    match expr.kind {
        ExprKind::Tuple(items) => Ok(items),
        _ => Err(diags.error(
            Diagnostic::error(
                messages::STATIC_REFERENCE_REQUIRED,
                "A static list expression is required.",
            )
            .at(wrong_expression_span(&expr)),
        )),
    }
}

/// The span at which an expression of a wrong kind is reported: for a quoted string the part between
/// the quotes, for a call the name.
pub(super) fn wrong_expression_span(expr: &Expr) -> Span {
    match &expr.kind {
        ExprKind::Text(..) if expr.span.end > expr.span.start + 1 => {
            Span { start: expr.span.start + 1, end: expr.span.end - 1, ..expr.span }
        }
        ExprKind::Call(call) => call.name.span,
        _ => expr.span,
    }
}

/// Reads `depends_on`. Invalid entries are reported and left out.
pub(super) fn read_depends_on(
    diags: &mut Diagnostics,
    attribute: Option<Attribute>,
) -> Vec<Reference> {
    let Some(attribute) = attribute else { return Vec::new() };
    expect_list_entries(diags, attribute.expr)
        .unwrap_or_default()
        .iter()
        .filter_map(|item| {
            let traversal = parse_traversal_expr(diags, item).ok()?;
            Reference::from_traversal(diags, &traversal).ok()
        })
        .collect()
}

/// Parses the `provider` argument: a local name and an optional alias.
///
/// `argument` is the name of the argument for messages.
pub(super) fn parse_provider_expr(
    diags: &mut Diagnostics,
    argument: &str,
    expr: &Expr,
) -> Result<LocalProviderConfig, Reported> {
    let shape = &format!(
        "The {argument} argument requires a provider type name, optionally followed by a period and then a configuration alias."
    );
    let name_of = |diags: &mut Diagnostics| {
        let is_json = matches!(expr.kind, ExprKind::Json(_));
        if refs::as_traversal(expr).is_none() && (is_json || expr.as_string_literal().is_none()) {
            return Err(diags.error(invalid_provider_error(shape, expr.span)));
        }
        parse_traversal_expr(diags, expr)
    };
    let traversal = name_of(diags)?;
    check_local_name(diags, &traversal.root, traversal.root.span)?;
    let name = traversal.root.name;
    match traversal.steps.as_slice() {
        [] => Ok(LocalProviderConfig { name, alias: None }),
        [TraversalStep::Attribute(alias)] => {
            Ok(LocalProviderConfig { name, alias: Some(alias.name.clone()) })
        }
        [TraversalStep::Key(_, span) | TraversalStep::Index(_, span)] => {
            let detail = "Provider name must either stand alone or be followed by a period and then a configuration alias.";
            Err(diags.error(invalid_provider_error(detail, *span)))
        }
        _ => Err(diags.error(invalid_provider_error(shape, expr.span))),
    }
}

fn invalid_provider_error(detail: &str, span: Span) -> Diagnostic {
    Diagnostic::error(messages::INVALID_PROVIDER_CONFIGURATION_REFERENCE, detail).at(span)
}
