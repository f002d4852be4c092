//! Values in the form that they have on the wire, against captured bytes.

use std::sync::Arc;

use super::*;
use crate::codec::value_strategies;
use crate::{Marks, Number, Path, Refinement, Unknown};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Converts hexadecimal digits to bytes. Quoted parts are taken literally.
fn bytes(spec: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, part) in spec.split('\'').enumerate() {
        if at % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        let digits: Vec<u32> = part.chars().filter_map(|digit| digit.to_digit(16)).collect();
        out.extend(digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()));
    }
    out
}

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).unwrap())
}

fn refined(ty: Type, refinement: Refinement) -> Value {
    Value::Unknown(Arc::new(Unknown::refined(ty, refinement)))
}

#[track_caller]
fn golden(ty: &Type, value: &Value, spec: &str) {
    let wire = bytes(spec);
    assert_eq!(hex(&encode(value, ty).unwrap()), hex(&wire), "{value:?}");
    assert_eq!(decode(&wire, ty).unwrap(), *value);
}

#[test]
fn numbers_are_encoded_as_terraform_does() {
    let table = [
        // Like cty, a fraction that no float represents exactly is encoded as a string, so that no
        // digit is lost.
        ("3.14", "a4332e3134"),
        ("9223372036854775807", "cf7fffffffffffffff"),
        ("0", "00"),
        ("1", "01"),
        ("127", "7f"),
        ("128", "cc80"),
        ("255", "ccff"),
        ("256", "cd0100"),
        ("65535", "cdffff"),
        ("65536", "ce00010000"),
        ("4294967295", "ceffffffff"),
        ("4294967296", "cf0000000100000000"),
        ("-1", "ff"),
        ("-32", "e0"),
        ("-33", "d0df"),
        ("-128", "d080"),
        ("-129", "d1ff7f"),
        ("-32768", "d18000"),
        ("-32769", "d2ffff7fff"),
        ("-2147483649", "d3ffffffff7fffffff"),
        // Beyond 64 bits with a sign cty sends text, although the format has a form for some of
        // these.
        ("9223372036854775808", "b3'9223372036854775808'"),
        ("-9223372036854775808", "d38000000000000000"),
        ("18446744073709551615", "b4'18446744073709551615'"),
        ("0.5", "cb3fe0000000000000"),
        ("1.5", "cb3ff8000000000000"),
        ("0.1", "a3302e31"),
        ("1e30", "bf'1000000000000000000000000000000'"),
    ];
    for (text, spec) in table {
        golden(&Type::Number, &number(text), spec);
    }
    assert_eq!(hex(&encode(&number("-0"), &Type::Number).unwrap()), "00");
    let hundred = format!("d965'1{}'", "0".repeat(100));
    golden(&Type::Number, &number("1e100"), &hundred);
    let infinity = Number::from_f64(f64::INFINITY).unwrap();
    golden(&Type::Number, &Value::Number(infinity), "cb7ff0000000000000");
}

#[test]
fn numbers_are_decoded_from_every_form() {
    let table = [
        ("ca3fc00000", "1.5"),
        ("cb40091eb851eb851f", "3.14"),
        ("cfffffffffffffffff", "18446744073709551615"),
        ("d30000000000000005", "5"),
        ("d0ff", "-1"),
        ("a3'1e3'", "1000"),
        ("c403'2.5'", "2.5"),
    ];
    for (spec, want) in table {
        assert_eq!(decode(&bytes(spec), &Type::Number).unwrap(), number(want), "{spec}");
    }
    // This is what the float is exactly, not the shorter text that it may have been made of.
    let widened = decode(&bytes("ca4048f5c3"), &Type::Number).unwrap();
    assert_eq!(widened, number("3.140000104904175"));
    for spec in ["cb7ff8000000000000", "ca7fc00000", "a3'abc'", "a0", "c3", "90"] {
        let error = decode(&bytes(spec), &Type::Number).unwrap_err();
        assert_eq!(error.to_string(), "number is required", "{spec}");
    }
}

