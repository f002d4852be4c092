//! Calls that fail: the objects kept, the steps left undone, and the course of the next run.

use expect_test::{Expect, expect};

use super::{CallFault, EngineFixture};

const RESOURCE_A: &str = r#"resource "test_thing" "a" { name = "a" }"#;

fn resource_a(more: &str) -> String {
    format!("resource \"test_thing\" \"a\" {{\n name = \"a\"\n {more}\n}}\n")
}

/// Applies two configurations, the second with a fault; shows that run, the state after it, and how
/// the next run without the fault goes.
fn check_fault(before: &str, after: &str, call: &str, fault: CallFault, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    bench.set_fault(call, fault);
    let run = bench.apply(after);
    let mut story = format!("{}{}", run.describe_run(), bench.describe_state());
    bench.clear_faults();
    story += &format!("{} journals\nthen\n", bench.journal_count());
    let next = bench.apply(after);
    story += &format!("{}{}", next.describe_run(), bench.describe_state());
    expect.assert_eq(&story);
}

#[test]
fn a_failed_creation_leaves_no_object_and_is_retried() {
    check_fault(
        "",
        RESOURCE_A,
        "create a",
        CallFault::Refuses,
        expect![[r#"
            + test_thing.a
            calls: create a
            error test_thing.a: the cloud says no to create a
            0 journals
            then
            + test_thing.a
            calls: create a
            test_thing.a a-1
        "#]],
    );
}

#[test]
fn a_partially_created_object_is_kept_and_replaced() {
    // As in Terraform: what comes beside an error from a creation is tainted.
    check_fault(
        "",
        RESOURCE_A,
        "create a",
        CallFault::Half,
        expect![[r#"
        + test_thing.a
        calls: create a
        error test_thing.a: the cloud says no to create a
        test_thing.a a-1 tainted
        0 journals
        then
        -/+ test_thing.a ReplaceBecauseTainted
        calls: delete a-1, create a
        test_thing.a a-2
    "#]],
    );
}

#[test]
fn a_failed_update_keeps_the_existing_object() {
    check_fault(
        RESOURCE_A,
        &resource_a("size = 2"),
        "update a-1",
        CallFault::Refuses,
        expect![[r#"
            ~ test_thing.a
            calls: update a-1
            error test_thing.a: the cloud says no to update a-1
            test_thing.a a-1
            0 journals
            then
            ~ test_thing.a
            calls: update a-1
            test_thing.a a-1 2
        "#]],
    );
    // Unlike after a creation, it is not tainted: Terraform takes the answer as the new object.
    check_fault(
        RESOURCE_A,
        &resource_a("size = 2"),
        "update a-1",
        CallFault::Half,
        expect![[r#"
        ~ test_thing.a
        calls: update a-1
        error test_thing.a: the cloud says no to update a-1
        test_thing.a a-1 2
        0 journals
        then
        nothing
        calls: 
        test_thing.a a-1 2
    "#]],
    );
}

#[test]
fn a_failed_destruction_keeps_the_object() {
    check_fault(
        RESOURCE_A,
        "",
        "delete a-1",
        CallFault::Refuses,
        expect![[r#"
            - test_thing.a DeleteBecauseNoResourceConfig
            calls: delete a-1
            error test_thing.a: the cloud says no to delete a-1
            test_thing.a a-1
            0 journals
            then
            - test_thing.a DeleteBecauseNoResourceConfig
            calls: delete a-1
        "#]],
    );
}

#[test]
fn a_replacement_that_fails_after_destroying_is_recreated() {
    check_fault(
        &resource_a("zone = \"n\""),
        &resource_a("zone = \"s\""),
        "create a",
        CallFault::Refuses,
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: delete a-1, create a
            error test_thing.a: the cloud says no to create a
            0 journals
            then
            + test_thing.a
            calls: create a
            test_thing.a a-2
        "#]],
    );
    check_fault(
        &resource_a("zone = \"n\""),
        &resource_a("zone = \"s\""),
        "delete a-1",
        CallFault::Refuses,
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: delete a-1
            error test_thing.a: the cloud says no to delete a-1
            test_thing.a a-1
            0 journals
            then
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: delete a-1, create a
            test_thing.a a-2
        "#]],
    );
}

const ZONE_NORTH: &str = "zone = \"n\"\nlifecycle { create_before_destroy = true }";
const ZONE_SOUTH: &str = "zone = \"s\"\nlifecycle { create_before_destroy = true }";

#[test]
fn a_create_first_replacement_that_fails_keeps_the_old_object() {
    // As in Terraform: it has no successor, so the deposed object is the current one again.
    check_fault(
        &resource_a(ZONE_NORTH),
        &resource_a(ZONE_SOUTH),
        "create a",
        CallFault::Refuses,
        expect![[r#"
            +/- test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: create a
            error test_thing.a: the cloud says no to create a
            test_thing.a a-1 create-first
            0 journals
            then
            +/- test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: create a, delete a-1
            test_thing.a a-2 create-first
        "#]],
    );
}

#[test]
fn a_partial_create_first_replacement_deposes_the_old_object() {
    // As in Terraform: a tainted successor remains the current object, and so the old object stays
    // deposed.
    check_fault(
        &resource_a(ZONE_NORTH),
        &resource_a(ZONE_SOUTH),
        "create a",
        CallFault::Half,
        expect![[r#"
        +/- test_thing.a ReplaceBecauseCannotUpdate .zone
        calls: create a
        error test_thing.a: the cloud says no to create a
        test_thing.a a-2 tainted create-first
        test_thing.a (deposed) a-1 create-first
        0 journals
        then
        +/- test_thing.a ReplaceBecauseTainted
        - test_thing.a (deposed)
        calls: create a, delete a-2, delete a-1
        test_thing.a a-3 create-first
    "#]],
    );
}

#[test]
fn a_deposed_object_is_destroyed_by_the_next_run_after_a_failure() {
    check_fault(
        &resource_a(ZONE_NORTH),
        &resource_a(ZONE_SOUTH),
        "delete a-1",
        CallFault::Refuses,
        expect![[r#"
            +/- test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: create a, delete a-1
            error test_thing.a: the cloud says no to delete a-1
            test_thing.a a-2 create-first
            test_thing.a (deposed) a-1 create-first
            0 journals
            then
            - test_thing.a (deposed)
            calls: delete a-1
            test_thing.a a-2 create-first
        "#]],
    );
}

#[test]
fn a_deposed_object_is_destroyed_with_its_resource() {
    let mut bench = EngineFixture::with_applied(&resource_a(ZONE_NORTH));
    bench.set_fault("delete a-1", CallFault::Refuses);
    bench.apply(&resource_a(ZONE_SOUTH));
    bench.clear_faults();
    let run = bench.destroy(&resource_a(ZONE_SOUTH));
    expect![[r#"
        - test_thing.a
        - test_thing.a (deposed)
        calls: delete a-2, delete a-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_deposed_object_is_kept_while_its_successor_cannot_be_created() {
    let mut bench = EngineFixture::with_applied(&resource_a(ZONE_NORTH));
    bench.set_fault("delete a-1", CallFault::Refuses);
    bench.apply(&resource_a(ZONE_SOUTH));
    bench.clear_faults();
    // Without the successor, the deposed object is the only one: it is kept until there is another.
    bench.cloud.lock_contents().objects.remove("a-2");
    bench.set_fault("create a", CallFault::Refuses);
    let run = bench.apply(&resource_a(ZONE_SOUTH));
    bench.clear_faults();
    expect![[r#"
        + test_thing.a
        - test_thing.a (deposed)
        drift - test_thing.a
        calls: create a
        error test_thing.a: the cloud says no to create a
        test_thing.a (deposed) a-1 create-first
        then
        + test_thing.a
        - test_thing.a (deposed)
        calls: create a, delete a-1
    "#]]
    .assert_eq(&format!(
        "{}{}then\n{}",
        run.describe_run(),
        bench.describe_state(),
        bench.apply(&resource_a(ZONE_SOUTH)).describe_run()
    ));
}

const TREE_CONFIG: &str = r#"
    resource "test_thing" "a" { name = "a" }
    resource "test_thing" "b" {
      name = "b"
      note = test_thing.a.id
    }
    resource "test_thing" "c" {
      name = "c"
      note = test_thing.b.id
    }
    resource "test_thing" "x" { name = "x" }
    resource "test_thing" "y" {
      name = "y"
      note = test_thing.x.id
    }
    output "of_c" { value = test_thing.c.id }
    output "of_y" { value = test_thing.y.id }"#;

#[test]
fn a_failure_stops_only_what_depends_on_it() {
    // `x` and `y` need nothing of `b`.
    check_fault(
        "",
        TREE_CONFIG,
        "create b",
        CallFault::Refuses,
        expect![[r#"
            + test_thing.a
            + test_thing.b
            + test_thing.c
            + test_thing.x
            + test_thing.y
            + output.of_c unknown string
            + output.of_y unknown string
            calls: create a, create b, create x, create y
            error test_thing.b: the cloud says no to create b
            test_thing.a a-1
            test_thing.x x-1
            test_thing.y y-1 after test_thing.x
            output.of_y "y-1"
            0 journals
            then
            + test_thing.b
            + test_thing.c
            + output.of_c unknown string
            calls: create b, create c
            test_thing.a a-1
            test_thing.b b-1 after test_thing.a
            test_thing.c c-1 after test_thing.a test_thing.b
            test_thing.x x-1
            test_thing.y y-1 after test_thing.x
            output.of_c "c-1"
            output.of_y "y-1"
        "#]],
    );
}

#[test]
fn a_failed_destruction_keeps_the_dependencies_of_the_object() {
    // `a` must stay as long as `b` does, which was made after it.
    check_fault(
        TREE_CONFIG,
        "",
        "delete b-1",
        CallFault::Refuses,
        expect![[r#"
            - test_thing.a DeleteBecauseNoResourceConfig
            - test_thing.b DeleteBecauseNoResourceConfig
            - test_thing.c DeleteBecauseNoResourceConfig
            - test_thing.x DeleteBecauseNoResourceConfig
            - test_thing.y DeleteBecauseNoResourceConfig
            - output.of_c null
            - output.of_y null
            calls: delete c-1, delete b-1, delete y-1, delete x-1
            error test_thing.b: the cloud says no to delete b-1
            test_thing.a a-1
            test_thing.b b-1 after test_thing.a
            0 journals
            then
            - test_thing.a DeleteBecauseNoResourceConfig
            - test_thing.b DeleteBecauseNoResourceConfig
            calls: delete b-1, delete a-1
        "#]],
    );
}

#[test]
fn a_failed_instance_stops_its_dependents_and_not_its_siblings() {
    let config = r#"
        resource "test_thing" "a" {
          count = 3
          name  = "a${count.index}"
        }
        resource "test_thing" "b" {
          name = "b"
          note = test_thing.a[0].id
        }
        resource "test_thing" "c" {
          name = "c"
          note = test_thing.a[1].id
        }
        resource "test_thing" "d" {
          name = "d"
          note = join("", test_thing.a[*].id)
        }
        output "all" { value = test_thing.a[*].id }"#;
    check_fault(
        "",
        config,
        "create a1",
        CallFault::Refuses,
        expect![[r#"
            + test_thing.a[0]
            + test_thing.a[1]
            + test_thing.a[2]
            + test_thing.b
            + test_thing.c
            + test_thing.d
            + output.all [unknown string, unknown string, unknown string]
            calls: create a0, create a1, create a2, create b
            error test_thing.a[1]: the cloud says no to create a1
            test_thing.a[0] a0-1
            test_thing.a[2] a2-1
            test_thing.b b-1 after test_thing.a
            0 journals
            then
            + test_thing.a[1]
            + test_thing.c
            + test_thing.d
            + output.all ["a0-1", unknown string, "a2-1"]
            calls: create a1, create c, create d
            test_thing.a[0] a0-1
            test_thing.a[1] a1-1
            test_thing.a[2] a2-1
            test_thing.b b-1 after test_thing.a
            test_thing.c c-1 after test_thing.a
            test_thing.d d-1 after test_thing.a
            output.all ["a0-1", "a1-1", "a2-1"]
        "#]],
    );
}

#[test]
fn an_error_while_planning_leaves_a_plan_that_cannot_be_applied() {
    // As in Terraform, such a plan is shown, but not applied.
    let mut bench = EngineFixture::new();
    bench.set_fault("plan b", CallFault::Refuses);
    let run = bench.apply(TREE_CONFIG);
    expect![[r#"
        + test_thing.a
        + test_thing.x
        + test_thing.y
        + output.of_y unknown string
        calls: 
        error test_thing.b: the cloud says no to plan
    "#]]
    .assert_eq(&run.describe_run());
    assert!(run.plan.unwrap().errored);
}

#[test]
fn an_error_in_one_planned_instance_keeps_the_others_in_the_state() {
    let config = r#"
        resource "test_thing" "a" {
          count = 3
          name  = "a${count.index}"
        }
        output "all" { value = test_thing.a[*].id }"#;
    let mut bench = EngineFixture::new();
    bench.set_fault("plan a1", CallFault::Refuses);
    expect![[r#"
        + test_thing.a[0]
        + test_thing.a[2]
        calls: 
        error test_thing.a[1]: the cloud says no to plan
    "#]]
    .assert_eq(&bench.plan(config).describe_run());
}

#[test]
fn remaining_operations_are_not_tried_when_the_disk_is_full() {
    let config = r#"
        resource "test_thing" "a" {
          count = 100
          name  = "a${count.index}"
        }"#;
    // The beginning of the run fits, and no announcement of a call.
    let mut bench = EngineFixture { room: Some(1), ..EngineFixture::new() };
    let run = bench.apply(config);
    assert!(bench.describe_state().is_empty());
    // One error and not a hundred: the others would be identical.
    assert_eq!(run.describe_diagnostics(), "error test_thing.a[0]: Journal cannot be written\n");
}

#[test]
fn a_disk_that_fills_up_stops_the_run_but_taints_nothing() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          note = test_thing.a.id
        }"#;
    // The beginning and the announcement fit, the answer does not.
    let mut bench = EngineFixture { room: Some(2), ..EngineFixture::new() };
    let run = bench.apply(config);
    expect![[r#"
        configure -, plan a, plan b, plan a, create a
        error test_thing.a: Journal cannot be written
        test_thing.a a-1
    "#]]
    .assert_eq(&format!(
        "{}{}{}",
        run.all_calls(),
        run.describe_diagnostics(),
        bench.describe_state()
    ));
    // The id may be known nowhere else if the state cannot be stored either.
    let named = "The outcome of test_thing.a, which has the id \"a-1\", could not be written";
    assert!(run.diags.iter().any(|error| error.detail.starts_with(named)), "{:?}", run.diags);
    bench.room = None;
    expect![[r#"
        + test_thing.b
        calls: create b
    "#]]
    .assert_eq(&bench.apply(config).describe_run());
}
