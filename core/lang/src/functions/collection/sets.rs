//! Functions on sets.

use std::collections::HashMap;

use formwork_value::ty::unify::unify;
use formwork_value::{Marks, Type, Value};

use super::super::{Args, Builtin, CallError};
use super::{FunctionResult, convert_to_result_type, element_type_of};

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        builtin_on_sets("setintersection", intersection)
            .described_as(
                "Returns the intersection of sets.",
                ["The first set.", "The other sets."],
            )
            .with_example(r#"setintersection(["a", "b"], ["b"])"#, "toset([\n  \"b\",\n])"),
        builtin_on_sets("setunion", union)
            .described_as("Returns the union of sets.", ["The first set.", "The other sets."])
            .with_example(r#"setunion(["b"], ["a"])"#, "toset([\n  \"a\",\n  \"b\",\n])"),
        Builtin::new("setsubtract", subtract)
            .with_param("a", set_of_any_type())
            .last_param_allows_dynamic()
            .with_param("b", set_of_any_type())
            .last_param_allows_dynamic()
            .with_return_type_fn(set_operation_return_type)
            .described_as(
                "Returns the elements of the first set that are not in the other set.",
                ["The first set.", "The other set."],
            )
            .with_example(r#"setsubtract(["a", "b"], ["b"])"#, "toset([\n  \"a\",\n])"),
        Builtin::new("setproduct", product)
            .with_variadic("sets", Type::Dynamic)
            .last_param_allows_marked()
            .with_return_type_fn(product_return_type)
            .described_as(
                "Returns all combinations of one element from each collection.",
                ["The collections, at least two; lists and tuples keep their order."],
            )
            .with_example(r#"length(setproduct(["a", "b"], [1, 2]))"#, "4"),
    ]
}

fn set_of_any_type() -> Type {
    Type::set(Type::Dynamic)
}

fn builtin_on_sets(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body)
        .with_param("first_set", set_of_any_type())
        .last_param_allows_dynamic()
        .with_variadic("other_sets", set_of_any_type())
        .last_param_allows_dynamic()
        .with_return_type_fn(set_operation_return_type)
}

/// The elements get a common type. An empty set without an element type does not affect it.
fn set_operation_return_type(args: &[Value]) -> Result<Type, CallError> {
    let mut elements = Vec::new();
    for arg in args {
        let element = element_type_of(&arg.ty());
        let no_say = element == Type::Dynamic && !arg.is_unknown() && arg.children().is_empty();
        if !no_say {
            elements.push(element);
        }
    }
    if elements.is_empty() {
        return Ok(set_of_any_type());
    }
    unify(&elements).map(Type::set).ok_or_else(|| {
        CallError::new("the element types of the sets cannot be converted to one type")
    })
}

/// The arguments in the type of the result.
fn arguments_as_result_sets(args: &Args<'_>) -> Result<Vec<Value>, CallError> {
    args.values.iter().map(|set| convert_to_result_type(set, args.ty)).collect()
}

fn union(args: &Args<'_>) -> FunctionResult {
    let mut items = Vec::new();
    for set in arguments_as_result_sets(args)? {
        args.charge_elements(set.children().len())?;
        items.extend_from_slice(set.children());
    }
    Ok(Value::set(element_type_of(args.ty), items))
}

/// Returns the elements of the first set that satisfy `keep` for all other sets. Unknown elements could
/// equal any, so they leave the result unknown.
fn filter_first_set(args: &Args<'_>, keep: fn(in_other: bool) -> bool) -> FunctionResult {
    let sets = arguments_as_result_sets(args)?;
    if sets.iter().any(|set| !set.is_wholly_known()) {
        return Ok(Value::unknown(args.ty.clone()));
    }
    let Some((first, others)) = sets.split_first() else {
        return Ok(Value::unknown(args.ty.clone()));
    };
    let mut items = first.children().to_vec();
    for set in others {
        args.charge_elements(items.len())?;
        // Nearly always one to a hash.
        let mut alike: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(set.children().len());
        for element in set.children() {
            alike.entry(super::compare_elements::hash_value(element)).or_default().push(element);
        }
        items.retain(|item| {
            let alike = alike.get(&super::compare_elements::hash_value(item));
            keep(alike.is_some_and(|alike| alike.contains(&item)))
        });
    }
    Ok(Value::set(element_type_of(args.ty), items))
}

fn intersection(args: &Args<'_>) -> FunctionResult {
    filter_first_set(args, |in_other| in_other)
}

fn subtract(args: &Args<'_>) -> FunctionResult {
    filter_first_set(args, |in_other| !in_other)
}

fn product_return_type(args: &[Value]) -> Result<Type, CallError> {
    if args.len() < 2 {
        return Err(CallError::new("at least two arguments are required"));
    }
    let mut elements = Vec::new();
    let mut ordered = true;
    for (at, arg) in args.iter().enumerate() {
        elements.push(match arg.ty() {
            Type::List(element) => (*element).clone(),
            Type::Set(element) => {
                ordered = false;
                (*element).clone()
            }
            Type::Tuple(parts) if parts.is_empty() => Type::Dynamic,
            Type::Tuple(parts) => unify(&parts).ok_or_else(|| {
                CallError::for_argument(at, "its element types cannot be converted to one type")
            })?,
            _ => return Err(CallError::for_argument(at, "it must be a list or a set")),
        });
    }
    let element = Type::tuple(elements);
    Ok(if ordered { Type::list(element) } else { Type::set(element) })
}

fn product(args: &Args<'_>) -> FunctionResult {
    let element = element_type_of(args.ty);
    let Type::Tuple(parts) = &element else { return Ok(Value::unknown(args.ty.clone())) };
    let mut marks = Marks::NONE;
    let mut total = 1_usize;
    let mut columns = Vec::with_capacity(args.values.len());
    for (arg, ty) in args.values.iter().zip(parts.iter()) {
        marks |= arg.marks();
        // Unknown elements may be equal, so the number of combinations is unknown.
        if matches!(arg.without_own_marks(), Value::Set(_))
            && !arg.is_wholly_known()
            && arg.children().len() > 1
        {
            return Ok(Value::unknown(args.ty.clone()).mark(marks));
        }
        let column: Vec<Value> = arg
            .children()
            .iter()
            .map(|item| convert_to_result_type(item, ty))
            .collect::<Result<_, _>>()?;
        // A few long lists have more combinations than an integer can count.
        total = total.saturating_mul(column.len());
        columns.push(column);
    }
    // Charged before the rows are created, because the combinations of a few short lists may exceed the
    // memory.
    args.charge_elements(total.saturating_mul(columns.len().max(1)))?;
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for column in &columns {
        rows = rows
            .iter()
            .flat_map(|row| {
                column.iter().map(|item| {
                    let mut longer = Vec::with_capacity(columns.len());
                    longer.extend_from_slice(row);
                    longer.push(item.clone());
                    longer
                })
            })
            .collect();
    }
    let rows = rows.into_iter().map(Value::tuple).collect();
    Ok(match args.ty {
        Type::Set(_) => Value::set(element.clone(), rows),
        _ => Value::list(element.clone(), rows),
    }
    .mark(marks))
}
