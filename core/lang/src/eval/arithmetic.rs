//! The fast path for arithmetic on available numbers: literals, and those bound by a `for`. This is most
//! of the work of large expressions, and needs neither stack nor intermediate values. All other
//! operations are in `operator`.

use formwork_value::{Number, Value};

use super::{ForFrames, value_bound_by_for};
use crate::syntax::{BinaryOp, Expr, ExprKind};

/// Greatest nesting of operations on this path. An unsuccessful attempt reads at most eight numbers.
const MAX_ARITHMETIC_NESTING: u8 = 3;

/// Returns the result of an operation if it and all its parts are arithmetic on known numbers. Returns
/// `None` for everything else and for operations without a result, which take the general path.
pub(super) fn evaluate_known_arithmetic(expr: &Expr, frames: ForFrames<'_>) -> Option<Value> {
    evaluate_known_number(expr, frames, MAX_ARITHMETIC_NESTING).map(Value::Number)
}

fn evaluate_known_number(expr: &Expr, frames: ForFrames<'_>, nesting: u8) -> Option<Number> {
    match &expr.kind {
        ExprKind::Number(number) => Some(number.clone()),
        ExprKind::Variable(name) => match value_bound_by_for(frames, &name.name)? {
            Value::Number(number) => Some(number.clone()),
            _ => None,
        },
        ExprKind::Parens(inner) => evaluate_known_number(inner, frames, nesting.checked_sub(1)?),
        ExprKind::Binary { op, left, right, .. } => {
            let nesting = nesting.checked_sub(1)?;
            let (left, right) = (
                evaluate_known_number(left, frames, nesting)?,
                evaluate_known_number(right, frames, nesting)?,
            );
            match op {
                BinaryOp::Add => left.add(&right),
                BinaryOp::Subtract => left.subtract(&right),
                BinaryOp::Multiply => left.multiply(&right),
                BinaryOp::Divide => left.divide(&right),
                BinaryOp::Modulo => left.remainder(&right),
                _ => None,
            }
        }
        _ => None,
    }
}
