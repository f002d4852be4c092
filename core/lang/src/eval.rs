//! Evaluation of an expression in a scope. Unknown values, null and marks propagate as the language
//! defines. The module reads no files and has no addresses: the scope resolves all names.

pub mod access;
mod arithmetic;
mod call;
mod collection;
mod operator;
mod referenced_values;
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
pub use referenced_values::{ErrorCause, describe_referenced_values};

/// Evaluates an expression in a scope.
///
/// # Errors
/// Returns an error if the expression has no value in the scope. All independent errors in one
/// expression are reported.
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
/// Returns the errors of [`evaluate`].
fn evaluate_with_budget(
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &dyn Scope,
    budget: &Budget,
) -> Result<Value, Reported> {
    Evaluator { diags, scope, budget, depth: 0, quiet: false }.evaluate_expr(expr, None)
}

/// A name bound by a `for`, with a link to the names bound outside it. It lives on the stack, so that an
/// iteration does not allocate.
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

/// Evaluates an expression that consists of numbers and the names of enclosing `for`s only. Most
/// expressions do, and this path needs neither stack nor allocation.
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
        // Leaves are charged too: inside a `for` the same leaf is evaluated for each element.
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
            ExprKind::Splat { operand, each, marker } => {
                self.eval_splat(operand, each, *marker, frames)
            }
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
            // Expressions that could not be parsed are already reported. The others are leaves.
            ExprKind::Invalid | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Text(..) => {
                Ok(Value::dynamic())
            }
        }
    }

    /// Evaluates a string of a JSON file: a template, or a literal string where values must be constant.
    fn evaluate_json_string(
        &mut self,
        json: &JsonString,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // HCL does not interpret JSON strings without an evaluation context, so `${` in a `.tfvars.json`
        // is literal.
        if self.scope.has_no_names() {
            return Ok(Value::String(json.text.clone()));
        }
        // The parser defers these errors, because only the evaluation decides that the string is a
        // template.
        let mut wrong = None;
        for problem in &json.problems {
            wrong = Some(self.diags.error(problem.clone()));
        }
        wrong.map_or_else(|| self.evaluate_expr(&json.template, frames), Err)
    }

    /// Reports an error in `blamed`, with the values of the names that it refers to.
    fn report_error(
        &mut self,
        diagnostic: Diagnostic,
        blamed: &Expr,
        frames: ForFrames<'_>,
    ) -> Reported {
        let values = if self.quiet {
            Vec::new()
        } else {
            referenced_values::describe_references_in_frames(
                blamed,
                frames,
                self.scope,
                ErrorCause::Values,
            )
        };
        self.diags.error(Diagnostic { referenced: values, ..diagnostic })
    }

    /// Reports that an evaluation exceeds a limit.
    fn report_exceeded_limit(&mut self, limit: ExceededLimit, span: Span) -> Reported {
        self.diags.error(
            Diagnostic::error(
                messages::EXPRESSION_TOO_LARGE,
                format!("This expression cannot be evaluated: {limit}. Simplify or split it."),
            )
            .at(span),
        )
    }

    /// Refuses a value that is too deep or too large. Every constructed value passes through here.
    fn check_value_limits(&mut self, value: Value, span: Span) -> Result<Value, Reported> {
        match limits::check_value_limits(&value) {
            Ok(()) => Ok(value),
            Err(limit) => Err(self.report_exceeded_limit(limit, span)),
        }
    }
}

/// Returns the span at which messages about an argument point: the first token that determines the kind
/// of the expression.
#[must_use]
pub fn first_token_span(expr: &Expr) -> Span {
    let first = |len: u32| Span { end: (expr.span.start + len).min(expr.span.end), ..expr.span };
    match &expr.kind {
        // The ranges are those of HCL's `StartRange`: a bracket, an operator, a call up to its
        // parenthesis, and the first operand of expressions with several.
        ExprKind::Tuple(_) | ExprKind::Object(_) | ExprKind::For(_) => first(1),
        ExprKind::Unary { op_span, .. } => *op_span,
        ExprKind::Binary { left, .. } => first_token_span(left),
        ExprKind::Conditional { condition, .. } => first_token_span(condition),
        ExprKind::Call(call) => first(call.parens.start + 1 - expr.span.start),
        // An empty string has no character to point at, so the position after it is used.
        ExprKind::Text(text, _) if text.is_empty() => expr.span.empty_span_after(),
        ExprKind::Text(_, span) => *span,
        ExprKind::Template(parts) => first_template_part_span(parts, expr.span),
        _ => expr.span,
    }
}

/// The first part of a template, without the quote before it.
fn first_template_part_span(parts: &[TemplatePart], template_span: Span) -> Span {
    match parts.first() {
        Some(TemplatePart::Literal(_, span)) => *span,
        Some(TemplatePart::Interpolation(expr)) => first_token_span(expr),
        Some(TemplatePart::If(choice)) => first_token_span(&choice.condition),
        Some(TemplatePart::For(repeat)) => repeat.span,
        None => template_span.empty_span_after(),
    }
}
