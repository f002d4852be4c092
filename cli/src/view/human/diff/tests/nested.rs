//! Nested attributes, and strings of the legacy SDK, as Terraform shows them.

use expect_test::{Expect, expect};
use formwork_value::schema::{Attribute, AttributeKind, Block, NestedAttributes, Nesting, Role};
use formwork_value::{Marks, Path, Type, Value};

use super::{DiffRenderer, SCREEN};

fn leaf() -> Value {
    Value::object([("key", Value::string("k")), ("note", Value::null(Type::String))])
}

/// A leaf with another key and a note.
fn noted(key: &str, note: &str) -> Value {
    Value::object([("key", Value::string(key)), ("note", Value::string(note))])
}

fn schema(nesting: Nesting) -> Block {
    let plain = || Attribute::new(Type::String, Role::Optional);
    let attributes = [("key".into(), plain()), ("note".into(), plain())].into();
    let kind = AttributeKind::Nested(NestedAttributes { attributes, nesting });
    let attribute = Attribute { kind, ..plain() };
    Block { attributes: [("a".into(), attribute)].into(), ..Block::default() }
}

fn list(items: Vec<Value>) -> Value {
    Value::list(leaf().ty(), items)
}

fn set(items: Vec<Value>) -> Value {
    Value::set(leaf().ty(), items)
}

fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::map(leaf().ty(), pairs)
}

fn null() -> Value {
    Value::null(Type::Dynamic)
}

fn check(block: &Block, [before, after]: [Value; 2], forces: &[Path], expected: &Expect) {
    let owner = |value: Value| Value::object([("a", value)]);
    let differ = DiffRenderer { screen: &SCREEN, signs: true, keeps: false, forces };
    expected.assert_eq(&differ.render_object(block, &owner(before), &owner(after), 0));
}

#[test]
fn a_nested_object_shows_the_new_value_of_each_attribute() {
    let block = schema(Nesting::Single);
    check(
        &block,
        [noted("a", "b"), leaf()],
        &[],
        &expect![[r#"
        {
          ~ a = {
              ~ key  = "a" -> "k"
              - note = "b" -> null
            }
        }"#]],
    );
    check(
        &block,
        [noted("a", "b"), null()],
        &[],
        &expect![[r#"
        {
          - a = {
              - key  = "a" -> null
              - note = "b" -> null
            } -> null
        }"#]],
    );
    let unknown = Value::unknown(leaf().ty());
    check(
        &block,
        [leaf(), unknown],
        &[],
        &expect![[r#"
        {
          ~ a = {
              ~ key  = "k" -> (known after apply)
              + note = (known after apply)
            } -> (known after apply)
        }"#]],
    );
}

#[test]
fn nested_lists_are_compared_by_index() {
    let block = schema(Nesting::List);
    let before = list(vec![leaf(), noted("a", "b"), noted("c", "d")]);
    let after = list(vec![leaf(), noted("c", "d")]);
    check(
        &block,
        [before, after],
        &[],
        &expect![[r#"
        {
          ~ a = [
              ~ {
                  ~ key  = "a" -> "c"
                  ~ note = "b" -> "d"
                },
              - {
                  - key  = "c" -> null
                  - note = "d" -> null
                },
                # (1 unchanged element hidden)
            ]
        }"#]],
    );
}

#[test]
fn elements_of_nested_sets_are_added_and_removed_as_a_whole() {
    let block = schema(Nesting::Set);
    let before = set(vec![leaf(), noted("a", "b")]);
    let after = set(vec![leaf(), noted("a", "c")]);
    let forces = [Path::root().attribute("a")];
    check(
        &block,
        [before, after],
        &forces,
        &expect![[r#"
        {
          ~ a = [
              - { # forces replacement
                  - key  = "a" -> null
                  - note = "b" -> null
                },
              + { # forces replacement
                  + key  = "a"
                  + note = "c"
                },
                # (1 unchanged element hidden)
            ]
        }"#]],
    );
}

#[test]
fn elements_of_nested_maps_end_in_a_comma() {
    let block = schema(Nesting::Map);
    let before = map([("a", noted("a", "b")), ("long", leaf()), ("s", leaf())]);
    let secret = leaf().mark(Marks::SENSITIVE);
    let after = map([("a", noted("a", "c")), ("new", leaf()), ("s", secret)]);
    check(
        &block,
        [before, after],
        &[],
        &expect![[r#"
        {
          ~ a = {
              ~ "a" = {
                  ~ note = "b" -> "c"
                    # (1 unchanged attribute hidden)
                },
              - "long" = {
                  - key = "k" -> null
                },
              + "new" = {
                  + key = "k"
                },
              # Warning: this attribute value will be marked as sensitive and will not
              # display in UI output after applying this change. The value is unchanged.
              ~ "s" = (sensitive value)
            }
        }"#]],
    );
}

#[test]
fn removed_members_of_plain_objects_do_not_end_in_null() {
    let ty = leaf().ty();
    let plain = |ty: Type| {
        let attribute = Attribute::new(ty, Role::Optional);
        Block { attributes: [("a".into(), attribute)].into(), ..Block::default() }
    };
    check(
        &plain(ty.clone()),
        [noted("a", "b"), leaf()],
        &[],
        &expect![[r#"
        {
          ~ a = {
              ~ key  = "a" -> "k"
              - note = "b"
            }
        }"#]],
    );
    let maps = [map([("x", leaf()), ("y", leaf())]), map([("y", leaf())])];
    check(
        &plain(Type::map(ty)),
        maps,
        &[],
        &expect![[r#"
        {
          ~ a = {
              - "x" = {
                  - key = "k"
                } -> null,
                # (1 unchanged element hidden)
            }
        }"#]],
    );
    let texts = |text: &str| Value::list(Type::String, vec![Value::string(text)]);
    let block = plain(Type::list(Type::String));
    check(
        &block,
        [texts("a"), texts("")],
        &[],
        &expect![[r#"
        {
          ~ a = [
              ~ "a" -> null,
            ]
        }"#]],
    );
}

#[test]
fn deep_values_and_json_within_json_are_shown() {
    let nested =
        |levels: usize, inner: &str| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
    // JSON in a string of JSON, eight times.
    let mut texts = nested(40, "1");
    for _ in 0..8 {
        texts = nested(40, &format!("{texts:?}"));
    }
    let deep = (0..900).fold(Value::string("x"), |inner, _| Value::tuple(vec![inner]));
    for value in [Value::string(nested(900, "")), Value::string(texts), deep] {
        let differ = DiffRenderer { screen: &SCREEN, signs: false, keeps: true, forces: &[] };
        let text = differ.render_value(&value);
        assert!(text.contains('['), "{text}");
    }
}
