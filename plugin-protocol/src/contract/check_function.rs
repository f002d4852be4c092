//! The rules about results of functions.

use formwork_value::{Path, Plain, Type};

use super::{Rule, Violation};
use crate::Payload;

/// Decodes the result of a function by its return type, and checks it. `has_known_arguments` is
/// whether all arguments were known.
///
/// # Errors
/// The rule that the result breaks.
pub fn check_function_result(
    result: &Payload,
    returns: &Type,
    has_known_arguments: bool,
) -> Result<Plain, Violation> {
    let root = Path::root();
    let value = result.decode(returns).map_err(|error| {
        let message = format!("it returned no value of type {returns}: {error}");
        Violation::new(Rule::FunctionType, &root, message)
    })?;
    if has_known_arguments && !value.value().is_wholly_known() {
        let message = "it returned an unknown value although all arguments are known";
        return Err(Violation::new(Rule::FunctionKnown, &root, message));
    }
    Ok(value)
}

#[cfg(test)]
pub(super) use tests::cases;

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use formwork_value::Value;

    use super::*;
    use crate::contract::fixtures::Case;

    fn plain(value: Value) -> Payload {
        Payload::Value(value.split_marks().0, Type::String)
    }

    /// Results that break the rules, each with one that keeps it.
    pub(in crate::contract) fn cases() -> Vec<Case> {
        let judge = |value: Payload| {
            let result = check_function_result(&value, &Type::String, true);
            result.err().into_iter().collect::<Vec<_>>()
        };
        let kept = || judge(plain(Value::string("a")));
        let list = judge(Payload::Json(Bytes::from_static(b"[]")));
        let unknown = judge(plain(Value::unknown(Type::String)));
        vec![
            Case { rule: Rule::FunctionType, broken: list, kept: kept() },
            Case { rule: Rule::FunctionKnown, broken: unknown, kept: kept() },
        ]
    }

    #[test]
    fn an_unknown_result_of_unknown_arguments_is_kept() {
        let unknown = plain(Value::unknown(Type::String));
        assert!(check_function_result(&unknown, &Type::String, false).is_ok());
    }
}
