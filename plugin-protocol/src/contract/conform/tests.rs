//! Tables of plans and results, with the violation in each of them.

use std::sync::Arc;

use super::super::fixtures::{
    attributes_block, attributes_of_each_role, block_value, block_value_missing_blocks_null,
    nested_attribute, text_attribute, violation_lines, with_nested_block, with_unknown_attribute,
};
use super::*;
use formwork_value::schema::{Attribute, Nesting, Role};
use formwork_value::{Refinement, Type, Unknown};

/// Required `n`, and `o` which either may set.
fn two() -> Vec<(&'static str, Attribute)> {
    vec![("n", text_attribute(Role::Required)), ("o", text_attribute(Role::OptionalComputed))]
}

#[track_caller]
fn plan(schema: &Block, prior: &str, config: &str, planned: &str, expected: &[&str]) {
    let [prior, config, planned] = [prior, config, planned].map(|text| block_value(schema, text));
    let violations = plan_violations(schema, &prior, &config, &planned);
    assert_eq!(violation_lines(&violations), expected);
}

#[track_caller]
fn result(schema: &Block, planned: &str, actual: &str, expected: &[&str]) {
    let [planned, actual] = [planned, actual].map(|text| block_value(schema, text));
    assert_eq!(violation_lines(&compatibility_violations(schema, &planned, &actual)), expected);
}

