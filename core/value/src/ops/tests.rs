//! Operators, also on what is unknown or marked.

use super::*;
use crate::value::TooDeepError;
use crate::{Number, Refinement};

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).unwrap())
}

fn unknown(ty: Type) -> Value {
    Value::unknown(ty)
}

fn length() -> Value {
    let lower = Some((Number::from(0i64), true));
    Value::refined(Type::Number, Refinement { lower, ..Refinement::not_null() })
}

fn prefixed(prefix: &str) -> Value {
    let prefix = Some(prefix.into());
    Value::refined(Type::String, Refinement { prefix, ..Refinement::not_null() })
}

fn show(value: &Value) -> &'static str {
    match value.without_own_marks() {
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Unknown(unknown) if unknown.refinement().not_null => "unknown",
        other => panic!("{other:?} is no truth value"),
    }
}

#[test]
fn equality_never_converts_and_uses_refinements() {
    let text = |text: &str| Value::string(text);
    let null = || Value::null(Type::Dynamic);
    let id = || unknown(Type::String);
    let untyped = Value::dynamic;
    let pair = |a: Value, b: Value| Value::object([("a", a), ("b", b)]);
    let cases = [
        (Value::int(1), text("1"), "false"),
        (number("1.0"), Value::int(1), "true"),
        (number("-0"), Value::int(0), "true"),
        (null(), Value::null(Type::String), "true"),
        (null(), text(""), "false"),
        (null(), id(), "unknown"),
        (null(), prefixed("a"), "false"),
        (null(), untyped(), "unknown"),
        (null(), Value::tuple(vec![id()]), "false"),
        (id(), id(), "unknown"),
        (id(), text("x"), "unknown"),
        (id(), Value::int(1), "false"),
        (untyped(), Value::int(1), "unknown"),
        (prefixed("a-"), text("b"), "false"),
        (prefixed("a-"), text("a-x"), "unknown"),
        (length(), Value::int(-1), "false"),
        (length(), Value::int(0), "unknown"),
        (Value::tuple(vec![id()]), Value::tuple(vec![Value::int(1)]), "false"),
        (Value::tuple(vec![untyped()]), Value::tuple(vec![Value::int(1)]), "unknown"),
        (Value::tuple(vec![untyped()]), Value::tuple(vec![text("a"), text("b")]), "false"),
        (pair(id(), Value::int(1)), pair(text("x"), Value::int(1)), "unknown"),
        (pair(id(), Value::int(1)), pair(text("x"), Value::int(2)), "false"),
        (
            Value::tuple(vec![id(), Value::int(1)]),
            Value::tuple(vec![text("x"), Value::int(2)]),
            "unknown",
        ),
        (
            Value::list(Type::Number, vec![Value::int(1)]),
            Value::tuple(vec![Value::int(1)]),
            "false",
        ),
        (
            Value::list(Type::Number, vec![Value::int(1)]),
            Value::list(Type::Number, vec![Value::int(1), Value::int(2)]),
            "false",
        ),
        (
            Value::map(Type::Number, [("a", Value::int(1))]),
            { Value::map(Type::Number, [("b", Value::int(1))]) },
            "false",
        ),
        (
            Value::set(Type::Number, vec![Value::int(2), Value::int(1)]),
            { Value::set(Type::Number, vec![Value::int(1), number("2.0")]) },
            "true",
        ),
        (
            Value::set(Type::String, vec![id()]),
            Value::set(Type::String, vec![text("x")]),
            "unknown",
        ),
        // Nulls are equal independent of their types, but objects of different types never are.
        (pair(null(), text("")), pair(Value::null(Type::String), text("")), "false"),
    ];
    for (a, b, expected) in cases {
        assert_eq!(show(&equal(&a, &b)), expected, "{a:?} == {b:?}");
        assert_eq!(show(&equal(&b, &a)), expected, "{b:?} == {a:?}");
        let opposite = match expected {
            "true" => "false",
            "false" => "true",
            other => other,
        };
        assert_eq!(show(&not_equal(&a, &b)), opposite, "{a:?} != {b:?}");
    }
}

#[test]
fn order_is_known_when_the_bounds_decide_it() {
    let between = |low: i64, high: i64| {
        Value::refined(
            Type::Number,
            Refinement {
                lower: Some((low.into(), true)),
                upper: Some((high.into(), true)),
                ..Refinement::not_null()
            },
        )
    };
    let cases = [
        (Value::int(1), Value::int(2), "true", "true"),
        (Value::int(2), number("2.0"), "false", "true"),
        (Value::int(-1), length(), "true", "true"),
        (Value::int(0), length(), "unknown", "unknown"),
        (length(), Value::int(-1), "false", "false"),
        (between(1, 3), between(4, 5), "true", "true"),
        (between(4, 5), between(1, 3), "false", "unknown"),
        (between(1, 4), between(4, 5), "unknown", "unknown"),
        (Value::dynamic(), Value::int(1), "unknown", "unknown"),
    ];
    for (a, b, is_less, is_less_or_equal) in cases {
        assert_eq!(show(&less(&a, &b).unwrap()), is_less, "{a:?} < {b:?}");
        assert_eq!(show(&less_or_equal(&a, &b).unwrap()), is_less_or_equal, "{a:?} <= {b:?}");
    }
}

