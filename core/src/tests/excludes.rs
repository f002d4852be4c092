//! Runs that leave a part out.

use expect_test::{Expect, expect};

use super::EngineFixture;
use crate::plan::PlanMode;

const TREE_CONFIG: &str = r#"
    resource "test_thing" "a" { name = "a" }
    resource "test_thing" "b" {
      count = 2
      name  = "b${count.index}"
      note  = test_thing.a.id
    }
    resource "test_thing" "c" {
      name = "c"
      note = test_thing.b[1].id
    }
    resource "test_thing" "other" { name = "o" }
    output "of_a" { value = test_thing.a.id }
    output "of_c" { value = test_thing.c.id }"#;

/// Applies a configuration without these, after `before` was applied whole.
fn check_excluding(before: &str, config: &str, excludes: &[&str], expect: &Expect) {
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.apply_with(config, |options| {
        options.excludes = excludes.iter().map(|text| text.parse().unwrap()).collect();
    });
    expect.assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

fn check_destroy_excluding(excludes: &[&str], expect: &Expect) {
    let mut bench = EngineFixture::with_applied(TREE_CONFIG);
    let run = bench.apply_with(TREE_CONFIG, |options| {
        options.mode = PlanMode::Destroy;
        options.excludes = excludes.iter().map(|text| text.parse().unwrap()).collect();
    });
    expect.assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn excluded_resources_are_left_out_with_their_dependents() {
    check_excluding(
        "",
        TREE_CONFIG,
        &["test_thing.b"],
        &expect![[r#"
        + test_thing.a
        + test_thing.other
        + output.of_a unknown string
        calls: create a, create o
        test_thing.a a-1
        test_thing.other o-1
        output.of_a "a-1"
    "#]],
    );
    check_excluding(
        "",
        TREE_CONFIG,
        &["test_thing.a"],
        &expect![[r#"
        + test_thing.other
        calls: create o
        test_thing.other o-1
    "#]],
    );
    check_excluding(
        "",
        TREE_CONFIG,
        &["test_thing.c", "test_thing.other"],
        &expect![[r#"
        + test_thing.a
        + test_thing.b[0]
        + test_thing.b[1]
        + output.of_a unknown string
        calls: create a, create b0, create b1
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        output.of_a "a-1"
    "#]],
    );
}

#[test]
fn one_instance_can_be_excluded() {
    // `c` refers only to `b[1]`, but needs all of `b` in the graph.
    check_excluding(
        "",
        TREE_CONFIG,
        &["test_thing.b[0]"],
        &expect![[r#"
        + test_thing.a
        + test_thing.b[1]
        + test_thing.other
        + output.of_a unknown string
        calls: create a, create b1, create o
        test_thing.a a-1
        test_thing.b[1] b1-1 after test_thing.a
        test_thing.other o-1
        output.of_a "a-1"
    "#]],
    );
}

#[test]
fn excluded_objects_are_not_changed() {
    let changed = TREE_CONFIG.replace("name  = \"b${", "size = 2\n name = \"b${");
    check_excluding(
        TREE_CONFIG,
        &changed,
        &["test_thing.b"],
        &expect![[r#"
        nothing
        calls: 
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        test_thing.c c-1 after test_thing.a test_thing.b
        test_thing.other o-1
        output.of_a "a-1"
        output.of_c "c-1"
    "#]],
    );
    check_excluding(
        TREE_CONFIG,
        &changed,
        &["test_thing.b[1]"],
        &expect![[r#"
        ~ test_thing.b[0]
        calls: update b0-1
        test_thing.a a-1
        test_thing.b[0] b0-1 2 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        test_thing.c c-1 after test_thing.a test_thing.b
        test_thing.other o-1
        output.of_a "a-1"
        output.of_c "c-1"
    "#]],
    );
}

#[test]
fn kept_objects_keep_their_recorded_dependencies() {
    // Nothing is written any more: `c` stays, and so does all below it.
    check_excluding(
        TREE_CONFIG,
        "",
        &["test_thing.c"],
        &expect![[r#"
        - test_thing.other DeleteBecauseNoResourceConfig
        calls: delete o-1
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        test_thing.c c-1 after test_thing.a test_thing.b
        output.of_a "a-1"
        output.of_c "c-1"
    "#]],
    );
    // `b[0]` stays, and so must `a`, which it was made after.
    check_excluding(
        TREE_CONFIG,
        "",
        &["test_thing.b[0]"],
        &expect![[r#"
        - test_thing.b[1] DeleteBecauseNoResourceConfig
        - test_thing.c DeleteBecauseNoResourceConfig
        - test_thing.other DeleteBecauseNoResourceConfig
        calls: delete c-1, delete b1-1, delete o-1
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        output.of_a "a-1"
        output.of_c "c-1"
    "#]],
    );
    check_destroy_excluding(
        &["test_thing.b[0]"],
        &expect![[r#"
        - test_thing.b[1]
        - test_thing.c
        - test_thing.other
        calls: delete c-1, delete b1-1, delete o-1
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        output.of_a "a-1"
        output.of_c "c-1"
    "#]],
    );
    // Outputs go only where everything does.
    check_destroy_excluding(
        &["test_thing.other"],
        &expect![[r#"
        - test_thing.a
        - test_thing.b[0]
        - test_thing.b[1]
        - test_thing.c
        calls: delete c-1, delete b0-1, delete b1-1, delete a-1
        test_thing.other o-1
        output.of_a "a-1"
        output.of_c "c-1"
    "#]],
    );
}

#[test]
fn a_module_can_be_excluded() {
    let config = r#"
//- main.tf
module "m" {
  source = "./m"
  count  = 2
}
resource "test_thing" "after" { name = module.m[0].id }
resource "test_thing" "apart" { name = "apart" }
//- m/main.tf
resource "test_thing" "in" { name = "in" }
output "id" { value = test_thing.in.id }"#;
    check_excluding(
        "",
        config,
        &["module.m"],
        &expect![[r#"
            + test_thing.apart
            calls: create apart
            test_thing.apart apart-1
        "#]],
    );
    check_excluding(
        "",
        config,
        &["module.m[1]"],
        &expect![[r#"
            + test_thing.apart
            + module.m[0].test_thing.in
            calls: create apart, create in
            test_thing.apart apart-1
            module.m[0].test_thing.in in-1
        "#]],
    );
}

#[test]
fn kept_objects_follow_moved_dependencies() {
    let before = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          note = test_thing.a.id
        }"#;
    let after = r#"
        moved {
          from = test_thing.a
          to   = test_thing.z
        }
        resource "test_thing" "z" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          note = test_thing.z.id
        }"#;
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.apply_with(after, |options| {
        options.mode = PlanMode::Destroy;
        options.excludes = vec!["test_thing.b".parse().unwrap()];
    });
    // `b` was created after `a`, which is now `z`: neither may be destroyed.
    assert_eq!(run.changing_calls(), "\n");
}
