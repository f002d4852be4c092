//! Tests of planning by rules, at the top level and nested.

use formwork_value::schema::Role;
use formwork_value::{Path, Type};

use super::*;
use crate::schema::AttributeDefinition;

fn shape() -> Shape {
    let text = |role| AttributeDefinition::new(Type::String, role);
    Shape::new("")
        .attribute("fixed", text(Role::Optional).force_replacement())
        .attribute(
            "grows",
            text(Role::Optional).force_replacement_if(|_, planned| planned.is_null()),
        )
        .attribute("free", text(Role::Optional))
        .attribute("defaulted", text(Role::OptionalComputed).default_value(Value::string("d")))
        .attribute("ours", text(Role::OptionalComputed))
        .attribute("kept", text(Role::Computed).keep_prior_value())
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
    let Value::Object(planned) = plan_by_rules(&shape(), prior, config, proposed) else {
        panic!("a plan is an object")
    };
    let set = planned.iter().filter(|(_, value)| !value.is_null());
    let attributes = set.map(|(name, value)| match value {
        Value::String(text) => format!("{name}={text}"),
        _ => format!("{name}=?"),
    });
    attributes.collect::<Vec<_>>().join(" ")
}

fn prior() -> Value {
    let set = [("fixed", "f"), ("defaulted", "d"), ("ours", "o"), ("kept", "k")];
    object(&set.map(|(name, value)| (name, text(value))))
}

#[test]
fn a_new_object_has_its_defaults_and_unknown_computed_attributes() {
    let config = object(&[("fixed", text("f"))]);
    // A null prior object means creation.
    let null = Value::null(shape().block.implied_type());
    assert_eq!(drawn(&null, &config, &config), "defaulted=d fixed=f kept=? ours=?");
}

#[test]
fn an_unchanged_object_has_no_unknown_attributes() {
    let config = object(&[("fixed", text("f"))]);
    let expected = "defaulted=d fixed=f kept=k ours=o";
    // The host proposes the prior object where no other value is configured.
    assert_eq!(drawn(&prior(), &config, &prior()), expected);
}

#[test]
fn a_changed_secret_is_not_a_change() {
    let set = |set: &[(&'static str, &'static str)]| {
        object(&set.iter().map(|(name, value)| (*name, text(value))).collect::<Vec<_>>())
    };
    let config = set(&[("fixed", "f"), ("secret", "s")]);
    // A write-only value is in no prior object, so it differs each time.
    let proposed = prior().replace_at(&Path::root().attribute("secret"), |_| text("s"));
    let expected = "defaulted=d fixed=f kept=k ours=o secret=s";
    assert_eq!(drawn(&prior(), &config, &proposed.unwrap()), expected);
}

#[test]
fn a_change_makes_computed_attributes_unknown_unless_they_are_kept() {
    let config = object(&[("fixed", text("f")), ("free", text("x"))]);
    let proposed = prior().replace_at(&Path::root().attribute("free"), |_| text("x")).unwrap();
    assert_eq!(drawn(&prior(), &config, &proposed), "defaulted=d fixed=f free=x kept=k ours=?");
}

#[test]
fn a_default_applies_again_when_the_attribute_is_unset() {
    let config = object(&[("fixed", text("f"))]);
    let before = prior().replace_at(&Path::root().attribute("defaulted"), |_| text("other"));
    let before = before.unwrap();
    // The host proposes the prior value, as for all that is computed.
    assert_eq!(drawn(&before, &config, &before), "defaulted=d fixed=f kept=k ours=?");
}

#[test]
fn only_changes_that_are_impossible_in_place_force_a_replacement() {
    let forced = |prior: &[(&str, Value)], planned: &[(&str, Value)]| {
        let paths = paths_forcing_replacement(
            &shape(),
            [&object(prior), &object(planned), &object(planned)],
        );
        paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    let fixed = |value| ("fixed", value);
    assert_eq!(forced(&[fixed(text("a"))], &[fixed(text("a"))]), "");
    assert_eq!(forced(&[fixed(text("a"))], &[fixed(text("b"))]), ".fixed");
    // Unknown may become another value.
    assert_eq!(forced(&[fixed(text("a"))], &[fixed(Value::unknown(Type::String))]), ".fixed");
    assert_eq!(forced(&[("free", text("a"))], &[("free", text("b"))]), "");
    assert_eq!(forced(&[("grows", text("a"))], &[("grows", text("b"))]), "");
    assert_eq!(forced(&[("grows", text("a"))], &[]), ".grows");
}
