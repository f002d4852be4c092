//! Real objects that are not as the state has them.

use expect_test::expect;
use formwork_value::Value;

use super::cloud::with_attribute;
use super::{CallFault, EngineFixture};
use crate::plan::PlanMode;

const CONFIG: &str = r#"
    resource "test_thing" "a" {
      name = "a"
      size = 1
    }
    resource "test_thing" "b" {
      name = "b"
      note = test_thing.a.id
    }
    output "size" { value = test_thing.a.size }"#;

fn fixture_with_drift(id: &str) -> EngineFixture {
    let bench = EngineFixture::with_applied(CONFIG);
    let mut things = bench.cloud.lock_contents();
    let object = things.objects.get_mut(id).unwrap();
    *object = with_attribute(object, "size", Value::int(7));
    drop(things);
    bench
}

fn fixture_with_vanished(id: &str) -> EngineFixture {
    let bench = EngineFixture::with_applied(CONFIG);
    bench.cloud.lock_contents().objects.remove(id).unwrap();
    bench
}

fn run_refresh_only(bench: &mut EngineFixture, config: &str) -> String {
    let run = bench.apply_with(config, |options| options.mode = PlanMode::RefreshOnly);
    format!("{}{}", run.describe_run(), bench.describe_state())
}

#[test]
fn drift_is_corrected() {
    let mut bench = fixture_with_drift("a-1");
    let run = bench.apply(CONFIG);
    expect![[r#"
        ~ test_thing.a
        drift ~ test_thing.a
        calls: update a-1
        test_thing.a a-1 1
        test_thing.b b-1 after test_thing.a
        output.size 1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_vanished_object_is_recreated() {
    let mut bench = fixture_with_vanished("a-1");
    let run = bench.apply(CONFIG);
    expect![[r#"
        + test_thing.a
        ~ test_thing.b
        drift - test_thing.a
        calls: create a, update b-1
        test_thing.a a-2 1
        test_thing.b b-1 after test_thing.a
        output.size 1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_vanished_orphan_is_forgotten_without_a_call() {
    let mut bench = fixture_with_vanished("b-1");
    let run = bench.apply("resource \"test_thing\" \"a\" {\n name = \"a\"\n size = 1\n}");
    expect![[r#"
        drift - test_thing.b
        - output.size null
        calls: 
        test_thing.a a-1 1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn drift_without_a_change_is_stored() {
    // The configuration has no size for `b`, but its real size is ignored here as well.
    let config = CONFIG.replace(
        "note = test_thing.a.id",
        "note = test_thing.a.id\nlifecycle { ignore_changes = all }",
    );
    let mut bench = fixture_with_drift("b-1");
    let run = bench.apply(&config);
    expect![[r#"
        drift ~ test_thing.b
        calls: 
        test_thing.a a-1 1
        test_thing.b b-1 7 after test_thing.a
        output.size 1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn refresh_only_stores_drift_and_changes_nothing_else() {
    expect![[r#"
        drift ~ test_thing.a
        ~ output.size 7
        calls: 
        test_thing.a a-1 7
        test_thing.b b-1 after test_thing.a
        output.size 7
    "#]]
    .assert_eq(&run_refresh_only(&mut fixture_with_drift("a-1"), CONFIG));
    expect![[r#"
        drift - test_thing.a
        ~ output.size unknown number
        calls: 
        test_thing.b b-1 after test_thing.a
        output.size null
    "#]]
    .assert_eq(&run_refresh_only(&mut fixture_with_vanished("a-1"), CONFIG));
}

#[test]
fn refresh_only_creates_no_objects() {
    let more = format!(
        "{CONFIG}\nresource \"test_thing\" \"n\" {{ name = \"n\" }}\noutput \"n\" {{ value = test_thing.n.id }}"
    );
    expect![[r#"
        drift ~ test_thing.a
        + output.n unknown string
        ~ output.size 7
        calls: 
        test_thing.a a-1 7
        test_thing.b b-1 after test_thing.a
        output.n null
        output.size 7
    "#]]
    .assert_eq(&run_refresh_only(&mut fixture_with_drift("a-1"), &more));
}

#[test]
fn refresh_only_destroys_no_objects() {
    let counted = |n: usize| {
        format!("resource \"test_thing\" \"a\" {{\n count = {n}\n name = \"a${{count.index}}\"\n}}")
    };
    let mut bench = EngineFixture::with_applied(&counted(2));
    bench.cloud.lock_contents().objects.remove("a1-1").unwrap();
    expect![[r#"
        drift - test_thing.a[1]
        calls: 
        test_thing.a[0] a0-1
    "#]]
    .assert_eq(&run_refresh_only(&mut bench, &counted(1)));
    let mut bench = EngineFixture::with_applied(&counted(2));
    expect![[r#"
        nothing
        calls: 
        test_thing.a[0] a0-1
        test_thing.a[1] a1-1
    "#]]
    .assert_eq(&run_refresh_only(&mut bench, &counted(1)));
}

#[test]
fn drift_is_not_detected_without_refresh() {
    let mut bench = fixture_with_drift("a-1");
    let run = bench.plan_with(CONFIG, |options| options.skip_refresh = true);
    expect![[r#"
        nothing
        calls: 
        configure -, plan a, plan b
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), run.all_calls()));
}

#[test]
fn a_failed_refresh_stops_dependents() {
    let mut bench = fixture_with_drift("a-1");
    bench.set_fault("read a-1", CallFault::Refuses);
    let run = bench.plan(CONFIG);
    expect![[r#"
        calls: 
        error test_thing.a: the cloud says no to read
        configure -, read a-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), run.all_calls()));
}
