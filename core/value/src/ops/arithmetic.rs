//! Arithmetic on numbers.

use super::{KnownOrUnknown, OperationError, as_number, extract_operands};
use crate::{Number, Type, Value};

/// `left + right`.
///
/// # Errors
/// Returns an error if an operand is null or not a number, or for opposite infinities.
pub fn add(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_numbers(left, right, Number::add, OperationError::Sum)
}

/// `left - right`.
///
/// # Errors
/// Returns an error if an operand is null or not a number, or for an infinity minus itself.
pub fn subtract(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_numbers(left, right, Number::subtract, OperationError::Difference)
}

/// `left * right`.
///
/// # Errors
/// Returns an error if an operand is null or not a number, or for zero times infinity.
pub fn multiply(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_numbers(left, right, Number::multiply, OperationError::Product)
}

/// `left / right`. Division by zero results in an infinity.
///
/// # Errors
/// Returns an error if an operand is null or not a number, or for zero or an infinity by itself.
pub fn divide(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_numbers(left, right, Number::divide, OperationError::Quotient)
}

/// `left % right`, with the sign of `left`; of zero it leaves `left`.
///
/// # Errors
/// Returns an error if an operand is null or not a number, or either is infinite.
pub fn modulo(left: &Value, right: &Value) -> Result<Value, OperationError> {
    compute_numbers(left, right, Number::remainder, OperationError::Remainder)
}

/// `-operand`.
///
/// # Errors
/// Returns an error if the operand is null or not a number.
pub fn negate(operand: &Value) -> Result<Value, OperationError> {
    let ([operand], marks) = extract_operands([operand], &Type::Number, as_number)?;
    let result = match operand {
        KnownOrUnknown::Known(number) => Value::Number(number.negate()),
        KnownOrUnknown::Unknown => Value::unknown_not_null(Type::Number),
    };
    Ok(result.mark(marks))
}

fn compute_numbers(
    left: &Value,
    right: &Value,
    compute: fn(&Number, &Number) -> Option<Number>,
    undefined: OperationError,
) -> Result<Value, OperationError> {
    if let (Value::Number(a), Value::Number(b)) = (left, right) {
        // Fast path: two known numbers without marks do not need the handling below.
        return compute(a, b).map(Value::Number).ok_or(undefined);
    }
    let (operands, marks) = extract_operands([left, right], &Type::Number, as_number)?;
    let result = match operands {
        [KnownOrUnknown::Known(a), KnownOrUnknown::Known(b)] => {
            Value::Number(compute(a, b).ok_or(undefined)?)
        }
        // Bounds of the operands are not transferred to the result. Terraform does not transfer them
        // either, and plans must show the same values as known.
        _ => Value::unknown_not_null(Type::Number),
    };
    Ok(result.mark(marks))
}