#[test]
fn planned_attributes_match_the_config_or_are_computed() {
    let schema = attributes_block(attributes_of_each_role());
    let ok = |prior, config, planned| plan(&schema, prior, config, planned, &[]);
    ok("null", r#"{"name":"a"}"#, r#"{"name":"a","id":"?","size":"?"}"#);
    ok("null", r#"{"name":"a"}"#, r#"{"name":"a","id":"x","size":"1"}"#);
    ok("null", r#"{"name":"?"}"#, r#"{"name":"?"}"#);
    ok(r#"{"name":"a","size":"1"}"#, r#"{"name":"a","size":"2"}"#, r#"{"name":"a","size":"2"}"#);
    // The provider may consider the configured value equal to the existing one.
    ok(r#"{"name":"a"}"#, r#"{"name":"A"}"#, r#"{"name":"a"}"#);
    ok(r#"{"name":"a"}"#, r#"{"name":"?"}"#, r#"{"name":"a"}"#);
    ok("null", "null", "null");

    let check_plan =
        |prior, config, planned, expected: &str| plan(&schema, prior, config, planned, &[expected]);
    check_plan("null", r#"{"name":"a"}"#, "null", "planned for absence but config wants existence");
    check_plan("null", "null", r#"{"name":"a"}"#, "planned for existence but config wants absence");
    check_plan(
        "null",
        r#"{"name":"a"}"#,
        r#"{"name":"b"}"#,
        r#".name: planned value "b" does not match config value "a""#,
    );
    check_plan(
        r#"{"name":"p"}"#,
        r#"{"name":"a"}"#,
        r#"{"name":"b"}"#,
        r#".name: planned value "b" does not match config value "a" nor prior value "p""#,
    );
    check_plan(
        "null",
        r#"{"name":"a"}"#,
        r#"{"name":"?"}"#,
        r#".name: planned value (known after apply) does not match config value "a""#,
    );
    // An unknown argument may become any value, so a provider cannot know it.
    check_plan(
        "null",
        r#"{"name":"?"}"#,
        r#"{"name":"b"}"#,
        r#".name: planned value "b" does not match config value (known after apply)"#,
    );
    // Without `computed`, not even the prior value may stay.
    check_plan(
        r#"{"name":"a","note":"x"}"#,
        r#"{"name":"a"}"#,
        r#"{"name":"a","note":"x"}"#,
        r#".note: planned value "x" for a non-computed attribute"#,
    );
    check_plan(
        r#"{"name":"a","size":"1"}"#,
        r#"{"name":"a","size":"2"}"#,
        r#"{"name":"a"}"#,
        r#".size: planned value null does not match config value "2" nor prior value "1""#,
    );
}

#[test]
fn write_only_attributes_are_planned_null_and_sensitive_values_not_shown() {
    let secret = Attribute { sensitive: true, ..text_attribute(Role::Optional) };
    let pass = Attribute { write_only: true, ..text_attribute(Role::Optional) };
    let schema = attributes_block(vec![("secret", secret), ("pass", pass)]);
    // It is sent to the provider in the configuration, and is in no plan and no state.
    plan(&schema, "null", r#"{"pass":"p"}"#, "{}", &[]);
    plan(
        &schema,
        "null",
        r#"{"pass":"p"}"#,
        r#"{"pass":"q"}"#,
        &[".pass: planned value for write-only attribute is not null"],
    );
    plan(
        &schema,
        "null",
        r#"{"secret":"p"}"#,
        r#"{"secret":"q"}"#,
        &[".secret: sensitive planned value does not match config value"],
    );
    plan(
        &schema,
        r#"{"secret":"r"}"#,
        r#"{"secret":"p"}"#,
        r#"{"secret":"q"}"#,
        &[".secret: sensitive planned value does not match config value nor prior value"],
    );
    plan(
        &schema,
        "null",
        "{}",
        r#"{"secret":"q"}"#,
        &[".secret: sensitive planned value for a non-computed attribute"],
    );
    let sent = block_value(&schema, r#"{"pass":"p"}"#);
    assert_eq!(
        violation_lines(&write_only_violations(&schema, &sent)),
        [".pass: write-only attribute is not null",]
    );
    assert_eq!(write_only_violations(&schema, &block_value(&schema, r#"{"secret":"p"}"#)), []);
}

#[test]
fn nested_attributes_are_checked_individually() {
    let of =
        |nesting| attributes_block(vec![("x", nested_attribute(nesting, Role::Optional, two()))]);
    let single = of(Nesting::Single);
    plan(&single, "null", r#"{"x":{"n":"a"}}"#, r#"{"x":{"n":"a","o":"?"}}"#, &[]);
    plan(
        &single,
        "null",
        r#"{"x":{"n":"a"}}"#,
        r#"{"x":{"n":"b"}}"#,
        &[r#".x.n: planned value "b" does not match config value "a""#],
    );
    plan(
        &single,
        "null",
        r#"{"x":{"n":"a"}}"#,
        "{}",
        &[".x: planned for absence but config wants existence"],
    );
    let list = of(Nesting::List);
    plan(&list, "null", r#"{"x":[{"n":"a"}]}"#, r#"{"x":[{"n":"a","o":"1"}]}"#, &[]);
    plan(
        &list,
        "null",
        r#"{"x":[{"n":"a"}]}"#,
        r#"{"x":[]}"#,
        &[".x: count in plan (0) disagrees with count in config (1)"],
    );
    // The prior element is the one at the same index.
    plan(
        &list,
        r#"{"x":[{"n":"p"}]}"#,
        r#"{"x":[{"n":"a"}]}"#,
        r#"{"x":[{"n":"b"}]}"#,
        &[r#".x[0].n: planned value "b" does not match config value "a" nor prior value "p""#],
    );
    let map = of(Nesting::Map);
    plan(&map, "null", r#"{"x":{"k":{"n":"a"}}}"#, r#"{"x":{"k":{"n":"a","o":"1"}}}"#, &[]);
    plan(
        &map,
        "null",
        r#"{"x":{"k":{"n":"a"}}}"#,
        r#"{"x":{"l":{"n":"a"}}}"#,
        &[
            ".x: map key \"l\" from plan is not present in config",
            ".x: map key \"k\" from config is not present in plan",
        ],
    );
    // An object with only null attributes may be planned as null, as Terraform 1.11 allows.
    plan(&map, "null", r#"{"x":{"k":{}}}"#, r#"{"x":{"k":null}}"#, &[]);
    plan(
        &map,
        "null",
        r#"{"x":{"k":{"n":"a"}}}"#,
        r#"{"x":{"k":null}}"#,
        &[r#".x["k"].n: planned value null does not match config value "a""#],
    );
    let set = of(Nesting::Set);
    // Elements of a set have no keys, so Terraform compares only their number here.
    plan(&set, "null", r#"{"x":[{"n":"a"}]}"#, r#"{"x":[{"n":"b"}]}"#, &[]);
    plan(
        &set,
        "null",
        r#"{"x":[{"n":"a"}]}"#,
        r#"{"x":[{"n":"a"},{"n":"b"}]}"#,
        &[".x: count in plan (2) disagrees with count in config (1)"],
    );
    let config = block_value(&list, r#"{"x":[{"n":"a"}]}"#);
    let planned = with_unknown_attribute(&config, "x");
    let violations = plan_violations(&list, &block_value(&list, "null"), &config, &planned);
    assert_eq!(violation_lines(&violations), [".x: planned unknown for configured value"]);
}

#[test]
fn the_number_of_nested_blocks_matches_the_config() {
    let of = |nesting| {
        with_nested_block(attributes_block(vec![]), "b", nesting, attributes_block(two()))
    };
    let list = of(Nesting::List);
    plan(&list, "null", r#"{"b":[{"n":"a"}]}"#, r#"{"b":[{"n":"a","o":"?"}]}"#, &[]);
    plan(
        &list,
        "null",
        r#"{"b":[{"n":"a"}]}"#,
        r#"{"b":[]}"#,
        &[".b: block count in plan (0) disagrees with count in config (1)"],
    );
    plan(
        &list,
        "null",
        r#"{"b":[{"n":"a"}]}"#,
        r#"{"b":[{"n":"b"}]}"#,
        &[r#".b[0].n: planned value "b" does not match config value "a""#],
    );
    let map = of(Nesting::Map);
    plan(
        &map,
        "null",
        r#"{"b":{"k":{"n":"a"}}}"#,
        r#"{"b":{"k":{"n":"c"}}}"#,
        &[r#".b["k"].n: planned value "c" does not match config value "a""#],
    );
    let single = of(Nesting::Single);
    plan(
        &single,
        "null",
        r#"{"b":{"n":"a"}}"#,
        "{}",
        &[".b: planned for absence but config wants existence"],
    );
    let set = of(Nesting::Set);
    // For blocks not even the number: Terraform trusts the provider.
    plan(&set, "null", r#"{"b":[{"n":"a"}]}"#, r#"{"b":[{"n":"b"},{"n":"c"}]}"#, &[]);
    for (nesting, kind) in [(Nesting::List, "list"), (Nesting::Set, "set"), (Nesting::Map, "map")] {
        let schema = of(nesting);
        let (null, empty) = (block_value(&schema, "null"), block_value(&schema, "{}"));
        let violations = plan_violations(
            &schema,
            &null,
            &empty,
            &block_value_missing_blocks_null(&schema, "{}"),
        );
        assert_eq!(
            violation_lines(&violations),
            [format!(
                ".b: attribute representing a {kind} of nested blocks must be empty to indicate no blocks, not null"
            )]
        );
        let unknown = with_unknown_attribute(&empty, "b");
        // An unknown block is a `dynamic` block over an unknown value.
        assert_eq!(plan_violations(&schema, &null, &unknown, &unknown), []);
        let violations = violation_lines(&plan_violations(&schema, &null, &unknown, &empty));
        assert!(violations[0].ends_with("for unknown dynamic block"), "{violations:?}");
        let violations = violation_lines(&plan_violations(&schema, &null, &empty, &unknown));
        assert_eq!(
            violations,
            [
                ".b: attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead"
            ]
        );
    }
}

#[test]
fn known_planned_values_must_match_the_result() {
    let mut attributes = attributes_of_each_role();
    attributes.push(("list", Attribute::new(Type::list(Type::String), Role::Optional)));
    attributes.push(("map", Attribute::new(Type::map(Type::String), Role::Optional)));
    attributes.push(("set", Attribute::new(Type::set(Type::String), Role::Optional)));
    let schema = attributes_block(attributes);
    let ok = |planned, actual| result(&schema, planned, actual, &[]);
    ok("null", "null");
    ok(r#"{"name":"a","id":"?"}"#, r#"{"name":"a","id":"1"}"#);
    // Unknown promises nothing, so null conforms.
    ok(r#"{"name":"a","id":"?"}"#, r#"{"name":"a"}"#);
    ok(r#"{"list":["a","?"],"map":{"k":"?"}}"#, r#"{"list":["a","b"],"map":{"k":"v"}}"#);
    ok(r#"{"set":["a","?"]}"#, r#"{"set":["a","b"]}"#);
    // The unknown element may turn out to be equal to the other.
    ok(r#"{"set":["a","?"]}"#, r#"{"set":["a"]}"#);
    let check_result =
        |planned, actual, expected: &[&str]| result(&schema, planned, actual, expected);
    check_result("{}", "null", &["Root object was present, but now absent"]);
    check_result("null", "{}", &["Root object was absent, but now present"]);
    check_result(r#"{"name":"a"}"#, r#"{"name":"b"}"#, &[r#".name: was "a", but now "b""#]);
    check_result(r#"{"name":"a"}"#, "{}", &[r#".name: was "a", but now null"#]);
    check_result("{}", r#"{"name":"b"}"#, &[r#".name: was null, but now "b""#]);
    check_result(r#"{"name":"a"}"#, r#"{"name":"?"}"#, &[".name: was known, but now unknown"]);
    check_result(r#"{"list":["a","b"]}"#, r#"{"list":["a"]}"#, &[".list: element 1 has vanished"]);
    check_result(
        r#"{"map":{"k":"v"}}"#,
        r#"{"map":{"l":"v"}}"#,
        &[".map: element \"k\" has vanished", ".map: new element \"l\" has appeared"],
    );
    check_result(r#"{"list":["a"]}"#, r#"{"list":["b"]}"#, &[r#".list[0]: was "a", but now "b""#]);
    check_result(
        r#"{"set":["a"]}"#,
        r#"{"set":["b"]}"#,
        &[r#".set: planned set element "a" does not correlate with any element in actual"#],
    );
    check_result(
        r#"{"set":["a"]}"#,
        r#"{"set":["a","b"]}"#,
        &[
            r#".set: actual set element "b" does not correlate with any element in plan"#,
            ".set: length changed from 1 to 2",
        ],
    );
    // One unknown element becomes one element at most.
    check_result(r#"{"set":["?"]}"#, r#"{"set":["a","b"]}"#, &[".set: length changed from 1 to 2"]);
}

#[test]
fn a_sensitive_difference_is_not_described() {
    let schema = attributes_block(vec![(
        "s",
        Attribute { sensitive: true, ..text_attribute(Role::Optional) },
    )]);
    result(
        &schema,
        r#"{"s":"a"}"#,
        r#"{"s":"b"}"#,
        &[".s: inconsistent values for sensitive attribute"],
    );
}

#[test]
fn result_blocks_must_match_the_plan() {
    let of = |nesting| {
        with_nested_block(attributes_block(vec![]), "b", nesting, attributes_block(two()))
    };
    let list = of(Nesting::List);
    result(&list, r#"{"b":[{"n":"a","o":"?"}]}"#, r#"{"b":[{"n":"a","o":"1"}]}"#, &[]);
    result(&list, r#"{"b":[{"n":"a"}]}"#, r#"{"b":[]}"#, &[".b: block count changed from 1 to 0"]);
    result(
        &list,
        r#"{"b":[{"n":"a"}]}"#,
        r#"{"b":[{"n":"b"}]}"#,
        &[r#".b[0].n: was "a", but now "b""#],
    );
    let map = of(Nesting::Map);
    result(
        &map,
        r#"{"b":{"k":{"n":"a"}}}"#,
        r#"{"b":{"l":{"n":"a"}}}"#,
        &[".b: block key \"k\" has vanished", ".b: new block key \"l\" has appeared"],
    );
    let single = of(Nesting::Single);
    result(&single, r#"{"b":{"n":"a"}}"#, "{}", &[".b: was present, but now absent"]);
    let set = of(Nesting::Set);
    result(
        &set,
        r#"{"b":[{"n":"a","o":"?"},{"n":"b"}]}"#,
        r#"{"b":[{"n":"b"},{"n":"a","o":"1"}]}"#,
        &[],
    );
    result(
        &set,
        r#"{"b":[{"n":"a","o":"1"}]}"#,
        r#"{"b":[{"n":"a","o":"2"}]}"#,
        &[
            r#".b: planned set element {"n" = "a", "o" = "1"} does not correlate with any element in actual"#,
        ],
    );
    // Both fit the planned element, so only the number differs.
    result(
        &set,
        r#"{"b":[{"n":"a","o":"?"}]}"#,
        r#"{"b":[{"n":"a","o":"1"},{"n":"a","o":"2"}]}"#,
        &[".b: block set length changed from 1 to 2"],
    );
    // A `dynamic` block over an unknown value may have produced any blocks.
    for nesting in [Nesting::Single, Nesting::List, Nesting::Set, Nesting::Map] {
        let schema = of(nesting);
        let actual = block_value(&schema, "{}");
        assert_eq!(
            compatibility_violations(&schema, &with_unknown_attribute(&actual, "b"), &actual),
            []
        );
    }
}

#[test]
fn a_large_set_is_no_matter() {
    let schema =
        with_nested_block(attributes_block(vec![]), "b", Nesting::Set, attributes_block(two()));
    let elements = |o: &dyn Fn(usize) -> String| {
        let list: Vec<String> = (0..3000)
            .map(|index| format!("{{\"n\":\"n{index}\",\"o\":\"{}\"}}", o(index)))
            .collect();
        block_value(&schema, &format!("{{\"b\":[{}]}}", list.join(",")))
    };
    let planned = elements(&|_| "?".into());
    let actual = elements(&|index| index.to_string());
    assert_eq!(compatibility_violations(&schema, &planned, &actual), []);
    // All known, all unknown and all different: none of them makes each meet each.
    assert_eq!(compatibility_violations(&schema, &actual, &actual), []);
    let names = |text: &dyn Fn(usize) -> String| {
        let list: Vec<Value> = (0..20_000).map(|index| Value::string(text(index))).collect();
        let set = Value::set(Type::String, list);
        Plain::try_from(Value::object([("s", set)])).unwrap()
    };
    let schema =
        attributes_block(vec![("s", Attribute::new(Type::set(Type::String), Role::Computed))]);
    let known_names = names(&|index| format!("n{index}"));
    assert_eq!(compatibility_violations(&schema, &known_names, &known_names), []);
    let other_names = names(&|index| format!("m{index}"));
    assert_eq!(compatibility_violations(&schema, &known_names, &other_names).len(), 20_000);
}

#[test]
fn an_unknown_value_must_match_its_refinement() {
    let schema =
        |ty: &Type| attributes_block(vec![("a", Attribute::new(ty.clone(), Role::Computed))]);
    let of = |part: Value| Plain::try_from(Value::object([("a", part)])).unwrap();
    let check = |ty: Type, refinement: &Refinement, actual: Value| {
        let unknown = Value::Unknown(Arc::new(Unknown::refined(ty.clone(), refinement.clone())));
        let violations = compatibility_violations(&schema(&ty), &of(unknown), &of(actual));
        violation_lines(&violations)
    };
    let fine: [&str; 0] = [];
    let prefix = Refinement { prefix: Some("xyz".into()), not_null: true, ..Refinement::default() };
    assert_eq!(check(Type::String, &prefix, Value::string("xyz1")), fine);
    assert_eq!(
        check(Type::String, &prefix, Value::string("q")),
        [
            r#".a: final value "q" does not conform to planning placeholder (unknown string: not null, beginning with "xyz")"#,
        ]
    );
    assert_eq!(check(Type::String, &prefix, Value::null(Type::String)).len(), 1);
    let bounds = Refinement {
        lower: Some((0_i64.into(), true)),
        // `false`: the bound itself is excluded.
        upper: Some((10_i64.into(), false)),
        ..Refinement::default()
    };
    assert_eq!(check(Type::Number, &bounds, Value::int(0)), fine);
    assert_eq!(check(Type::Number, &bounds, Value::int(10)).len(), 1);
    assert_eq!(check(Type::Number, &bounds, Value::int(-1)).len(), 1);
    let length = Refinement { min_length: 1, max_length: Some(2), ..Refinement::default() };
    let list = |n: usize| Value::list(Type::Bool, vec![Value::Bool(true); n]);
    for (n, allowed) in [(0, false), (1, true), (2, true), (3, false)] {
        let violations = check(Type::list(Type::Bool), &length, list(n));
        assert_eq!(violations.is_empty(), allowed, "{n}");
    }
}

#[test]
fn destroy_plans_unknown_values_and_types_are_checked() {
    let schema = attributes_block(attributes_of_each_role());
    assert_eq!(destroy_plan_violations(&default_destroy_plan(&schema)), []);
    assert_eq!(
        violation_lines(&destroy_plan_violations(&block_value(&schema, "{}"))),
        ["planned a non-null destroy value",]
    );
    let partly = block_value(&schema, r#"{"name":"a","id":"?"}"#);
    assert_eq!(violation_lines(&unknown_violations(&partly)), [".id: the value is unknown"]);
    assert_eq!(unknown_violations(&block_value(&schema, r#"{"name":"a"}"#)), []);
    assert_eq!(type_violations(&schema, &partly), []);
    // It lacks the other attributes, and an object type of cty has all of them.
    let other_object = Plain::try_from(Value::object([("name", Value::string("a"))])).unwrap();
    assert_eq!(type_violations(&schema, &other_object).len(), 1);
}
