//! Evaluation: an expression and a scope become a value, with unknown, null and marks flowing as the
//! language defines it. Reads no files, knows no addresses: names are the scope's business.

pub mod access;
mod arithmetic;
mod call;
mod collection;
mod mentioned_values;
mod operator;
mod splat;
mod template;
mod template_scope;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod traversal;

use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Type, Value};

pub use crate::limits;
use crate::limits::{Budget, ExceededLimit, MAX_EXPR_DEPTH};
use crate::messages;
use crate::scope::Scope;
use crate::stack::with_stack;
use crate::syntax::{Expr, ExprKind, JsonString, TemplatePart};
pub use mentioned_values::{ErrorCause, describe_mentioned_values};

/// Evaluates an expression in a scope.
///
/// # Errors
/// When the expression has no value here. Independent errors in one expression are all reported.
pub fn evaluate(
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &dyn Scope,
) -> Result<Value, Reported> {
    evaluate_with_budget(diags, expr, scope, &Budget::default())
}

/// Evaluates an expression as part of an evaluation that has already used some of its budget.
///
/// # Errors
/// As [`evaluate`].
fn evaluate_with_budget(
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &dyn Scope,
    budget: &Budget,
) -> Result<Value, Reported> {
    Evaluator { diags, scope, budget, depth: 0, quiet: false }.evaluate_expr(expr, None)
}

/// A name bound by a `for`, above those bound outside it. Lives on the stack, so that an iteration
/// allocates nothing for its scope.
struct ForFrame<'f> {
    name: &'f Str,
    value: &'f Value,
    outer: ForFrames<'f>,
}

type ForFrames<'f> = Option<&'f ForFrame<'f>>;

/// Finds the value of a name bound by an enclosing `for`.
fn value_bound_by_for<'f>(mut frames: ForFrames<'f>, name: &str) -> Option<&'f Value> {
    while let Some(frame) = frames {
        if frame.name.as_str() == name {
            return Some(frame.value);
        }
        frames = frame.outer;
    }
    None
}

/// The value of an expression that has no parts but numbers, if it needs nothing but the names of
/// enclosing `for`s. Most expressions are such, and need neither room on the stack nor anything else.
fn evaluate_simple_expr(expr: &Expr, frames: ForFrames<'_>) -> Option<Value> {
    match &expr.kind {
        ExprKind::Bool(bool) => Some(Value::Bool(*bool)),
        ExprKind::Number(number) => Some(Value::Number(number.clone())),
        ExprKind::Text(text, _) => Some(Value::String(text.clone())),
        ExprKind::Variable(name) => value_bound_by_for(frames, &name.name).cloned(),
        ExprKind::Binary { .. } => arithmetic::evaluate_known_arithmetic(expr, frames),
        _ => None,
    }
}

struct Evaluator<'e> {
    diags: &'e mut Diagnostics,
    scope: &'e dyn Scope,
    budget: &'e Budget,
    depth: usize,
    /// Whether errors are caught by `try` or `can`, so that explaining them is wasted work.
    quiet: bool,
}

