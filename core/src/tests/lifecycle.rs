//! One object from creation to its end, and repeated ones that come and go.

use expect_test::{Expect, expect};

use super::EngineFixture;

/// Applies the first configuration, then the second; shows the second run and the state after it.
fn check_second_run(before: &str, after: &str, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.apply(after);
    expect.assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
    let again = bench.plan(after);
    assert!(
        again.has_no_diagnostics(),
        "not settled: {}{}",
        again.describe_run(),
        bench.describe_state()
    );
}

#[test]
fn an_object_is_created_updated_replaced_and_destroyed() {
    check_second_run(
        "",
        r#"resource "test_thing" "a" { name = "a" }"#,
        expect![[r#"
        + test_thing.a
        calls: create a
        test_thing.a a-1
    "#]],
    );
    check_second_run(
        r#"resource "test_thing" "a" { name = "a" }"#,
        r#"resource "test_thing" "a" {
             name = "a"
             size = 2
           }"#,
        expect![[r#"
            ~ test_thing.a
            calls: update a-1
            test_thing.a a-1 2
        "#]],
    );
    check_second_run(
        r#"resource "test_thing" "a" { name = "a" }"#,
        r#"resource "test_thing" "a" {
             name = "a"
             zone = "north"
           }"#,
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: delete a-1, create a
            test_thing.a a-2
        "#]],
    );
    check_second_run(
        r#"resource "test_thing" "a" { name = "a" }"#,
        "",
        expect![[r#"
        - test_thing.a DeleteBecauseNoResourceConfig
        calls: delete a-1
    "#]],
    );
}

#[test]
fn create_before_destroy_replaces_create_first() {
    let config = |zone: &str| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 zone = "{zone}"
                 lifecycle {{ create_before_destroy = true }}
               }}"#
        )
    };
    check_second_run(
        &config("north"),
        &config("south"),
        expect![[r#"
        +/- test_thing.a ReplaceBecauseCannotUpdate .zone
        calls: create a, delete a-1
        test_thing.a a-2 create-first
    "#]],
    );
}

#[test]
fn count_creates_and_destroys_instances() {
    let config = |n: usize| {
        format!(
            r#"resource "test_thing" "a" {{
                 count = {n}
                 name  = "a${{count.index}}"
               }}"#
        )
    };
    check_second_run(
        &config(1),
        &config(3),
        expect![[r#"
        + test_thing.a[1]
        + test_thing.a[2]
        calls: create a1, create a2
        test_thing.a[0] a0-1
        test_thing.a[1] a1-1
        test_thing.a[2] a2-1
    "#]],
    );
    check_second_run(
        &config(3),
        &config(1),
        expect![[r#"
        - test_thing.a[1] DeleteBecauseCountIndex
        - test_thing.a[2] DeleteBecauseCountIndex
        calls: delete a1-1, delete a2-1
        test_thing.a[0] a0-1
    "#]],
    );
    check_second_run(
        &config(2),
        &config(0),
        expect![[r#"
        - test_thing.a[0] DeleteBecauseCountIndex
        - test_thing.a[1] DeleteBecauseCountIndex
        calls: delete a0-1, delete a1-1
    "#]],
    );
}

#[test]
fn for_each_creates_and_destroys_instances() {
    let config = |keys: &str| {
        format!(
            r#"resource "test_thing" "a" {{
                 for_each = toset([{keys}])
                 name     = each.key
               }}"#
        )
    };
    check_second_run(
        &config(r#""x", "y""#),
        &config(r#""y", "z""#),
        expect![[r#"
        - test_thing.a["x"] DeleteBecauseEachKey
        + test_thing.a["z"]
        calls: delete x-1, create z
        test_thing.a["y"] y-1
        test_thing.a["z"] z-1
    "#]],
    );
}

#[test]
fn another_kind_of_repetition_replaces_all_instances() {
    // Terraform keeps an object only between no key and `[0]`.
    check_second_run(
        r#"resource "test_thing" "a" {
             count = 1
             name  = "a"
           }"#,
        r#"resource "test_thing" "a" {
             for_each = toset(["k"])
             name     = each.key
           }"#,
        expect![[r#"
            - test_thing.a[0] DeleteBecauseWrongRepetition
            + test_thing.a["k"]
            calls: delete a-1, create k
            test_thing.a["k"] k-1
        "#]],
    );
}

#[test]
fn ignored_changes_are_not_applied() {
    let config = |ignore: &str| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 size = 5
                 zone = "south"
                 tags = {{ own = "1", other = "2" }}
                 lifecycle {{ ignore_changes = {ignore} }}
               }}"#
        )
    };
    let before = r#"resource "test_thing" "a" {
                      name = "a"
                      size = 1
                      zone = "north"
                      tags = { own = "1", other = "1" }
                    }"#;
    check_second_run(
        before,
        &config("all"),
        expect![[r#"
        nothing
        calls: 
        test_thing.a a-1 1
    "#]],
    );
    check_second_run(
        before,
        &config("[zone, size, tags]"),
        expect![[r#"
        nothing
        calls: 
        test_thing.a a-1 1
    "#]],
    );
    check_second_run(
        before,
        &config(r#"[zone, tags["other"]]"#),
        expect![[r#"
        ~ test_thing.a
        calls: update a-1
        test_thing.a a-1 5
    "#]],
    );
    // A new object takes what is written.
    check_second_run(
        "",
        &config("all"),
        expect![[r#"
        + test_thing.a
        calls: create a
        test_thing.a a-1 5
    "#]],
    );
}

#[test]
fn a_change_named_in_replace_triggered_by_replaces() {
    let config = |size: usize, trigger: &str| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 size = {size}
               }}
               resource "test_thing" "b" {{
                 name = "b"
                 lifecycle {{ replace_triggered_by = [{trigger}] }}
               }}"#
        )
    };
    let whole_resource = "test_thing.a";
    // Of the whole resource any change counts, of an attribute only one of that.
    check_second_run(
        &config(1, whole_resource),
        &config(2, whole_resource),
        expect![[r#"
        ~ test_thing.a
        -/+ test_thing.b ReplaceByTriggers
        calls: delete b-1, update a-1, create b
        test_thing.a a-1 2
        test_thing.b b-2 after test_thing.a
    "#]],
    );
    let changed = "test_thing.a.size";
    check_second_run(
        &config(1, changed),
        &config(2, changed),
        expect![[r#"
        ~ test_thing.a
        -/+ test_thing.b ReplaceByTriggers
        calls: delete b-1, update a-1, create b
        test_thing.a a-1 2
        test_thing.b b-2 after test_thing.a
    "#]],
    );
    let other = "test_thing.a.zone";
    check_second_run(
        &config(1, other),
        &config(2, other),
        expect![[r#"
        ~ test_thing.a
        calls: update a-1
        test_thing.a a-1 2
        test_thing.b b-1 after test_thing.a
    "#]],
    );
}

#[test]
fn a_protected_object_is_not_destroyed() {
    let config = |zone: &str, count: usize, protected: bool| {
        format!(
            r#"resource "test_thing" "a" {{
                 count = {count}
                 name  = "a"
                 zone  = "{zone}"
                 lifecycle {{ prevent_destroy = {protected} }}
               }}"#
        )
    };
    let mut bench = EngineFixture::with_applied(&config("north", 2, true));
    let mut story = String::new();
    story += &bench.plan(&config("south", 2, true)).describe_run();
    story += &bench.plan(&config("north", 1, true)).describe_run();
    story += &bench
        .plan_with(&config("north", 2, true), |options| {
            options.mode = crate::plan::PlanMode::Destroy;
        })
        .describe_run();
    expect![[r#"
        -/+ test_thing.a[0] ReplaceBecauseCannotUpdate .zone
        -/+ test_thing.a[1] ReplaceBecauseCannotUpdate .zone
        calls: 
        error test_thing.a[0]: Instance cannot be destroyed
        error test_thing.a[1]: Instance cannot be destroyed
        - test_thing.a[1] DeleteBecauseCountIndex
        calls: 
        error test_thing.a[1]: Instance cannot be destroyed
        - test_thing.a[0]
        - test_thing.a[1]
        calls: 
        error test_thing.a[0]: Instance cannot be destroyed
        error test_thing.a[1]: Instance cannot be destroyed
    "#]]
    .assert_eq(&story);
    // Without its block nothing protects it.
    expect![[r#"
        - test_thing.a[0] DeleteBecauseNoResourceConfig
        - test_thing.a[1] DeleteBecauseNoResourceConfig
        calls: 
    "#]]
    .assert_eq(&bench.plan("").describe_run());
}

#[test]
fn an_object_can_be_replaced_on_request() {
    let config = r#"resource "test_thing" "a" { name = "a" }
                    resource "test_thing" "b" {
                      name = "b"
                      note = test_thing.a.id
                    }"#;
    let mut bench = EngineFixture::with_applied(config);
    let run = bench.apply_with(config, |options| {
        options.replace = vec!["test_thing.a".parse().unwrap()];
    });
    expect![[r#"
        -/+ test_thing.a ReplaceByRequest
        ~ test_thing.b
        calls: delete a-1, create a, update b-1
        test_thing.a a-2
        test_thing.b b-1 after test_thing.a
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn stored_metadata_of_an_unchanged_object_follows_the_configuration() {
    let config = |more: &str| {
        format!(
            r#"resource "test_thing" "a" {{ name = "a" }}
               resource "test_thing" "b" {{
                 name = "b"
                 {more}
               }}"#
        )
    };
    let more = "depends_on = [test_thing.a]
                lifecycle { create_before_destroy = true }";
    // What `b` depends on inherits its flag, and the state records that although nothing changes.
    check_second_run(
        &config(""),
        &config(more),
        expect![[r#"
            nothing
            calls: 
            test_thing.a a-1 create-first
            test_thing.b b-1 create-first after test_thing.a
        "#]],
    );
    check_second_run(
        &config(more),
        &config(""),
        expect![[r#"
            nothing
            calls: 
            test_thing.a a-1
            test_thing.b b-1
        "#]],
    );
}
