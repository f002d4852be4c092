//! Merges plans with the results of handlers. Known planned values are carried over, so that no
//! handler can change or lose them.

use formwork_value::convert::convert;
use formwork_value::schema::Nesting;
use formwork_value::{Path, Type, Value};

use super::{SchemaAndRules, attribute_or_map_element, map_nested_objects};
use crate::schema::Shape;

/// Returns the planned object, with the handler's values for its unknown parts. `returned` has some
/// of the attributes or all.
pub(crate) fn fill_unknown(planned: &Value, returned: &Value) -> Value {
    // The usual case for an object without computed parts: the plan is the result.
    if planned.is_wholly_known() {
        return planned.clone();
    }
    match (planned, returned) {
        (Value::Unknown(_), _) => returned.clone(),
        (Value::Object(parts), Value::Object(_)) => {
            let items =
                parts.iter().map(|(name, part)| match attribute_or_map_element(returned, name) {
                    Some(returned) => fill_unknown(part, returned),
                    // The handler returned no value for it, and after an apply no value may be
                    // unknown.
                    None => replace_unknown_with_null(part),
                });
            planned.with_children(items.collect())
        }
        (Value::Map(parts), Value::Map(_)) => {
            let items =
                parts.iter().map(|(key, part)| match attribute_or_map_element(returned, key) {
                    Some(returned) => fill_unknown(part, returned),
                    None => replace_unknown_with_null(part),
                });
            planned.with_children(items.collect())
        }
        (Value::List(_) | Value::Tuple(_), Value::List(_) | Value::Tuple(_))
            if planned.children().len() == returned.children().len() =>
        {
            let pairs = planned.children().iter().zip(returned.children());
            planned.with_children(
                pairs.map(|(planned, returned)| fill_unknown(planned, returned)).collect(),
            )
        }
        // The correspondence of set elements is unknown.
        (_, Value::Null(_) | Value::Unknown(_)) => replace_unknown_with_null(planned),
        _ => returned.clone(),
    }
}

/// Returns the planned object, with early known values instead of unknown ones. Other values remain
/// unknown.
pub(crate) fn fill_early_values(planned: &Value, early: &Value) -> Value {
    match (planned, early) {
        // A plain struct cannot represent "still unknown", so null means that the handler has no
        // value yet.
        (Value::Unknown(_), Value::Null(_)) => planned.clone(),
        (Value::Unknown(_), _) => early.clone(),
        (Value::Object(parts), Value::Object(_)) => {
            let items =
                parts.iter().map(|(name, part)| match attribute_or_map_element(early, name) {
                    Some(early) => fill_early_values(part, early),
                    None => part.clone(),
                });
            planned.with_children(items.collect())
        }
        _ => planned.clone(),
    }
}

/// Returns the value with null instead of unknown parts.
pub(crate) fn replace_unknown_with_null(value: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => Value::null(unknown.ty().clone()),
        _ if value.is_wholly_known() => value.clone(),
        _ => value.with_children(value.children().iter().map(replace_unknown_with_null).collect()),
    }
}

/// Returns a planned object with the write-only values of the configuration.
pub(crate) fn with_write_only_values(shape: &Shape, planned: &Value, config: &Value) -> Value {
    // By the configuration, because a plan has null for them.
    let paths = shape.block.write_only_paths(config);
    paths.iter().fold(planned.clone(), |planned, path| match path.find(config) {
        Some(configured) if !configured.is_null() => {
            planned.replace_at(path, |_| configured.clone()).unwrap_or(planned)
        }
        _ => planned,
    })
}

/// Returns a stored object with a zero value for each null that its field cannot represent: an
/// empty string, zero, false, no elements. Partly failed creations and older versions of a provider
/// store such nulls.
pub(crate) fn zero_values_where_not_nullable(shape: &Shape, object: &Value) -> Value {
    let content = SchemaAndRules::of_block(&shape.block, &shape.rules);
    match has_null_where_not_nullable(content, object) {
        true => zero_non_nullable_in_object(content, object),
        false => object.clone(),
    }
}

