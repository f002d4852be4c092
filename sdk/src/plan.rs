//! What applying a configuration would bring about, by the rules of a model: defaults, what becomes
//! unknown, what stays, what forces a new object. Asks nobody.

use formwork_value::schema::{Attribute, Role};
use formwork_value::{Path, Str, Value};

use crate::schema::{Replace, Rule, Shape};

/// Returns the planned object before the author of the resource has had a say.
///
/// Unless the object stays as it is, what the provider computes and the author did not set is unknown;
/// or has its default; or its prior value, where the rule is to keep it. `proposed` is the prior object
/// with the configuration merged into it, never null.
pub(crate) fn draw(shape: &Shape, prior: &Value, config: &Value, proposed: &Value) -> Value {
    let proposed = attributes(shape, proposed, |name, _, rule, value| match &rule.default {
        Some(default) if is_null(config, name) => default.clone(),
        _ => value.clone(),
    });
    if shape.block.without_write_only(&proposed) == *prior {
        return proposed;
    }
    attributes(shape, &proposed, |name, attribute, rule, value| {
        let left_to_us = attribute.role.is_computed() && is_null(config, name);
        let kept = rule.keep && !is_null(prior, name);
        if left_to_us && rule.default.is_none() && !kept {
            Value::unknown(attribute.implied_type())
        } else {
            value.clone()
        }
    })
}

/// Returns the attributes that change and cannot do so in place.
pub(crate) fn forcing(shape: &Shape, prior: &Value, planned: &Value) -> Vec<Path> {
    let (Value::Object(prior), Value::Object(planned)) = (prior, planned) else {
        return Vec::new();
    };
    let forces = |name: &Str, rule: &Rule| match (prior.get(name), planned.get(name)) {
        (Some(prior), Some(planned)) if prior != planned => match rule.replace {
            Replace::Never => false,
            Replace::Always => true,
            Replace::If(ask) => ask(prior, planned),
        },
        _ => false,
    };
    let forcing = shape.rules.iter().filter(|(name, rule)| forces(name, rule));
    forcing.map(|(name, _)| Path::root().attribute(name)).collect()
}

/// Returns the attributes that a provider alone sets, and which are set all the same.
pub(crate) fn read_only_but_set(shape: &Shape, config: &Value) -> Vec<Str> {
    let of_role = |role: Role| {
        shape.block.attributes.iter().filter(move |(_, attribute)| attribute.role == role)
    };
    let set = of_role(Role::Computed).filter(|(name, _)| !is_null(config, name));
    set.map(|(name, _)| name.clone()).collect()
}

/// The object with every attribute that has a rule replaced by what `change` makes of it.
fn attributes(
    shape: &Shape,
    object: &Value,
    change: impl Fn(&Str, &Attribute, &Rule, &Value) -> Value,
) -> Value {
    let Value::Object(parts) = object else { return object.clone() };
    let parts = parts.iter().map(|(name, value)| {
        match (shape.block.attributes.get(name), shape.rules.get(name)) {
            (Some(attribute), Some(rule)) => (name, change(name, attribute, rule, value)),
            _ => (name, value.clone()),
        }
    });
    Value::object(parts)
}

/// Whether an attribute has no value. An object that is null has none at all.
fn is_null(object: &Value, name: &str) -> bool {
    match object {
        Value::Object(object) => object.get(name).is_none_or(Value::is_null),
        Value::Unknown(_) => false,
        _ => true,
    }
}
