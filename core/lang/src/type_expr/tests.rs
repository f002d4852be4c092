//! Type constraints and the defaults they hold.

use expect_test::expect;
use formwork_value::{Type, Value, convert};

use super::read_type_constraint;
use crate::eval::evaluate;
use crate::testing::parse_valid_file;

/// Prints the type, and what a value of it becomes with defaults.
fn check(ty: &str, value: &str, expected: &str) {
    let (body, mut text) = parse_valid_file(&format!("type = {ty}\nvalue = {value}\n"));
    let read = read_type_constraint(&mut text.diags, &body.attributes[0].expr);
    let value = evaluate(&mut text.diags, &body.attributes[1].expr, &super::NoNamesScope).unwrap();
    let (ty, defaults) = read.unwrap_or_else(|_| panic!("{}", text.problems()));
    let filled = defaults.map_or_else(|| value.clone(), |defaults| defaults.apply(value.clone()));
    let converted = convert::convert(&filled, &ty).unwrap();
    assert_eq!(print_value(&converted), expected, "{ty}");
}

fn print_value(value: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(print_value).collect::<Vec<_>>().join(", ");
    let pairs = |keys: &[formwork_value::Str], items: &[Value]| {
        let pairs =
            keys.iter().zip(items).map(|(key, item)| format!("{key}={}", print_value(item)));
        pairs.collect::<Vec<_>>().join(", ")
    };
    match value {
        Value::Null(_) => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::List(items) => format!("list({})", list(items.items())),
        Value::Set(items) => format!("set({})", list(items.items())),
        Value::Tuple(items) => format!("[{}]", list(items.items())),
        Value::Map(map) => format!("map({})", pairs(map.keys(), map.values())),
        Value::Object(object) => format!("{{{}}}", pairs(object.names(), object.values())),
        other => format!("{other:?}"),
    }
}

