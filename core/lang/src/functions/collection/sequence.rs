//! Functions on lists and tuples, which are ordered.

use crate::print_value::type_with_article;
use crate::value_kind::ValueKind;
use formwork_value::ops::OperationError;
use formwork_value::ty::unify::unify;
use formwork_value::{Marks, Number, Str, Type, Value};

use super::super::{Args, Builtin, CallError};
use super::{
    FunctionResult, convert_to_result_type, element_type_of, list_of_any_type, to_list_or_tuple,
};

/// Greatest number of elements that `range` generates.
const MAX_RANGE_ELEMENTS: usize = 1024;

pub(super) fn builtins() -> Vec<Builtin> {
    [selection_builtins(), construction_builtins(), removed_builtins()]
        .into_iter()
        .flatten()
        .collect()
}

fn selection_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("element", element)
            .with_param("list", Type::Dynamic)
            .last_param_allows_marked()
            .with_param("index", Type::Number)
            .may_return_null()
            .with_return_type_fn(element_return_type)
            .without_reading_charge()
            .described_as(
                "Returns an element of a list; the index wraps around at the end.",
                ["The list or tuple, not an empty one.", "The index, from 0."],
            )
            .with_example(r#"element(["a", "b"], 3)"#, r#""b""#),
        Builtin::new("slice", slice)
            .with_param("list", Type::Dynamic)
            .last_param_allows_marked()
            .with_param("start_index", Type::Number)
            .with_param("end_index", Type::Number)
            .with_return_type_fn(slice_return_type)
            .described_as(
                "Returns the elements of a list between two indexes.",
                [
                    "The list or tuple.",
                    "Index of the first element, from 0.",
                    "Index after the last element.",
                ],
            )
            .with_example("slice([1, 2, 3], 1, 2)", "[\n  2,\n]"),
        Builtin::new("compact", compact)
            .with_param("list", Type::list(Type::String))
            .with_return_type(Type::list(Type::String))
            .described_as(
                "Returns a list of strings without null and empty ones.",
                ["The strings."],
            )
            .with_example(r#"compact(["a", "", null])"#, "tolist([\n  \"a\",\n])"),
    ]
}

fn construction_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("chunklist", chunk_list)
            .with_param("list", list_of_any_type())
            .last_param_allows_marked()
            .with_param("size", Type::Number)
            .last_param_allows_marked()
            .with_return_type_fn(|args| {
                Ok(Type::list(args.first().map_or(Type::Dynamic, Value::ty)))
            })
            .described_as(
                "Splits a list into lists of a given length; the last one may be shorter.",
                ["The list.", "Length of each list; 0 for a single list."],
            )
            .with_example("length(chunklist([1, 2, 3], 2))", "2"),
        Builtin::new("concat", concat)
            .with_variadic("seqs", Type::Dynamic)
            .last_param_allows_marked()
            .with_return_type_fn(concat_return_type)
            .described_as("Concatenates lists.", ["The lists or tuples."])
            .with_example(r#"concat([1], ["a"])"#, "[\n  1,\n  \"a\",\n]"),
        Builtin::new("flatten", flatten)
            .with_param("list", Type::Dynamic)
            .last_param_allows_marked()
            .with_return_type_fn(flatten_return_type)
            .described_as(
                "Replaces nested lists with their elements, at every depth.",
                ["The list, set or tuple."],
            )
            .with_example("flatten([[1, [2]], 3])", "[\n  1,\n  2,\n  3,\n]"),
        Builtin::new("range", range)
            .with_variadic("params", Type::Number)
            .with_return_type(Type::list(Type::Number))
            .described_as(
                "Returns a sequence of numbers up or down to a limit, which is excluded.",
                ["The limit; or the start and the limit; or the start, the limit and the step."],
            )
            .with_example("range(1, 3)", "tolist([\n  1,\n  2,\n])"),
        Builtin::new("reverse", reverse)
            .with_param("list", Type::Dynamic)
            .last_param_allows_marked()
            .with_return_type_fn(reverse_return_type)
            .described_as(
                "Returns the elements of a list in reverse order.",
                ["The list or tuple."],
            )
            .with_example("reverse([1, 2])", "[\n  2,\n  1,\n]"),
        Builtin::new("sort", sort)
            .with_param("list", Type::list(Type::String))
            .with_return_type(Type::list(Type::String))
            .described_as("Sorts strings by their characters.", ["The strings."])
            .with_example(r#"sort(["b", "a"])"#, "tolist([\n  \"a\",\n  \"b\",\n])"),
    ]
}

