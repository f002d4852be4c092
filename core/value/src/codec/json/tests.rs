//! Values in the form that state files have.

use super::*;
use crate::codec::value_strategies;
use crate::{Marks, Number, Path};

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).unwrap())
}

#[track_caller]
fn both_ways(ty: &Type, value: &Value, text: &str) {
    assert_eq!(encode(value, ty).unwrap(), text);
    assert_eq!(decode(text.as_bytes(), ty).unwrap(), *value, "{text}");
}

#[test]
fn values_are_encoded_as_in_state_files() {
    // State files have these escaped, because Go's encoder does that for HTML and JavaScript.
    both_ways(&Type::String, &Value::string("a<b>&\u{2028}"), "\"a\\u003cb\\u003e\\u0026\\u2028\"");
    both_ways(&Type::Number, &number("1e30"), "1000000000000000000000000000000");
    both_ways(&Type::Number, &number("3.14"), "3.14");
    both_ways(&Type::Bool, &Value::null(Type::Bool), "null");
    both_ways(
        &Type::set(Type::Number),
        &Value::set(Type::Number, ["10", "9", "-1"].map(number).to_vec()),
        "[-1,9,10]",
    );
    both_ways(
        &Type::map(Type::Bool),
        &Value::map(Type::Bool, [("b", Value::Bool(true)), ("a", Value::Bool(false))]),
        "{\"a\":false,\"b\":true}",
    );
    let ty =
        Type::object([("t", Type::tuple(vec![Type::String, Type::Number])), ("a", Type::Bool)]);
    let tuple = Value::tuple(vec![Value::string("x"), Value::int(2)]);
    let value = Value::object([("t", tuple), ("a", Value::null(Type::Bool))]);
    both_ways(&ty, &value, "{\"a\":null,\"t\":[\"x\",2]}");
}

#[test]
fn dynamic_values_are_encoded_with_their_type_after_the_value() {
    let dynamic = Type::Dynamic;
    both_ways(&dynamic, &Value::string("x"), "{\"value\":\"x\",\"type\":\"string\"}");
    both_ways(&dynamic, &Value::tuple(vec![]), "{\"value\":[],\"type\":[\"tuple\",[]]}");
    both_ways(&dynamic, &Value::null(Type::Dynamic), "null");
    both_ways(&dynamic, &Value::null(Type::String), "{\"value\":null,\"type\":\"string\"}");
    let ty = Type::object([("d", Type::Dynamic)]);
    let value = Value::object([("d", Value::int(1))]);
    both_ways(&ty, &value, "{\"d\":{\"value\":1,\"type\":\"number\"}}");
    let table = [
        ("1", "an object is required"),
        ("{\"value\":1}", "the key \"type\" is missing"),
        ("{\"type\":\"number\"}", "the key \"value\" is missing"),
        ("{\"value\":1,\"type\":\"number\",\"x\":1}", "unsupported key \"x\""),
    ];
    for (text, want) in table {
        let error = decode(text.as_bytes(), &dynamic).unwrap_err().to_string();
        assert_eq!(error, format!("a dynamically typed value must include its type: {want}"));
    }
}

#[test]
fn primitives_are_decoded_from_convertible_values() {
    let table = [
        (Type::Bool, "\"true\"", Value::Bool(true)),
        (Type::Bool, "\"0\"", Value::Bool(false)),
        (Type::Number, "\"5\"", Value::int(5)),
        (Type::Number, "1E2", Value::int(100)),
        // A string keeps the digits of a number as they are written.
        (Type::String, "5.0", Value::string("5.0")),
        (Type::String, "true", Value::string("true")),
        (Type::String, "\"e\u{301}\"", Value::string("é")),
        // As in Go, an unpaired surrogate is not an error.
        (Type::String, "\"\\ud800\"", Value::string("\u{fffd}")),
    ];
    for (ty, text, want) in table {
        assert_eq!(decode(text.as_bytes(), &ty).unwrap(), want, "{text}");
    }
}

#[test]
fn missing_attributes_are_null_and_extra_ones_an_error_unless_dropped() {
    let inner = Type::object([("x", Type::Bool)]);
    let ty = Type::object([("a", Type::String), ("b", Type::list(inner.clone()))]);
    let text = "{\"gone\":{\"y\":1},\"b\":[{\"x\":true,\"gone\":2}]}";
    assert_eq!(
        decode(text.as_bytes(), &ty).unwrap_err().to_string(),
        "unsupported attribute \"gone\""
    );
    let element = Value::object([("x", Value::Bool(true))]);
    let want =
        Value::object([("a", Value::null(Type::String)), ("b", Value::list(inner, vec![element]))]);
    assert_eq!(
        decode_with_extra_attributes(text.as_bytes(), &ty, ExtraAttributes::Drop).unwrap(),
        want
    );
}

#[test]
fn the_last_of_duplicate_keys_wins() {
    let text = b"{\"a\":1,\"b\":2,\"a\":3}";
    let want = Value::object([("a", Value::int(3)), ("b", Value::int(2))]);
    assert_eq!(decode_untyped(text).unwrap(), want);
    let ty = Type::object([("a", Type::Number), ("b", Type::Number)]);
    assert_eq!(decode(text, &ty).unwrap(), want);
    let map = decode(text, &Type::map(Type::Number)).unwrap();
    assert_eq!(map.children(), [Value::int(3), Value::int(2)]);
}

