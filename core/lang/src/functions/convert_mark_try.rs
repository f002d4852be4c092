//! Functions that change the type or the marks of a value, and those that handle errors of expressions.

use formwork_value::convert::ConversionError;
use formwork_value::{Marks, Type, Value, convert};

use super::{Args, Builtin, CallError, SpecialFunction};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    [conversion_builtins(), mark_builtins(), try_builtins()].into_iter().flatten().collect()
}

fn conversion_builtins() -> Vec<Builtin> {
    let any = Type::Dynamic;
    vec![
        conversion_builtin("tobool", |args| convert_to_type(args, &Type::Bool))
            .with_return_type(Type::Bool)
            .described_as(
                "Converts a value to a bool.",
                ["A bool, the string `true` or `false`, or null."],
            )
            .with_example(r#"tobool("true")"#, "true"),
        conversion_builtin("tonumber", |args| convert_to_type(args, &Type::Number))
            .with_return_type(Type::Number)
            .described_as(
                "Converts a value to a number.",
                ["A number, a string with a number, or null."],
            )
            .with_example(r#"tonumber("1.50")"#, "1.5"),
        conversion_builtin("tostring", |args| convert_to_type(args, &Type::String))
            .with_return_type(Type::String)
            .described_as("Converts a value to a string.", ["A string, a number, a bool, or null."])
            .with_example("tostring(1.5)", r#""1.5""#),
        conversion_builtin("tolist", |args| convert_to_type(args, &Type::list(Type::Dynamic)))
            .with_return_type(Type::list(any.clone()))
            .described_as(
                "Converts a value to a list and its elements to one type.",
                ["A list, set or tuple, or null."],
            )
            .with_example("tolist([1])", "tolist([\n  1,\n])"),
        conversion_builtin("toset", |args| convert_to_type(args, &Type::set(Type::Dynamic)))
            .with_return_type(Type::set(any.clone()))
            .described_as(
                "Converts a value to a set, without duplicates.",
                ["A list, set or tuple, or null."],
            )
            .with_example("toset([2, 1, 2])", "toset([\n  1,\n  2,\n])"),
        conversion_builtin("tomap", |args| convert_to_type(args, &Type::map(Type::Dynamic)))
            .with_return_type(Type::map(any.clone()))
            .described_as(
                "Converts a value to a map and its elements to one type.",
                ["A map or object, or null."],
            )
            .with_example("tomap({a = 1})", "tomap({\n  \"a\" = 1\n})"),
    ]
}

/// `sensitive`, `nonsensitive` and `ephemeralasnull`.
fn mark_builtins() -> Vec<Builtin> {
    vec![
        builtin_on_any_value("sensitive", |args| Ok(args.value(0).clone().mark(Marks::SENSITIVE)))
            .described_as("Marks a value as sensitive.", ["The value."])
            .with_example("sensitive(1)", "(sensitive value)"),
        builtin_on_any_value("nonsensitive", |args| {
            let (value, marks) = args.value(0).clone().unmark();
            Ok(value.mark(marks.without(Marks::SENSITIVE)))
        })
        .described_as("Removes the sensitive mark from a value.", ["The value."])
        .with_example("nonsensitive(sensitive(1))", "1"),
        builtin_on_any_value("issensitive", is_sensitive)
            .with_return_type(Type::Bool)
            .described_as("Returns whether a value is marked as sensitive.", ["The value."])
            .with_example("issensitive(sensitive(1))", "true"),
        builtin_on_any_value("ephemeralasnull", |args| Ok(null_ephemeral_parts(args.value(0))))
            .described_as("Replaces ephemeral parts of a value with null.", ["The value."])
            .with_example("ephemeralasnull([1])", "[\n  1,\n]"),
    ]
}

/// `try` and `can`.
fn try_builtins() -> Vec<Builtin> {
    let any = Type::Dynamic;
    vec![
        // The evaluator handles the arguments of these two itself, unless they come from `...` and are
        // already evaluated.
        Builtin::new("try", |args| Ok(args.value(0).clone()))
            .with_variadic("expressions", any.clone())
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .may_return_null()
            .with_special_treatment(SpecialFunction::Try)
            .described_as(
                "Returns the value of the first expression without an error.",
                ["The expressions, the preferred one first."],
            )
            .with_example("try({}.a, 2)", "2"),
        Builtin::new("can", |_| Ok(Value::Bool(true)))
            .with_param("expression", any)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .with_return_type(Type::Bool)
            .with_special_treatment(SpecialFunction::Can)
            .described_as(
                "Returns whether an expression can be evaluated without an error.",
                ["The expression."],
            )
            .with_example("can({}.a)", "false"),
    ]
}

fn conversion_builtin(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body)
        .with_param("v", Type::Dynamic)
        .last_param_allows_null()
        .last_param_allows_unknown()
        .last_param_allows_dynamic()
        .last_param_allows_marked()
        .may_return_null()
}

fn builtin_on_any_value(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    conversion_builtin(name, body).rename_last_param("value")
}

fn convert_to_type(args: &Args<'_>, ty: &Type) -> FunctionResult {
    let value = args.value(0);
    args.charge_elements(value.children().len())?;
    let converted = convert::convert(value, ty).map_err(|refused| {
        CallError::for_argument(0, conversion_failure_reason(value, ty, &refused))
    })?;
    // The requested type does not determine the elements of an unknown value.
    Ok(if value.is_unknown() && ty.has_dynamic() {
        Value::unknown(ty.clone()).mark(value.marks())
    } else {
        converted
    })
}

/// Explains why a conversion fails, without the value if it is secret.
fn conversion_failure_reason(value: &Value, ty: &Type, refused: &ConversionError) -> String {
    let (got, wanted) = (value.ty(), ty.friendly_constraint());
    // With a mark on any part, only the types are printed, because the reason quotes parts.
    if !value.all_marks().is_empty() {
        let got = got.friendly_name();
        return format!("cannot convert this {got} to {wanted}");
    }
    match (value.without_own_marks(), ty) {
        (Value::String(text), Type::Bool) => {
            format!(
                "cannot convert {:?} to bool; only the strings \"true\" or \"false\" are allowed",
                text.as_str()
            )
        }
        (Value::String(text), Type::Number) => {
            format!(
                "cannot convert {:?} to number; given string must be a decimal representation of a number",
                text.as_str()
            )
        }
        _ => {
            let location = if refused.path.0.is_empty() {
                String::new()
            } else {
                format!("in its part {}: ", refused.path)
            };
            let got = got.friendly_name();
            format!("cannot convert {got} to {wanted}: {location}{}", refused.reason)
        }
    }
}

fn is_sensitive(args: &Args<'_>) -> FunctionResult {
    let value = args.value(0);
    Ok(if value.marks().contains(Marks::SENSITIVE) {
        Value::Bool(true)
    } else if value.is_unknown() {
        // It may become sensitive when it is known.
        Value::unknown(Type::Bool)
    } else {
        Value::Bool(false)
    })
}

/// Replaces every ephemeral part with null.
fn null_ephemeral_parts(value: &Value) -> Value {
    if !value.all_marks().contains(Marks::EPHEMERAL) {
        return value.clone();
    }
    let marks = value.marks();
    if marks.contains(Marks::EPHEMERAL) {
        return Value::null(value.ty()).mark(marks.without(Marks::EPHEMERAL));
    }
    value.with_children(value.children().iter().map(null_ephemeral_parts).collect())
}