#[test]
fn collections_are_encoded_as_terraform_does() {
    let strings = |items: &[&str]| items.iter().map(|text| Value::string(*text)).collect();
    golden(
        &Type::map(Type::String),
        &Value::map(Type::String, [("b", Value::string("2")), ("a", Value::string("1"))]),
        "82 a161a131 a162a132",
    );
    golden(
        &Type::map(Type::String),
        &Value::map(Type::String, [("x", Value::unknown(Type::String))]),
        "81 a178 d40000",
    );
    golden(
        &Type::set(Type::String),
        &Value::set(Type::String, strings(&["b", "a", "b"])),
        "92 a161 a162",
    );
    golden(
        &Type::set(Type::String),
        &Value::set(Type::String, vec![Value::unknown(Type::String), Value::string("k")]),
        "92 a16b d40000",
    );
    let not_null = Refinement { not_null: true, ..Refinement::default() };
    golden(
        &Type::set(Type::String),
        &Value::set(Type::String, vec![Value::null(Type::String), refined(Type::String, not_null)]),
        "92 c7030c8101c2 c0",
    );
    golden(
        &Type::set(Type::Number),
        &Value::set(Type::Number, ["10", "9", "1.5", "-1"].map(number).to_vec()),
        "94 ff cb3ff8000000000000 09 0a",
    );
    let ty = Type::object([("p", Type::String), ("q", Type::list(Type::Bool))]);
    let q = Value::list(Type::Bool, vec![Value::Bool(true), Value::Bool(false)]);
    golden(&ty, &Value::object([("p", Value::string("s")), ("q", q)]), "82 a170a173 a171 92c3c2");
    let ty = Type::object([("a", Type::String), ("b", Type::String)]);
    let value = Value::object([("a", Value::null(Type::String)), ("b", Value::string("x"))]);
    golden(&ty, &value, "82 a1 61 c0 a1 62 a1 78");
    golden(
        &Type::tuple(vec![Type::String, Type::Number]),
        &Value::tuple(vec![Value::string("x"), Value::int(2)]),
        "92 a178 02",
    );
    golden(&Type::list(Type::String), &Value::list(Type::String, vec![]), "90");
    golden(&Type::map(Type::String), &Value::map(Type::String, Vec::<(&str, _)>::new()), "80");
    golden(&Type::list(Type::String), &Value::unknown(Type::list(Type::String)), "d40000");
    golden(&Type::list(Type::String), &Value::null(Type::list(Type::String)), "c0");
}

#[test]
fn lengths_use_the_shortest_form() {
    let list = |n: usize| Value::list(Type::Bool, vec![Value::Bool(true); n]);
    for (n, head) in [(15, "9f"), (16, "dc0010"), (65535, "dcffff"), (65536, "dd00010000")] {
        let spec = format!("{head}{}", "c3".repeat(n));
        golden(&Type::list(Type::Bool), &list(n), &spec);
    }
    for (n, head) in
        [(31, "bf"), (32, "d920"), (255, "d9ff"), (256, "da0100"), (65536, "db00010000")]
    {
        let text = "x".repeat(n);
        golden(&Type::String, &Value::string(text.as_str()), &format!("{head}'{text}'"));
    }
    let map = Value::map(Type::Bool, (0..16).map(|at| (format!("{at:02}"), Value::Bool(true))));
    let wire = encode(&map, &Type::map(Type::Bool)).unwrap();
    assert_eq!(hex(&wire[..3]), "de0010");
    assert_eq!(decode(&wire, &Type::map(Type::Bool)).unwrap(), map);
}

