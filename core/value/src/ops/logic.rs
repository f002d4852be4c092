//! Logic on booleans. Both operands always count: an unknown operand makes the result unknown, and a
//! null operand is always an error.

use super::{KnownOrUnknown, OperationError, as_bool, bool_or_unknown, extract_operands};
use crate::{Type, Value};

/// `!operand`.
///
/// # Errors
/// Returns an error if the operand is null or not a bool.
pub fn not(operand: &Value) -> Result<Value, OperationError> {
    let ([operand], marks) = extract_operands([operand], &Type::Bool, as_bool)?;
    let result = match operand {
        KnownOrUnknown::Known(known) => Some(!known),
        KnownOrUnknown::Unknown => None,
    };
    Ok(bool_or_unknown(result).mark(marks))
}

/// `left && right`.
///
/// # Errors
/// Returns an error if an operand is null or not a bool.
pub fn and(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_bools(left, right, |a, b| a && b)
}

/// `left || right`.
///
/// # Errors
/// Returns an error if an operand is null or not a bool.
pub fn or(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_bools(left, right, |a, b| a || b)
}

fn compute_bools(
    left: &Value,
    right: &Value,
    compute: fn(bool, bool) -> bool,
) -> Result<Value, OperationError> {
    let (operands, marks) = extract_operands([left, right], &Type::Bool, as_bool)?;
    let result = match operands {
        [KnownOrUnknown::Known(a), KnownOrUnknown::Known(b)] => Some(compute(a, b)),
        _ => None,
    };
    Ok(bool_or_unknown(result).mark(marks))
}
