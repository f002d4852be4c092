//! Objects that get another address, and objects that are no longer managed.

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
fn a_moved_object_is_unchanged_and_has_its_new_address_in_the_state() {
    check_second_run(
        r#"resource "test_thing" "a" { name = "a" }"#,
        r#"moved {
             from = test_thing.a
             to   = test_thing.b["k"]
           }
           resource "test_thing" "b" {
             for_each = toset(["k"])
             name     = "a"
           }"#,
        expect![[r#"
            = test_thing.b["k"] (was test_thing.a)
            calls: 
            test_thing.b["k"] a-1
        "#]],
    );
}

#[test]
fn a_moved_object_that_is_replaced_keeps_its_order() {
    // `user` has the same name, so its object is `a-2`, and the replacement `a-3`.
    check_second_run(
        r#"resource "test_thing" "a" {
             name = "a"
             zone = "north"
           }
           resource "test_thing" "user" { name = test_thing.a.name }"#,
        r#"moved {
             from = test_thing.a
             to   = test_thing.b
           }
           resource "test_thing" "b" {
             name = "a"
             zone = "south"
             lifecycle { create_before_destroy = true }
           }
           resource "test_thing" "user" { name = test_thing.b.name }"#,
        expect![[r#"
            +/- test_thing.b (was test_thing.a) ReplaceBecauseCannotUpdate .zone
            calls: create a, delete a-1
            test_thing.b a-3 create-first
            test_thing.user a-2 after test_thing.b
        "#]],
    );
}

#[test]
fn an_object_that_is_forgotten_is_neither_read_nor_destroyed() {
    let mut bench = EngineFixture::with_applied(r#"resource "test_thing" "a" { name = "a" }"#);
    let run = bench.apply(
        r#"removed {
             from = test_thing.a
             lifecycle { destroy = false }
           }"#,
    );
    expect![[r#"
        . test_thing.a DeleteBecauseNoResourceConfig
        calls: 
        warning -: Some objects will no longer be managed by Terraform
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
    assert!(!run.all_calls().contains("read"), "{}", run.all_calls());
}