impl Evaluator<'_> {
    fn evaluate_expr(&mut self, expr: &Expr, frames: ForFrames<'_>) -> Result<Value, Reported> {
        // Leaves are paid for, too: inside a `for` the same leaf is evaluated once for each
        // element.
        self.budget
            .charge_steps(1)
            .map_err(|limit| self.report_exceeded_limit(limit, expr.span))?;
        if let Some(value) = evaluate_simple_expr(expr, frames) {
            return Ok(value);
        }
        if self.depth >= MAX_EXPR_DEPTH {
            return Err(self.report_exceeded_limit(ExceededLimit::Depth, expr.span));
        }
        self.depth += 1;
        let value = with_stack(|| self.evaluate_expr_kind(expr, frames));
        self.depth -= 1;
        value
    }

    fn evaluate_expr_kind(
        &mut self,
        expr: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        match &expr.kind {
            ExprKind::Null => Ok(Value::null(Type::Dynamic)),
            ExprKind::Template(parts) => self.render_template_parts(parts, expr.span, frames),
            ExprKind::Wrap(inner) | ExprKind::Parens(inner) => self.evaluate_expr(inner, frames),
            ExprKind::Variable(_) | ExprKind::Attribute { .. } | ExprKind::Index { .. } => {
                self.evaluate_traversal(expr, frames)
            }
            ExprKind::Splat { on, each, marker } => self.eval_splat(on, each, *marker, frames),
            ExprKind::Call(call) => self.evaluate_call(expr, call, frames),
            ExprKind::Unary { op, operand, .. } => self.eval_unary(expr, *op, operand, frames),
            ExprKind::Binary { .. } => self.eval_binary(expr, frames),
            ExprKind::Conditional { condition, yes, no } => {
                self.eval_conditional(expr, [condition, yes, no], frames)
            }
            ExprKind::Tuple(items) => self.eval_tuple(expr, items, frames),
            ExprKind::Object(items) => self.eval_object(expr, items, frames),
            ExprKind::For(for_expr) => self.evaluate_for_expr(expr, for_expr, frames),
            ExprKind::Json(json) => self.evaluate_json_string(json, frames),
            // Expressions that could not be parsed were reported; the others are leaves.
            ExprKind::Invalid | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Text(..) => {
                Ok(Value::dynamic())
            }
        }
    }

    /// Evaluates a string of a file in JSON: a template, or in a constant just text.
    fn evaluate_json_string(
        &mut self,
        json: &JsonString,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // HCL gives strings of JSON no further meaning without an evaluation context, so `${` in a
        // `.tfvars.json` is plain text.
        if self.scope.has_no_names() {
            return Ok(Value::String(json.text.clone()));
        }
        // The parser keeps the problems back: only here is it known that the string is a template.
        let mut wrong = None;
        for problem in &json.problems {
            wrong = Some(self.diags.error(problem.clone()));
        }
        wrong.map_or_else(|| self.evaluate_expr(&json.template, frames), Err)
    }

    /// Reports an error in `blamed`, with the values of the names mentioned there.
    fn report_error(
        &mut self,
        diagnostic: Diagnostic,
        blamed: &Expr,
        frames: ForFrames<'_>,
    ) -> Reported {
        let mentioned = if self.quiet {
            Vec::new()
        } else {
            mentioned_values::describe_mentioned_in_frames(
                blamed,
                frames,
                self.scope,
                ErrorCause::Values,
            )
        };
        self.diags.error(Diagnostic { mentioned, ..diagnostic })
    }

    /// Reports that an evaluation does too much.
    fn report_exceeded_limit(&mut self, limit: ExceededLimit, span: Span) -> Reported {
        self.diags.error(
            Diagnostic::error(
                messages::EXPRESSION_TOO_LARGE,
                format!("This expression cannot be evaluated: {limit}. Simplify or split it."),
            )
            .at(span),
        )
    }

    /// Refuses a value that is too deep or too large; everything that builds a value passes through
    /// here.
    fn check_value_limits(&mut self, value: Value, span: Span) -> Result<Value, Reported> {
        match limits::check_value_limits(&value) {
            Ok(()) => Ok(value),
            Err(limit) => Err(self.report_exceeded_limit(limit, span)),
        }
    }
}

/// Returns the place at which messages about an argument point: the first token that tells what kind
/// of expression it is.
#[must_use]
pub fn first_token_span(expr: &Expr) -> Span {
    let first = |len: u32| Span { end: (expr.span.start + len).min(expr.span.end), ..expr.span };
    match &expr.kind {
        // The ranges are those of HCL's `StartRange`: a bracket, an operator, a call up to its
        // parenthesis, and the first operand of whatever has several.
        ExprKind::Tuple(_) | ExprKind::Object(_) | ExprKind::For(_) => first(1),
        ExprKind::Unary { op_span, .. } => *op_span,
        ExprKind::Binary { left, .. } => first_token_span(left),
        ExprKind::Conditional { condition, .. } => first_token_span(condition),
        ExprKind::Call(call) => first(call.parens.start + 1 - expr.span.start),
        // Of an empty text there is nothing to point at but what stands behind it.
        ExprKind::Text(text, _) if text.is_empty() => expr.span.empty_span_after(),
        ExprKind::Text(_, span) => *span,
        ExprKind::Template(parts) => first_template_part_span(parts, expr.span),
        _ => expr.span,
    }
}

/// The first part of a template, without the quote before it.
fn first_template_part_span(parts: &[TemplatePart], whole: Span) -> Span {
    match parts.first() {
        Some(TemplatePart::Literal(_, span)) => *span,
        Some(TemplatePart::Interpolation(expr)) => first_token_span(expr),
        Some(TemplatePart::If(choice)) => first_token_span(&choice.condition),
        Some(TemplatePart::For(repeat)) => repeat.span,
        None => whole.empty_span_after(),
    }
}
