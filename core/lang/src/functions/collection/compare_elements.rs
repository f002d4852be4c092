//! Functions that compare elements with each other or with a value.

use std::collections::HashMap;

use formwork_value::ty::unify::unify;
use formwork_value::{Number, Type, Value, ops};

use super::super::{Args, Builtin, CallError};
use super::{FunctionResult, convert_to_result_type, list_of_any_type, to_list_or_tuple};

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("distinct", distinct)
            .with_param("list", list_of_any_type())
            .with_return_type_fn(|args| Ok(args.first().map_or(Type::Dynamic, Value::ty)))
            .described_as("Removes duplicate elements from a list.", ["The list."])
            .with_example("distinct([1, 2, 1])", "tolist([\n  1,\n  2,\n])"),
        Builtin::new("matchkeys", match_keys)
            .with_param("values", list_of_any_type())
            .with_param("keys", list_of_any_type())
            .with_param("searchset", list_of_any_type())
            .with_return_type_fn(match_keys_return_type)
            .described_as(
                "Returns the elements of a list at the positions where another list has one of the given keys.",
                [
                    "The list.",
                    "The keys, one for each of its elements.",
                    "The keys to select.",
                ],
            )
            .with_example(r#"matchkeys(["a", "b"], [1, 2], [2])"#, "tolist([\n  \"b\",\n])"),
        Builtin::new("contains", contains)
            .with_param("list", Type::Dynamic)
            .with_param("value", Type::Dynamic)
            .with_return_type(Type::Bool)
            .described_as(
                "Returns whether a collection contains a value.",
                ["The list, set or tuple.", "The element."],
            )
            .with_example(r#"contains(["a"], "a")"#, "true"),
        Builtin::new("index", index)
            .with_param("list", Type::Dynamic)
            .with_param("value", Type::Dynamic)
            .with_return_type(Type::Number)
            .described_as(
                "Returns the index of the first element equal to a value, or fails.",
                ["The list or tuple.", "The value."],
            )
            .with_example(r#"index(["a", "b"], "b")"#, "1"),
    ]
}

fn distinct(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    if !list.is_wholly_known() {
        return Ok(Value::unknown(args.ty.clone()));
    }
    args.charge_elements(list.children().len())?;
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::new();
    let mut items = Vec::new();
    for item in list.children() {
        let same_hash = seen.entry(hash_value(item)).or_default();
        // Equal hashes do not prove that values are equal.
        if !same_hash.contains(&item) {
            same_hash.push(item);
            items.push(item.clone());
        }
    }
    Ok(to_list_or_tuple(args.ty, items))
}

/// Returns a hash of a value. Equal values have equal hashes.
pub(super) fn hash_value(value: &Value) -> u64 {
    use std::hash::{Hash as _, Hasher as _};
    fn hash_value_into(value: &Value, hasher: &mut std::hash::DefaultHasher) {
        match value.without_own_marks() {
            Value::Bool(bool) => bool.hash(hasher),
            Value::Number(number) => number.hash(hasher),
            Value::String(text) => text.hash(hasher),
            Value::Map(map) => map.keys().hash(hasher),
            other => other.children().len().hash(hasher),
        }
        for child in value.children() {
            hash_value_into(child, hasher);
        }
    }
    let mut hasher = std::hash::DefaultHasher::new();
    hash_value_into(value, &mut hasher);
    hasher.finish()
}

fn match_keys_return_type(args: &[Value]) -> Result<Type, CallError> {
    let [values, keys, searched] = args else { return Ok(Type::Dynamic) };
    if unify(&[keys.ty(), searched.ty()]).is_none() {
        return Err(CallError::new("the keys and the searched keys must have the same type"));
    }
    Ok(values.ty())
}

fn match_keys(args: &Args<'_>) -> FunctionResult {
    let [values, keys, searched] = args.values else { return Ok(Value::dynamic()) };
    if values.children().len() != keys.children().len() {
        return Err(CallError::new(format!(
            "length of keys and values should be equal: there are {} keys but {} values",
            keys.children().len(),
            values.children().len()
        )));
    }
    let ty = unify(&[keys.ty(), searched.ty()]).unwrap_or(Type::Dynamic);
    let (keys, searched) =
        (convert_to_result_type(keys, &ty)?, convert_to_result_type(searched, &ty)?);
    // Without keys to search for, the result is empty, even if other arguments are unknown.
    let settled = values.is_wholly_known() && keys.is_wholly_known();
    if !settled && !searched.children().is_empty() {
        return Ok(Value::unknown(args.ty.clone()));
    }
    // Terraform stops at the first unknown key, and then finds no element.
    let n_known = searched.children().iter().take_while(|key| key.is_wholly_known()).count();
    let wanted: HashMap<u64, Vec<&Value>> =
        searched.children().iter().take(n_known).fold(HashMap::new(), |mut wanted, key| {
            wanted.entry(hash_value(key)).or_insert_with(Vec::new).push(key);
            wanted
        });
    let is_wanted =
        |key: &Value| wanted.get(&hash_value(key)).is_some_and(|same| same.contains(&key));
    if n_known < searched.children().len() && !keys.children().iter().all(is_wanted) {
        return Ok(to_list_or_tuple(args.ty, Vec::new()));
    }
    let pairs = keys.children().iter().zip(values.children());
    let items = pairs.filter(|(key, _)| is_wanted(key)).map(|(_, value)| value.clone()).collect();
    Ok(to_list_or_tuple(args.ty, items))
}

/// Returns whether an element equals a value, or `None` if that is unknown.
fn is_equal_if_known(item: &Value, value: &Value) -> Option<bool> {
    match ops::equal(item, value).without_own_marks() {
        Value::Bool(same) => Some(*same),
        _ => None,
    }
}

fn contains(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    if !matches!(list, Value::List(_) | Value::Set(_) | Value::Tuple(_)) {
        return Err(CallError::new("argument must be list, tuple, or set"));
    }
    let mut undecided = false;
    for item in list.children() {
        match is_equal_if_known(item, args.value(1)) {
            Some(true) => return Ok(Value::Bool(true)),
            Some(false) => {}
            // A later element may still be certainly equal.
            None => undecided = true,
        }
    }
    Ok(if undecided { Value::unknown(Type::Bool) } else { Value::Bool(false) })
}

fn index(args: &Args<'_>) -> FunctionResult {
    let list = args.value(0);
    if !matches!(list, Value::List(_) | Value::Tuple(_)) {
        return Err(CallError::new("argument must be a list or tuple"));
    }
    for (at, item) in list.children().iter().enumerate() {
        match is_equal_if_known(item, args.value(1)) {
            Some(true) => return Ok(Value::Number(Number::from(at))),
            Some(false) => {}
            // This may be the first equal element, so a certainly equal one after it does not decide.
            None => return Ok(Value::unknown(Type::Number)),
        }
    }
    Err(CallError::new("item not found"))
}