#[test]
fn dynamic_values_are_encoded_with_their_type() {
    let dynamic = Type::Dynamic;
    golden(&dynamic, &Value::string("x"), "92 c408 '\"string\"' a178");
    let mixed =
        vec![Value::int(1), Value::string("a"), Value::Bool(true), Value::null(Type::Dynamic)];
    golden(
        &dynamic,
        &Value::tuple(mixed),
        "92 c42e '[\"tuple\",[\"number\",\"string\",\"bool\",\"dynamic\"]]' 94 01 a161 c3 c0",
    );
    let inner = Value::object([("z", Value::int(1)), ("y", Value::null(Type::Dynamic))]);
    golden(
        &dynamic,
        &Value::object([("k", inner)]),
        "92 c438 '[\"object\",{\"k\":[\"object\",{\"y\":\"dynamic\",\"z\":\"number\"}]}]' \
         81 a16b 82 a179 c0 a17a 01",
    );
    golden(&dynamic, &Value::unknown(Type::String), "92 c408 '\"string\"' d40000");
    golden(&dynamic, &Value::null(Type::String), "92 c408 '\"string\"' c0");
    golden(&dynamic, &Value::null(Type::Dynamic), "c0");
    golden(&dynamic, &Value::dynamic(), "d40000");
    golden(&dynamic, &Value::tuple(vec![]), "92 c40c '[\"tuple\",[]]' 90");
    let block = |d: Value| Value::object([("d", d)]);
    golden(
        &dynamic,
        &Value::tuple(vec![block(Value::int(5)), block(Value::string("s"))]),
        "92 c43f '[\"tuple\",[[\"object\",{\"d\":\"number\"}],[\"object\",{\"d\":\"string\"}]]]' \
         92 81a16405 81a164a173",
    );
}

#[test]
fn refinements_are_encoded_as_terraform_does() {
    let not_null = Refinement { not_null: true, ..Refinement::default() };
    // Extension 12 of cty has a map: 1 is for null, 2 for the prefix, 3 and 4 for the bounds, 5 and
    // 6 for the lengths.
    golden(&Type::Bool, &refined(Type::Bool, not_null.clone()), "c7030c 81 01c2");
    let prefix = |text: &str| Refinement { prefix: Some(text.into()), ..not_null.clone() };
    golden(&Type::String, &refined(Type::String, prefix("pre-")), "c7090c 82 01c2 02a4'pre-'");
    // Contents of 8 and 16 bytes have a shorter head in the format.
    golden(&Type::String, &refined(Type::String, prefix("abc")), "d70c 82 01c2 02a3'abc'");
    golden(
        &Type::String,
        &refined(Type::String, prefix("abcdefghij-")),
        "d80c 82 01c2 02ab'abcdefghij-'",
    );
    let at_least = Refinement { lower: Some((Number::from(0_i64), true)), ..not_null.clone() };
    golden(&Type::Number, &refined(Type::Number, at_least), "c7070c 82 01c2 03 92 00 c3");
    let between = Refinement { min_length: 1, max_length: Some(300), ..not_null };
    let ty = Type::set(Type::Bool);
    golden(&ty, &refined(ty.clone(), between), "c7090c 83 01c2 0501 06cd012c");
}

#[test]
fn a_long_prefix_is_cut_at_a_grapheme_boundary() {
    // The cut at 256 would fall inside the cluster of "e" and its accent.
    let text = format!("{}e\u{332}tail", "x".repeat(254));
    let refinement = Refinement { prefix: Some(text.as_str().into()), ..Refinement::default() };
    let wire = encode(&refined(Type::String, refinement), &Type::String).unwrap();
    let Value::Unknown(unknown) = decode(&wire, &Type::String).unwrap() else { panic!() };
    assert_eq!(unknown.refinement().prefix.as_deref(), Some(&*"x".repeat(254)));
}

