//! Functions that reduce many elements or arguments to one value.

use crate::value_kind::ValueKind;
use formwork_value::ops::OperationError;
use formwork_value::ty::unify::unify;
use formwork_value::{Number, Refinement, Type, Value};
use unicode_segmentation::UnicodeSegmentation as _;

use super::super::{Args, Builtin, CallError};
use super::{FunctionResult, convert_to_result_type};

pub(super) fn builtins() -> Vec<Builtin> {
    [bool_builtins(), element_builtins()].into_iter().flatten().collect()
}

fn bool_builtins() -> Vec<Builtin> {
    let bools = || Type::list(Type::Bool);
    vec![
        Builtin::new("alltrue", all_true)
            .with_param("list", bools())
            .with_return_type(Type::Bool)
            .described_as(
                "Returns whether all elements are true, as for an empty list.",
                ["The bools."],
            )
            .with_example("alltrue([true, null])", "false"),
        Builtin::new("anytrue", any_true)
            .with_param("list", bools())
            .with_return_type(Type::Bool)
            .described_as("Returns whether at least one element is true.", ["The bools."])
            .with_example("anytrue([false, true])", "true"),
    ]
}

fn element_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("coalesce", coalesce)
            .with_variadic("vals", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .with_return_type_fn(coalesce_return_type)
            .described_as(
                "Returns the first value that is neither null nor an empty string.",
                ["The values, which are converted to one type."],
            )
            .with_example(r#"coalesce("", null, "b")"#, r#""b""#),
        Builtin::new("coalescelist", coalesce_list)
            .with_variadic("vals", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .with_return_type_fn(coalesce_list_return_type)
            .described_as("Returns the first list that has elements.", ["The lists or tuples."])
            .with_example("coalescelist([], [1])", "[\n  1,\n]"),
        Builtin::new("length", length)
            .with_param("value", Type::Dynamic)
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .with_return_type_fn(length_return_type)
            .without_reading_charge()
            .described_as(
                "Returns the number of elements of a collection, or of characters of a string.",
                ["The collection or string."],
            )
            .with_example(r#"length("héllo")"#, "5")
            .with_example("length([1, 2])", "2"),
        Builtin::new("one", one)
            .with_param("list", Type::Dynamic)
            .may_return_null()
            .with_return_type_fn(one_return_type)
            .without_reading_charge()
            .described_as(
                "Returns the only element, or null for an empty collection; several elements are an error.",
                ["A list, set or tuple."],
            )
            .with_example("one([])", "null")
            .with_example("one([1])", "1"),
        Builtin::new("sum", sum)
            .with_param("list", Type::Dynamic)
            .with_return_type(Type::Number)
            .described_as("Returns the sum of numbers.", ["A list, set or tuple of numbers, at least one."])
            .with_example("sum([1, 2.5])", "3.5"),
    ]
}

fn all_true(args: &Args<'_>) -> FunctionResult {
    for item in args.elements(0) {
        match item {
            Value::Bool(true) => {}
            // Terraform stops at the first unknown element, so a false one after it does not decide.
            Value::Unknown(_) => return Ok(Value::unknown(Type::Bool)),
            // As in Terraform, a null element counts as false.
            _ => return Ok(Value::Bool(false)),
        }
    }
    Ok(Value::Bool(true))
}

fn any_true(args: &Args<'_>) -> FunctionResult {
    let items = args.elements(0);
    // One true element decides, even after unknown ones.
    if items.contains(&Value::Bool(true)) {
        return Ok(Value::Bool(true));
    }
    let unknown = items.iter().any(Value::is_unknown);
    Ok(if unknown { Value::unknown(Type::Bool) } else { Value::Bool(false) })
}

fn coalesce_return_type(args: &[Value]) -> Result<Type, CallError> {
    let disagree = || CallError::new("all arguments must have the same type");
    if args.is_empty() {
        return Err(disagree());
    }
    let types: Vec<Type> = args.iter().map(Value::ty).collect();
    unify(&types).ok_or_else(disagree)
}

fn coalesce(args: &Args<'_>) -> FunctionResult {
    for arg in args.values {
        let value = convert_to_result_type(arg, args.ty)?;
        match &value {
            Value::Null(_) => {}
            // An empty string counts as missing only if all arguments are converted to strings.
            Value::String(text) if text.is_empty() && *args.ty == Type::String => {}
            _ => return Ok(value),
        }
    }
    Err(CallError::new("no non-null, non-empty-string arguments"))
}

fn coalesce_list_return_type(args: &[Value]) -> Result<Type, CallError> {
    let mut common = None;
    let mut mixed = false;
    for (at, arg) in args.iter().enumerate() {
        // It may be empty, and then a later argument of another type is the result.
        if arg.is_unknown() {
            return Ok(Type::Dynamic);
        }
        let ty = arg.ty();
        if !matches!(ty, Type::List(_) | Type::Tuple(_)) {
            return Err(CallError::new(format!(
                "coalescelist arguments must be lists or tuples; argument {} is neither",
                at + 1
            )));
        }
        mixed |= *common.get_or_insert_with(|| ty.clone()) != ty;
    }
    let common = common.ok_or_else(|| CallError::new("at least one argument is required"))?;
    Ok(if mixed { Type::Dynamic } else { common })
}

fn coalesce_list(args: &Args<'_>) -> FunctionResult {
    // An unknown list may have elements, and would then be the result, so later lists are not
    // considered.
    let found = args.values.iter().find(|arg| arg.is_unknown() || !arg.children().is_empty());
    match found {
        Some(Value::Unknown(_)) => Ok(Value::unknown(args.ty.clone())),
        Some(list) => Ok(list.clone()),
        None => Err(CallError::new("no non-null arguments")),
    }
}

fn length_return_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(ValueKind::of) {
        Some(ValueKind::Bool | ValueKind::Number) => Err(CallError::new(
            "argument must be a string, a collection type, or a structural type",
        )),
        _ => Ok(Type::Number),
    }
}

fn length(args: &Args<'_>) -> FunctionResult {
    let value = args.value(0);
    let exactly = |n: usize| Value::Number(Number::from(n));
    let result = match (value.without_own_marks(), ValueKind::of(value)) {
        // Terraform counts grapheme clusters, which are the visible characters.
        (Value::String(text), _) => exactly(text.graphemes(true).count()),
        // The type determines the length, even if elements are unknown.
        (Value::Tuple(_) | Value::Object(_), _) => exactly(value.children().len()),
        (Value::Unknown(unknown), ValueKind::Tuple | ValueKind::Object) => match unknown.ty() {
            Type::Tuple(elements) => exactly(elements.len()),
            Type::Object(object) => exactly(object.attributes.len()),
            _ => Value::unknown(Type::Number),
        },
        // Text that follows can only add grapheme clusters to those of the known prefix.
        (Value::Unknown(unknown), ValueKind::String) => {
            let prefix = unknown.refinement().prefix.as_ref();
            unknown_length_between(
                prefix.map_or(0, |text| text.graphemes(true).count()) as u64,
                None,
            )
        }
        _ => {
            let range = value.known_facts();
            unknown_length_between(range.min_length, range.max_length)
        }
    };
    Ok(result.mark(value.marks()))
}

/// Returns a number between two lengths, which is known if they are equal.
fn unknown_length_between(least: u64, most: Option<u64>) -> Value {
    let refinement = Refinement {
        lower: Some((Number::from(least), true)),
        upper: most.map(|most| (Number::from(most), true)),
        ..Refinement::not_null()
    };
    Value::refined(Type::Number, refinement)
}

const EXPECTED_ZERO_OR_ONE_REASON: &str =
    "must be a list, set, or tuple value with either zero or one elements";

fn one_return_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(Value::ty) {
        Some(Type::List(element) | Type::Set(element)) => Ok((*element).clone()),
        Some(Type::Tuple(elements)) => match elements.as_slice() {
            // The result is null, and nothing shows which type it would have.
            [] => Ok(Type::Dynamic),
            [element] => Ok(element.clone()),
            _ => Err(CallError::for_argument(0, EXPECTED_ZERO_OR_ONE_REASON)),
        },
        _ => Err(CallError::for_argument(0, EXPECTED_ZERO_OR_ONE_REASON)),
    }
}