// Results printed by Terraform 1.11 for the same variables.
#[test]
fn defaults_replace_missing_and_null_attributes() {
    check(r#"object({a=optional(string,"d")})"#, "{}", r#"{a="d"}"#);
    check(r#"object({a=optional(string,"d")})"#, "{a=null}", r#"{a="d"}"#);
    check(r#"object({a=optional(string,"d")})"#, "{a=1}", r#"{a="1"}"#);
    check("object({a=optional(string)})", "{}", "{a=null}");
    check(r#"object({a=optional(number,"5")})"#, "{}", "{a=5}");
    check(r#"object({a=optional(any,"5")})"#, "{}", r#"{a="5"}"#);
    check("object({a=optional(list(string),[1,2])})", "null", "null");
}

#[test]
fn defaults_reach_into_defaults_and_collections() {
    let inner = r#"object({b=optional(string,"z")})"#;
    check(&format!("object({{a=optional({inner})}})"), "{}", "{a=null}");
    check(&format!("object({{a=optional({inner},{{}})}})"), "{}", r#"{a={b="z"}}"#);
    check(&format!("object({{a=optional({inner},{{b=\"q\"}})}})"), "{a={}}", r#"{a={b="z"}}"#);
    // Defaults fill an existing object, but do not replace null.
    check(&format!("object({{a={inner}}})"), "{a=null}", "{a=null}");
    check(&format!("list({inner})"), "[{}, {b=1}]", r#"list({b="z"}, {b="1"})"#);
    // The default makes the two elements equal, so one is left.
    check(&format!("set({inner})"), "[{}, {b=\"z\"}]", r#"set({b="z"})"#);
    check(&format!("map({inner})"), "{x={}, y={c=3}}", r#"map(x={b="z"}, y={b="z"})"#);
    check(&format!("tuple([{inner}, string])"), "[{}, 1]", r#"[{b="z"}, "1"]"#);
    check(&format!("object({{a=optional(map({inner}))}})"), "{a={k={}}}", r#"{a=map(k={b="z"})}"#);
    check("list(object({a=optional(list(any),[1])}))", "[{}]", "list({a=list(1)})");
}

#[test]
fn types_of_every_kind_are_read() {
    let ty = |text: &str| {
        let (body, mut text) = parse_valid_file(&format!("type = {text}\n"));
        read_type_constraint(&mut text.diags, &body.attributes[0].expr).unwrap().0
    };
    for text in ["string", "number", "bool", "any", "list(string)", "set(number)", "map(any)"] {
        assert_eq!(ty(text).to_string(), text);
    }
    assert_eq!(ty("list"), Type::list(Type::Dynamic));
    assert_eq!(ty("map"), Type::map(Type::Dynamic));
    assert_eq!(ty("tuple([string, list(bool)])").to_string(), "tuple([string, list(bool)])");
    assert_eq!(
        ty("object({b = string\n a = optional(number, 1)})").to_string(),
        "object({a=optional(number), b=string})"
    );
}

#[test]
fn invalid_types_are_reported() {
    let cases = [
        "foo",
        "list()",
        "list(string, number)",
        "set",
        "object",
        "tuple(string)",
        "string()",
        "\"string\"",
        "\"list\"",
        "\"foo\"",
        "1",
        "a.b",
        "foo(string)",
        "optional(string)",
        "list(optional(string))",
        "object({a = string, a = number})",
        "object({(a) = string})",
        "object({\"a\" = string})",
        "object([string])",
        "object({a = optional()})",
        "object({a = optional(number, \"x\")})",
        "object({a = optional(number, b)})",
    ];
    let mut all = String::new();
    for case in cases {
        let (body, mut text) = parse_valid_file(&format!("type = {case}\n"));
        assert!(read_type_constraint(&mut text.diags, &body.attributes[0].expr).is_err(), "{case}");
        all += &text.problems();
    }
    expect![[r#"
        1:8 "foo" Invalid type specification
            The keyword "foo" is not a valid type specification. A type is string, number, bool or any, or is constructed with list(...), set(...), map(...), object({...}) or tuple([...]).
        1:12 "()" Invalid type specification
            The list type constructor requires one argument specifying the element type. For example: list(string).
        1:21 "number" Invalid type specification
            The list type constructor requires one argument specifying the element type. For example: list(string).
        1:8 "set" Invalid type specification
            The set type constructor requires one argument specifying the element type. For example: set(string).
        1:8 "object" Invalid type specification
            The object type constructor requires one argument specifying the attribute types and values as a map. For example: object({ name = string }).
        1:14 "string" Invalid type specification
            The tuple type constructor requires one argument specifying the element types as a list. For example: tuple([string, number]).
        1:14 "()" Invalid type specification
            The type string takes no arguments.
        1:8 "\"string\"" Invalid quoted type constraints
            Terraform 0.11 and earlier required type constraints to be given in quotes, but that form is now deprecated and will be removed in a future version of Terraform. Remove the quotes around "string".
        1:8 "\"list\"" Invalid quoted type constraints
            Terraform 0.11 and earlier required type constraints to be given in quotes, but that form is now deprecated and will be removed in a future version of Terraform. Remove the quotes around "list" and write list(string) instead to explicitly indicate that the list elements are strings.
        1:8 "\"foo\"" Invalid legacy variable type hint
            To provide a full type expression, remove the surrounding quotes and give the type expression directly.
        1:8 "1" Invalid type specification
            This is not a type. A type is string, number, bool or any, or is constructed with list(...), set(...), map(...), object({...}) or tuple([...]).
        1:8 "a.b" Invalid type specification
            This is not a type. A type is string, number, bool or any, or is constructed with list(...), set(...), map(...), object({...}) or tuple([...]).
        1:8 "foo(string)" Invalid type specification
            The keyword "foo" is not a valid type specification. A type is string, number, bool or any, or is constructed with list(...), set(...), map(...), object({...}) or tuple([...]).
        1:8 "optional" Invalid type specification
            Keyword "optional" is valid only as a modifier for object type attributes. For example: object({ name = optional(string) }).
        1:13 "optional" Invalid type specification
            Keyword "optional" is valid only as a modifier for object type attributes. For example: object({ name = optional(string) }).
        1:28 "a" Invalid type specification
            This type already has an attribute "a".
        1:16 "(a)" Invalid type specification
            Write the name of an attribute without quotes and parentheses.
        1:16 "\"a\"" Invalid type specification
            Write the name of an attribute without quotes and parentheses.
        1:15 "[string]" Invalid type specification
            The object type constructor requires one argument specifying the attribute types and values as a map. For example: object({ name = string }).
        1:28 "()" Invalid type specification
            Optional attribute modifier expects at most two arguments: the attribute type, and a default value.
        1:37 "\"x\"" Invalid default value for optional attribute
            This default value is not compatible with the attribute's type constraint: a number is required.
        1:37 "b" Variables not allowed
            A default in a type must be constant. It cannot contain references.
    "#]].assert_eq(&all);
}

#[test]
fn types_nested_too_deeply_are_refused() {
    let deep = "list(".repeat(600) + "string" + &")".repeat(600);
    let (body, mut text) = parse_valid_file(&format!("type = {deep}\n"));
    assert!(read_type_constraint(&mut text.diags, &body.attributes[0].expr).is_err());
    assert!(text.problems().contains("up to 500 levels"));
}