/// Whether any such null is in the object. Usually none is, and this check costs less than
/// rebuilding large sets.
fn has_null_where_not_nullable(content: SchemaAndRules<'_>, object: &Value) -> bool {
    let Value::Object(parts) = object else { return false };
    // Nearly all objects are complete, and end here.
    if !object.has_null_inside() {
        return false;
    }
    parts.iter().any(|(name, part)| {
        if !part.is_null() && !part.has_null_inside() {
            return false;
        }
        let Some((rule, inner)) = content.part_rules_and_nested_schema(name) else { return false };
        let lacks_all = part.is_null() && !rule.nullable;
        lacks_all
            || inner.is_some_and(|inner| match inner.nesting {
                Nesting::Single | Nesting::Group => has_null_where_not_nullable(inner, part),
                _ => {
                    part.children().iter().any(|object| has_null_where_not_nullable(inner, object))
                }
            })
    })
}

fn zero_non_nullable_in_object(content: SchemaAndRules<'_>, object: &Value) -> Value {
    let Value::Object(parts) = object else { return object.clone() };
    let items = parts.iter().map(|(name, part)| {
        let Some((rule, inner)) = content.part_rules_and_nested_schema(name) else {
            return part.clone();
        };
        let blank = match part {
            Value::Null(ty) if !rule.nullable => Some(zero_value(ty)),
            _ => None,
        };
        let part = blank.as_ref().unwrap_or(part);
        match inner {
            Some(inner) if matches!(inner.nesting, Nesting::Single | Nesting::Group) => {
                zero_non_nullable_in_object(inner, part)
            }
            Some(inner) => map_nested_objects(inner.nesting, part, |object| {
                zero_non_nullable_in_object(inner, object)
            }),
            None => part.clone(),
        }
    });
    object.with_children(items.collect())
}

fn zero_value(ty: &Type) -> Value {
    match ty {
        Type::String => Value::string(""),
        Type::Bool => Value::Bool(false),
        Type::Number => Value::int(0),
        Type::List(element) => Value::list((**element).clone(), Vec::new()),
        Type::Set(element) => Value::set((**element).clone(), Vec::new()),
        Type::Map(element) => Value::map((**element).clone(), std::iter::empty::<(&str, Value)>()),
        Type::Object(object) => {
            // The caller fills its parts by their own rules.
            let null = |(name, ty): (_, &Type)| (name, Value::null(ty.clone()));
            Value::object(object.attributes.iter().map(|(name, ty)| null((name.clone(), ty))))
        }
        Type::Tuple(_) | Type::Dynamic => Value::null(ty.clone()),
    }
}

/// Returns an object in which only the attribute for imports is known, or the reason why the id is
/// invalid for it; `None` if there is no such attribute.
pub(crate) fn draft_of_import_id(shape: &Shape, id: &str) -> Option<Result<Value, String>> {
    let name = shape.import.as_ref()?;
    let attribute = shape.block.attributes.get(name)?;
    let empty_object = shape.block.empty_value();
    let value =
        convert(&Value::string(id), &attribute.implied_type()).map_err(|reason| reason.reason);
    let path = Path::root().attribute(name.clone());
    Some(
        value
            .map(|value| empty_object.replace_at(&path, |_| value.clone()).unwrap_or(empty_object)),
    )
}

/// Returns `base` with every known part of `draft`: the partial result of a failed handler.
pub(crate) fn merge_known_parts_of_draft(base: &Value, draft: &Value) -> Value {
    let (Value::Object(parts), Value::Object(_)) = (base, draft) else { return base.clone() };
    let items = parts.iter().map(|(name, part)| match attribute_or_map_element(draft, name) {
        // A draft is null or unknown where the handler kept no value.
        Some(known_part) if !known_part.is_null() && known_part.is_wholly_known() => {
            known_part.clone()
        }
        _ => part.clone(),
    });
    base.with_children(items.collect())
}
