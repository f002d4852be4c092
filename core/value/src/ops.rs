//! Operators of the language on values, including null, unknown values and marks. The caller converts
//! operands with `convert`: the operators do not convert, so `equal` distinguishes `1` from `"1"`.

mod arithmetic;
mod equality;
mod logic;
mod order;
#[cfg(test)]
mod tests;

use crate::{Marks, Type, Value};

pub use arithmetic::{add, divide, modulo, multiply, negate, subtract};
pub use equality::{equal, not_equal};
pub use logic::{and, not, or};
pub use order::{less, less_or_equal};

/// Why an operation has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    /// An operand is null.
    #[error("argument must not be null")]
    Null,
    /// An operand does not have the type of the operator: the caller did not convert it.
    #[error("{} required, but this is {}", wanted.friendly_constraint(), found.friendly_name())]
    Type {
        /// The type that the operator takes.
        wanted: Type,
        /// The type of the operand.
        found: Type,
    },
    /// Infinities of opposite sign were added.
    #[error("can't compute sum of opposing infinities")]
    Sum,
    /// An infinity was subtracted from itself.
    #[error("can't subtract infinity from itself")]
    Difference,
    /// Zero and infinity were multiplied.
    #[error("can't multiply zero by infinity")]
    Product,
    /// A division of zero by zero, or of infinity by infinity.
    #[error("can't divide zero by zero or infinity by infinity")]
    Quotient,
    /// A remainder was taken of or by an infinity.
    #[error("infinity has no remainder")]
    Remainder,
}

/// An operand without its marks: known, or unknown.
enum KnownOrUnknown<T> {
    Known(T),
    Unknown,
}

/// Removes the marks of operands of one type, which go to the result, and checks the operands.
fn extract_operands<'v, const N: usize, T>(
    values: [&'v Value; N],
    ty: &Type,
    look: impl Fn(&'v Value) -> Option<T>,
) -> Result<([KnownOrUnknown<T>; N], Marks), OperationError> {
    let mut marks = Marks::NONE;
    for value in values {
        marks |= value.marks();
        match value.without_own_marks() {
            Value::Null(_) => return Err(OperationError::Null),
            // Its type may still become the required one.
            Value::Unknown(unknown) if *unknown.ty() == Type::Dynamic => {}
            value if value.has_type(ty) => {}
            value => return Err(OperationError::Type { wanted: ty.clone(), found: value.ty() }),
        }
    }
    let operands = values.map(|value| match look(value.without_own_marks()) {
        Some(known) => KnownOrUnknown::Known(known),
        None => KnownOrUnknown::Unknown,
    });
    Ok((operands, marks))
}

fn as_number(value: &Value) -> Option<&crate::Number> {
    match value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

fn as_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        _ => None,
    }
}

/// A boolean, or an unknown one.
fn bool_or_unknown(truth: Option<bool>) -> Value {
    truth.map_or_else(|| Value::unknown_not_null(Type::Bool), Value::Bool)
}
