//! Merges prior value and configuration into the value that a provider plans from.
//!
//! Parts that only the provider sets keep their prior value, all others are as configured. On
//! creation computed attributes are null: the provider makes them unknown.

use std::collections::BTreeMap;

use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role,
};
use formwork_value::{Plain, Str, Type, Value};

use super::element_index::{ElementIndex, ElementKeyParts};
use super::inspect_values::{
    are_identical, attribute_value, element_under_key, map_elements_by_key,
};

/// Returns the value to send as "proposed new state". It contains write-only values as configured.
///
/// A prior that is unknown as a whole is for data sources and ephemeral resources that are not read
/// yet: computed attributes are unknown then.
#[must_use]
pub fn proposed_new(block: &Block, prior: &Plain, config: &Plain) -> Plain {
    // Pure and in one pass over the schema, because the SDK server and the test kit propose with
    // the same code.
    let proposed = propose_block(block, prior.value(), config.value());
    // Built from parts of values without marks, so there are no marks to remove here.
    proposed.split_marks().0
}

/// Returns the configuration with each empty collection of blocks that the provider may make itself
/// replaced by null, which is how a provider sees that the author wrote none (protocol 6.11).
#[must_use]
pub fn empty_computed_blocks_to_null(block: &Block, config: &Plain) -> Plain {
    let Value::Object(object) = config.value() else { return config.clone() };
    let names = object.names().iter().zip(object.values());
    let items = names.map(|(name, item)| match block.blocks.get(name) {
        // A single block that is absent is null anyway, and a group never is.
        Some(nested)
            if nested.computed
                && matches!(nested.nesting, Nesting::List | Nesting::Set | Nesting::Map)
                && !item.is_unknown()
                && item.children().is_empty() =>
        {
            Value::null(nested.implied_type())
        }
        _ => item.clone(),
    });
    config.value().with_children(items.collect()).split_marks().0
}

fn propose_block(block: &Block, prior: &Value, config: &Value) -> Value {
    let empty;
    let prior = match (prior, config) {
        (Value::Null(_), Value::Null(_)) => return prior.clone(),
        // A creation: Terraform merges with an empty object here, whose blocks are empty
        // collections and not null.
        (Value::Null(_), _) => {
            empty = block.empty_value();
            &empty
        }
        _ => prior,
    };
    // As in Terraform, a configuration that is null or unknown leaves the prior as it is.
    if !matches!(config, Value::Object(_)) {
        return prior.clone();
    }
    let attributes = block
        .attributes
        .iter()
        .map(|(name, attr)| (name.clone(), propose_attribute(name, attr, prior, config)));
    let blocks = block.blocks.iter().map(|(name, nested)| {
        let part = |object| attribute_value(object, name, || nested.implied_type());
        (name.clone(), propose_nested_block(nested, &part(prior), &part(config)))
    });
    Value::object(attributes.chain(blocks))
}

fn propose_attribute(name: &Str, attr: &Attribute, prior: &Value, config: &Value) -> Value {
    let prior = attribute_value(prior, name, || attr.implied_type());
    let config = attribute_value(config, name, || attr.implied_type());
    match &attr.kind {
        // A prior with parts that only an author can have written was configured, and is no longer.
        AttributeKind::Nested(nested)
            if config.is_null()
                && attr.role == Role::OptionalComputed
                && has_non_computed_values(nested, &prior) =>
        {
            config
        }
        // The author left it to the provider, so the last value stays until the provider plans
        // another one.
        _ if config.is_null() && attr.role.is_computed() => prior,
        AttributeKind::Nested(nested) => propose_nested_attributes(nested, &prior, &config),
        // Also a null: an attribute that the author removed is to go.
        AttributeKind::Plain(_) => config,
    }
}

