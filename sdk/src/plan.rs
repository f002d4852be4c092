//! Planning by the rules of a model: defaults, unknown computed values, kept values, and forced
//! replacement. Pure.

mod merge_results;
mod replacement;
mod restore_prior_nested;

use std::borrow::Cow;
use std::collections::BTreeMap;

use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_value::schema::{Attribute, AttributeKind, Block, Nesting};
use formwork_value::{Str, Value};

use crate::check::Relation;
use crate::schema::{NestedRules, PartRules, Rules, Shape};

pub(crate) use merge_results::{
    draft_of_import_id, fill_early_values, fill_unknown, merge_known_parts_of_draft,
    replace_unknown_with_null, with_write_only_values, zero_values_where_not_nullable,
};
pub(crate) use replacement::paths_forcing_replacement;

/// Returns the planned object before the author's `modify_plan`.
///
/// If the object changes, a computed attribute that the author did not set becomes unknown, or has
/// its default, or keeps its prior value if the rule says so. `proposed` is the prior object with
/// the configuration merged into it, never null.
pub(crate) fn plan_by_rules(
    shape: &Shape,
    prior: &Value,
    config: &Value,
    proposed: &Value,
) -> Value {
    let config = config_with_defaults(shape, config);
    let proposed = match &config {
        Cow::Borrowed(_) => proposed.clone(),
        // The host's proposal has no defaults, and those of set elements cannot be added later,
        // because the proposal does not record the source of each element.
        Cow::Owned(config) => {
            let (prior, config) = (prior.clone().split_marks().0, config.clone().split_marks().0);
            proposed_new(&shape.block, &prior, &config).into_value()
        }
    };
    let content = SchemaAndRules::of_block(&shape.block, &shape.rules);
    let prior_and_config = PriorAndConfigValues { prior: Some(prior), config: Some(&config) };
    // Before the comparison below: a prior value that the host dropped would look like a change,
    // and plan an update of an unchanged object.
    let proposed =
        restore_prior_nested::restore_prior_nested_attributes(content, &proposed, prior_and_config)
            .unwrap_or(proposed);
    // Write-only values are null in every prior object, so comparing them would show a change in
    // each plan.
    if shape.block.with_null_write_only(&proposed) == *prior {
        return proposed;
    }
    with_computed_unknown(content, &proposed, prior_and_config)
}

/// The configuration with defaults for attributes that the author did not set.
pub(crate) fn config_with_defaults<'c>(shape: &Shape, config: &'c Value) -> Cow<'c, Value> {
    if shape.rules.have_defaults() {
        Cow::Owned(object_with_defaults(&shape.rules, config))
    } else {
        Cow::Borrowed(config)
    }
}

fn object_with_defaults(rules: &Rules, object: &Value) -> Value {
    let Value::Object(parts) = object else { return object.clone() };
    let items = parts.iter().map(|(name, value)| match rules.parts.get(name) {
        // Not instead of an unknown value: the author did set it.
        Some(PartRules { default: Some(default), .. }) if value.is_null() => default.clone(),
        Some(PartRules { inner: Some(inner), .. }) if inner.rules.have_defaults() => {
            map_nested_objects(inner.nesting, value, |object| {
                object_with_defaults(&inner.rules, object)
            })
        }
        _ => value.clone(),
    });
    object.with_children(items.collect())
}

/// The attributes and blocks of an object as the schema describes them, and their rules.
#[derive(Clone, Copy)]
pub(crate) struct SchemaAndRules<'s> {
    /// The attributes.
    attributes: &'s BTreeMap<Str, Attribute>,
    /// The block, if the parts may be blocks too.
    block: Option<&'s Block>,
    rules: &'s Rules,
    /// Number of such objects and their container.
    pub(crate) nesting: Nesting,
}

impl<'s> SchemaAndRules<'s> {
    pub(crate) fn of_block(block: &'s Block, rules: &'s Rules) -> Self {
        let nesting = Nesting::Single;
        Self { attributes: &block.attributes, block: Some(block), rules, nesting }
    }

    /// The rules of a part, and its own content if it has one.
    pub(crate) fn part_rules_and_nested_schema(
        self,
        name: &str,
    ) -> Option<(&'s PartRules, Option<Self>)> {
        let rule = self.rules.parts.get(name)?;
        let Some(NestedRules { nesting, rules }) = rule.inner.as_deref() else {
            return Some((rule, None));
        };
        let inner = match self.attributes.get(name).map(|attribute| &attribute.kind) {
            Some(AttributeKind::Nested(nested)) => {
                let attributes = &nested.attributes;
                Some(Self { attributes, block: None, rules, nesting: *nesting })
            }
            Some(AttributeKind::Plain(_)) => None,
            None => {
                let nested = self.block.and_then(|block| block.blocks.get(name));
                nested.map(|nested_attributes| Self {
                    nesting: *nesting,
                    ..Self::of_block(&nested_attributes.block, rules)
                })
            }
        };
        Some((rule, inner))
    }