#[test]
fn every_extension_is_read_as_unknown() {
    let plain = Value::unknown(Type::String);
    for spec in ["d40000", "d40c00", "c70000", "c70100ff", "c8000007", "d405ff"] {
        assert_eq!(decode(&bytes(spec), &Type::String).unwrap(), plain, "{spec}");
    }
    // A value of unknown type has no refinements.
    assert_eq!(decode(&bytes("c7030c8101c2"), &Type::Dynamic).unwrap(), Value::dynamic());
    // Certainly null is null.
    assert_eq!(decode(&bytes("c7030c8101c3"), &Type::Bool).unwrap(), Value::null(Type::Bool));
    // Between equal bounds there is but one number.
    assert_eq!(
        decode(&bytes("c70b0c 83 01c2 03 92 05 c3 04 92 05 c3"), &Type::Number).unwrap(),
        Value::int(5)
    );
    let table = [
        ("d5050000", "unsupported extension type 5"),
        ("c7070c8102a4'pre-'", "an unknown bool has a refinement that such values cannot have"),
        ("c7030c8107c2", "an unknown bool has a refinement that such values cannot have"),
        ("d60c81039100", "an unknown bool has a refinement that such values cannot have"),
        ("d50c8101", "the data ends in the middle of a value"),
    ];
    for (spec, want) in table {
        assert_eq!(decode(&bytes(spec), &Type::Bool).unwrap_err().to_string(), want, "{spec}");
    }
    let long = format!("c804010c{}", "00".repeat(1025));
    let error = decode(&bytes(&long), &Type::Bool).unwrap_err();
    assert_eq!(error.to_string(), "the refinements of an unknown value are too long");
}

#[test]
fn objects_accept_exactly_their_attributes_in_any_order() {
    let ty = Type::object([("a", Type::String), ("b", Type::list(Type::Bool))]);
    let want = Value::object([
        ("a", Value::string("x")),
        ("b", Value::list(Type::Bool, vec![Value::Bool(true)])),
    ]);
    assert_eq!(decode(&bytes("82 a162 91c3 a161 a178"), &ty).unwrap(), want);
    assert_eq!(decode(&bytes("de0002 c40162 91c3 d90161 c40178 ff"), &ty).unwrap(), want);
    let table = [
        ("81 a161 a178", "an object with 2 attributes is required (1 given)"),
        ("80", "an object with 2 attributes is required (0 given)"),
        ("82 a161 a178 a163 c0", "unsupported attribute \"c\""),
        ("82 a161 a178 a161 c0", "attribute \"a\" is given twice"),
        ("82 a161 a178 a162 91a0", ".b[0]: bool is required"),
        ("82 a161 a178 a162 05", ".b: a list is required"),
        ("82 a161 01 a162 c0", ".a: string is required"),
        ("92 a178 c0", "an object is required"),
        ("82 a161 a178 a162 92c3", ".b: the data ends in the middle of a value"),
        ("", "the data ends in the middle of a value"),
        ("82 01", "the data ends in the middle of a value"),
    ];
    for (spec, want) in table {
        assert_eq!(decode(&bytes(spec), &ty).unwrap_err().to_string(), want, "{spec}");
    }
}

#[test]
fn objects_of_one_decoded_type_share_their_names() {
    let ty = Type::list(Type::object([("a", Type::Bool)]));
    let Value::List(list) = decode(&bytes("92 81a161c3 81a161c2"), &ty).unwrap() else { panic!() };
    let [Value::Object(first), Value::Object(second)] = list.items() else { panic!() };
    assert!(Arc::ptr_eq(first.names(), second.names()));
}

#[test]
fn strings_are_normalised_when_decoded() {
    assert_eq!(decode(&bytes("a3'e\u{301}'"), &Type::String).unwrap(), Value::string("é"));
    let ty = Type::object([("é", Type::Bool)]);
    assert_eq!(
        decode(&bytes("81a3'e\u{301}'c3"), &ty).unwrap(),
        decode(&bytes("81a2'é'c3"), &ty).unwrap()
    );
}

#[test]
fn an_impossible_length_is_refused_before_allocation() {
    let table = [
        ("ddffffffff", Type::list(Type::Bool)),
        ("dfffffffff", Type::map(Type::Bool)),
        ("dbffffffff", Type::String),
        ("c6ffffffff", Type::String),
        ("c9ffffffff0c", Type::String),
        ("dfffffffff", Type::object([("a", Type::Bool)])),
    ];
    for (spec, ty) in table {
        assert!(decode(&bytes(spec), &ty).is_err(), "{spec}");
    }
}

