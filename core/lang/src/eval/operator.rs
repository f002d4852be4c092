//! Operators and the conditional. `formwork_value::ops` computes; this module converts operands and
//! explains refusals.

use std::borrow::Cow;

use crate::messages;
use crate::value_kind::ValueKind;
use formwork_value::ty::unify::unify;
use formwork_value::{
    Diagnostic, Diagnostics, Refinement, Reported, Span, Type, Value, convert, ops,
};
use smallvec::SmallVec;

use super::{Evaluator, ForFrames};
use crate::syntax::{BinaryOp, Expr, ExprKind, UnaryOp};

/// The value of an arm of a conditional, and the diagnostics of its evaluation.
pub(super) type ResultWithDiagnostics = (Result<Value, Reported>, Diagnostics);

/// A conditional, in an expression or in a template.
pub(super) struct Conditional<'e> {
    pub(super) condition: &'e Expr,
    /// Source ranges of the arms.
    pub(super) spans: [Span; 2],
    /// Source range of the conditional.
    pub(super) span: Span,
}

/// An operand of a binary operator.
#[derive(Clone, Copy)]
struct Operand<'v> {
    /// The side of the operator, for messages.
    side: &'static str,
    expr: &'v Expr,
    value: &'v Value,
}

impl Evaluator<'_> {
    pub(super) fn eval_unary(
        &mut self,
        expr: &Expr,
        op: UnaryOp,
        operand: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let value = self.evaluate_expr(operand, frames)?;
        let ty = if op == UnaryOp::Not { Type::Bool } else { Type::Number };
        let value = convert::convert(&value, &ty).map_err(|refused| {
            let diag = Diagnostic::error(
                messages::INVALID_OPERAND,
                format!("Unsuitable value for unary operand: {}.", refused.reason),
            );
            self.report_error(diag.at(operand.span).with_source_context(expr.span), operand, frames)
        })?;
        let result = match op {
            UnaryOp::Not => ops::not(&value),
            UnaryOp::Negate => ops::negate(&value),
        };
        result.map_err(|refused| self.report_operation_error(expr, &refused.to_string(), frames))
    }

    /// Evaluates a chain of operators along its left side in a loop: `a + b + c + …` may be longer
    /// than expressions may nest.
    pub(super) fn eval_binary(
        &mut self,
        expr: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // Most chains are short and are kept on the stack.
        let mut spine: SmallVec<[&Expr; 8]> = SmallVec::new();
        let mut leftmost = expr;
        while let ExprKind::Binary { left, .. } = &leftmost.kind {
            spine.push(leftmost);
            leftmost = left;
        }
        let mut value = self.evaluate_expr(leftmost, frames);
        for node in spine.into_iter().rev() {
            let ExprKind::Binary { op, left, right, .. } = &node.kind else { continue };
            // Evaluated even if the left side determines the result: `&&` and `||` do not short-circuit
            // in Terraform 1.11, so `false && null` is an error.
            let right_value = self.evaluate_expr(right, frames);
            value = match (value, right_value) {
                (Ok(left_value), Ok(right_value)) => {
                    let left = Operand { side: "left", expr: left, value: &left_value };
                    let right = Operand { side: "right", expr: right, value: &right_value };
                    self.apply_operator(node, *op, [left, right], frames)
                }
                (Err(reported), _) | (_, Err(reported)) => Err(reported),
            };
        }
        value
    }

    fn apply_operator(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        [left, right]: [Operand<'_>; 2],
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // Equality never converts: `1 == "1"` is false, and so is a list compared with a tuple.
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            // Both sides are walked together, so the size of one of them bounds the work.
            let paid = self.budget.charge_reading(std::slice::from_ref(left.value));
            paid.map_err(|limit| self.report_exceeded_limit(limit, expr.span))?;
            let compare = if op == BinaryOp::Equal { ops::equal } else { ops::not_equal };
            return Ok(compare(left.value, right.value));
        }
        let ty = if matches!(op, BinaryOp::And | BinaryOp::Or) { Type::Bool } else { Type::Number };
        // Both are converted first, so that both errors are reported.
        let a = self.convert_operand(expr, left, &ty, frames);
        let b = self.convert_operand(expr, right, &ty, frames);
        let (a, b) = (&a?, &b?);
        let result = match op {
            BinaryOp::Or => ops::or(a, b),
            BinaryOp::And => ops::and(a, b),
            BinaryOp::Less => ops::less(a, b),
            BinaryOp::LessOrEqual => ops::less_or_equal(a, b),
            BinaryOp::Greater => ops::less(b, a),
            BinaryOp::GreaterOrEqual => ops::less_or_equal(b, a),
            BinaryOp::Add => ops::add(a, b),
            BinaryOp::Subtract => ops::subtract(a, b),
            BinaryOp::Multiply => ops::multiply(a, b),
            BinaryOp::Divide => ops::divide(a, b),
            BinaryOp::Modulo => ops::modulo(a, b),
            // Equality is handled above.
            BinaryOp::Equal | BinaryOp::NotEqual => Ok(Value::dynamic()),
        };
        result.map_err(|refused| self.report_operation_error(expr, &refused.to_string(), frames))
    }

    fn convert_operand<'v>(
        &mut self,
        expr: &Expr,
        operand: Operand<'v>,
        ty: &Type,
        frames: ForFrames<'_>,
    ) -> Result<Cow<'v, Value>, Reported> {
        let Operand { side, expr: operand, value } = operand;
        if value.has_type(ty) {
            return Ok(Cow::Borrowed(value));
        }
        convert::convert(value, ty).map(Cow::Owned).map_err(|refused| {
            let diag = Diagnostic::error(
                messages::INVALID_OPERAND,
                format!("Unsuitable value for {side} operand: {}.", refused.reason),
            );
            self.report_error(diag.at(operand.span).with_source_context(expr.span), operand, frames)
        })
    }

    fn report_operation_error(
        &mut self,
        expr: &Expr,
        reason: &str,
        frames: ForFrames<'_>,
    ) -> Reported {
        let diag = Diagnostic::error(
            messages::OPERATION_FAILED,
            format!("Error during operation: {reason}."),
        );
        self.report_error(diag.at(expr.span), expr, frames)
    }

    pub(super) fn eval_conditional(
        &mut self,
        expr: &Expr,
        [condition, yes, no]: [&Expr; 3],
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        // Both, because both determine the type of the result, as in HCL.
        let arms =
            [yes, no].map(|arm| self.capture_diagnostics(|this| this.evaluate_expr(arm, frames)));
        let choice = Conditional { condition, spans: [yes.span, no.span], span: expr.span };
        self.choose_conditional_arm(&choice, arms, frames)
    }

    /// Evaluates an arm, with separate diagnostics.
    pub(super) fn capture_diagnostics(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<Value, Reported>,
    ) -> ResultWithDiagnostics {
        let outer = std::mem::take(self.diags);
        let result = run(self);
        (result, std::mem::replace(self.diags, outer))
    }

    /// Selects an arm. Both arms contribute to the type and the marks of the result. Errors count only
    /// in the selected arm.
    pub(super) fn choose_conditional_arm(
        &mut self,
        choice: &Conditional<'_>,
        arms: [ResultWithDiagnostics; 2],
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let Conditional { condition, spans, span: conditional_span } = *choice;
        let [yes, no] = arms.each_ref().map(|(arm, _)| match arm {
            Ok(value) => value.clone(),
            // A failed arm must not determine the type: its error counts only if the arm is selected.
            Err(_) => Value::dynamic(),
        });
        let ty = self.common_arm_type(&yes, &no, spans, conditional_span)?;
        let test = self.evaluate_expr(condition, frames)?;
        let marks = test.marks() | yes.marks() | no.marks();
        let Some(picked) = self.condition_truth(condition, &test, conditional_span, frames)? else {
            return Ok(unknown_of_either_arm(yes.without_own_marks(), no.without_own_marks(), ty)
                .mark(marks));
        };
        let [yes_arm, no_arm] = arms;
        let ((value, diags), span) = if picked { (yes_arm, spans[0]) } else { (no_arm, spans[1]) };
        // Warnings of the arm are kept. If it has errors, `value` is an error.
        let _ = self.diags.append(diags);
        let value = value?;
        if value.has_type(&ty) {
            return Ok(value.mark(marks));
        }
        convert::convert(&value, &ty).map(|value| value.mark(marks)).map_err(|refused| {
            self.diags.error(
                Diagnostic::error(
                    messages::INCONSISTENT_CONDITIONAL_RESULT_TYPES,
                    format!(
                        "The chosen result is not a {}: {}.",
                        ty.friendly_name(),
                        refused.reason
                    ),
                )
                .at(span)
                .with_source_context(conditional_span),
            )
        })
    }

    /// Returns the common type of both arms.
    fn common_arm_type(
        &mut self,
        yes: &Value,
        no: &Value,
        [yes_span, no_span]: [Span; 2],
        conditional_span: Span,
    ) -> Result<Type, Reported> {
        // A null without a type takes the type of the other arm: `c ? null : 1` is a number.
        let untyped_null =
            |value: &Value| matches!(value.without_own_marks(), Value::Null(Type::Dynamic));
        if untyped_null(yes) {
            return Ok(no.ty());
        }
        if untyped_null(no) {
            return Ok(yes.ty());
        }
        let (yes_ty, no_ty) = (yes.ty(), no.ty());
        if yes_ty == no_ty {
            return Ok(yes_ty);
        }
        unify(&[yes_ty.clone(), no_ty.clone()]).ok_or_else(|| {
            self.diags.error(
                Diagnostic::error(
                    messages::INCONSISTENT_CONDITIONAL_RESULT_TYPES,
                    format!(
                        "The true and false result expressions must have consistent types. {}.",
                        describe_type_difference(&yes_ty, &no_ty)
                    ),
                )
                .at(yes_span.to(no_span))
                .with_source_context(conditional_span),
            )
        })
    }

    /// Returns whether a condition holds, or `None` if it is unknown.
    fn condition_truth(
        &mut self,
        condition: &Expr,
        test: &Value,
        conditional_span: Span,
        frames: ForFrames<'_>,
    ) -> Result<Option<bool>, Reported> {
        let diag = match test.without_own_marks() {
            Value::Null(_) => Diagnostic::error(
                messages::NULL_CONDITION,
                "The condition value is null. Conditions must either be true or false.",
            ),
            test => match convert::convert(test, &Type::Bool) {
                Ok(Value::Bool(test)) => return Ok(Some(test)),
                Ok(_) => return Ok(None),
                Err(refused) => Diagnostic::error(
                    messages::INCORRECT_CONDITION_TYPE,
                    format!("The condition expression must be of type bool: {}.", refused.reason),
                ),
            },
        };
        Err(self.report_error(
            diag.at(condition.span).with_source_context(conditional_span),
            condition,
            frames,
        ))
    }
}

