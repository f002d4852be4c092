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