/// Functions that Terraform removed. They remain defined, so that the error names the replacement.
fn removed_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("list", |_| Err(removed_function_error("list", "tolist([ ... ])")))
            .with_variadic("vals", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .described_as("Removed from the language; use `tolist([...])`.", ["The elements."])
            .with_example("can(list(1))", "false"),
        Builtin::new("map", |_| Err(removed_function_error("map", "tomap({ ... })")))
            .with_variadic("vals", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .described_as(
                "Removed from the language; use `tomap({...})`.",
                ["Keys and elements in turn."],
            )
            .with_example(r#"can(map("a", 1))"#, "false"),
    ]
}

fn removed_function_error(name: &str, instead: &str) -> CallError {
    CallError::new(format!(
        "the {name:?} function was deprecated in Terraform v0.12 and is no longer available; use {instead} syntax to write a literal {name}"
    ))
}

fn to_slice_position(value: &Value, at: usize) -> Result<usize, CallError> {
    let Value::Number(number) = value.without_own_marks() else { return Ok(0) };
    let number = number.to_i64().ok_or_else(|| {
        CallError::for_argument(at, format!("it must be a whole number, not {number}"))
    })?;
    usize::try_from(number).map_err(|_| {
        CallError::for_argument(at, format!("it must not be negative, but it is {number}"))
    })
}

fn element_return_type(args: &[Value]) -> Result<Type, CallError> {
    let [list, _] = args else { return Ok(Type::Dynamic) };
    match ValueKind::of(list) {
        ValueKind::List => Ok(element_type_of(&list.ty())),
        // The element itself shows its type, as soon as it is known which one it is.
        ValueKind::Tuple => Ok(Type::Dynamic),
        _ => {
            let ty = type_with_article(&list.ty());
            Err(CallError::new(format!("the first argument is {ty}, which is not ordered")))
        }
    }
}

fn empty_list_error() -> CallError {
    CallError::new("cannot use element function with an empty list")
}

/// Computes an index with wrap-around: the element after the last is the first, and the one before the
/// first is the last. For negative indexes of a tuple, Terraform only accepts multiples of the length.
fn element(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    let Value::Number(index) = args.value(1).without_own_marks() else {
        return Err(empty_list_error());
    };
    let wrong = |reason: String| CallError::new(format!("the index is wrong: {reason}"));
    let at = index.to_i64();
    let at = at.ok_or_else(|| wrong(format!("it must be a whole number, not {index}")))?;
    let items = list.children();
    let n_items = i64::try_from(items.len()).unwrap_or(i64::MAX);
    // The checked form also covers the empty list, where the remainder would panic.
    let at = at.checked_rem_euclid(n_items).ok_or_else(empty_list_error)?;
    if index.is_negative() && at != 0 && ValueKind::of(list) == ValueKind::Tuple {
        let reason =
            format!("the index of a tuple must not be {index}; convert the tuple with tolist(…)");
        return Err(wrong(reason));
    }
    let element =
        usize::try_from(at).ok().and_then(|at| items.get(at)).ok_or_else(empty_list_error)?;
    Ok(element.clone().mark(list.marks()))
}

fn slice_bounds(
    start: &Value,
    end: &Value,
    len: usize,
) -> Result<std::ops::Range<usize>, CallError> {
    let (start, end) = (to_slice_position(start, 1)?, to_slice_position(end, 2)?);
    if end > len {
        let reason = "end index must not be greater than the length of the list";
        return Err(CallError::for_argument(2, reason));
    }
    if start > end {
        return Err(CallError::for_argument(1, "start index must not be greater than end index"));
    }
    Ok(start..end)
}

fn slice_return_type(args: &[Value]) -> Result<Type, CallError> {
    let [list, _, _] = args else { return Ok(Type::Dynamic) };
    match ValueKind::of(list) {
        ValueKind::List => Ok(list.ty()),
        // The elements themselves show the type, as soon as it is known which ones they are.
        ValueKind::Tuple => Ok(Type::Dynamic),
        ValueKind::Set => Err(CallError::for_argument(
            0,
            "the elements of a set have no order; convert it with tolist() if that does not matter",
        )),
        _ => Err(CallError::for_argument(0, "it must be a list or a tuple")),
    }
}

fn slice(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    let items = list.children();
    let bounds = slice_bounds(args.value(1), args.value(2), items.len())?;
    args.charge_elements(bounds.len())?;
    let items = items.get(bounds).unwrap_or(&[]).to_vec();
    Ok(to_list_or_tuple(args.ty, items).mark(list.marks()))
}

fn compact(args: &Args<'_>) -> FunctionResult {
    if !args.value(0).is_wholly_known() {
        // An unknown element may be empty, so that the length is not known.
        return Ok(Value::unknown(args.ty.clone()));
    }
    let full = |item: &&Value| matches!(item, Value::String(text) if !text.is_empty());
    let items: Vec<Value> = args.elements(0).iter().filter(full).cloned().collect();
    args.charge_elements(items.len())?;
    Ok(Value::list(Type::String, items))
}

fn chunk_list(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    let marks = list.marks() | args.value(1).marks();
    let size = usize::try_from(args.integer(1)?)
        .map_err(|_| CallError::new("the size argument must be positive"))?;
    let (element, items) = (list.ty(), list.children());
    // A size of zero means a single chunk, and an empty list has no size at all: `chunks(0)`
    // panics.
    let size = if size == 0 { items.len() } else { size };
    args.charge_elements(items.len())?;
    let chunks = items
        .chunks(size.max(1))
        .map(|chunk| Value::list(element_type_of(&element), chunk.to_vec()))
        .collect();
    Ok(Value::list(element, chunks).mark(marks))
}

fn concat_return_type(args: &[Value]) -> Result<Type, CallError> {
    let types: Vec<Type> = args.iter().map(Value::ty).collect();
    if types.is_empty() {
        return Err(CallError::new("at least one argument is required"));
    }
    if types.iter().all(|ty| matches!(ty, Type::List(_)))
        // Lists whose elements have no common type are concatenated as tuples.
        && let Some(common) = unify(&types)
    {
        return Ok(common);
    }
    let mut elements = Vec::new();
    for (at, (ty, arg)) in types.iter().zip(args).enumerate() {
        match ty {
            Type::Tuple(parts) => elements.extend(parts.iter().cloned()),
            // Only a known list determines the number of elements that it adds to the tuple.
            Type::List(_) if arg.is_unknown() => return Ok(Type::Dynamic),
            Type::List(element) => {
                elements.extend(std::iter::repeat_n((**element).clone(), arg.children().len()));
            }
            _ => {
                let reason =
                    format!("all arguments must be lists or tuples; got {}", ty.friendly_name());
                return Err(CallError::for_argument(at, reason));
            }
        }
    }
    Ok(Type::tuple(elements))
}

fn concat(args: &Args<'_>) -> FunctionResult {
    let mut marks = Marks::NONE;
    let mut items = Vec::new();
    for arg in args.values {
        // Lists of numbers and of strings become one list of strings.
        let arg = match args.ty {
            Type::List(_) => convert_to_result_type(arg, args.ty)?,
            _ => arg.clone(),
        };
        marks |= arg.marks();
        args.charge_elements(arg.children().len())?;
        items.extend_from_slice(arg.children());
    }
    Ok(to_list_or_tuple(args.ty, items).mark(marks))
}

/// Collects the elements of nested sequences. Returns `false` if their number is unknown.
fn flatten_into(
    args: &Args<'_>,
    list: &Value,
    items: &mut Vec<Value>,
    marks: &mut Marks,
) -> Result<bool, CallError> {
    *marks |= list.marks();
    // Unknown elements of a set may be equal.
    let list = list.without_own_marks();
    let mut known = !list.is_unknown()
        && (!matches!(list, Value::Set(_)) || list.is_wholly_known() || list.children().len() < 2);
    args.charge_elements(list.children().len())?;
    for item in list.children() {
        let is_sequence = match item.without_own_marks() {
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => true,
            Value::Unknown(unknown) => {
                // It may be a sequence of any length.
                known &= *unknown.ty() != Type::Dynamic;
                matches!(unknown.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_))
            }
            _ => false,
        };
        if is_sequence {
            known &= flatten_into(args, item, items, marks)?;
        } else {
            items.push(item.clone());
        }
    }
    Ok(known)
}

