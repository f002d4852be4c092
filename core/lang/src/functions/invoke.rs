//! Common part of every call: refuses null arguments, and handles unknown and marked ones for
//! functions that do not do it themselves.

use std::borrow::Cow;

use formwork_value::{Marks, Refinement, Type, Value};

use super::{CallContext, CallError, Function, Param};
use crate::limits;

/// Calls a function with converted arguments of the correct number.
///
/// # Errors
/// Returns an error if the function has no value for these arguments.
pub fn invoke_function(
    function: &dyn Function,
    ctx: &CallContext<'_>,
    args: &[Value],
) -> Result<Value, CallError> {
    let mut marks = Marks::NONE;
    let mut plain = Cow::Borrowed(args);
    let mut unknown = false;
    let mut untyped = false;
    for (at, arg) in args.iter().enumerate() {
        let Some(param) = param_of_argument(function, at) else { continue };
        if !param.allow_null && arg.is_null() {
            return Err(CallError::for_argument(at, "argument must not be null"));
        }
        untyped |= !param.allow_dynamic && is_of_unknown_type(arg);
        unknown |= !param.allow_unknown && arg.is_unknown();
        let arg_marks = arg.all_marks();
        // The function receives no marks, so it cannot assign them to parts of the result: they all
        // apply to the whole result.
        if !arg_marks.is_empty() && !param.allow_marked {
            marks |= arg_marks;
            if let Some(slot) = plain.to_mut().get_mut(at) {
                *slot = strip_all_marks(arg);
            }
        }
    }
    if untyped || unknown {
        // The function does not receive them, so it cannot apply them to the result.
        marks |= args.iter().fold(Marks::NONE, |marks, arg| marks | arg.marks());
    }
    if untyped {
        return Ok(Value::dynamic().mark(marks));
    }
    let hide = |error| if marks.is_empty() { error } else { redact_reason(error) };
    // Charged before the call, so that the limit also protects the function.
    if function.reads_all_arguments() {
        ctx.budget.charge_reading(&plain)?;
    }
    let ty = function.return_type(&plain).map_err(hide)?;
    let value =
        if unknown { Value::unknown(ty) } else { function.call(ctx, &plain, &ty).map_err(hide)? };
    // A function of a provider is foreign code, so its result is checked like any other.
    limits::check_value_limits(&value)?;
    let value =
        if function.never_returns_null() { value.refine(&Refinement::not_null()) } else { value };
    Ok(value.mark(marks))
}

/// Returns an error without details of the arguments, because the function did not receive the marks of
/// a secret or ephemeral one.
fn redact_reason(error: CallError) -> CallError {
    let reason = "the reason is not shown, because it could reveal a sensitive or ephemeral value"
        .to_owned();
    CallError { reason, ..error }
}

/// The parameter that takes an argument.
fn param_of_argument(function: &dyn Function, at: usize) -> Option<&Param> {
    function.params().get(at).or_else(|| function.variadic_param())
}

/// Returns whether the type of a value is unknown. A function that does not support it cannot determine
/// the type of its result.
fn is_of_unknown_type(value: &Value) -> bool {
    match value.without_own_marks() {
        Value::Null(ty) => *ty == Type::Dynamic,
        Value::Unknown(unknown) => *unknown.ty() == Type::Dynamic,
        _ => false,
    }
}

/// Removes the marks of a value and of all its parts.
pub(super) fn strip_all_marks(value: &Value) -> Value {
    if value.all_marks().is_empty() {
        return value.clone();
    }
    let bare = value.without_own_marks();
    let items: Vec<Value> = bare.children().iter().map(strip_all_marks).collect();
    if items.is_empty() { bare.clone() } else { bare.with_children(items) }
}
