//! Objects that are too large to be sent to their provider again.

use super::EvalFixture;

/// The limit of these tests. Some of it is left for what is sent along.
const LIMIT: usize = 4096;

fn bench() -> EvalFixture {
    let bench = EvalFixture::new();
    bench.cloud.things().message_limit = Some(LIMIT);
    bench
}

fn named(length: usize) -> String {
    format!("resource \"test_thing\" \"a\" {{ name = \"{}\" }}", "n".repeat(length))
}

#[test]
fn a_plan_that_is_too_large_is_refused_before_anything_is_done() {
    let mut bench = bench();
    let run = bench.apply(&named(LIMIT));
    assert!(run.said().contains("Object is too large to be stored"), "{}", run.said());
    assert!(bench.cloud.things().objects.is_empty());
    assert_eq!(bench.state(), "");
}

#[test]
fn an_object_that_came_out_too_large_is_kept_by_its_id() {
    let mut bench = bench();
    // The id repeats the name, so the object is twice as long as its plan.
    let run = bench.apply(&named(LIMIT / 2));
    assert!(run.said().contains("Object is too large to be stored"), "{}", run.said());
    assert!(run.said().contains("Object is stored incompletely"), "{}", run.said());
    let id = format!("{}-1", "n".repeat(LIMIT / 2));
    assert_eq!(bench.state(), format!("test_thing.a {id} tainted\n"));
    // It can be destroyed, and is not forgotten.
    bench.cloud.things().message_limit = None;
    let run = bench.apply("");
    assert_eq!(run.said(), "");
    assert!(bench.cloud.things().objects.is_empty());
}

#[test]
fn an_object_that_has_grown_too_large_stays_in_the_state_as_it_was() {
    let mut bench = bench();
    let run = bench.apply(&named(3));
    assert_eq!(run.said(), "");
    let before = bench.state();
    let large = formwork_value::Value::string("x".repeat(LIMIT));
    let object = bench.cloud.things().objects["nnn-1"].clone();
    let grown = super::cloud::with(&object, "zone", large);
    bench.cloud.things().objects.insert("nnn-1".into(), grown);
    let run = bench.apply(&named(3));
    assert!(run.said().contains("Object is too large to be stored"), "{}", run.said());
    assert_eq!(bench.state(), before);
}
