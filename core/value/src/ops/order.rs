//! Order of two numbers, as far as known.

use std::cmp::Ordering;

use super::equality::values_equal;
use super::{OperationError, as_number, bool_or_unknown, extract_operands};
use crate::{Type, Value};

/// `left < right`; `left > right` is this with the operands exchanged.
///
/// # Errors
/// Returns an error if an operand is null or not a number.
pub fn less(left: &Value, right: &Value) -> Result<Value, OperationError> {
    let (_, marks) = extract_operands([left, right], &Type::Number, as_number)?;
    Ok(bool_or_unknown(is_less_if_decided(left.without_own_marks(), right.without_own_marks()))
        .mark(marks))
}

/// `left <= right`; `left >= right` is this with the operands exchanged.
///
/// # Errors
/// Returns an error if an operand is null or not a number.
pub fn less_or_equal(left: &Value, right: &Value) -> Result<Value, OperationError> {
    let (_, marks) = extract_operands([left, right], &Type::Number, as_number)?;
    let (left, right) = (left.without_own_marks(), right.without_own_marks());
    // Equality depends on the printed digits and order on the exact value, so both are checked: numbers
    // of different precision may be equal and yet ordered.
    let result = match (is_less_if_decided(left, right), values_equal(left, right)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    };
    Ok(bool_or_unknown(result).mark(marks))
}

fn is_less_if_decided(left: &Value, right: &Value) -> Option<bool> {
    if let (Value::Number(left), Value::Number(right)) = (left, right) {
        return Some(left.compare(right) == Ordering::Less);
    }
    let (left, right) = (left.known_facts(), right.known_facts());
    // Bounds that touch decide nothing, whether they are inclusive or not, as in Terraform.
    if let (Some((most, _)), Some((least, _))) = (&left.upper, &right.lower)
        && most.compare(least) == Ordering::Less
    {
        return Some(true);
    }
    if let (Some((least, _)), Some((most, _))) = (&left.lower, &right.upper)
        && least.compare(most) == Ordering::Greater
    {
        return Some(false);
    }
    None
}
