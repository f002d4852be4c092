//! Objects that are too large to be sent to their provider again.

use super::EngineFixture;

/// The limit of these tests. Some of it is left for what is sent along.
const MESSAGE_LIMIT: usize = 4096;

fn fixture_with_limit() -> EngineFixture {
    let bench = EngineFixture::new();
    bench.cloud.lock_contents().message_limit = Some(MESSAGE_LIMIT);
    bench
}

fn thing_with_name_of_length(length: usize) -> String {
    format!("resource \"test_thing\" \"a\" {{ name = \"{}\" }}", "n".repeat(length))
}

#[test]
fn a_plan_too_large_for_a_message_is_refused_before_any_change() {
    let mut bench = fixture_with_limit();
    let run = bench.apply(&thing_with_name_of_length(MESSAGE_LIMIT));
    assert!(
        run.describe_diagnostics().contains("Object is too large to be stored"),
        "{}",
        run.describe_diagnostics()
    );
    assert!(bench.cloud.lock_contents().objects.is_empty());
    assert_eq!(bench.describe_state(), "");
}

#[test]
fn an_object_returned_too_large_is_stored_by_its_id() {
    let mut bench = fixture_with_limit();
    // The id repeats the name, so the object is twice as long as its plan.
    let run = bench.apply(&thing_with_name_of_length(MESSAGE_LIMIT / 2));
    assert!(
        run.describe_diagnostics().contains("Object is too large to be stored"),
        "{}",
        run.describe_diagnostics()
    );
    assert!(
        run.describe_diagnostics().contains("Object is stored incompletely"),
        "{}",
        run.describe_diagnostics()
    );
    let id = format!("{}-1", "n".repeat(MESSAGE_LIMIT / 2));
    assert_eq!(bench.describe_state(), format!("test_thing.a {id} tainted\n"));
    // It can be destroyed, and is not forgotten.
    bench.cloud.lock_contents().message_limit = None;
    let run = bench.apply("");
    assert_eq!(run.describe_diagnostics(), "");
    assert!(bench.cloud.lock_contents().objects.is_empty());
}

#[test]
fn an_object_grown_too_large_keeps_its_stored_values() {
    let mut bench = fixture_with_limit();
    let run = bench.apply(&thing_with_name_of_length(3));
    assert_eq!(run.describe_diagnostics(), "");
    let before = bench.describe_state();
    let large = formwork_value::Value::string("x".repeat(MESSAGE_LIMIT));
    let object = bench.cloud.lock_contents().objects["nnn-1"].clone();
    let grown = super::cloud::with_attribute(&object, "zone", large);
    bench.cloud.lock_contents().objects.insert("nnn-1".into(), grown);
    let run = bench.apply(&thing_with_name_of_length(3));
    assert!(
        run.describe_diagnostics().contains("Object is too large to be stored"),
        "{}",
        run.describe_diagnostics()
    );
    assert_eq!(bench.describe_state(), before);
}
