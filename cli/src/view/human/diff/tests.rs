//! Tests of rendered differences.

use expect_test::{Expect, expect};
use formwork_value::{Marks, Number, Path, Type, Value};

use super::render::RenderOptions;
use super::{AlignedName, DiffRenderer, compare_values};
use crate::view::Screen;

mod nested;

const SCREEN: Screen = Screen { color: false, width: 78, erases: false };

fn change(before: Value, after: Value) -> String {
    forced(before, after, &[])
}

fn forced(before: Value, after: Value, forces: &[Path]) -> String {
    let differ = DiffRenderer { screen: &SCREEN, signs: true, keeps: false, forces };
    let [old, new] = [&before, &after].map(Value::ty);
    let is_one = old == new || after.is_null() || after.is_unknown();
    let ty = if before.is_null() {
        new
    } else if is_one {
        old
    } else {
        Type::Dynamic
    };
    let owner = |value: Value| Value::object([("input", value)]);
    let (before, after) = (owner(before), owner(after));
    let change = differ.change_of(&before, &after).attribute("input");
    let node = compare_values::compare_values(change, &ty);
    let text = differ.render(&node, RenderOptions { indent: 2, ..RenderOptions::default() });
    differ.sensitivity_warning(&node, 2)
        + &differ.line_with_sign(node.sign, &format!("input = {text}"), 2)
}

fn check(before: Value, after: Value, expected: &Expect) {
    expected.assert_eq(&change(before, after));
}

fn null() -> Value {
    Value::null(Type::Dynamic)
}

fn tuple<const N: usize>(items: [i64; N]) -> Value {
    Value::tuple(items.map(Value::int).to_vec())
}

