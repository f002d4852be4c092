//! Tables of prior objects and configurations, with what is proposed for them.

use super::super::fixtures::{
    attributes_block, attributes_of_each_role, block_value, compact_notation, nested_attribute,
    text_attribute, with_nested_block, with_unknown_attribute,
};
use super::*;

#[track_caller]
fn check(block: &Block, prior: &str, config: &str, expected: &str) {
    let (prior, config) = (block_value(block, prior), block_value(block, config));
    assert_eq!(compact_notation(&proposed_new(block, &prior, &config)), expected);
}

#[test]
fn on_creation_computed_attributes_are_null() {
    let schema = with_nested_block(
        attributes_block(attributes_of_each_role()),
        "disk",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    let proposed = proposed_new(
        &schema,
        &block_value(&schema, "null"),
        &block_value(&schema, r#"{"name":"n"}"#),
    );
    assert_eq!(compact_notation(&proposed), "{name:n}");
    assert_eq!(proposed.value().ty(), schema.implied_type());
    check(
        &schema,
        "null",
        r#"{"name":"n","size":"1","note":"?","disk":[{"name":"d"}]}"#,
        "{disk:[{name:d}] name:n note:? size:1}",
    );
}

#[test]
fn on_update_computed_values_are_kept_unless_configured() {
    let schema = attributes_block(attributes_of_each_role());
    let prior = r#"{"id":"i","name":"old","note":"old","size":"1"}"#;
    check(&schema, prior, r#"{"name":"new"}"#, "{id:i name:new size:1}");
    check(&schema, prior, r#"{"name":"new","size":"2"}"#, "{id:i name:new size:2}");
    check(&schema, prior, r#"{"name":"?","size":"?"}"#, "{id:i name:? size:?}");
    // A host does not stop authors from setting what only the provider may.
    check(&schema, prior, r#"{"name":"new","id":"x"}"#, "{id:x name:new size:1}");
    // No host requests this. The answer is Terraform's.
    check(&schema, prior, "null", "{id:i name:old note:old size:1}");
    check(&schema, "null", "null", "null");
}

#[test]
fn a_nested_attribute_that_was_configured_and_is_no_longer_becomes_null() {
    let inner =
        || vec![("a", text_attribute(Role::Optional)), ("c", text_attribute(Role::Computed))];
    for (nesting, authored, computed) in [
        // Only an author can have set `a`, and only the provider `c`.
        (Nesting::Single, r#"{"a":"1","c":"2"}"#, r#"{"c":"2"}"#),
        (Nesting::List, r#"[{"a":"1"}]"#, r#"[{"c":"2"}]"#),
        (Nesting::Map, r#"{"k":{"a":"1"}}"#, r#"{"k":{"c":"2"}}"#),
        (Nesting::Set, r#"[{"a":"1"}]"#, r#"[{"c":"2"}]"#),
    ] {
        let schema = attributes_block(vec![(
            "n",
            nested_attribute(nesting, Role::OptionalComputed, inner()),
        )]);
        check(&schema, &format!("{{\"n\":{authored}}}"), "{}", "{}");
        let prior = block_value(&schema, &format!("{{\"n\":{computed}}}"));
        assert_eq!(proposed_new(&schema, &prior, &block_value(&schema, "{}")), prior);
        // A computed-only attribute counts as not configured, regardless of its value.
        let schema =
            attributes_block(vec![("n", nested_attribute(nesting, Role::Computed, inner()))]);
        let prior = block_value(&schema, &format!("{{\"n\":{authored}}}"));
        assert_eq!(proposed_new(&schema, &prior, &block_value(&schema, "{}")), prior);
        let schema =
            attributes_block(vec![("n", nested_attribute(nesting, Role::Optional, inner()))]);
        check(&schema, &format!("{{\"n\":{authored}}}"), "{}", "{}");
    }
}

#[test]
fn elements_of_lists_correspond_by_index() {
    let prior = r#"{"n":[{"name":"a","id":"1"},{"name":"b","id":"2"}]}"#;
    let config = r#"{"n":[{"name":"b"},{"name":"c"},{"name":"d"}]}"#;
    let expected = "{n:[{id:1 name:b} {id:2 name:c} {name:d}]}";
    let blocks = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    check(&blocks, prior, config, expected);
    let attributes = attributes_block(vec![(
        "n",
        nested_attribute(Nesting::List, Role::Optional, attributes_of_each_role()),
    )]);
    check(&attributes, prior, config, expected);
    check(&attributes, prior, r#"{"n":[]}"#, "{}");
}

#[test]
fn elements_of_maps_correspond_by_key() {
    let prior = r#"{"n":{"a":{"name":"1","id":"i"},"b":{"name":"2","id":"j"}}}"#;
    let config = r#"{"n":{"b":{"name":"3"},"c":{"name":"4"}}}"#;
    let expected = "{n:{b:{id:j name:3} c:{name:4}}}";
    let blocks = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::Map,
        attributes_block(attributes_of_each_role()),
    );
    check(&blocks, prior, config, expected);
    let attributes = attributes_block(vec![(
        "n",
        nested_attribute(Nesting::Map, Role::Optional, attributes_of_each_role()),
    )]);
    check(&attributes, prior, config, expected);
}

#[test]
fn elements_of_sets_correspond_by_configured_attributes() {
    let prior =
        r#"{"n":[{"name":"a","id":"1"},{"name":"b","id":"2","size":"5"},{"name":"b","id":"3"}]}"#;
    let table = [
        // The configuration is the same, so the computed parts come along.
        (r#"[{"name":"b"},{"name":"a"}]"#, "{n:[{id:1 name:a} {id:2 name:b size:5}]}"),
        (
            r#"[{"name":"b","size":"5"},{"name":"b","id":"3"},{"name":"b","note":"x"}]"#,
            "{n:[{id:2 name:b size:5} {id:3 name:b} {name:b note:x}]}",
        ),
        // Something configured differs: the element is a new one.
        (r#"[{"name":"a","note":"x"}]"#, "{n:[{name:a note:x}]}"),
        (r#"[{"name":"b","size":"6"}]"#, "{n:[{name:b size:6}]}"),
        // An unknown name may become any name, so the element keeps nothing.
        (r#"[{"name":"?"}]"#, "{n:[{name:?}]}"),
        ("[]", "{}"),
    ];
    let blocks = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::Set,
        attributes_block(attributes_of_each_role()),
    );
    let attributes = attributes_block(vec![(
        "n",
        nested_attribute(Nesting::Set, Role::Optional, attributes_of_each_role()),
    )]);
    for schema in [blocks, attributes] {
        for (config, expected) in table {
            let config = block_value(&schema, &format!("{{\"n\":{config}}}"));
            let proposed = proposed_new(&schema, &block_value(&schema, prior), &config);
            let mut results: Vec<String> =
                compact_notation(&proposed).split(' ').map(str::to_owned).collect();
            let mut expected: Vec<String> = expected.split(' ').map(str::to_owned).collect();
            // The order of objects in a set is of no account.
            let tidy = |word: &mut String| {
                word.retain(|char| !"{}[]".contains(char));
                *word = word.replace("n:", "").replace("name:", "n:");
            };
            results.iter_mut().for_each(tidy);
            expected.iter_mut().for_each(tidy);
            results.sort();
            expected.sort();
            assert_eq!(results, expected);
        }
    }
}

#[test]
fn each_prior_element_is_used_once() {
    let schema = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::Set,
        attributes_block(attributes_of_each_role()),
    );
    let prior = block_value(&schema, r#"{"n":[{"name":"b","id":"2","size":"5"}]}"#);
    let config = block_value(&schema, r#"{"n":[{"name":"b"},{"name":"b","size":"5"}]}"#);
    // Used twice, it would make the two equal.
    let proposed = proposed_new(&schema, &prior, &config);
    assert_eq!(proposed.value().children()[0].children().len(), 2);
}

#[test]
fn nested_collections_distinguish_set_elements() {
    let inner = with_nested_block(
        attributes_block(attributes_of_each_role()),
        "deep",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    let schema = with_nested_block(attributes_block(vec![]), "n", Nesting::Set, inner);
    let prior = r#"{"n":[{"name":"a","deep":[{"name":"x","id":"1"}]}]}"#;
    check(
        &schema,
        prior,
        r#"{"n":[{"name":"a","deep":[{"name":"x"}]}]}"#,
        "{n:[{deep:[{id:1 name:x}] name:a}]}",
    );
    check(
        &schema,
        prior,
        r#"{"n":[{"name":"a","deep":[{"name":"y"}]}]}"#,
        "{n:[{deep:[{name:y}] name:a}]}",
    );
    check(&schema, prior, r#"{"n":[{"name":"a"}]}"#, "{n:[{name:a}]}");
    // `note` was configured and is no longer, so the element is another one.
    let noted = r#"{"n":[{"name":"a","deep":[{"name":"x","id":"1","note":"q"}]}]}"#;
    let config = r#"{"n":[{"name":"a","deep":[{"name":"x"}]}]}"#;
    check(&schema, noted, config, "{n:[{deep:[{name:x}] name:a}]}");
}

#[test]
fn a_large_set_is_no_matter() {
    let schema = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::Set,
        attributes_block(attributes_of_each_role()),
    );
    let elements = |id: &dyn Fn(usize) -> String| {
        let list: Vec<String> =
            (0..3000).map(|index| format!("{{\"name\":\"n{index}\"{}}}", id(index))).collect();
        block_value(&schema, &format!("{{\"n\":[{}]}}", list.join(",")))
    };
    let prior = elements(&|index| format!(",\"id\":\"i{index}\""));
    let config = elements(&|_| String::new());
    assert_eq!(proposed_new(&schema, &prior, &config), prior);
}

#[test]
fn dynamic_blocks_over_unknown_values_stay_unknown() {
    for nesting in [Nesting::Single, Nesting::List, Nesting::Set, Nesting::Map] {
        let schema = with_nested_block(
            attributes_block(vec![]),
            "n",
            nesting,
            attributes_block(attributes_of_each_role()),
        );
        let config = with_unknown_attribute(&block_value(&schema, "{}"), "n");
        let prior = block_value(&schema, "{}");
        assert_eq!(compact_notation(&proposed_new(&schema, &prior, &config)), "{n:?}");
    }
}

#[test]
fn single_blocks_may_be_absent_and_groups_never_are() {
    let single = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::Single,
        attributes_block(attributes_of_each_role()),
    );
    check(&single, r#"{"n":{"name":"a","id":"1"}}"#, "{}", "{}");
    check(&single, r#"{"n":{"name":"a","id":"1"}}"#, r#"{"n":{"name":"b"}}"#, "{n:{id:1 name:b}}");
    check(&single, "{}", r#"{"n":{"name":"b"}}"#, "{n:{name:b}}");
    let group = with_nested_block(
        attributes_block(vec![]),
        "n",
        Nesting::Group,
        attributes_block(attributes_of_each_role()),
    );
    check(&group, r#"{"n":{"name":"a","id":"1"}}"#, "{}", "{n:{id:1}}");
    check(&group, "null", "{}", "{n:{}}");
}

#[test]
fn an_unknown_prior_makes_computed_attributes_unknown() {
    let schema = with_nested_block(
        attributes_block(attributes_of_each_role()),
        "one",
        Nesting::Single,
        attributes_block(attributes_of_each_role()),
    );
    let schema = with_nested_block(
        schema,
        "list",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    let schema =
        with_nested_block(schema, "set", Nesting::Set, attributes_block(attributes_of_each_role()));
    let prior = Plain::try_from(Value::unknown(schema.implied_type())).unwrap();
    let config = block_value(
        &schema,
        r#"{"name":"n","one":{"name":"a"},"list":[{"name":"b","size":"1"}],"set":[{"name":"c"}]}"#,
    );
    // The elements of an unknown set cannot be matched, so `set` gets nothing from them.
    assert_eq!(
        compact_notation(&proposed_new(&schema, &prior, &config)),
        "{id:? list:[{id:? name:b size:1}] name:n one:{id:? name:a size:?} set:[{name:c}] size:?}"
    );
}

#[test]
fn blocks_with_dynamic_attributes_keep_their_element_types() {
    let open = Attribute::new(Type::Dynamic, Role::Optional);
    let inner = attributes_block(vec![("d", open), ("id", text_attribute(Role::Computed))]);
    let schema = with_nested_block(attributes_block(vec![]), "n", Nesting::List, inner.clone());
    let element = |d: Value, id: Value| Value::object([("d", d), ("id", id)]);
    // With a part of any type, the elements may differ in type, so the blocks are a tuple.
    let of =
        |items: Vec<Value>| Plain::try_from(Value::object([("n", Value::tuple(items))])).unwrap();
    let prior = of(vec![element(Value::string("x"), Value::string("1"))]);
    let null = || Value::null(Type::String);
    let config = of(vec![element(Value::int(5), null()), element(Value::Bool(true), null())]);
    let expected =
        of(vec![element(Value::int(5), Value::string("1")), element(Value::Bool(true), null())]);
    assert_eq!(proposed_new(&schema, &prior, &config), expected);
}

#[test]
fn empty_computed_blocks_become_null() {
    let mut schema = with_nested_block(
        attributes_block(attributes_of_each_role()),
        "n",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    let config = block_value(&schema, r#"{"name":"a"}"#);
    assert_eq!(empty_computed_blocks_to_null(&schema, &config), config);
    schema.blocks.get_mut("n").unwrap().computed = true;
    let sent = empty_computed_blocks_to_null(&schema, &config);
    assert!(attribute_value(sent.value(), "n", || Type::Dynamic).is_null());
    let configured = block_value(&schema, r#"{"name":"a","n":[{"name":"b"}]}"#);
    assert_eq!(empty_computed_blocks_to_null(&schema, &configured), configured);
}
