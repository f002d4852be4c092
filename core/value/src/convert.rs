//! Conversion between types. Every refusal says where inside the value and why.

use crate::{Path, Type, Value};

/// Why a value does not convert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where inside the value.
    pub path: Path,
    /// Why, in the language's words: `a number is required`, `string required`.
    pub reason: String,
}

/// Converts a value to a type, as an attribute of that type takes it: `Dynamic` places keep what is
/// there, optional attributes of object types are filled with nulls, marks stay where they are.
///
/// # Errors
/// When some part of the value cannot have the type.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, Refused> {
    let _ = (value, ty);
    todo!()
}

/// Says why no value of type `got` converts to `want`, in the words of the language.
#[must_use]
pub fn mismatch(got: &Type, want: &Type) -> String {
    let _ = (got, want);
    todo!()
}
