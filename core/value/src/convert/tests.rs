//! Conversions, compared with tables made with Terraform, and their laws.

use proptest::prelude::*;

use super::*;
use crate::Marks;
use crate::codec::{json, type_json, value_strategies};
use crate::ty::unify::unify;

fn ty(text: &str) -> Type {
    type_json::decode(text.as_bytes()).unwrap()
}

fn value(text: &str) -> Value {
    json::decode_untyped(text.as_bytes()).unwrap()
}

fn show(value: &Value) -> String {
    format!("{} as {}", json::encode_untyped(value).unwrap(), value.ty())
}

/// Results that Terraform prints for variables of these types and values.
const BECOMES: &[(&str, &str, &str)] = &[
    (r#"[1,"a",true]"#, r#"["list","dynamic"]"#, r#"["1","a","true"] as list(string)"#),
    ("[]", r#"["list","dynamic"]"#, "[] as list(any)"),
    (
        r#"[{"a":1},{"a":"x"}]"#,
        r#"["list",["object",{"a":"dynamic"}]]"#,
        r#"[{"a":"1"},{"a":"x"}] as list(object({a=string}))"#,
    ),
    (
        r#"[{"a":1},{"a":null}]"#,
        r#"["list",["object",{"a":"dynamic"}]]"#,
        r#"[{"a":1},{"a":null}] as list(object({a=number}))"#,
    ),
    (r#"{"a":1,"b":"x"}"#, r#"["map","dynamic"]"#, r#"{"a":"1","b":"x"} as map(string)"#),
    ("{}", r#"["map","dynamic"]"#, "{} as map(any)"),
    (r#"[1,"1",2]"#, r#"["set","dynamic"]"#, r#"["1","2"] as set(string)"#),
    (
        r#"{"b":"5"}"#,
        r#"["object",{"a":"string","b":"number"},["a"]]"#,
        r#"{"a":null,"b":5} as object({a=string, b=number})"#,
    ),
    ("{}", r#"["object",{"a":"dynamic"},["a"]]"#, r#"{"a":null} as object({a=any})"#),
    ("[]", r#"["list",["object",{"a":"string"},["a"]]]"#, "[] as list(object({a=string}))"),
    (
        r#"[{},{"a":1,"b":[1]}]"#,
        r#"["list",["object",{"a":"string","b":["list","dynamic"]},["a","b"]]]"#,
        r#"[{"a":null,"b":null},{"a":"1","b":[1]}] as list(object({a=string, b=list(number)}))"#,
    ),
    (
        r#"{"x":{},"y":{"a":"1"}}"#,
        r#"["map",["object",{"a":"number"},["a"]]]"#,
        r#"{"x":{"a":null},"y":{"a":1}} as map(object({a=number}))"#,
    ),
    (r#"[1,["a"]]"#, r#""dynamic""#, r#"[1,["a"]] as tuple([number, tuple([string])])"#),
    (r#"[[1],["a"]]"#, r#"["list",["list","dynamic"]]"#, r#"[["1"],["a"]] as list(list(string))"#),
    (
        r#"{"a":[1],"b":[]}"#,
        r#"["map",["list","dynamic"]]"#,
        r#"{"a":[1],"b":[]} as map(list(number))"#,
    ),
    ("[null,1]", r#"["list","dynamic"]"#, "[null,1] as list(number)"),
    (r#"[[1],["a",2]]"#, r#"["list","dynamic"]"#, r#"[["1"],["a","2"]] as list(list(string))"#),
    // Objects of different attributes have only a map in common.
    (r#"[{"a":1},{"b":2}]"#, r#"["list","dynamic"]"#, r#"[{"a":1},{"b":2}] as list(map(number))"#),
    (
        r#"[[1],1]"#,
        r#"["tuple",["dynamic","string"]]"#,
        r#"[[1],"1"] as tuple([tuple([number]), string])"#,
    ),
    ("[{},{}]", r#"["list","dynamic"]"#, "[{},{}] as list(object({}))"),
    (
        r#"{"a":1,"b":true,"c":null}"#,
        r#"["map","string"]"#,
        r#"{"a":"1","b":"true","c":null} as map(string)"#,
    ),
    (
        r#"{"a":[1],"b":["x"]}"#,
        r#"["map","dynamic"]"#,
        r#"{"a":["1"],"b":["x"]} as map(tuple([string]))"#,
    ),
    (r#"["b","a","b"]"#, r#"["set","string"]"#, r#"["a","b"] as set(string)"#),
    (r#""12.50""#, r#""number""#, "12.5 as number"),
    ("0.1", r#""string""#, r#""0.1" as string"#),
    (r#""0""#, r#""bool""#, "false as bool"),
    ("null", r#"["list","string"]"#, "null as list(string)"),
];

#[test]
fn values_are_converted_as_in_terraform() {
    for &(from, to, expected) in BECOMES {
        let converted = convert(&value(from), &ty(to)).unwrap();
        assert_eq!(show(&converted), expected, "{from} to {to}");
    }
}

#[test]
fn maps_become_objects_and_sets_become_lists() {
    let map = convert(&value(r#"{"a":"1","b":"x"}"#), &ty(r#"["map","string"]"#)).unwrap();
    let object = convert(&map, &ty(r#"["object",{"a":"number","c":"bool"},["c"]]"#)).unwrap();
    assert_eq!(show(&object), r#"{"a":1,"c":null} as object({a=number, c=bool})"#);
    let refused = convert(&map, &ty(r#"["object",{"c":"string"}]"#)).unwrap_err();
    assert_eq!(refused.reason, "map has no element for required attribute \"c\"");
    let optional = ty(r#"["object",{"a":["list","string"]},["a"]]"#);
    assert_eq!(
        convert(&map, &optional).unwrap_err().reason,
        "map element type is incompatible with attribute \"a\": list of string required"
    );
    let set = convert(&value(r#"["b","a"]"#), &ty(r#"["set","string"]"#)).unwrap();
    let list = convert(&set, &ty(r#"["list","dynamic"]"#)).unwrap();
    assert_eq!(show(&list), r#"["a","b"] as list(string)"#);
}

/// The reasons that Terraform reports for variables of these types.
const REFUSALS: &[(&str, &str, &str, &str)] = &[
    ("[1]", r#""string""#, "", "string required"),
    (r#""a""#, r#"["list","string"]"#, "", "list of string required"),
    (r#"{"a":1}"#, r#"["list","string"]"#, "", "list of string required"),
    ("[1]", r#"["map","string"]"#, "", "map of string required"),
    (r#"["a"]"#, r#"["list","number"]"#, "[0]", "a number is required"),
    ("[[1]]", r#"["list","number"]"#, "", "element 0: number required"),
    ("{}", r#"["object",{"a":"string"}]"#, "", "attribute \"a\" is required"),
    (
        "{}",
        r#"["object",{"a":"string","b":"string"}]"#,
        "",
        "attributes \"a\" and \"b\" are required",
    ),
    (
        "{}",
        r#"["object",{"a":"string","b":"number","c":"bool"}]"#,
        "",
        "attributes \"a\", \"b\", and \"c\" are required",
    ),
    (
        r#"{"a":"x"}"#,
        r#"["object",{"a":["list","string"]}]"#,
        "",
        "attribute \"a\": list of string required",
    ),
    (
        r#""True""#,
        r#""bool""#,
        "",
        "a bool is required; to convert from string, use lowercase \"true\"",
    ),
    (r#""yes""#, r#""bool""#, "", "a bool is required"),
    ("1", r#""bool""#, "", "bool required"),
    ("true", r#""number""#, "", "number required"),
    ("[1,[2]]", r#"["set","dynamic"]"#, "", "all set elements must have the same type"),
    ("[1,[2]]", r#"["list","dynamic"]"#, "", "all list elements must have the same type"),
    (r#"{"a":1,"b":[2]}"#, r#"["map","dynamic"]"#, "", "all map elements must have the same type"),
    (r#"[null,{"a":1}]"#, r#"["list","dynamic"]"#, "", {
        "all list elements must have the same type"
    }),
    (
        r#"{"x":{"a":"q"}}"#,
        r#"["map",["object",{"a":"number"}]]"#,
        "[\"x\"].a",
        "a number is required",
    ),
    ("[1,2]", r#"["tuple",["string"]]"#, "", "tuple required"),
    (r#"["a","b"]"#, r#"["tuple",["string","number"]]"#, "[1]", "a number is required"),
    (r#""a""#, r#"["list","dynamic"]"#, "", "list of any single type required"),
    (
        r#"{"a":1}"#,
        r#"["map",["list","dynamic"]]"#,
        "",
        "element \"a\": list of any single type required",
    ),
    (
        r#"{"a":{"b":{}}}"#,
        r#"["object",{"a":["object",{"b":["list","number"]}]}]"#,
        "",
        "attribute \"a\": attribute \"b\": list of number required",
    ),
    (
        r#"[{"a":1},{"b":1}]"#,
        r#"["list",["object",{"a":"number"}]]"#,
        "",
        "element 1: attribute \"a\" is required",
    ),
    (r#""x""#, r#"["object",{"a":"string"}]"#, "", "object required"),
    (
        r#"[{"a":1},{"a":[1]}]"#,
        r#"["list",["object",{"a":"dynamic"}]]"#,
        "",
        "cannot find a common base type for all elements",
    ),
    (
        r#"[{"a":"x","b":null},{"a":null,"b":-3},{"a":"1","b":true}]"#,
        r#"["list","dynamic"]"#,
        "",
        "element types must all match for conversion to list",
    ),
    (
        r#"[[1],["a"]]"#,
        r#"["set",["list","dynamic"]]"#,
        "",
        "element types must all match for conversion to set",
    ),
];

#[test]
fn conversion_errors_have_a_path_and_a_reason() {
    for &(from, to, path, reason) in REFUSALS {
        let refused = convert(&value(from), &ty(to)).unwrap_err();
        assert_eq!(
            (refused.path.to_string().as_str(), refused.reason.as_str()),
            (path, reason),
            "{from} to {to}"
        );
    }
}

#[test]
fn types_unify_as_in_conditionals_of_terraform() {
    let cases = [
        // Both convert to text, but that counts only where one of the types is text.
        (r#"["number","bool"]"#, None),
        (r#"["number","string"]"#, Some("string")),
        (r#"["number","string","bool"]"#, Some("string")),
        (r#"["number","dynamic"]"#, Some("number")),
        (r#"[["object",{}],["object",{"a":"number"}]]"#, Some("map(number)")),
        (r#"[["object",{"a":"number"}],["object",{"a":"string"}]]"#, Some("object({a=string})")),
        (r#"[["object",{"a":"number"}],["object",{"a":["tuple",["number"]]}]]"#, None),
        (r#"[["object",{"a":"dynamic"}],["object",{"a":"number"}]]"#, Some("object({a=number})")),
        (r#"[["tuple",["number"]],["tuple",["string"]]]"#, Some("tuple([string])")),
        (r#"[["tuple",[]],["tuple",["string"]]]"#, Some("list(string)")),
        (r#"[["tuple",["number"]],["list","string"]]"#, Some("list(string)")),
        (r#"[["set","number"],["tuple",["string"]]]"#, Some("set(number)")),
        (r#"[["set","number"],["list","string"]]"#, Some("list(string)")),
        (r#"[["object",{"a":"number"}],["map","string"]]"#, Some("map(string)")),
        (r#"[["object",{}],["tuple",[]]]"#, None),
        (r#"["string",["list","string"]]"#, None),
        (r#"["string",["list","string"],"dynamic"]"#, Some("any")),
        (r#"[["list","string"],"dynamic"]"#, Some("any")),
        (r#"[["list","dynamic"],["list","number"]]"#, Some("list(number)")),
    ];
    for (types, expected) in cases {
        let Type::Tuple(list) = ty(&format!(r#"["tuple",{types}]"#)) else { unreachable!() };
        let unified = unify(&list).map(|ty| ty.to_string());
        assert_eq!(unified.as_deref(), expected, "{types}");
    }
    assert_eq!(unify(&[]), None);
}

#[test]
fn marks_are_kept_in_place_and_merged_on_sets() {
    let secret = Value::int(1).mark(Marks::SENSITIVE);
    let tuple = Value::tuple(vec![secret.clone(), Value::string("a")]);
    let list = convert(&tuple, &ty(r#"["list","string"]"#)).unwrap();
    assert_eq!(list.marks(), Marks::NONE);
    assert_eq!(list.children()[0], Value::string("1").mark(Marks::SENSITIVE));
    let set = convert(&tuple, &ty(r#"["set","string"]"#)).unwrap();
    // An element of a set has no position that could keep a mark.
    assert_eq!(set.marks(), Marks::SENSITIVE);
    assert_eq!(convert(&secret, &Type::String).unwrap().marks(), Marks::SENSITIVE);
    let unknown = Value::unknown(Type::Dynamic).mark(Marks::EPHEMERAL);
    assert_eq!(convert(&unknown, &Type::Bool).unwrap().marks(), Marks::EPHEMERAL);
}

#[test]
fn refinements_survive_conversion_while_they_hold() {
    let not_null = Value::unknown_not_null(Type::Number);
    assert_eq!(convert(&not_null, &Type::String).unwrap(), Value::unknown_not_null(Type::String));
    let length = |min_length, max_length| Refinement {
        not_null: true,
        min_length,
        max_length,
        ..Refinement::default()
    };
    // The elements may turn out to be equal, so of the least length only one is left in a set.
    let list = Value::refined(Type::list(Type::Number), length(2, Some(5)));
    assert_eq!(
        convert(&list, &Type::set(Type::String)).unwrap(),
        Value::refined(Type::set(Type::String), length(1, Some(5)))
    );
    // The type of a tuple determines its length, so the length of the list is known.
    let tuple = Value::unknown_not_null(ty(r#"["tuple",["number","string"]]"#));
    assert_eq!(
        convert(&tuple, &ty(r#"["list","dynamic"]"#)).unwrap(),
        Value::list(Type::String, vec![Value::unknown(Type::String); 2])
    );
    // The unknown element may be "a" as well, so the number of elements is not known.
    let set = Value::set(Type::String, vec![Value::unknown(Type::String), Value::string("a")]);
    assert_eq!(
        convert(&set, &ty(r#"["list","dynamic"]"#)).unwrap(),
        Value::unknown(Type::list(Type::String))
    );
    let prefixed = Refinement { prefix: Some("a-".into()), ..Refinement::not_null() };
    let string = Value::refined(Type::String, prefixed);
    assert_eq!(convert(&string, &Type::String).unwrap(), string);
}

#[test]
fn a_value_of_the_target_type_is_shared_and_not_copied() {
    let list = Value::list(Type::String, vec![Value::string("a")]);
    let object = Value::object([("a", list)]);
    let want = ty(r#"["object",{"a":["list","dynamic"]}]"#);
    let Value::Object(converted) = convert(&object, &want).unwrap() else { unreachable!() };
    let inner = |value: &Value| value.children().as_ptr();
    assert_eq!(converted.values().as_ptr(), inner(&object));
}

#[test]
fn the_deepest_value_converts_on_a_small_stack() {
    let deep = (0..Value::MAX_DEPTH).fold(Value::int(1), |inner, _| Value::tuple(vec![inner]));
    let list = (0..Type::MAX_DEPTH).fold(Type::Dynamic, |inner, _| Type::list(inner));
    assert!(convert(&deep, &list).is_ok());
    assert!(convert(&deep, &Type::String).is_err());
    assert!(unify(&[deep.ty(), Value::tuple(vec![]).ty()]).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn converting_to_its_own_type_changes_nothing(
        (_, value) in value_strategies::any_typed_value(true),
    ) {
        prop_assert_eq!(convert(&value, &value.ty()).unwrap(), value);
    }

    #[test]
    fn the_result_has_the_type(
        (_, value) in value_strategies::any_typed_value(true),
        to in value_strategies::any_type(),
    ) {
        if let Ok(converted) = convert(&value, &to) {
            prop_assert!(to.has_dynamic() || converted.has_type(&to), "{converted:?} is not {to}");
            prop_assert_eq!(converted.has_type(&converted.ty()), true);
            prop_assert_eq!(convert(&converted, &to).unwrap(), converted);
        }
    }

    #[test]
    fn every_type_converts_to_the_unified_one(types in prop::collection::vec(value_strategies::any_type(), 1..4)) {
        if let Some(unified) = unify(&types) {
            for ty in &types {
                prop_assert!(can_convert(ty, &unified, ConversionSafety::Unsafe), "{ty} to {unified}");
            }
        }
    }
}