/// Returns an unknown value with the refinements that both arms share.
fn unknown_of_either_arm(yes: &Value, no: &Value, ty: Type) -> Value {
    if yes.is_null() && no.is_null() {
        return Value::null(ty);
    }
    // Only bounds that hold for both arms are valid, because either can be selected later. Lengths are
    // compared for equal types only, because a conversion to a set can drop elements.
    let (a, b) = (yes.known_facts(), no.known_facts());
    let mut common = Refinement { not_null: a.not_null && b.not_null, ..Refinement::default() };
    if ValueKind::of(yes) == ValueKind::Number && ValueKind::of(no) == ValueKind::Number {
        common.lower =
            a.lower.zip(b.lower).map(|(a, b)| looser_bound([a, b], std::cmp::Ordering::Less));
        common.upper =
            a.upper.zip(b.upper).map(|(a, b)| looser_bound([a, b], std::cmp::Ordering::Greater));
    } else if ty.is_collection() && yes.ty() == no.ty() {
        common.min_length = a.min_length.min(b.min_length);
        common.max_length = a.max_length.zip(b.max_length).map(|(a, b)| a.max(b));
    }
    Value::refined(ty, common)
}

type NumberBound = (formwork_value::Number, bool);

/// Returns the less strict bound.
fn looser_bound([a, b]: [NumberBound; 2], wider: std::cmp::Ordering) -> NumberBound {
    match a.0.cmp(&b.0) {
        std::cmp::Ordering::Equal => (a.0, a.1 || b.1),
        order if order == wider => a,
        _ => b,
    }
}

