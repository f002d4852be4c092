//! Fields without parts: strings, booleans, numbers, and values of any type.

use formwork_value::convert::ConversionError;
use formwork_value::{Number, Type, Value};

use super::{Attr, Field, conversion_error};

/// Implements a field without parts, with the same type in every phase.
macro_rules! items_of_leaf_fields {
    () => {
        type Draft = Attr<Self>;
        type DraftPart = Self;
        type Input = Self;

        fn into_draft(self) -> Attr<Self> {
            Attr::Known(self)
        }

        fn into_draft_part(self) -> Self {
            self
        }
    };
}

/// Checks of strings do not apply to the field.
macro_rules! no_string_checks {
    () => {
        const MAY_HOLD_STRINGS: bool = false;
        const HAS_LENGTH: bool = false;
    };
}

/// Checks of numbers do not apply to the field.
macro_rules! no_number_checks {
    () => {
        const MAY_HOLD_NUMBERS: bool = false;
    };
}

impl Field for String {
    items_of_leaf_fields!();
    no_number_checks!();

    fn ty() -> Type {
        Type::String
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        match value {
            Value::String(text) => Ok(text.as_str().to_owned()),
            _ => Err(conversion_error("a string is required")),
        }
    }

    fn to_value(&self) -> Value {
        Value::string(self)
    }

    fn same_as(&self, value: &Value) -> bool {
        matches!(value, Value::String(text) if text.as_str() == self)
    }
}

impl Field for bool {
    items_of_leaf_fields!();
    no_string_checks!();
    no_number_checks!();

    fn ty() -> Type {
        Type::Bool
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        match value {
            Value::Bool(truth) => Ok(*truth),
            _ => Err(conversion_error("a bool is required")),
        }
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

macro_rules! impl_field_for_integers {
    ($($integer:ty)*) => {$(
        impl Field for $integer {
            items_of_leaf_fields!();
            no_string_checks!();

            fn ty() -> Type {
                Type::Number
            }

            fn from_value(value: &Value) -> Result<Self, ConversionError> {
                let number = require_number(value)?;
                if !number.is_integer() {
                    // The number may be sensitive, so it is not shown.
                    return Err(conversion_error("a whole number is required, and it has a fractional part"));
                }
                // Whole numbers print as digits, whatever their size.
                number.to_string().parse().map_err(|_| {
                    let (min, max) = (Self::MIN, Self::MAX);
                    let end = if number.is_negative() { "small" } else { "large" };
                    conversion_error(format!("it is too {end}; from {min} to {max} can be given"))
                })
            }

            fn to_value(&self) -> Value {
                // Digits can always be parsed, so the fallback is never seen.
                Value::Number(Number::parse(&self.to_string()).unwrap_or_else(|| Number::from(0_i64)))
            }
        }
    )*};
}

// `i64` has a shorter way below.
impl_field_for_integers!(i8 i16 i32 u8 u16 u32 u64 i128 u128);

impl Field for i64 {
    items_of_leaf_fields!();
    no_string_checks!();

    fn ty() -> Type {
        Type::Number
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        let number = require_number(value)?;
        if !number.is_integer() {
            return Err(conversion_error(
                "a whole number is required, and it has a fractional part",
            ));
        }
        number
            .to_i64()
            .ok_or_else(|| conversion_error("it is too large; numbers here have at most 64 bits"))
    }

    fn to_value(&self) -> Value {
        Value::int(*self)
    }
}

/// Rounds numbers with more digits than fit.
impl Field for f64 {
    items_of_leaf_fields!();
    no_string_checks!();

    fn ty() -> Type {
        Type::Number
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        require_number(value).map(Number::to_f64)
    }

    fn to_value(&self) -> Value {
        // The language has no NaN either. On the wire, a NaN makes a Go host panic.
        Number::from_f64(*self).map_or_else(|| Value::null(Type::Number), Value::Number)
    }
}

impl Field for Number {
    items_of_leaf_fields!();
    no_string_checks!();

    fn ty() -> Type {
        Type::Number
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        require_number(value).cloned()
    }

    fn to_value(&self) -> Value {
        Value::Number(self.clone())
    }
}

/// A value of any type, as it is.
impl Field for Value {
    items_of_leaf_fields!();

    const HOLDS_UNKNOWN: bool = true;
    const NULLABLE: bool = true;

    fn ty() -> Type {
        Type::Dynamic
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        Ok(value.clone())
    }

    fn to_value(&self) -> Value {
        self.clone()
    }

    fn same_as(&self, value: &Value) -> bool {
        self == value
    }
}

fn require_number(value: &Value) -> Result<&Number, ConversionError> {
    match value {
        Value::Number(number) => Ok(number),
        _ => Err(conversion_error("a number is required")),
    }
}