#[test]
fn values_of_another_type_are_refused_with_their_path() {
    let ty = Type::object([("a", Type::map(Type::list(Type::Number)))]);
    let table = [
        ("[]", "an object is required"),
        ("{\"a\":[]}", ".a: a map is required"),
        ("{\"a\":{\"k\":1}}", ".a[\"k\"]: a list is required"),
        ("{\"a\":{\"k\":[0,\"x\"]}}", ".a[\"k\"][1]: a number is required"),
        (
            "{\"a\":",
            "invalid JSON at line 1, column 6: a value expected, but the document ends here",
        ),
    ];
    for (text, want) in table {
        assert_eq!(decode(text.as_bytes(), &ty).unwrap_err().to_string(), want);
    }
    let pair = Type::tuple(vec![Type::Bool]);
    let error = decode(b"[]", &pair).unwrap_err().to_string();
    assert_eq!(error, "a tuple of length 1 is required");
}

#[test]
fn values_without_a_json_form_are_not_encoded() {
    let table = [
        Value::unknown(Type::Number),
        Value::int(1).mark(Marks::SENSITIVE),
        Value::Number(Number::from_f64(f64::NEG_INFINITY).unwrap()),
        Value::string("x"),
    ];
    for bad in table {
        let value = Value::object([("a", Value::list(Type::Number, vec![Value::int(1), bad]))]);
        let ty = Type::object([("a", Type::list(Type::Number))]);
        assert_eq!(encode(&value, &ty).unwrap_err().path, Path::root().attribute("a").index(1));
    }
    assert!(encode_untyped(&Value::unknown(Type::Number)).is_err());
    assert!(encode_untyped(&Value::int(1).mark(Marks::SENSITIVE)).is_err());
}

#[test]
fn the_simple_form_needs_no_types() {
    let text = "{\"a\":[1,\"x\",true,null,2.50],\"b\":{}}";
    let value = decode_untyped(text.as_bytes()).unwrap();
    assert_eq!(value.children()[0].children()[3], Value::null(Type::Dynamic));
    assert_eq!(encode_untyped(&value).unwrap(), "{\"a\":[1,\"x\",true,null,2.5],\"b\":{}}");
}

#[test]
fn the_deepest_allowed_values_are_decoded_and_encoded() {
    let text = format!("{}1{}", "{\"a\":[".repeat(500), "]}".repeat(500));
    let value = decode_untyped(text.as_bytes()).unwrap();
    assert_eq!(encode_untyped(&value).unwrap(), text);
    let level = |value| Value::object([("a", Value::tuple(vec![value]))]);
    let value = (0..249).fold(Value::Bool(true), |value, _| level(value));
    let text = encode(&value, &Type::Dynamic).unwrap();
    assert_eq!(decode(text.as_bytes(), &Type::Dynamic).unwrap(), value);
    let deep = (0..2000).fold(Value::int(1), |value, _| Value::tuple(vec![value]));
    assert!(encode_untyped(&deep).is_err());
}

proptest::proptest! {
    #[test]
    fn any_known_value_comes_back_as_it_went((ty, value) in value_strategies::any_typed_value(false)) {
        let text = encode(&value, &ty).unwrap();
        proptest::prop_assert_eq!(decode(text.as_bytes(), &ty).unwrap(), value.clone());
        let dynamic = encode(&value, &Type::Dynamic).unwrap();
        proptest::prop_assert_eq!(decode(dynamic.as_bytes(), &Type::Dynamic).unwrap(), value.clone());
        let simple = encode_untyped(&value).unwrap();
        let again = encode_untyped(&decode_untyped(simple.as_bytes()).unwrap()).unwrap();
        proptest::prop_assert_eq!(again, simple);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\",:0-9a-ftrun\\\\ .+-]{0,40}") {
        drop(decode_untyped(text.as_bytes()));
        drop(decode(text.as_bytes(), &Type::Dynamic));
        drop(type_json::decode(text.as_bytes()));
    }
}

#[test]
fn decoded_numbers_have_the_precision_of_their_text() {
    let float = |number: f64| Value::Number(Number::from_f64(number).unwrap());
    let read = |text: &str| Value::Number(Number::parse(text).unwrap());
    let exact = |first: &Value, second: &Value| match (first, second) {
        (Value::Number(first), Value::Number(second)) => {
            first.compare(second) == std::cmp::Ordering::Equal
        }
        _ => false,
    };
    let tenth = float(0.1);
    // The float nearest to 0.1 is another number than the text has.
    assert!(!exact(&tenth, &read("0.1")));
    assert!(exact(&with_stored_number_precision(&tenth).unwrap(), &read("0.1")));
    assert_eq!(with_stored_number_precision(&read("0.1")), None);
    let (Some(Value::Number(one)), Value::Number(three)) =
        (with_stored_number_precision(&Value::int(1)), Value::int(3))
    else {
        panic!("numbers stay numbers");
    };
    assert_eq!(one.divide(&three), Number::parse("1").unwrap().divide(&three));
    let object = Value::object([("text", Value::string("x")), ("list", Value::tuple(vec![tenth]))]);
    let stored = with_stored_number_precision(&object).unwrap();
    assert_eq!(stored, object, "the values are equal, only their precisions are not");
    assert_eq!(with_stored_number_precision(&stored), None);
}
