//! Marks taken off and put back.

use super::*;
use crate::Type;

fn secret(text: &str) -> Value {
    Value::string(text).mark(Marks::SENSITIVE)
}

fn sample() -> Value {
    Value::object([
        ("a", secret("1")),
        ("b", Value::list(Type::String, vec![Value::string("x"), secret("y")])),
        ("c", Value::object([("d", Value::int(1))]).mark(Marks::EPHEMERAL)),
    ])
}

#[test]
fn marks_are_split_off_with_their_paths_and_restored() {
    let (plain, marks) = sample().split_marks();
    assert!(plain.value().all_marks().is_empty());
    let shown: Vec<String> =
        marks.0.iter().map(|(path, path_marks)| format!("{path} {path_marks:?}")).collect();
    assert_eq!(shown, [".a {\"sensitive\"}", ".b[1] {\"sensitive\"}", ".c {\"ephemeral\"}"]);
    assert_eq!(plain.with_marks(&marks), sample());
}

#[test]
fn marks_on_a_value_and_inside_it_are_kept_apart() {
    let value = sample().mark(Marks::SENSITIVE);
    let (plain, marks) = value.clone().split_marks();
    assert_eq!(marks.0.len(), 4);
    assert_eq!(plain.with_marks(&marks), value);
}

#[test]
fn an_outdated_path_marks_the_enclosing_part() {
    let path = Path::root().attribute("b").index(5).attribute("x");
    let marks = MarkPaths::on_all_paths([path], Marks::SENSITIVE);
    let value = sample().split_marks().0.with_marks(&marks);
    assert_eq!(value.split_marks().1.0, [(Path::root().attribute("b"), Marks::SENSITIVE)]);
}

#[test]
fn mark_paths_are_sorted_and_united() {
    let a = Path::root().attribute("a");
    let b = Path::root().attribute("b").index(0);
    let marks: MarkPaths = [
        (b.clone(), Marks::SENSITIVE),
        (a.clone(), Marks::EPHEMERAL),
        (a.clone(), Marks::SENSITIVE),
        (Path::root(), Marks::NONE),
    ]
    .into_iter()
    .collect();
    assert_eq!(
        marks.0,
        [(a.clone(), Marks::SENSITIVE | Marks::EPHEMERAL), (b.clone(), Marks::SENSITIVE)]
    );
    assert_eq!(marks.paths_with(Marks::EPHEMERAL).collect::<Vec<_>>(), [&a]);
    let below = marks.below_path(&Path::root().attribute("b"));
    assert_eq!(below.0, [(Path::root().index(0), Marks::SENSITIVE)]);
    assert_eq!(marks.without(Marks::SENSITIVE).0, [(a, Marks::EPHEMERAL)]);
}

#[test]
fn the_proofs_name_the_first_offender() {
    let b1 = Path::root().attribute("b").index(1);
    let unknown = sample().replace_at(&b1, |_| Value::unknown(Type::String)).unwrap();
    assert_eq!(Known::new(unknown).unwrap_err(), b1);
    assert_eq!(Known::new(sample()).unwrap_err(), Path::root().attribute("c"));
    assert_eq!(Plain::try_from(sample()).unwrap_err(), Path::root().attribute("a"));
    assert!(Plain::try_from(Value::int(1)).is_ok());
    assert!(Known::new(secret("s")).is_ok());
}
