//! Generates types and values for tests.

use std::sync::Arc;

use proptest::prelude::*;

use crate::{Number, Refinement, Type, Unknown, Value};

/// Generates a type and a value of it, with unknown parts if `unknowns` is set.
pub(crate) fn any_typed_value(unknowns: bool) -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(move |ty| (Just(ty.clone()), any_value(ty, unknowns)))
}

/// Generates a type.
pub(crate) fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Type::tuple),
            proptest::collection::btree_map(
                "[a-cé]{1,2}",
                prop_oneof![4 => inner, 1 => Just(Type::Dynamic)],
                0..3
            )
            .prop_map(Type::object),
        ]
    })
}

fn any_value(ty: Type, unknowns: bool) -> BoxedStrategy<Value> {
    let null = Just(Value::null(ty.clone()));
    let known = any_value_known_at_top(ty.clone(), unknowns);
    if unknowns {
        prop_oneof![1 => null, 1 => unknown_strategy(ty), 6 => known].boxed()
    } else {
        prop_oneof![1 => null, 6 => known].boxed()
    }
}

fn any_value_known_at_top(ty: Type, unknowns: bool) -> BoxedStrategy<Value> {
    match ty {
        Type::Dynamic => prop_oneof![
            Just(Value::null(Type::Dynamic)),
            any_value(Type::String, unknowns),
            any_value(Type::tuple(vec![Type::Number, Type::list(Type::Bool)]), unknowns),
        ]
        .boxed(),
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::String => "[a-z<\"é\u{301}\\\\\n]{0,40}".prop_map(Value::string).boxed(),
        Type::Number => number_strategy().prop_map(Value::Number).boxed(),
        Type::List(element) => items_strategy(&element, unknowns)
            .prop_map(move |items| Value::list(Type::clone(&element), items))
            .boxed(),
        Type::Set(element) => items_strategy(&element, unknowns)
            .prop_map(move |items| Value::set(Type::clone(&element), items))
            .boxed(),
        Type::Map(element) => proptest::collection::btree_map(
            "[a-z]{0,3}",
            any_value(Type::clone(&element), unknowns),
            0..4,
        )
        .prop_map(move |pairs| Value::map(Type::clone(&element), pairs))
        .boxed(),
        Type::Tuple(elements) => {
            let items: Vec<_> =
                elements.iter().map(|element| any_value(element.clone(), unknowns)).collect();
            items.prop_map(Value::tuple).boxed()
        }
        Type::Object(shape) => {
            let names: Vec<_> = shape.attributes.keys().cloned().collect();
            let items: Vec<_> =
                shape.attributes.values().map(|ty| any_value(ty.clone(), unknowns)).collect();
            items.prop_map(move |items| Value::object(names.iter().cloned().zip(items))).boxed()
        }
    }
}

fn items_strategy(element: &Type, unknowns: bool) -> impl Strategy<Value = Vec<Value>> + use<> {
    proptest::collection::vec(any_value(element.clone(), unknowns), 0..4)
}

fn number_strategy() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        (-200i64..200).prop_map(Number::from),
        (-1e6..1e6).prop_map(|float: f64| Number::from_f64(float).unwrap()),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{0,9}[1-9])?".prop_map(|text| Number::parse(&text).unwrap()),
    ]
}

fn unknown_strategy(ty: Type) -> impl Strategy<Value = Value> {
    (any::<bool>(), "[a-z]{0,20}", any::<i16>(), 0u64..3).prop_map(
        move |(not_null, prefix, bound, length)| {
            let mut refinement = Refinement { not_null, ..Refinement::default() };
            match &ty {
                Type::Dynamic => refinement.not_null = false,
                Type::String => {
                    let prefix = (!prefix.is_empty()).then(|| prefix.as_str().into());
                    refinement.prefix = prefix;
                }
                Type::Number => {
                    refinement.lower = Some((Number::from(i64::from(bound)), not_null));
                    refinement.upper =
                        (length > 0).then(|| (Number::from(i64::from(bound) + 5), false));
                }
                Type::List(_) | Type::Map(_) => {
                    refinement.min_length = length;
                    refinement.max_length = not_null.then_some(length + 7);
                }
                _ => {}
            }
            Value::Unknown(Arc::new(Unknown::refined(ty.clone(), refinement)))
        },
    )
}