fn golden_both(value: &Value) {
    let wire = encode(value, &Type::Dynamic).unwrap();
    assert_eq!(decode(&wire, &Type::Dynamic).unwrap(), *value);
}

#[test]
fn nesting_has_a_limit() {
    let nested = |n: usize| {
        let wrapper = bytes("92 c409 '\"dynamic\"'");
        let mut wire = wrapper.repeat(n);
        wire.push(NIL_CODE);
        wire
    };
    assert_eq!(decode(&nested(900), &Type::Dynamic).unwrap(), Value::null(Type::Dynamic));
    let error = decode(&nested(100_000), &Type::Dynamic).unwrap_err();
    assert_eq!(error.to_string(), "the value is nested too deep");
    // Types have their own limit, so the deepest object types bring a wrapper half-way.
    let level = |value| Value::object([("a", Value::tuple(vec![value]))]);
    let typed = (0..240).fold(Value::Bool(true), |value, _| level(value));
    golden_both(&typed);
    let deep = (0..2000).fold(Value::int(1), |value, _| Value::tuple(vec![value]));
    assert_eq!(
        encode(&deep, &Type::Dynamic).unwrap_err().to_string(),
        "the value is nested too deep"
    );
}

#[test]
fn values_of_another_type_are_not_encoded() {
    let table = [
        (Value::int(1), Type::String, "string required, but this is number"),
        (Value::null(Type::Bool), Type::String, "string required, but this is bool"),
        (Value::tuple(vec![]), Type::list(Type::Bool), "a list required, but this is tuple"),
        (
            Value::tuple(vec![]),
            Type::tuple(vec![Type::Bool]),
            "a tuple of length 1 is required, but this one has 0",
        ),
        (
            Value::object([("a", Value::int(1))]),
            Type::object([("b", Type::Number)]),
            "attribute \"b\" is required",
        ),
    ];
    for (value, ty, want) in table {
        assert_eq!(encode(&value, &ty).unwrap_err().to_string(), want);
    }
    let secret = Value::object([("a", Value::int(1).mark(Marks::SENSITIVE))]);
    let error = encode(&secret, &Type::object([("a", Type::Number)])).unwrap_err();
    assert_eq!(error.path, Path::root().attribute("a"));
}