#[test]
fn logic_does_not_stop_at_the_first_operand() {
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    let unknown = unknown(Type::Bool);
    assert_eq!(and(&yes, &no).unwrap(), no);
    assert_eq!(or(&yes, &no).unwrap(), yes);
    assert_eq!(not(&no).unwrap(), yes);
    assert_eq!(show(&and(&no, &unknown).unwrap()), "unknown");
    assert_eq!(show(&or(&yes, &unknown).unwrap()), "unknown");
    assert_eq!(show(&not(&Value::dynamic()).unwrap()), "unknown");
    assert_eq!(and(&no, &Value::null(Type::Bool)), Err(OperationError::Null));
    assert_eq!(or(&unknown, &Value::null(Type::Bool)), Err(OperationError::Null));
}

#[test]
fn undefined_arithmetic_is_explained() {
    let infinity = || Value::Number(Number::infinity(false));
    let zero = || Value::int(0);
    assert_eq!(divide(&zero(), &zero()), Err(OperationError::Quotient));
    assert_eq!(subtract(&infinity(), &infinity()), Err(OperationError::Difference));
    assert_eq!(multiply(&infinity(), &zero()), Err(OperationError::Product));
    assert_eq!(modulo(&infinity(), &Value::int(5)), Err(OperationError::Remainder));
    assert_eq!(modulo(&Value::int(5), &infinity()), Err(OperationError::Remainder));
    assert_eq!(add(&infinity(), &negate(&infinity()).unwrap()), Err(OperationError::Sum));
    assert_eq!(divide(&Value::int(-5), &zero()).unwrap(), negate(&infinity()).unwrap());
    assert_eq!(modulo(&Value::int(1), &zero()).unwrap(), Value::int(1));
    assert_eq!(add(&zero(), &Value::null(Type::Number)), Err(OperationError::Null));
    let error = add(&zero(), &Value::string("a")).unwrap_err();
    assert_eq!(error.to_string(), "number required, but this is string");
}

#[test]
fn marks_of_both_operands_apply_to_the_result() {
    let secret = Value::int(1).mark(Marks::SENSITIVE);
    let passing = unknown(Type::Number).mark(Marks::EPHEMERAL);
    let both = Marks::SENSITIVE | Marks::EPHEMERAL;
    assert_eq!(add(&secret, &passing).unwrap().marks(), both);
    assert_eq!(less(&secret, &passing).unwrap().marks(), both);
    assert_eq!(equal(&secret, &passing).marks(), both);
    let deep = Value::tuple(vec![secret]);
    assert_eq!(equal(&deep, &Value::tuple(vec![Value::int(1)])).marks(), Marks::SENSITIVE);
}

#[test]
fn refinements_to_a_single_value_yield_that_value() {
    let bound = |n: i64| Some((Number::from(n), true));
    let refine = |ty: Type, refinement: Refinement| Value::refined(ty, refinement);
    let exactly = |n| Refinement { min_length: n, max_length: Some(n), ..Refinement::not_null() };
    let one = Refinement { lower: bound(1), upper: bound(1), ..Refinement::not_null() };
    assert_eq!(refine(Type::Number, one), Value::int(1));
    let list = Type::list(Type::Bool);
    assert_eq!(refine(list.clone(), exactly(0)), Value::list(Type::Bool, vec![]));
    let two = Value::list(Type::Bool, vec![Value::unknown(Type::Bool); 2]);
    assert_eq!(refine(list.clone(), exactly(2)), two);
    // So many elements would not fit into memory.
    assert!(refine(list.clone(), exactly(1 << 40)).is_unknown());
    // It may still be null instead of empty.
    assert!(refine(list, Refinement { not_null: false, ..exactly(0) }).is_unknown());
    let set = Value::set(Type::Bool, vec![Value::unknown(Type::Bool)]);
    assert_eq!(refine(Type::set(Type::Bool), exactly(1)), set);
    assert_eq!(refine(Type::Dynamic, Refinement::not_null()), Value::dynamic());
    let narrowed = length()
        .mark(Marks::SENSITIVE)
        .refine(&Refinement { upper: bound(0), ..Refinement::default() });
    assert_eq!(narrowed, Value::int(0).mark(Marks::SENSITIVE));
}

/// Constructors keep within the limit, so dropping and comparing a value may recurse.
#[test]
fn the_deepest_value_is_dropped_and_compared_on_a_small_stack() {
    let deep = || (0..Value::MAX_DEPTH).fold(Value::int(1), |inner, _| Value::tuple(vec![inner]));
    let run = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let (a, b) = (deep(), deep());
        assert_eq!(equal(&a, &b), Value::Bool(true));
        assert_eq!(a, b);
        let deepest = a.check_depth().unwrap();
        assert_eq!(Value::tuple(vec![deepest]).check_depth(), Err(TooDeepError));
    });
    run.unwrap().join().unwrap();
}