/// Describes the first difference between two types that should agree.
fn describe_type_difference(yes: &Type, no: &Type) -> String {
    if let (Type::Tuple(a), Type::Tuple(b)) = (yes, no)
        && a.len() == b.len()
        && let Some(at) =
            a.iter().zip(b.iter()).position(|(a, b)| unify(&[a.clone(), b.clone()]).is_none())
        && let (Some(a), Some(b)) = (a.get(at), b.get(at))
    {
        return format!("Type mismatch for tuple element {at}: {}", describe_type_difference(a, b));
    }
    if let (Type::Object(a), Type::Object(b)) = (yes, no) {
        for (name, a) in &a.attributes {
            match b.attributes.get(name) {
                None => {
                    return format!(
                        "The 'true' value includes object attribute {:?}, which is absent in the 'false' value",
                        name.as_str()
                    );
                }
                Some(b) if unify(&[a.clone(), b.clone()]).is_none() => {
                    let name = name.as_str();
                    let reason = describe_type_difference(a, b);
                    return format!("Type mismatch for object attribute {name:?}: {reason}");
                }
                Some(_) => {}
            }
        }
        if let Some(name) = b.attributes.keys().find(|name| !a.attributes.contains_key(*name)) {
            return format!(
                "The 'false' value includes object attribute {:?}, which is absent in the 'true' value",
                name.as_str()
            );
        }
    }
    let (yes, no) = (yes.friendly_name(), no.friendly_name());
    if yes == no {
        "At least one deeply-nested attribute or element is not compatible across both the 'true' and the 'false' value".to_owned()
    } else {
        format!("The 'true' value is {yes}, but the 'false' value is {no}")
    }
}