fn one(args: &Args<'_>) -> FunctionResult {
    match args.elements(0) {
        [] => Ok(Value::null(args.ty.clone())),
        [element] => Ok(element.clone()),
        // Unknown elements of a set may be equal and merge.
        _ if matches!(args.value(0), Value::Set(_)) && !args.value(0).is_wholly_known() => {
            Ok(Value::unknown(args.ty.clone()))
        }
        _ => Err(CallError::for_argument(0, EXPECTED_ZERO_OR_ONE_REASON)),
    }
}

fn sum(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    if !matches!(list, Value::List(_) | Value::Set(_) | Value::Tuple(_)) {
        return Err(CallError::for_argument(0, "cannot sum noniterable"));
    }
    if list.children().is_empty() {
        return Err(CallError::for_argument(0, "cannot sum an empty list"));
    }
    if !list.is_wholly_known() {
        return Ok(Value::unknown(Type::Number));
    }
    let mut total: Option<Number> = None;
    for item in list.children() {
        let Ok(Value::Number(number)) = convert_to_result_type(item, &Type::Number) else {
            return Err(CallError::for_argument(
                0,
                "argument must be list, set, or tuple of number values",
            ));
        };
        total = Some(match total {
            None => number,
            Some(total) => {
                total.add(&number).ok_or_else(|| CallError::new(OperationError::Sum.to_string()))?
            }
        });
    }
    Ok(total.map_or_else(|| Value::int(0), Value::Number))
}