    /// Relations among its attributes.
    pub(crate) fn relations(self) -> &'s [Relation] {
        &self.rules.relations
    }

    /// Adds defaults to an object of this content, or to each in a collection, for attributes that
    /// are not set.
    pub(crate) fn add_defaults_to_objects(self, value: &Value) -> Value {
        map_nested_objects(self.nesting, value, |object| object_with_defaults(self.rules, object))
    }

    /// Whether these are elements of an attribute that may become equal through defaults.
    pub(crate) fn defaults_may_equalize_elements(self) -> bool {
        self.nesting == Nesting::Set && self.block.is_none() && self.rules.have_defaults()
    }

    pub(crate) fn attribute_schema(self, name: &str) -> Option<&'s Attribute> {
        self.attributes.get(name)
    }
}

/// Values at the same path in the prior object and in the configuration; `None` for elements of
/// sets, which have no path.
#[derive(Clone, Copy)]
struct PriorAndConfigValues<'v> {
    prior: Option<&'v Value>,
    config: Option<&'v Value>,
}

impl<'v> PriorAndConfigValues<'v> {
    fn step_into(self, step: impl Fn(&'v Value) -> Option<&'v Value>) -> Self {
        Self { prior: self.prior.and_then(&step), config: self.config.and_then(&step) }
    }
}

/// The object with unknown values for everything that the provider computes.
fn with_computed_unknown(
    content: SchemaAndRules<'_>,
    object: &Value,
    prior_and_config: PriorAndConfigValues<'_>,
) -> Value {
    let Value::Object(parts) = object else { return object.clone() };
    let items = parts.iter().map(|(name, value)| {
        let Some((rule, inner)) = content.part_rules_and_nested_schema(name) else {
            return value.clone();
        };
        let inner_values =
            prior_and_config.step_into(|object| attribute_or_map_element(object, name));
        if let Some(attribute) = content.attribute_schema(name)
            && attribute.role.is_computed()
            && is_left_to_provider(prior_and_config.config, inner_values.config, value)
        {
            // A null prior value is not worth keeping: it belongs to a creation, or to a provider
            // version without this attribute.
            let keeps_prior = rule.keep && inner_values.prior.is_some_and(|prior| !prior.is_null());
            // A default is in the value already.
            return match keeps_prior || rule.default.is_some() {
                true => value.clone(),
                false => Value::unknown(attribute.implied_type()),
            };
        }
        match inner {
            Some(inner) => parts_with_computed_unknown(inner, value, inner_values),
            None => value.clone(),
        }
    });
    object.with_children(items.collect())
}

/// Whether the author left an attribute to the provider. For an element of a set the configuration
/// is not available, so an existing value counts as set.
fn is_left_to_provider(object: Option<&Value>, config: Option<&Value>, value: &Value) -> bool {
    match object {
        None => value.is_null(),
        // Its parts are unknown already.
        Some(Value::Unknown(_)) => false,
        Some(_) => config.is_none_or(Value::is_null),
    }
}

fn parts_with_computed_unknown(
    content: SchemaAndRules<'_>,
    value: &Value,
    prior_and_config: PriorAndConfigValues<'_>,
) -> Value {
    let child_index =
        |child_index: usize| prior_and_config.step_into(|list| list.children().get(child_index));
    let under = |key: &Str| prior_and_config.step_into(|map| attribute_or_map_element(map, key));
    let items: Vec<_> = match (content.nesting, value) {
        (Nesting::Single | Nesting::Group, _) => {
            return with_computed_unknown(content, value, prior_and_config);
        }
        (Nesting::Set, _) => {
            // A changed element of a set is a different element, so neither its prior value nor its
            // configuration can be identified.
            let nowhere = PriorAndConfigValues { prior: None, config: None };
            return map_nested_objects(content.nesting, value, |item| {
                with_computed_unknown(content, item, nowhere)
            });
        }
        (Nesting::List, _) => {
            let items = value.children().iter().enumerate();
            items
                .map(|(index, item)| with_computed_unknown(content, item, child_index(index)))
                .collect()
        }
        (Nesting::Map, Value::Map(map)) => {
            map.iter().map(|(key, item)| with_computed_unknown(content, item, under(key))).collect()
        }
        (Nesting::Map, Value::Object(object)) => object
            .iter()
            .map(|(key, item)| with_computed_unknown(content, item, under(key)))
            .collect(),
        _ => return value.clone(),
    };
    value.with_children(items)
}

/// Applies a change to every object of a described part.
pub(crate) fn map_nested_objects(
    nesting: Nesting,
    value: &Value,
    change: impl Fn(&Value) -> Value,
) -> Value {
    match nesting {
        Nesting::Single | Nesting::Group => change(value),
        Nesting::List | Nesting::Set | Nesting::Map => {
            value.with_children(value.children().iter().map(change).collect())
        }
    }
}

/// A part of an object or map.
pub(crate) fn attribute_or_map_element<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name),
        Value::Map(map) => map.get(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
