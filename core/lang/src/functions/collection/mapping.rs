//! Functions on maps and objects.

use crate::value_kind::ValueKind;
use std::collections::BTreeMap;

use formwork_value::{Marks, Str, Type, Value, convert};

use super::super::{Args, Builtin, CallError};
use super::{
    FunctionResult, convert_to_result_type, element_type_of, to_list_or_tuple, to_map_or_object,
};

pub(super) fn builtins() -> Vec<Builtin> {
    [part_builtins(), construction_builtins()].into_iter().flatten().collect()
}

/// Functions that return parts of a map.
fn part_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("keys", keys)
            .with_param("inputMap", Type::Dynamic)
            .last_param_allows_unknown()
            .last_param_allows_marked()
            .with_return_type_fn(keys_return_type)
            .described_as("Returns the keys of a map, sorted.", ["The map or object."])
            .with_example("keys({b = 1, a = 2})", "[\n  \"a\",\n  \"b\",\n]"),
        Builtin::new("values", values)
            .with_param("mapping", Type::Dynamic)
            .last_param_allows_marked()
            .with_return_type_fn(values_return_type)
            .described_as(
                "Returns the elements of a map in the order of their keys.",
                ["The map or object."],
            )
            .with_example("values({b = 1, a = 2})", "[\n  2,\n  1,\n]"),
        Builtin::new("lookup", lookup)
            .with_param("inputMap", Type::Dynamic)
            .last_param_allows_marked()
            .with_param("key", Type::String)
            .last_param_allows_marked()
            .with_variadic("default", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .may_return_null()
            .with_return_type_fn(lookup_return_type)
            .without_reading_charge()
            .described_as(
                "Returns the element of a map under a key, or a default.",
                [
                    "The map or object.",
                    "The key.",
                    "Result if the key does not exist; without it, a missing key is an error.",
                ],
            )
            .with_example(r#"lookup({a = 1}, "b", 2)"#, "2"),
    ]
}

/// Functions that create a map.
fn construction_builtins() -> Vec<Builtin> {
    let lists = || Type::list(Type::String);
    vec![
        Builtin::new("merge", merge)
            .with_variadic("maps", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_dynamic()
            .last_param_allows_marked()
            .with_return_type_fn(merge_return_type)
            .described_as(
                "Merges maps; later ones take precedence.",
                ["The maps or objects; null adds nothing."],
            )
            .with_example("merge({a = 1}, {a = 2, b = 3})", "{\n  \"a\" = 2\n  \"b\" = 3\n}"),
        Builtin::new("zipmap", zipmap)
            .with_param("keys", lists())
            .last_param_allows_marked()
            .with_param("values", Type::Dynamic)
            .last_param_allows_marked()
            .with_return_type_fn(zipmap_return_type)
            .described_as(
                "Creates a map from a list of keys and a list of values.",
                ["The keys.", "The values, in the same order."],
            )
            .with_example(r#"zipmap(["a"], [1])"#, "{\n  \"a\" = 1\n}"),
        Builtin::new("transpose", transpose)
            .with_param("values", Type::map(lists()))
            .with_return_type(Type::map(lists()))
            .described_as(
                "Swaps the keys and values of a map of lists of strings.",
                ["The map of lists of strings."],
            )
            .with_example(
                r#"transpose({a = ["1"]})"#,
                "tomap({\n  \"1\" = tolist([\n    \"a\",\n  ])\n})",
            ),
    ]
}

fn keys_return_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(Value::ty) {
        Some(Type::Map(_)) => Ok(Type::list(Type::String)),
        Some(Type::Object(object)) => Ok(Type::tuple(vec![Type::String; object.attributes.len()])),
        _ => Err(CallError::for_argument(0, "must have map or object type")),
    }
}

fn keys(args: &Args<'_>) -> FunctionResult {
    let value = args.value(0);
    let keys: Vec<Value> = match value.without_own_marks() {
        Value::Map(map) => map.keys().iter().cloned().map(Value::String).collect(),
        Value::Object(object) => object.names().iter().cloned().map(Value::String).collect(),
        Value::Unknown(unknown) => match unknown.ty() {
            // The names of an object are part of its type, so they are known before its values.
            Type::Object(object) => object.attributes.keys().cloned().map(Value::String).collect(),
            _ => return Ok(Value::unknown(args.ty.clone()).mark(value.marks())),
        },
        _ => Vec::new(),
    };
    args.charge_elements(keys.len())?;
    Ok(to_list_or_tuple(args.ty, keys).mark(value.marks()))
}

fn values_return_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(Value::ty) {
        Some(Type::Map(element)) => Ok(Type::List(element)),
        Some(Type::Object(object)) => {
            Ok(Type::tuple(object.attributes.values().cloned().collect()))
        }
        _ => Err(CallError::new("values() requires a map as the first argument")),
    }
}

