//! Runs that are limited to a part.

use expect_test::expect;

use super::{CallFault, EngineFixture};

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
    output "of_a" { value = test_thing.a.id }
    output "of_b" { value = test_thing.b[*].id }
    output "of_c" { value = test_thing.c.id }"#;

fn describe_targeted_run(bench: &mut EngineFixture, targets: &[&str], config: &str) -> String {
    bench.set_targets(targets);
    let run = bench.apply(config);
    bench.set_targets(&[]);
    format!("{}{}", run.describe_run(), bench.describe_state())
}

#[test]
fn a_target_includes_its_dependencies() {
    // An output is included if all its references are, as in Terraform.
    expect![[r#"
        + test_thing.a
        + test_thing.b[0]
        + test_thing.b[1]
        + output.of_a unknown string
        + output.of_b [unknown string, unknown string]
        calls: create a, create b0, create b1
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        output.of_a "a-1"
        output.of_b ["b0-1", "b1-1"]
    "#]]
    .assert_eq(&describe_targeted_run(&mut EngineFixture::new(), &["test_thing.b"], TREE_CONFIG));
}

#[test]
fn one_instance_can_be_a_target() {
    expect![[r#"
        + test_thing.a
        + test_thing.b[0]
        + output.of_a unknown string
        + output.of_b [unknown string]
        calls: create a, create b0
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        output.of_a "a-1"
        output.of_b ["b0-1"]
    "#]]
    .assert_eq(&describe_targeted_run(
        &mut EngineFixture::new(),
        &["test_thing.b[0]"],
        TREE_CONFIG,
    ));
}

#[test]
fn instances_outside_the_target_have_their_stored_values() {
    let mut bench = EngineFixture::with_applied(TREE_CONFIG);
    let config = TREE_CONFIG.replace("name = \"c\"", "name = \"c\"\nsize = 1");
    expect![[r#"
        ~ test_thing.c
        calls: update c-1
        test_thing.a a-1
        test_thing.b[0] b0-1 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        test_thing.c c-1 1 after test_thing.a test_thing.b
        output.of_a "a-1"
        output.of_b ["b0-1", "b1-1"]
        output.of_c "c-1"
    "#]]
    .assert_eq(&describe_targeted_run(&mut bench, &["test_thing.b[0]", "test_thing.c"], &config));
}

#[test]
fn orphans_outside_the_target_are_not_destroyed() {
    let mut bench = EngineFixture::with_applied(TREE_CONFIG);
    let config = r#"resource "test_thing" "a" {
                      name = "a"
                      size = 1
                    }"#;
    expect![[r#"
        ~ test_thing.a
        calls: update a-1
        test_thing.a a-1 1
        test_thing.b[0] b0-1 after test_thing.a
        test_thing.b[1] b1-1 after test_thing.a
        test_thing.c c-1 after test_thing.a test_thing.b
        output.of_a "a-1"
        output.of_b ["b0-1", "b1-1"]
        output.of_c "c-1"
    "#]]
    .assert_eq(&describe_targeted_run(&mut bench, &["test_thing.a"], config));
}

#[test]
fn a_target_is_destroyed_with_everything_that_depends_on_it() {
    let mut bench = EngineFixture::with_applied(TREE_CONFIG);
    bench.set_targets(&["test_thing.b"]);
    let run = bench.destroy(TREE_CONFIG);
    expect![[r#"
        - test_thing.b[0]
        - test_thing.b[1]
        - test_thing.c
        calls: delete c-1, delete b0-1, delete b1-1
        test_thing.a a-1
        output.of_a "a-1"
        output.of_b ["b0-1", "b1-1"]
        output.of_c "c-1"
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn only_a_targeted_orphan_is_destroyed() {
    // Only a destruction takes along what depends on a target, as in Terraform.
    let mut bench = EngineFixture::with_applied(TREE_CONFIG);
    expect![[r#"
        - test_thing.b[0] DeleteBecauseNoResourceConfig
        - test_thing.b[1] DeleteBecauseNoResourceConfig
        calls: delete b0-1, delete b1-1
        test_thing.a a-1
        test_thing.c c-1 after test_thing.a test_thing.b
        output.of_a "a-1"
        output.of_b ["b0-1", "b1-1"]
        output.of_c "c-1"
    "#]]
    .assert_eq(&describe_targeted_run(
        &mut bench,
        &["test_thing.b"],
        "resource \"test_thing\" \"a\" { name = \"a\" }",
    ));
}

#[test]
fn orphans_of_dependencies_of_a_target_are_not_destroyed() {
    // Removed instances of a module; only one of their objects is a target.
    let config = |n: usize| {
        format!(
            "module \"m\" {{\n source = \"./m\"\n count = {n}\n}}\n//- m/main.tf\n{}",
            r#"
            resource "test_thing" "a" { name = "a" }
            resource "test_thing" "b" {
              name = "b"
              note = test_thing.a.id
            }
            "#
        )
    };
    let mut bench = EngineFixture::with_applied(&config(3));
    bench.set_targets(&["module.m[2].test_thing.b"]);
    let run = bench.plan(&config(1));
    expect![[r#"
        - module.m[2].test_thing.b DeleteBecauseNoModule
    "#]]
    .assert_eq(&run.describe_changes());
    // A deposed object that could not be destroyed.
    let pair = |zone: &str| {
        format!(
            r#"
            resource "test_thing" "a" {{
              name = "a"
              zone = "{zone}"
              lifecycle {{ create_before_destroy = true }}
            }}
            resource "test_thing" "b" {{
              name = "b"
              note = test_thing.a.name
            }}
            "#
        )
    };
    let mut bench = EngineFixture::with_applied(&pair("north"));
    bench.set_fault("delete a-1", CallFault::Refuses);
    bench.apply(&pair("south"));
    bench.clear_faults();
    bench.set_targets(&["test_thing.b"]);
    expect![[r#"
        nothing
    "#]]
    .assert_eq(&bench.plan(&pair("south")).describe_changes());
    bench.set_targets(&["test_thing.a"]);
    expect![[r#"
        - test_thing.a (deposed)
    "#]]
    .assert_eq(&bench.plan(&pair("south")).describe_changes());
}
