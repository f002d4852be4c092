//! Tests of fields: conversion in both directions, and the paths of errors.

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::Number;

use super::*;

type Tags = Attr<BTreeMap<String, Attr<String>>>;

fn check<T: Field + PartialEq + fmt::Debug>(field: &T) {
    let value = field.to_value();
    assert!(value.has_type(&T::ty()), "{value:?} has another type than {}", T::ty());
    assert_eq!(&T::from_value(&value).unwrap(), field);
    // Compared without a second value, which must come to the same result.
    assert!(field.same_as(&value), "{value:?}");
}

#[test]
fn every_field_is_converted_to_a_value_and_back() {
    check(&Attr::<String>::Null);
    check(&Attr::<Vec<i64>>::Unknown);
    check(&Attr::Known(vec![1_i64, -2]));
    check(&Attr::Known(BTreeSet::from([true, false])));
    check(&Attr::<String>::from("ö"));
    check(&Number::from(5_i64));
    check(&Some(Secret::<String>::new("s")));
    check(&(i8::MIN, i8::MAX).0);
    // Larger than the integers that a double holds exactly.
    check(&u64::MAX);
    check(&i128::MIN);
    check(&2.5_f64);
    check(&Set::from(vec!["a".to_owned(), "b".to_owned()]));
    check(&BTreeMap::from([("a".to_owned(), vec![Some(1_u8), None])]));
    let any = Attr::Known(Value::tuple(vec![Value::int(1), Value::dynamic()]));
    assert_eq!(Attr::from_value(&any.to_value()).unwrap(), any);
    let tags = [("a", Attr::Null), ("b", Attr::Unknown), ("c", Attr::from("d"))];
    check(&Tags::from(BTreeMap::from(tags.map(|(key, tag)| (key.to_owned(), tag)))));
}

#[test]
fn different_values_are_not_the_same() {
    fn differ<T: Field>(first: T, second: T) {
        // In both directions: a part that is missing is seen from one side only.
        for (field, second) in [(&first, &second), (&second, &first)] {
            assert!(!field.same_as(&second.to_value()), "{field:?} and {second:?}");
        }
    }
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    differ("a".to_owned(), "b".to_owned());
    differ(Some("a".to_owned()), None);
    differ::<Attr<String>>(Attr::from("a"), Attr::Null);
    differ(Attr::<String>::Unknown, Attr::Null);
    differ(Secret::<String>::new("a"), Secret::new("b"));
    differ(texts(&["a"]), texts(&["a", "b"]));
    differ(texts(&["a", "c"]), texts(&["a", "b"]));
    differ(Set::from(texts(&["a", "c"])), Set::from(texts(&["a", "b"])));
    differ(BTreeMap::from([("a".to_owned(), 1_i64)]), BTreeMap::from([("b".to_owned(), 1)]));
    differ(BTreeMap::from([("a".to_owned(), 1_i64)]), BTreeMap::from([("a".to_owned(), 2)]));
    let objects = [("a", 1), ("a", 2), ("b", 1)]
        .map(|(name, number)| Value::object([(name, Value::int(number))]));
    differ(objects[0].clone(), objects[1].clone());
    differ(objects[0].clone(), objects[2].clone());
}

#[test]
fn a_partly_known_list_is_unknown_if_its_elements_cannot_be_unknown() {
    let list = Value::list(Type::String, vec![Value::unknown(Type::String)]);
    // `String` has no form for unknown, so the list as a whole is unknown.
    assert_eq!(Attr::<Vec<String>>::from_value(&list).unwrap(), Attr::Unknown);
    assert_eq!(
        Attr::<Vec<Attr<String>>>::from_value(&list).unwrap(),
        Attr::Known(vec![Attr::Unknown])
    );
}

#[test]
fn errors_contain_the_path_and_the_reason() {
    let half = Value::Number(Number::parse("1.5").unwrap());
    let list = Value::map(
        Type::list(Type::Number),
        [("a", Value::list(Type::Number, vec![Value::int(1), half]))],
    );
    let error = BTreeMap::<String, Vec<i64>>::from_value(&list).unwrap_err();
    assert_eq!(error.path.to_string(), "[\"a\"][1]");
    assert_eq!(error.reason, "a whole number is required, and it has a fractional part");
    let large = Value::Number(Number::parse("1e30").unwrap());
    assert!(i64::from_value(&large).unwrap_err().reason.contains("too large"));
    let reason = u8::from_value(&Value::int(-1)).unwrap_err().reason;
    assert_eq!(reason, "it is too small; from 0 to 255 can be given");
}

#[test]
fn a_secret_has_no_printable_form() {
    assert_eq!(
        format!("{:?}", Attr::Known(Secret::<String>::new("hunter2"))),
        "Known((sensitive))"
    );
}