fn values(args: &Args<'_>) -> FunctionResult {
    let value = args.value(0);
    args.charge_elements(value.children().len())?;
    Ok(to_list_or_tuple(args.ty, value.children().to_vec()).mark(value.marks()))
}

fn lookup_return_type(args: &[Value]) -> Result<Type, CallError> {
    let [mapping, key, default @ ..] = args else { return Ok(Type::Dynamic) };
    if default.len() > 1 {
        return Err(CallError::new("it takes two or three arguments"));
    }
    match ValueKind::of(mapping) {
        ValueKind::Object => {
            // Each attribute of an object has its own type, so an unknown key leaves the type open.
            let Value::String(name) = key.without_own_marks() else { return Ok(Type::Dynamic) };
            match (attribute_type_of_object_value(mapping, name), default) {
                (Some(ty), _) => Ok(ty),
                (None, [default]) => Ok(default.ty()),
                (None, _) => Err(CallError::for_argument(0, missing_key_reason(name, key.marks()))),
            }
        }
        ValueKind::Map => {
            let element = element_type_of(&mapping.ty());
            match default {
                // The type must be the same whether the map has the key or not: it is needed before
                // the map is known.
                [default] if convert::convert(default, &element).is_err() => {
                    let reason = "it must have the element type of the map";
                    Err(CallError::for_argument(2, reason))
                }
                _ => Ok(element),
            }
        }
        _ => Err(CallError::for_argument(0, "must have map or object type")),
    }
}

fn attribute_type_of_object_value(object: &Value, name: &str) -> Option<Type> {
    match object.without_own_marks() {
        Value::Object(object) => object.get(name).map(Value::ty),
        Value::Unknown(unknown) => match unknown.ty() {
            Type::Object(object) => object.attributes.get(name).cloned(),
            _ => None,
        },
        _ => None,
    }
}

// The name is omitted from the message if the key or the object is marked.
fn missing_key_reason(key: &Str, marks: Marks) -> String {
    if marks.is_empty() {
        format!("the given object has no attribute {:?}", key.as_str())
    } else {
        "the given object does not have this attribute".into()
    }
}

fn lookup(args: &Args<'_>) -> FunctionResult {
    let (mapping, key) = (args.value(0), args.text(1)?);
    let marks = mapping.marks() | args.value(1).marks();
    let element = match mapping.without_own_marks() {
        Value::Object(object) => object.get(key),
        Value::Map(map) => map.get(key),
        _ => None,
    };
    match (element, args.values_from(2)) {
        (Some(value), _) => Ok(value.clone().mark(marks)),
        (None, [default, ..]) => Ok(convert_to_result_type(default, args.ty)?.mark(marks)),
        (None, []) => Err(CallError::new(missing_key_reason(key, marks))),
    }
}

/// Arguments of one type keep it. Otherwise the result is an object with all their elements.
fn merge_return_type(args: &[Value]) -> Result<Type, CallError> {
    let mut attributes = BTreeMap::new();
    let mut first: Option<Type> = None;
    let (mut alike, mut known) = (true, true);
    for arg in args {
        let ty = arg.ty();
        let pairs: Vec<(Str, Type)> = match (&ty, arg.without_own_marks()) {
            (Type::Dynamic, _) => return Ok(Type::Dynamic),
            // A null argument is ignored: `merge(null, m)` is a common way to merge optional maps.
            (Type::Map(_) | Type::Object(_), Value::Null(_)) => Vec::new(),
            (Type::Object(object), _) => {
                object.attributes.iter().map(|(name, ty)| (name.clone(), ty.clone())).collect()
            }
            // Maps of several element types become an object, which needs their keys as names.
            (Type::Map(element), Value::Map(map)) => {
                map.keys().iter().map(|key| (key.clone(), (**element).clone())).collect()
            }
            (Type::Map(_), _) => {
                known = false;
                Vec::new()
            }
            _ => {
                return Err(CallError::new(format!(
                    "arguments must be maps or objects, got {:?}",
                    ty.friendly_name()
                )));
            }
        };
        // The type of a later argument takes precedence, like its elements.
        attributes.extend(pairs);
        alike &= *first.get_or_insert_with(|| ty.clone()) == ty;
    }
    Ok(match first {
        Some(first) if alike => first,
        _ if !known => Type::Dynamic,
        _ => Type::object(attributes),
    })
}