/// Reads what we write with another reader, and compares the shape.
fn same(wire: &rmpv::Value, value: &Value, ty: &Type) -> bool {
    if let (Type::Dynamic, Some(pair)) = (ty, wire.as_array()) {
        let value_ty = type_json::decode(pair[0].as_slice().unwrap()).unwrap();
        return pair.len() == 2 && value_ty == value.ty() && same(&pair[1], value, &value_ty);
    }
    match value {
        Value::Null(_) => wire.is_nil(),
        Value::Unknown(_) => wire.as_ext().is_some_and(|(kind, _)| kind == 0 || kind == 12),
        Value::Bool(truth) => wire.as_bool() == Some(*truth),
        Value::String(text) => wire.as_str() == Some(text),
        Value::Number(number) => {
            wire.as_i64().map(Number::from).as_ref() == Some(number)
                || wire.as_f64().and_then(Number::from_f64).as_ref() == Some(number)
                || wire.as_str() == Some(&number.to_string())
        }
        Value::Map(_) | Value::Object(_) => {
            let entries = wire.as_map().unwrap();
            entries.len() == value.children().len()
                && entries.iter().enumerate().all(|(at, (key, wire))| {
                    let (name, part) = match (value, ty) {
                        (Value::Object(object), Type::Object(shape)) => {
                            let name = &object.names()[at];
                            (name, &shape.attributes[name])
                        }
                        (Value::Map(map), _) => (&map.keys()[at], ty.element().unwrap()),
                        _ => return false,
                    };
                    key.as_str() == Some(name) && same(wire, &value.children()[at], part)
                })
        }
        _ => {
            let items = wire.as_array().unwrap();
            items.len() == value.children().len()
                && items.iter().zip(value.children()).enumerate().all(|(at, (wire, item))| {
                    let part = match ty {
                        Type::Tuple(elements) => &elements[at],
                        _ => ty.element().unwrap(),
                    };
                    same(wire, item, part)
                })
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_value_comes_back_as_it_went((ty, value) in value_strategies::any_typed_value(true)) {
        let wire = encode(&value, &ty).unwrap();
        let read = decode(&wire, &ty).unwrap();
        proptest::prop_assert_eq!(&read, &value);
        let foreign = rmpv::decode::read_value(&mut &wire[..]).unwrap();
        proptest::prop_assert!(same(&foreign, &value, &ty), "{foreign} {value:?}");
        let dynamic = encode(&value, &Type::Dynamic).unwrap();
        proptest::prop_assert_eq!(decode(&dynamic, &Type::Dynamic).unwrap(), value);
    }

    #[test]
    fn a_truncated_value_is_refused((ty, value) in value_strategies::any_typed_value(true)) {
        let wire = encode(&value, &ty).unwrap();
        for end in 0..wire.len() {
            proptest::prop_assert!(decode(&wire[..end], &ty).is_err());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        (ty, value) in value_strategies::any_typed_value(true),
        noise in proptest::collection::vec(proptest::arbitrary::any::<u8>(), 0..40),
        at in 0usize..100,
    ) {
        drop(decode(&noise, &ty));
        // Random bytes are usually refused early, so valid values are also damaged.
        let mut wire = encode(&value, &ty).unwrap();
        let at = at.min(wire.len());
        wire.splice(at..(at + noise.len() / 8).min(wire.len()), noise.iter().copied());
        drop(decode(&wire, &ty));
        drop(decode(&wire, &Type::Dynamic));
    }
}

#[test]
fn objects_of_one_type_share_their_names_for_any_input() {
    let ty = Type::object([("a", Type::Bool), ("b", Type::String)]);
    let read = |text: &str| {
        let value = Value::object([("a", Value::Bool(true)), ("b", Value::string(text))]);
        let Ok(Value::Object(object)) = decode(&encode(&value, &ty).unwrap(), &ty) else {
            panic!("no object")
        };
        object
    };
    assert!(Arc::ptr_eq(read("one").names(), read("another").names()));
    let Type::Object(shape) = &ty else { unreachable!() };
    let mut other = ObjectType::clone(shape);
    assert_eq!(other, **shape);
    other.attributes.insert("c".into(), Type::Bool);
    assert_eq!(other.names().len(), 3);
}

#[test]
fn each_invalid_byte_of_a_string_becomes_a_replacement_character() {
    let read = |bytes: &[u8]| {
        let message = [&[0xa0 | u8::try_from(bytes.len()).unwrap()], bytes].concat();
        let decoded = decode_lossy(&message, &Type::String).unwrap();
        (decoded.value, decoded.replaced)
    };
    let replaced = |text: &str| (Value::string(text), true);
    assert_eq!(read(b"a\xffb"), replaced("a\u{fffd}b"));
    // Go counts the bytes of a sequence that is cut off.
    assert_eq!(read(b"\xe2\x82"), replaced("\u{fffd}\u{fffd}"));
    assert_eq!(read(b"\xf0\x9f\x92x"), replaced("\u{fffd}\u{fffd}\u{fffd}x"));
    assert_eq!(read("\u{fffd}".as_bytes()), (Value::string("\u{fffd}"), false));
    let map = decode_lossy(b"\x81\xa1\xff\xa1\xfe", &Type::map(Type::String)).unwrap();
    assert!(map.replaced);
    assert_eq!(map.value, Value::map(Type::String, [("\u{fffd}", Value::string("\u{fffd}"))]));
}