fn flatten_return_type(args: &[Value]) -> Result<Type, CallError> {
    let [list] = args else { return Ok(Type::Dynamic) };
    if !list.is_unknown() && !ValueKind::of(list).is_sequence() {
        return Err(CallError::new("can only flatten lists, sets and tuples"));
    }
    // The elements determine the type of the result, so computing it here would repeat the work.
    Ok(Type::Dynamic)
}

fn flatten(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    let mut items = Vec::new();
    let mut marks = Marks::NONE;
    Ok(if flatten_into(args, list, &mut items, &mut marks)? {
        Value::tuple(items).mark(marks)
    } else {
        Value::dynamic().mark(marks)
    })
}

fn range(args: &Args<'_>) -> FunctionResult {
    let one = Number::from(1_i64);
    let zero = Number::from(0_i64);
    let (start, end, step) = match args.values.len() {
        1 => (&zero, args.number(0)?, None),
        2 => (args.number(0)?, args.number(1)?, None),
        3 => (args.number(0)?, args.number(1)?, Some(args.number(2)?)),
        _ => return Err(CallError::new("it takes one, two or three arguments")),
    };
    let down = end < start;
    let minus_one = Number::from(-1_i64);
    let step = step.unwrap_or(if down { &minus_one } else { &one });
    let goes_down = *step < zero;
    if start != end && *step != zero && goes_down != down {
        let reason = if goes_down {
            "end must be less than start when step is negative"
        } else {
            "end must be greater than start when step is positive"
        };
        return Err(CallError::for_argument(1, reason));
    }
    let mut items = Vec::new();
    let mut next = start.clone();
    // A step of zero is not a separate error: as in Terraform, it reaches the limit of elements.
    while if goes_down { next > *end } else { next < *end } {
        if items.len() == MAX_RANGE_ELEMENTS {
            return Err(CallError::new(format!(
                "more than {MAX_RANGE_ELEMENTS} values were generated; either decrease the difference between start and end or use a smaller step"
            )));
        }
        args.charge_elements(1)?;
        let sum = next.add(step).ok_or_else(|| CallError::new(OperationError::Sum.to_string()))?;
        items.push(Value::Number(std::mem::replace(&mut next, sum)));
    }
    Ok(Value::list(Type::Number, items))
}

