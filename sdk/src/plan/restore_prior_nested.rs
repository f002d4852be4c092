//! Restores prior values that the host's proposal removes although the author never set them.

use formwork_value::schema::{AttributeKind, Nesting};
use formwork_value::{Str, Value};

use super::{PriorAndConfigValues, SchemaAndRules, attribute_or_map_element};

/// Returns the proposal with the prior value of each nested attribute that the provider may set,
/// that the author did not set, and that the proposal lacks; `None` if there is none.
///
/// If some part of such an attribute is settable by authors only, the host treats the prior value
/// as one that an author has set and removed. The host keeps the prior value of attributes that are
/// not objects, so here both kinds are treated alike.
pub(super) fn restore_prior_nested_attributes(
    content: SchemaAndRules<'_>,
    object: &Value,
    prior_and_config: PriorAndConfigValues<'_>,
) -> Option<Value> {
    let Value::Object(parts) = object else { return None };
    let restored_part = |name: &Str, value: &Value| {
        let (_, inner) = content.part_rules_and_nested_schema(name)?;
        let inner_values =
            prior_and_config.step_into(|object| attribute_or_map_element(object, name));
        let is_ours = content.attribute_schema(name).is_some_and(|attribute| {
            attribute.role.is_computed() && matches!(attribute.kind, AttributeKind::Nested(_))
        });
        if is_ours && value.is_null() && inner_values.config.is_some_and(Value::is_null) {
            return inner_values.prior.filter(|prior| !prior.is_null()).cloned();
        }
        restore_prior_in_nested_parts(inner?, value, inner_values)
    };
    with_changed_children(object, parts.iter().map(|(name, value)| restored_part(name, value)))
}

fn restore_prior_in_nested_parts(
    content: SchemaAndRules<'_>,
    value: &Value,
    prior_and_config: PriorAndConfigValues<'_>,
) -> Option<Value> {
    match (content.nesting, value) {
        (Nesting::Single | Nesting::Group, _) => {
            restore_prior_nested_attributes(content, value, prior_and_config)
        }
        (Nesting::List, _) => with_changed_children(
            value,
            value.children().iter().enumerate().map(|(index, item)| {
                restore_prior_nested_attributes(
                    content,
                    item,
                    prior_and_config.step_into(|list| list.children().get(index)),
                )
            }),
        ),
        (Nesting::Map, Value::Map(map)) => with_changed_children(
            value,
            map.iter().map(|(key, item)| {
                restore_prior_nested_attributes(
                    content,
                    item,
                    prior_and_config.step_into(|map| attribute_or_map_element(map, key)),
                )
            }),
        ),
        // Elements of sets cannot be matched.
        _ => None,
    }
}

/// The value with the children that changed; `None` if none did.
fn with_changed_children(
    value: &Value,
    children: impl Iterator<Item = Option<Value>>,
) -> Option<Value> {
    let children: Vec<_> = children.collect();
    if children.iter().all(Option::is_none) {
        return None;
    }
    let pairs = children.into_iter().zip(value.children());
    Some(value.with_children(pairs.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect()))
}
