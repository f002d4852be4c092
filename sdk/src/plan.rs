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

#[cfg(test)]
mod tests {
    use formwork_value::Type;

    use super::*;
    use crate::schema::Definition;

    fn shape() -> Shape {
        let text = |role| Definition::new(Type::String, role);
        Shape::new("")
            .attribute("fixed", text(Role::Optional).replace())
            .attribute("grows", text(Role::Optional).replace_if(|_, planned| planned.is_null()))
            .attribute("free", text(Role::Optional))
            .attribute("defaulted", text(Role::OptionalComputed).default(Value::string("d")))
            .attribute("ours", text(Role::OptionalComputed))
            .attribute("kept", text(Role::Computed).keep())
            .attribute("secret", text(Role::Optional).write_only())
    }

    fn object(set: &[(&str, Value)]) -> Value {
        let of = |name: &Str| {
            let value = set.iter().find(|(set, _)| name == set).map(|(_, value)| value.clone());
            (name.clone(), value.unwrap_or_else(|| Value::null(Type::String)))
        };
        Value::object(shape().block.attributes.keys().map(of).collect::<Vec<_>>())
    }

    fn text(text: &'static str) -> Value {
        Value::string(text)
    }

    /// The attributes of a plan that are not null: `name=text`, `name=?` when unknown.
    fn drawn(prior: &Value, config: &Value, proposed: &Value) -> String {
        let Value::Object(planned) = draw(&shape(), prior, config, proposed) else {
            panic!("a plan is an object")
        };
        let set = planned.iter().filter(|(_, value)| !value.is_null());
        let shown = set.map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            _ => format!("{name}=?"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn prior() -> Value {
        let set = [("fixed", "f"), ("defaulted", "d"), ("ours", "o"), ("kept", "k")];
        object(&set.map(|(name, value)| (name, text(value))))
    }

    #[test]
    fn what_is_created_has_its_defaults_and_else_what_comes_out() {
        let config = object(&[("fixed", text("f"))]);
        let null = Value::null(shape().block.implied_type());
        assert_eq!(drawn(&null, &config, &config), "defaulted=d fixed=f kept=? ours=?");
    }

    #[test]
    fn nothing_is_unknown_while_nothing_changes() {
        let config = object(&[("fixed", text("f"))]);
        let expected = "defaulted=d fixed=f kept=k ours=o";
        assert_eq!(drawn(&prior(), &config, &prior()), expected);
    }

    #[test]
    fn a_secret_alone_is_no_change() {
        let set = |set: &[(&'static str, &'static str)]| {
            object(&set.iter().map(|(name, value)| (*name, text(value))).collect::<Vec<_>>())
        };
        let config = set(&[("fixed", "f"), ("secret", "s")]);
        let proposed = prior().replace_at(&Path::root().attribute("secret"), |_| text("s"));
        let expected = "defaulted=d fixed=f kept=k ours=o secret=s";
        assert_eq!(drawn(&prior(), &config, &proposed.unwrap()), expected);
    }

    #[test]
    fn a_change_makes_what_is_ours_unknown_unless_it_is_kept() {
        let config = object(&[("fixed", text("f")), ("free", text("x"))]);
        let proposed = prior().replace_at(&Path::root().attribute("free"), |_| text("x")).unwrap();
        assert_eq!(drawn(&prior(), &config, &proposed), "defaulted=d fixed=f free=x kept=k ours=?");
    }

    #[test]
    fn a_default_comes_back_when_the_author_unsets_the_attribute() {
        let config = object(&[("fixed", text("f"))]);
        let before = prior().replace_at(&Path::root().attribute("defaulted"), |_| text("other"));
        let before = before.unwrap();
        assert_eq!(drawn(&before, &config, &before), "defaulted=d fixed=f kept=k ours=?");
    }

    #[test]
    fn only_changes_that_cannot_be_made_in_place_force_a_new_object() {
        let forced = |prior: &[(&str, Value)], planned: &[(&str, Value)]| {
            let paths = forcing(&shape(), &object(prior), &object(planned));
            paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let fixed = |value| ("fixed", value);
        assert_eq!(forced(&[fixed(text("a"))], &[fixed(text("a"))]), "");
        assert_eq!(forced(&[fixed(text("a"))], &[fixed(text("b"))]), ".fixed");
        assert_eq!(forced(&[fixed(text("a"))], &[fixed(Value::unknown(Type::String))]), ".fixed");
        assert_eq!(forced(&[("free", text("a"))], &[("free", text("b"))]), "");
        assert_eq!(forced(&[("grows", text("a"))], &[("grows", text("b"))]), "");
        assert_eq!(forced(&[("grows", text("a"))], &[]), ".grows");
    }
}