/// Whether any attribute that a provider cannot set has a value.
fn has_non_computed_values(nested: &NestedAttributes, value: &Value) -> bool {
    let objects = match nested.nesting {
        Nesting::Single | Nesting::Group => std::slice::from_ref(value),
        Nesting::List | Nesting::Set | Nesting::Map => value.children(),
    };
    objects.iter().any(|object| {
        nested.attributes.iter().any(|(name, attr)| {
            let part = attribute_value(object, name, || attr.implied_type());
            !part.is_null()
                && (!attr.role.is_computed()
                    || match &attr.kind {
                        AttributeKind::Nested(nested) => has_non_computed_values(nested, &part),
                        AttributeKind::Plain(_) => false,
                    })
        })
    })
}

fn propose_nested_attributes(nested: &NestedAttributes, prior: &Value, config: &Value) -> Value {
    let object = ElementSchema::Object(nested);
    match nested.nesting {
        // The type of an unknown value may not be known yet; there is nothing to merge.
        _ if config.is_unknown() => config.clone(),
        Nesting::Single | Nesting::Group => object.propose_element(prior, config),
        Nesting::List => propose_list(&object, prior, config),
        Nesting::Map => propose_map(&object, prior, config),
        Nesting::Set => propose_set(&object, prior, config),
    }
}

fn propose_nested_block(nested: &NestedBlock, prior: &Value, config: &Value) -> Value {
    let block = ElementSchema::Block(&nested.block);
    match nested.nesting {
        // Only a `dynamic` block over an unknown value makes blocks unknown.
        _ if config.is_unknown() => config.clone(),
        // The author has removed the block. A merge with an empty one would bring it back.
        Nesting::Single if config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => block.propose_element(prior, config),
        Nesting::List => propose_list(&block, prior, config),
        Nesting::Map => propose_map(&block, prior, config),
        Nesting::Set => propose_set(&block, prior, config),
    }
}

/// Schema of an element of a collection.
enum ElementSchema<'s> {
    Block(&'s Block),
    Object(&'s NestedAttributes),
}

impl ElementSchema<'_> {
    fn propose_element(&self, prior: &Value, config: &Value) -> Value {
        match self {
            Self::Block(block) => propose_block(block, prior, config),
            Self::Object(_) if config.is_null() => config.clone(),
            Self::Object(nested) => {
                Value::object(nested.attributes.iter().map(|(name, attr)| {
                    (name.clone(), propose_attribute(name, attr, prior, config))
                }))
            }
        }
    }

    fn attributes(&self) -> &BTreeMap<Str, Attribute> {
        match self {
            Self::Block(block) => &block.attributes,
            Self::Object(nested) => &nested.attributes,
        }
    }

    /// Whether a prior element may have come from a configured one: they are equal except for
    /// attributes that the author left to the provider.
    fn prior_matches_config(&self, prior: &Value, config: &Value) -> bool {
        if are_identical(prior, config) {
            return true;
        }
        // A prior without parts contradicts nothing; a configuration without parts, everything.
        let Value::Object(prior_object) = prior else { return true };
        let Value::Object(config_object) = config else { return false };
        prior_object.iter().all(|(name, prior)| {
            let Some(config) = config_object.get(name) else { return false };
            if are_identical(prior, config) {
                return true;
            }
            if let Some(attr) = self.attributes().get(name) {
                return prior_attribute_matches_config(attr, prior, config);
            }
            match self {
                Self::Block(block) => block.blocks.get(name).is_some_and(|nested| {
                    let element = ElementSchema::Block(&nested.block);
                    prior_elements_match_config(&element, nested.nesting, prior, config)
                }),
                Self::Object(_) => false,
            }
        })
    }
}

fn prior_attribute_matches_config(attr: &Attribute, prior: &Value, config: &Value) -> bool {
    match &attr.kind {
        AttributeKind::Nested(nested) => prior_elements_match_config(
            &ElementSchema::Object(nested),
            nested.nesting,
            prior,
            config,
        ),
        AttributeKind::Plain(_) => {
            // As in Terraform, a set that differs is never taken for a computed value.
            !matches!(config.ty(), Type::Set(_)) && attr.role.is_computed() && config.is_null()
        }
    }
}