#[test]
fn a_value_without_a_type_is_shown_as_json() {
    let value = |set: &str, port: i64| {
        Value::object([
            ("list", tuple([1, port, 3])),
            (
                "map",
                Value::map(Type::String, [("j", Value::string("x")), ("k l", Value::string(set))]),
            ),
            ("none", null()),
            ("set", Value::set(Type::String, vec![Value::string("a"), Value::string(set)])),
        ])
    };
    let differ = DiffRenderer { screen: &SCREEN, signs: true, keeps: false, forces: &[] };
    let rendered = differ.render_changed(
        AlignedName { text: "v", width: 1 },
        &value("s1", 2),
        &value("s2", 22),
        2,
    );
    expect![[r#"
        ~ v = {
            ~ list = [
                  1,
                ~ 2 -> 22,
                  3,
              ]
            ~ map  = {
                ~ "k l" = "s1" -> "s2"
                  # (1 unchanged attribute hidden)
              }
            ~ set  = [
                  "a",
                ~ "s1" -> "s2",
              ]
              # (1 unchanged attribute hidden)
          }
    "#]]
    .assert_eq(&rendered);
    let secret = Value::string("x").mark(Marks::SENSITIVE);
    assert_eq!(change(secret, null()), "- input = (sensitive value) -> null\n");
}

#[test]
fn a_zero_has_a_sign_in_a_state_and_none_in_a_plan() {
    let zero = Value::Number(Number::from(0_i64).negate());
    assert_eq!(change(Value::int(5), zero.clone()), "~ input = 5 -> 0\n");
    let state = DiffRenderer { screen: &SCREEN, signs: false, keeps: true, forces: &[] };
    assert_eq!(state.render_value(&zero), "-0");
}

#[test]
fn added_values_have_a_sign_before_each_line() {
    let value = Value::object([
        ("list", tuple([1, 2])),
        ("none", null()),
        ("nothing", Value::tuple(Vec::new())),
        ("text", Value::string("one\ntwo\n")),
        ("json", Value::string("{\"a\":[true]}")),
        ("map", Value::map(Type::String, [("b c", Value::string("x"))])),
    ]);
    check(
        null(),
        value,
        &expect![[r#"
                  + input = {
                      + json    = jsonencode(
                            {
                              + a = [
                                  + true,
                                ]
                            }
                        )
                      + list    = [
                          + 1,
                          + 2,
                        ]
                      + map     = {
                          + "b c" = "x"
                        }
                      + nothing = []
                      + text    = <<-EOT
                            one
                            two
                        EOT
                    }
        "#]],
    );
}

#[test]
fn removed_values_end_in_null() {
    check(
        Value::object([("a", Value::int(1))]),
        null(),
        &expect![[r#"
                  - input = {
                      - a = 1
                    } -> null
        "#]],
    );
}

#[test]
fn only_the_parts_that_change_are_shown() {
    let object = |n: i64| {
        Value::object([
            ("id", Value::string("i")),
            ("n", Value::int(n)),
            ("same", Value::int(1)),
            ("map", Value::map(Type::Number, [("a", Value::int(n)), ("b", Value::int(0))])),
        ])
    };
    check(
        object(1),
        object(2),
        &expect![[r#"
            ~ input = {
                  id   = "i"
                ~ map  = {
                    ~ "a" = 1 -> 2
                      # (1 unchanged element hidden)
                  }
                ~ n    = 1 -> 2
                  # (1 unchanged attribute hidden)
              }
        "#]],
    );
}

#[test]
fn identifying_attributes_are_always_shown() {
    let object = |n: i64| {
        let tags = [("env", Value::string("prod")), ("n", Value::int(n))];
        Value::object([("tags", Value::object(tags)), ("other", Value::int(0))])
    };
    check(
        object(1),
        object(2),
        &expect![[r#"
            ~ input = {
                ~ tags  = {
                      env = "prod"
                    ~ n   = 1 -> 2
                  }
                  # (1 unchanged attribute hidden)
              }
        "#]],
    );
}

#[test]
fn lists_show_the_elements_next_to_a_difference() {
    check(
        tuple([1, 2, 3, 4, 5, 6]),
        tuple([1, 2, 3, 9, 5, 6, 7]),
        &expect![[r#"
                  ~ input = [
                        # (2 unchanged elements hidden)
                        3,
                      - 4,
                      + 9,
                        5,
                        6,
                      + 7,
                    ]
        "#]],
    );
}

#[test]
fn compound_elements_change_in_place() {
    let list = |n: i64| {
        let item = |name: &str, n: i64| {
            Value::object([("name", Value::string(name)), ("n", Value::int(n))])
        };
        Value::tuple(vec![item("a", 1), item("b", n), item("c", 3)])
    };
    check(
        list(1),
        list(2),
        &expect![[r#"
                  ~ input = [
                        {
                            n    = 1
                            name = "a"
                        },
                      ~ {
                          ~ n    = 1 -> 2
                            name = "b"
                        },
                        {
                            n    = 3
                            name = "c"
                        },
                    ]
        "#]],
    );
}

#[test]
fn lists_of_equal_length_are_compared_by_index() {
    let list = |items: [i64; 3]| Value::list(Type::Number, items.map(Value::int).to_vec());
    check(
        list([1, 2, 3]),
        list([2, 3, 4]),
        &expect![[r#"
                  ~ input = [
                      ~ 1 -> 2,
                      ~ 2 -> 3,
                      ~ 3 -> 4,
                    ]
        "#]],
    );
    // An element that only moves is unchanged.
    check(
        list([1, 2, 3]),
        list([2, 3, 1]),
        &expect![[r#"
                  ~ input = [
                      - 1,
                        2,
                        3,
                      + 1,
                    ]
        "#]],
    );
}

#[test]
fn sets_show_removed_and_added_elements() {
    let set = |items: [&str; 3]| {
        let items = items.map(Value::string).to_vec();
        formwork_value::convert::convert(&Value::tuple(items), &Type::set(Type::String)).unwrap()
    };
    check(
        set(["a", "b", "c"]),
        set(["a", "c", "d"]),
        &expect![[r#"
                  ~ input = [
                      - "b",
                      + "d",
                        # (2 unchanged elements hidden)
                    ]
        "#]],
    );
}

#[test]
fn multi_line_strings_show_their_changed_lines() {
    let text = |n: &str| Value::string(format!("1\n2\n3\n4\n5\n{n}\n7\n"));
    check(
        text("six"),
        text("6"),
        &expect![[r#"
                  ~ input = <<-EOT
                        # (2 unchanged lines hidden)
                        3
                        4
                        5
                      - six
                      + 6
                        7
                    EOT
        "#]],
    );
}

#[test]
fn a_missing_line_break_at_the_end_is_shown() {
    check(
        Value::string("a\nb\n"),
        Value::string("a\nb"),
        &expect![[r#"
                  ~ input = <<-EOT
                        a
                        b
                      - 
                    EOT
        "#]],
    );
}

#[test]
fn json_strings_are_compared_by_their_content() {
    let text = |n: &str| Value::string(format!(r#"{{"a":{n},"b":[1,2]}}"#));
    check(
        text("1"),
        text("2"),
        &expect![[r#"
                  ~ input = jsonencode(
                      ~ {
                          ~ a = 1 -> 2
                            # (1 unchanged attribute hidden)
                        }
                    )
        "#]],
    );
    check(
        text("1"),
        text(" 1"),
        &expect![[r#"
                  ~ input = jsonencode( # whitespace changes
                        {
                            a = 1
                            b = [
                                1,
                                2,
                            ]
                        }
                    )
        "#]],
    );
}

#[test]
fn empty_json_strings_are_shown_as_calls() {
    let rows = [
        ("{}", "{ }", "~ input = jsonencode({}) # whitespace changes"),
        ("[]", "{}", "~ input = jsonencode([] -> {})"),
        ("{", "{}", "~ input = \"{\" -> jsonencode({})"),
        (" {}", "x", "~ input = \" {}\" -> \"x\""),
        ("{}", "x", "~ input = jsonencode({}) -> \"x\""),
    ];
    for (before, after, line) in rows {
        let text = change(Value::string(before), Value::string(after));
        assert!(text.contains(line), "{text}");
    }
    let text = || Value::string("{}");
    assert!(change(null(), text()).contains("+ input = jsonencode({})\n"));
    assert!(change(text(), null()).contains("- input = jsonencode({})\n"));
}

#[test]
fn null_in_json_is_a_value_and_not_the_absence_of_one() {
    let rows = [
        (r#"{"a":1,"b":2}"#, r#"{"b":2}"#, "- a = 1\n"),
        (r#"{"a":null,"b":2}"#, r#"{"b":2}"#, "- a = null\n"),
        (r#"{"b":2}"#, r#"{"a":null,"b":2}"#, "+ a = null\n"),
        (r#"{"a":null,"b":2}"#, r#"{"a":1,"b":2}"#, "~ a = null -> 1\n"),
        (r#"{"a":1,"b":2}"#, r#"{"a":null,"b":2}"#, "~ a = 1 -> null\n"),
    ];
    for (before, after, line) in rows {
        let text = change(Value::string(before), Value::string(after));
        assert!(text.contains(line), "{text}");
        assert!(text.contains("# (1 unchanged attribute hidden)\n"), "{text}");
    }
    let text = change(Value::string("[null,1]"), Value::string("[2,1]"));
    assert!(text.contains("~ null -> 2,\n"), "{text}");
    let text = change(Value::string(r#"{"a":{"b":1}}"#), Value::string(r#"{"c":1}"#));
    assert!(text.contains("- a = {\n") && !text.contains("-> null"), "{text}");
}

#[test]
fn a_carriage_return_belongs_to_the_line_break() {
    let text = change(Value::string("a\r\nb\rc\r\n"), Value::string("a\r\nb\r\n"));
    assert!(text.contains(" a\r\n"), "{text:?}");
    assert!(text.contains(" - b\\rc\r\n"), "{text:?}");
    assert!(text.contains(" + b\r\n"), "{text:?}");
}

#[test]
fn sensitive_values_are_never_shown() {
    let secret = |text: &str| Value::string(text).mark(Marks::SENSITIVE);
    check(
        secret("a"),
        secret("b"),
        &expect![[r#"
                  ~ input = (sensitive value)
        "#]],
    );
    check(
        Value::string("a"),
        secret("a"),
        &expect![[r#"
            # Warning: this attribute value will be marked as sensitive and will not
            # display in UI output after applying this change. The value is unchanged.
            ~ input = (sensitive value)
        "#]],
    );
    let object = |text: &str| Value::object([("open", Value::string(text)), ("key", secret(text))]);
    check(
        object("a"),
        object("b"),
        &expect![[r#"
                  ~ input = {
                      ~ key  = (sensitive value)
                      ~ open = "a" -> "b"
                    }
        "#]],
    );
    check(
        null(),
        object("b"),
        &expect![[r#"
                  + input = {
                      + key  = (sensitive value)
                      + open = "b"
                    }
        "#]],
    );
}

#[test]
fn values_that_become_unknown_show_their_prior_value() {
    check(
        tuple([1, 2]),
        Value::unknown(Type::Dynamic),
        &expect![[r#"
                  ~ input = [
                      - 1,
                      - 2,
                    ] -> (known after apply)
        "#]],
    );
    check(
        Value::string("a"),
        Value::unknown(Type::String),
        &expect![[r#"
                  ~ input = "a" -> (known after apply)
        "#]],
    );
}

#[test]
fn a_value_cannot_control_the_terminal() {
    check(
        null(),
        Value::string("a\u{1b}[2Jb\u{202e}c"),
        &expect![[r#"
                  + input = "a\u001b[2Jb\u202ec"
        "#]],
    );
    check(
        null(),
        Value::string("a\rb\n\u{1b}]0;x\u{7}"),
        &expect![[r#"
                  + input = <<-EOT
                        a\rb
                        \u001b]0;x\u0007
                    EOT
        "#]],
    );
}

#[test]
fn replacement_notes_are_at_the_beginning_of_the_value() {
    let paths = [Path::root().attribute("input")];
    let second = [Path::root().attribute("input").index(1)];
    let check = |before: Value, after: Value, forces: &[Path], expected: &Expect| {
        expected.assert_eq(&forced(before, after, forces));
    };
    check(
        Value::int(1),
        Value::int(2),
        &paths,
        &expect![[r#"
                  ~ input = 1 -> 2 # forces replacement
        "#]],
    );
    check(
        tuple([1, 2]),
        tuple([1, 3]),
        &paths,
        &expect![[r#"
            ~ input = [ # forces replacement
                  1,
                ~ 2 -> 3,
              ]
        "#]],
    );
    let object = |n: i64| Value::object([("n", Value::int(n))]);
    let pair = |n: i64| Value::tuple(vec![object(0), object(n)]);
    check(
        pair(1),
        pair(2),
        &second,
        &expect![[r#"
                  ~ input = [
                        {
                            n = 0
                        },
                      ~ { # forces replacement
                          ~ n = 1 -> 2
                        },
                    ]
        "#]],
    );
}