fn merge(args: &Args<'_>) -> FunctionResult {
    let mut marks = Marks::NONE;
    let mut pairs = Vec::new();
    for arg in args.values {
        marks |= arg.marks();
        // Charged for each argument before it is copied, because all of them may be the same large
        // value.
        args.charge_elements(arg.children().len())?;
        match arg.without_own_marks() {
            Value::Map(map) => {
                pairs.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            Value::Object(object) => {
                pairs.extend(object.iter().map(|(key, value)| (key.clone(), value.clone())));
            }
            _ => {}
        }
    }
    Ok(to_map_or_object(args.ty, pairs).mark(marks))
}

fn zipmap_return_type(args: &[Value]) -> Result<Type, CallError> {
    let [keys, values] = args else { return Ok(Type::Dynamic) };
    match values.ty() {
        // All elements of a list have one type, so that the keys have no influence on the result's.
        Type::List(element) => Ok(Type::Map(element)),
        Type::Tuple(elements) => {
            // Only known keys determine the attribute names.
            if keys.is_unknown() || !keys.is_wholly_known() {
                return Ok(Type::Dynamic);
            }
            let names = key_strings(keys)?;
            check_equal_lengths(names.len(), elements.len())?;
            Ok(Type::object(names.into_iter().zip(elements.iter().cloned())))
        }
        _ => Err(CallError::new("the values must be a list or a tuple")),
    }
}

fn check_equal_lengths(n_keys: usize, n_values: usize) -> Result<(), CallError> {
    if n_keys == n_values {
        return Ok(());
    }
    Err(CallError::new(format!(
        "number of keys ({n_keys}) does not match number of values ({n_values})"
    )))
}

fn key_strings(keys: &Value) -> Result<Vec<Str>, CallError> {
    keys.children()
        .iter()
        .map(|key| match key.without_own_marks() {
            Value::String(key) => Ok(key.clone()),
            _ => Err(CallError::new("the keys must not be null")),
        })
        .collect()
}

fn zipmap(args: &Args<'_>) -> FunctionResult {
    let (keys, values) = (args.value(0), args.value(1));
    // A key becomes an attribute name, which cannot have a mark, so the whole result is marked.
    let marks = keys.all_marks() | values.marks();
    if !keys.is_wholly_known() {
        return Ok(Value::unknown(args.ty.clone()).mark(marks));
    }
    let names = key_strings(keys)?;
    check_equal_lengths(names.len(), values.children().len())?;
    args.charge_elements(names.len())?;
    let pairs = names.into_iter().zip(values.children().iter().cloned()).collect();
    Ok(to_map_or_object(args.ty, pairs).mark(marks))
}

fn transpose(args: &Args<'_>) -> FunctionResult {
    let value = args.value(0);
    if !value.is_wholly_known() {
        // An unknown element may become any key, so the whole result is unknown.
        return Ok(Value::unknown(args.ty.clone()));
    }
    let Value::Map(map) = value else { return Ok(Value::unknown(args.ty.clone())) };
    let mut turned: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
    for (key, list) in map.iter() {
        if list.is_null() {
            return Err(CallError::new("a list in the map is null"));
        }
        args.charge_elements(list.children().len())?;
        for item in list.children() {
            let Value::String(item) = item else {
                return Err(CallError::new("an element of a list in the map is null"));
            };
            turned.entry(item.clone()).or_default().push(Value::String(key.clone()));
        }
    }
    let element = element_type_of(args.ty);
    let pairs = turned.into_iter().map(|(key, list)| (key, Value::list(Type::String, list)));
    Ok(Value::map(element, pairs))
}
