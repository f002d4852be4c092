//! Construction of values, and their size in memory.

use super::*;

#[test]
fn a_value_takes_three_words() {
    assert!(size_of::<Value>() <= 24, "{}", size_of::<Value>());
    assert!(size_of::<Option<Value>>() <= 24, "{}", size_of::<Option<Value>>());
}

#[test]
fn maps_and_objects_sort_their_names_and_keep_the_last_of_equal_ones() {
    let pairs = || [("b", Value::int(1)), ("a", Value::int(2)), ("b", Value::int(3))];
    let Value::Map(map) = Value::map(Type::Number, pairs()) else { unreachable!() };
    assert_eq!(map.keys(), ["a", "b"].map(Str::from));
    assert_eq!(map.get("b"), Some(&Value::int(3)));
    let Value::Object(object) = Value::object(pairs()) else { unreachable!() };
    assert_eq!(object.values(), [Value::int(2), Value::int(3)]);
    assert_eq!(object.get("c"), None);
}

#[test]
fn marks_add_up_and_never_nest() {
    let value = Value::int(1).mark(Marks::SENSITIVE).mark(Marks::EPHEMERAL).mark(Marks::NONE);
    assert_eq!(value.marks(), Marks::SENSITIVE | Marks::EPHEMERAL);
    assert_eq!(value.without_own_marks(), &Value::int(1));
    assert_eq!(Value::tuple(vec![value.clone()]).all_marks(), value.marks());
    assert_eq!(value.clone().unmark(), (Value::int(1), value.marks()));
}

#[test]
fn a_collection_reports_unknown_elements() {
    let deep = Value::tuple(vec![Value::object([("a", Value::unknown(Type::Bool))])]);
    assert!(!deep.is_wholly_known());
    assert!(!deep.is_unknown());
    assert_eq!(deep.depth(), 2);
    assert!(Value::tuple(vec![Value::null(Type::Dynamic)]).is_wholly_known());
}

#[test]
fn a_collection_reports_null_elements() {
    let of = |part: Value| Value::tuple(vec![Value::int(1), Value::object([("a", part)])]);
    assert!(of(Value::null(Type::Bool)).has_null_inside());
    assert!(of(Value::null(Type::Bool).mark(Marks::SENSITIVE)).has_null_inside());
    assert!(!of(Value::unknown(Type::Bool)).has_null_inside());
    assert!(!Value::null(Type::Bool).has_null_inside());
}

#[test]
fn a_value_has_its_type_and_no_other() {
    let object = Value::object([
        ("a", Value::list(Type::String, vec![])),
        ("b", Value::tuple(vec![Value::null(Type::Number), Value::Bool(true)])),
    ]);
    let ty = object.ty();
    assert_eq!(ty.to_string(), "object({a=list(string), b=tuple([number, bool])})");
    assert!(object.has_type(&ty));
    assert!(!object.has_type(&Type::Dynamic));
    assert!(!object.has_type(&Type::object([("a", Type::list(Type::String))])));
    assert!(Value::dynamic().has_type(&Type::Dynamic));
}
