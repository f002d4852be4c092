//! Effects of `ignore_changes` on a configuration.

use super::super::fixtures::{
    attributes_block, attributes_of_each_role, block_value, compact_notation, nested_attribute,
    text_attribute, with_nested_block,
};
use super::*;
use formwork_value::Marks;

fn schema() -> Block {
    let mut attributes = attributes_of_each_role();
    attributes.push(("tags", Attribute::new(Type::map(Type::String), Role::Optional)));
    attributes.push((
        "net",
        nested_attribute(Nesting::Single, Role::Optional, attributes_of_each_role()),
    ));
    with_nested_block(
        attributes_block(attributes),
        "disk",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    )
}

#[track_caller]
fn check(paths: Vec<Path>, prior: &str, config: &str, expected: &str) {
    let schema = schema();
    let (prior, config) = (block_value(&schema, prior), block_value(&schema, config));
    let result = IgnoredChanges::Paths(paths).apply_to_config(&schema, &prior, &config);
    assert_eq!(compact_notation(&result), expected);
}

fn at(name: &str) -> Path {
    Path::root().attribute(name)
}

#[test]
fn listed_paths_keep_their_prior_value() {
    let prior = r#"{"name":"a","note":"b","disk":[{"name":"d"}],"net":{"name":"x","id":"y"}}"#;
    let config = r#"{"name":"A","disk":[{"name":"D"},{"name":"E"}],"net":{"name":"X"}}"#;
    check(vec![at("name")], prior, config, "{disk:[{name:D} {name:E}] name:a net:{name:X}}");
    check(vec![at("note")], prior, config, "{disk:[{name:D} {name:E}] name:A net:{name:X} note:b}");
    check(
        vec![at("net").attribute("name")],
        prior,
        config,
        "{disk:[{name:D} {name:E}] name:A net:{name:x}}",
    );
    check(vec![at("disk")], prior, config, "{disk:[{name:d}] name:A net:{name:X}}");
    // There was one disk and no `no`, so two of the paths do not exist.
    check(
        vec![
            at("disk").index(0).attribute("name"),
            at("disk").index(1).attribute("name"),
            at("no"),
        ],
        prior,
        config,
        "{disk:[{name:d} {name:E}] name:A net:{name:X}}",
    );
}

#[test]
fn a_trailing_key_ignores_only_that_key_of_a_map() {
    let prior = r#"{"tags":{"a":"1","b":"2"}}"#;
    let table = [
        ("a", r#"{"tags":{"a":"9","c":"3"}}"#, "{tags:{a:1 c:3}}"),
        ("a", r#"{"tags":{"c":"3"}}"#, "{tags:{a:1 c:3}}"),
        // Without a prior value, the key goes away.
        ("c", r#"{"tags":{"c":"3"}}"#, "{tags:{}}"),
        ("c", r#"{"tags":{"a":"9","c":"3"}}"#, "{tags:{a:9}}"),
        // A null map becomes a map for the sake of the key.
        ("a", "{}", "{tags:{a:1}}"),
        ("c", "{}", "{}"),
    ];
    for (key, config, expected) in table {
        check(vec![at("tags").key(key)], prior, config, expected);
    }
    check(vec![at("tags").key("a"), at("tags").key("b")], prior, "{}", "{tags:{a:1 b:2}}");
    check(vec![at("tags").key("a")], "{}", r#"{"tags":{"a":"9","b":"1"}}"#, "{tags:{b:1}}");
    check(vec![at("tags")], prior, "{}", "{tags:{a:1 b:2}}");
}

#[test]
fn an_unknown_map_is_unchanged() {
    let schema = schema();
    let prior = block_value(&schema, r#"{"tags":{"a":"1"}}"#);
    // Keys of an unknown map are unknown too, so none can be put back.
    let config =
        super::super::fixtures::with_unknown_attribute(&block_value(&schema, "{}"), "tags");
    let result =
        IgnoredChanges::Paths(vec![at("tags").key("a")]).apply_to_config(&schema, &prior, &config);
    assert_eq!(result, config);
}

#[test]
fn ignoring_all_makes_the_prior_object_the_configuration() {
    let schema = schema();
    let prior = block_value(
        &schema,
        r#"{"name":"a","id":"i","size":"1","net":{"id":"j","name":"x"},"disk":[{"id":"k","name":"d"}]}"#,
    );
    let config = block_value(&schema, r#"{"name":"A","note":"n"}"#);
    let result = IgnoredChanges::All.apply_to_config(&schema, &prior, &config);
    // `id` is only computed, so it is in no configuration.
    assert_eq!(compact_notation(&result), "{disk:[{name:d}] name:a net:{name:x} size:1}");
    assert_eq!(IgnoredChanges::All.apply_to_planned(&prior, &config), prior);
}

#[test]
fn nothing_is_ignored_when_there_is_no_prior_object() {
    let schema = schema();
    let (null, config) = (block_value(&schema, "null"), block_value(&schema, r#"{"name":"A"}"#));
    for ignore in [IgnoredChanges::All, IgnoredChanges::Paths(vec![at("name")])] {
        assert_eq!(ignore.apply_to_config(&schema, &null, &config), config);
        assert_eq!(ignore.apply_to_planned(&null, &config), config);
    }
}

#[test]
fn planned_values_at_ignored_paths_are_reset_to_prior() {
    let schema = attributes_block(vec![
        ("name", text_attribute(Role::Optional)),
        ("id", text_attribute(Role::Computed)),
    ]);
    let prior = block_value(&schema, r#"{"name":"a","id":"1"}"#);
    // Providers with the old SDK may plan a hash instead of the configured value.
    let planned = block_value(&schema, r#"{"name":"hash","id":"?"}"#);
    let result = IgnoredChanges::Paths(vec![at("name")]).apply_to_planned(&prior, &planned);
    assert_eq!(compact_notation(&result), "{id:? name:a}");
    assert_eq!(result.value().all_marks(), Marks::NONE);
}
