//! Applies `ignore_changes`: ignored attributes of the configuration get their prior values. The
//! caller decides when it applies; creation and replacement do without.

use formwork_value::schema::{Attribute, AttributeKind, Block, Nesting, Role};
use formwork_value::value::Map;
use formwork_value::{Path, Plain, Step, Str, Type, Value};

use super::inspect_values::are_identical;

/// Changes to ignore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoredChanges {
    /// All of them.
    All,
    /// Changes at or below these paths.
    Paths(Vec<Path>),
}

impl IgnoredChanges {
    /// Returns the configuration with prior values wherever changes are ignored. Paths that exist
    /// in neither of the two have no effect.
    #[must_use]
    pub fn apply_to_config(&self, block: &Block, prior: &Plain, config: &Plain) -> Plain {
        if prior.value().is_null() {
            return config.clone();
        }
        match self {
            // Computed attributes must not look as if an author had set them.
            Self::All => block_value_without_computed(block, prior.value()).split_marks().0,
            Self::Paths(paths) => with_prior_values_at_paths(paths, prior.value(), config.value()),
        }
    }

    /// Returns a planned value with prior values wherever changes are ignored. For providers of the
    /// old SDK, which may bring back values that were taken out of their configuration.
    #[must_use]
    pub fn apply_to_planned(&self, prior: &Plain, planned: &Plain) -> Plain {
        if prior.value().is_null() {
            return planned.clone();
        }
        match self {
            Self::All => prior.clone(),
            Self::Paths(paths) => with_prior_values_at_paths(paths, prior.value(), planned.value()),
        }
    }
}

fn with_prior_values_at_paths(paths: &[Path], prior: &Value, config: &Value) -> Plain {
    let mut result = config.clone();
    // A destroyed object has a null configuration, and a value in it would bring the object back.
    if config.is_null() {
        return result.split_marks().0;
    }
    for path in paths {
        // Only in maps may a path lead to an element that exists on one side only.
        let (target, key) = match path.0.split_last() {
            Some((Step::Key(key), parent_path)) => (Path(parent_path.to_vec()), Some(key)),
            _ => (path.clone(), None),
        };
        let Some(prior) = target.find(prior) else { continue };
        let replaced = replace_part_with_prior(&result, &target, key, prior);
        result = replaced.unwrap_or(result);
    }
    result.split_marks().0
}

/// The value with the prior part at `target`; `None` if that is no change.
fn replace_part_with_prior(
    value: &Value,
    target: &Path,
    key: Option<&Str>,
    prior: &Value,
) -> Option<Value> {
    let current = target.find(value)?;
    let is_map = matches!(current.ty(), Type::Map(_));
    // Terraform leaves unknown maps unchanged: a key cannot be added to them.
    if are_identical(current, prior) || (is_map && current.is_unknown()) {
        return None;
    }
    value.replace_at(target, |current| match key {
        Some(key) if is_map => with_prior_key(current, key, prior),
        _ => prior.clone(),
    })
}

/// The map with one key as in the prior map: with the prior element, or without the key.
fn with_prior_key(current: &Value, key: &Str, prior: &Value) -> Value {
    let element_type = current.ty().element().cloned();
    let mut pairs: Vec<(Str, Value)> = match current {
        Value::Map(map) => {
            let other_entries = map.iter().filter(|(name, _)| *name != key);
            other_entries.map(|(name, value)| (name.clone(), value.clone())).collect()
        }
        _ => Vec::new(),
    };
    if let Value::Map(prior) = prior {
        pairs.extend(prior.get(key).map(|value| (key.clone(), value.clone())));
    }
    match element_type {
        // A map that is absent and keeps nothing stays absent.
        Some(ty) if !(pairs.is_empty() && current.is_null()) => Value::Map(Map::new(ty, pairs)),
        _ => current.clone(),
    }
}

/// The value with null for every attribute that only the provider sets.
fn block_value_without_computed(block: &Block, value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let items = object.iter().map(|(name, part)| {
        match (block.attributes.get(name), block.blocks.get(name)) {
            (Some(attr), _) => attribute_value_without_computed(attr, part),
            (_, Some(nested)) => map_objects(nested.nesting, part, |element| {
                block_value_without_computed(&nested.block, element)
            }),
            _ => part.clone(),
        }
    });
    value.with_children(items.collect())
}

fn attribute_value_without_computed(attr: &Attribute, value: &Value) -> Value {
    if attr.role == Role::Computed {
        return Value::null(value.ty());
    }
    let AttributeKind::Nested(nested) = &attr.kind else { return value.clone() };
    map_objects(nested.nesting, value, |element| {
        let Value::Object(object) = element else { return element.clone() };
        let items = object.iter().map(|(name, part)| match nested.attributes.get(name) {
            Some(attr) => attribute_value_without_computed(attr, part),
            None => part.clone(),
        });
        element.with_children(items.collect())
    })
}

/// The value with each of the objects it holds changed.
fn map_objects(nesting: Nesting, value: &Value, change: impl Fn(&Value) -> Value) -> Value {
    match nesting {
        Nesting::Single | Nesting::Group => change(value),
        Nesting::List | Nesting::Set | Nesting::Map => {
            value.with_children(value.children().iter().map(change).collect())
        }
    }
}

#[cfg(test)]
mod tests;