/// Whether each element of a prior collection matches the configured one at the same position.
/// Further configured elements have no effect.
fn prior_elements_match_config(
    element: &ElementSchema<'_>,
    nesting: Nesting,
    prior: &Value,
    config: &Value,
) -> bool {
    match nesting {
        Nesting::Single | Nesting::Group => element.prior_matches_config(prior, config),
        // Elements of inner sets have no identity, so the sets as a whole had to be the same.
        Nesting::Set => false,
        Nesting::List => prior.children().iter().enumerate().all(|(index, prior)| {
            config
                .children()
                .get(index)
                .is_some_and(|config| element.prior_matches_config(prior, config))
        }),
        Nesting::Map => map_elements_by_key(prior).all(|(key, prior)| {
            element_under_key(config, key)
                .is_some_and(|config| element.prior_matches_config(prior, config))
        }),
    }
}

fn propose_list(element: &ElementSchema<'_>, prior: &Value, config: &Value) -> Value {
    let children = config.children().iter().enumerate().map(|(index, config)| {
        match (prior, prior.children().get(index)) {
            // The elements of an unknown list are unknown, and so are the computed parts of each.
            (Value::Unknown(unknown), _) => {
                element.propose_element(&Value::unknown(element_type(unknown.ty(), config)), config)
            }
            (_, Some(prior)) => element.propose_element(prior, config),
            // Used unchanged: its computed parts are null, as in a merge without a prior.
            (_, None) => config.clone(),
        }
    });
    config.with_children(children.collect())
}

fn propose_map(element: &ElementSchema<'_>, prior: &Value, config: &Value) -> Value {
    let children = map_elements_by_key(config).map(|(key, config)| {
        match (prior, element_under_key(prior, key)) {
            (Value::Unknown(unknown), _) => {
                element.propose_element(&Value::unknown(element_type(unknown.ty(), config)), config)
            }
            (_, Some(prior)) => element.propose_element(prior, config),
            (_, None) => config.clone(),
        }
    });
    config.with_children(children.collect())
}

fn element_type(collection: &Type, element: &Value) -> Type {
    collection.element().cloned().unwrap_or_else(|| element.ty())
}

fn propose_set(element: &ElementSchema<'_>, prior: &Value, config: &Value) -> Value {
    // Null and unknown sets have no children either, and stay as they are.
    if config.children().is_empty() {
        return config.clone();
    }
    // An index over the prior elements: comparing each with each would be quadratic, and security
    // groups have thousands of rules.
    let mut candidates = ElementIndex::new(prior.children());
    let mut used = vec![false; prior.children().len()];
    let children = config.children().iter().map(|config| {
        let unused_positions = candidates
            .candidate_positions(key_parts_of_configured_element(element, config), config);
        // Each prior element belongs to one configured element at most, or two equal rules would
        // get the same computed id.
        unused_positions.retain(|position| !used[*position]);
        let matching = unused_positions
            .iter()
            .find(|position| element.prior_matches_config(&prior.children()[**position], config));
        match matching {
            Some(position) => {
                used[*position] = true;
                element.propose_element(&prior.children()[*position], config)
            }
            // A new element of the set. Its computed parts are null, which the provider makes
            // unknown.
            None => element.propose_element(&Value::null(config.ty()), config),
        }
    });
    config.with_children(children.collect())
}

/// The attributes in which a prior element must agree with a configured one to match it.
fn key_parts_of_configured_element(element: &ElementSchema<'_>, config: &Value) -> ElementKeyParts {
    let Value::Object(object) = config else { return ElementKeyParts::Whole };
    let is_significant = |name: &Str, config: &Value| {
        element.attributes().get(name).is_some_and(|attr| match attr.kind {
            AttributeKind::Plain(_) => !(attr.role.is_computed() && config.is_null()),
            // Their computed parts may differ, so nested attributes are not part of the key.
            AttributeKind::Nested(_) => false,
        })
    };
    let significant = object.iter().filter(|(name, part)| is_significant(name, part));
    ElementKeyParts::Attributes(significant.map(|(name, _)| name.clone()).collect())
}

#[cfg(test)]
mod tests;
