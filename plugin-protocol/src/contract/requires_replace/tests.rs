//! Paths from a provider that force replacement.

use super::super::fixtures::{
    attributes_block, attributes_of_each_role, block_value, text_attribute, violation_lines,
    with_nested_block,
};
use super::*;
use formwork_value::schema::{Attribute, Nesting, Role};

fn schema() -> Block {
    let mut attributes = attributes_of_each_role();
    attributes.push(("tags", Attribute::new(Type::map(Type::String), Role::Optional)));
    attributes.push(("pass", Attribute { write_only: true, ..text_attribute(Role::Optional) }));
    let outer = with_nested_block(
        attributes_block(attributes),
        "disk",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    with_nested_block(outer, "rule", Nesting::Set, attributes_block(attributes_of_each_role()))
}

fn check(prior: &str, planned: &str, paths: &[Path]) -> (Vec<String>, Vec<String>) {
    let schema = schema();
    let (prior, planned) = (block_value(&schema, prior), block_value(&schema, planned));
    let forcing = paths_requiring_replace(&schema, &prior, &planned, paths);
    let violations = missing_replace_path_violations(&prior, &planned, paths);
    (forcing.iter().map(Path::to_string).collect(), violation_lines(&violations))
}

fn at(name: &str) -> Path {
    Path::root().attribute(name)
}

#[test]
fn only_changed_paths_require_replacement() {
    let prior = r#"{"name":"a","note":"x","disk":[{"name":"d"}],"tags":{"k":"1"}}"#;
    let planned =
        r#"{"name":"b","note":"x","id":"?","disk":[{"name":"d"},{"name":"e"}],"tags":{}}"#;
    let all = [
        at("size"),
        at("note"),
        at("name"),
        // A provider may name a path twice.
        at("name"),
        at("id"),
        at("disk").index(0).attribute("name"),
        at("disk").index(1).attribute("name"),
        at("tags").key("k"),
        at("tags").attribute("k"),
    ];
    let (paths, violations) = check(prior, planned, &all);
    assert_eq!(paths, [".disk[1].name", ".id", ".name", ".tags.k", ".tags[\"k\"]"]);
    assert_eq!(violations, [""; 0]);
}

#[test]
fn the_empty_path_is_the_whole_object() {
    let root = [Path::root()];
    assert_eq!(check(r#"{"name":"a"}"#, r#"{"name":"b"}"#, &root).0, [""]);
    assert_eq!(check(r#"{"name":"a"}"#, r#"{"name":"a"}"#, &root).0, [""; 0]);
}

#[test]
fn a_path_into_an_unknown_value_exists_if_its_type_has_that_part() {
    let planned = r#"{"name":"a","id":"?"}"#;
    let (forcing, violations) = check(r#"{"name":"a"}"#, planned, &[at("id").index(9), at("id")]);
    assert_eq!(forcing, [".id"]);
    assert_eq!(violations, [".id[9]: replacement is required for a non-existent attribute path"]);
    let part = |ty: Type, path: Path| part_at(&Value::unknown(ty), &path).map(|part| part.ty());
    let root = Path::root();
    assert_eq!(part(Type::list(Type::Bool), root.index(9)), Some(Type::Bool));
    assert_eq!(part(Type::map(Type::Bool), root.key("k")), Some(Type::Bool));
    assert_eq!(part(Type::tuple(vec![Type::Bool]), root.index(1)), None);
    // Elements of a set have no positions.
    assert_eq!(part(Type::set(Type::Bool), root.index(0)), None);
    assert_eq!(part(Type::object([("a", Type::Bool)]), root.attribute("a")), Some(Type::Bool));
    assert_eq!(part(Type::object([("a", Type::Bool)]), root.attribute("b")), None);
    assert_eq!(part(Type::object([("a", Type::Bool)]), root.index(0)), Some(Type::Dynamic));
    assert_eq!(part(Type::Dynamic, root.attribute("a")), Some(Type::Dynamic));
}

#[test]
fn a_write_only_path_requires_replacement_without_a_visible_change() {
    let (paths, _) = check(r#"{"name":"a"}"#, r#"{"name":"a"}"#, &[at("pass"), at("note")]);
    assert_eq!(paths, [".pass"]);
}

#[test]
fn a_nonexistent_path_is_a_violation() {
    let paths = [at("no"), at("disk").index(3), at("rule").index(0), at("tags").key("k")];
    let (paths, violations) = check(r#"{"rule":[{"name":"a"}]}"#, r#"{"rule":[]}"#, &paths);
    assert_eq!(paths, [""; 0]);
    let message = "replacement is required for a non-existent attribute path";
    let invalid_paths = [".no", ".disk[3]", ".rule[0]", ".tags[\"k\"]"];
    assert_eq!(violations, invalid_paths.map(|path| format!("{path}: {message}")));
}

#[test]
fn creation_replaces_nothing() {
    assert_eq!(check("null", r#"{"name":"a"}"#, &[at("name"), at("no")]), (vec![], vec![]));
}

#[test]
fn a_plan_with_unknown_parts_is_a_change() {
    let schema = schema();
    let prior = block_value(&schema, r#"{"name":"a"}"#);
    assert!(is_unchanged(&prior, &prior));
    assert!(!is_unchanged(&prior, &block_value(&schema, r#"{"name":"b"}"#)));
    let unknown = block_value(&schema, r#"{"name":"a","id":"?"}"#);
    // Equal, and yet the unknown part may become another value.
    assert!(!is_unchanged(&unknown, &unknown));
}