fn reverse_return_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(Value::ty) {
        // The result has an order, which a set cannot have.
        Some(Type::List(element) | Type::Set(element)) => Ok(Type::List(element)),
        Some(Type::Tuple(elements)) => Ok(Type::tuple(elements.iter().rev().cloned().collect())),
        _ => Err(CallError::for_argument(0, "it must be a list, a set or a tuple")),
    }
}

fn reverse(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    args.charge_elements(list.children().len())?;
    let items = list.children().iter().rev().cloned().collect();
    Ok(to_list_or_tuple(args.ty, items).mark(list.marks()))
}

fn sort(args: &Args<'_>) -> FunctionResult {
    let items = args.elements(0);
    args.charge_elements(items.len())?;
    if !args.value(0).is_wholly_known() {
        // The order depends on every element, but the length is known, and `count` may need it.
        let unknown = items.iter().map(|_| Value::unknown(Type::String)).collect();
        return Ok(Value::list(Type::String, unknown));
    }
    let mut texts = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let Value::String(text) = item else {
            return Err(CallError::new(format!(
                "the element {at} is null, which cannot be sorted"
            )));
        };
        texts.push(text.clone());
    }
    // Terraform compares bytes, independent of the locale.
    texts.sort_by(|a: &Str, b| a.as_str().cmp(b.as_str()));
    Ok(Value::list(Type::String, texts.into_iter().map(Value::String).collect()))
}
