//! Root outputs: their changes, and the values that do not get into the state.

use expect_test::{Expect, expect};

use super::EngineFixture;

fn check_outputs(before: &str, after: &str, expect: Expect) {
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
fn outputs_are_created_updated_and_deleted() {
    check_outputs(
        "",
        r#"output "o" { value = 1 }"#,
        expect![[r#"
        + output.o 1
        calls: 
        output.o 1
    "#]],
    );
    check_outputs(
        r#"output "o" { value = 1 }"#,
        r#"output "o" { value = 2 }"#,
        expect![[r#"
        ~ output.o 2
        calls: 
        output.o 2
    "#]],
    );
    check_outputs(
        r#"output "o" { value = 1 }"#,
        "",
        expect![[r#"
        - output.o null
        calls: 
    "#]],
    );
}

#[test]
fn an_output_without_a_value_is_not_stored() {
    // As in Terraform, an output that is null is none in the state.
    check_outputs(
        "",
        r#"output "o" { value = null }"#,
        expect![[r#"
        nothing
        calls: 
    "#]],
    );
    check_outputs(
        r#"output "o" { value = 1 }"#,
        r#"output "o" { value = null }"#,
        expect![[r#"
        ~ output.o null
        calls: 
    "#]],
    );
}

#[test]
fn an_output_that_becomes_sensitive_is_an_update() {
    // As in Terraform: what is shown of it changes.
    check_outputs(
        r#"output "o" { value = "x" }"#,
        r#"output "o" {
             value     = "x"
             sensitive = true
           }"#,
        expect![[r#"
            ~ output.o {"sensitive"}("x")
            calls: 
            output.o "x"
        "#]],
    );
}

#[test]
fn a_full_destroy_removes_outputs() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        output "id" { value = test_thing.a.id }
        output "constant" { value = 1 }"#;
    let mut bench = EngineFixture::with_applied(config);
    let run = bench.destroy(config);
    expect![[r#"
        - test_thing.a
        - output.constant null
        - output.id null
        calls: delete a-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn an_infinite_number_is_refused_in_a_state() {
    let run = EngineFixture::new().plan("output \"o\" {\n  value = { a = [1 / 0] }\n}\n");
    assert_eq!(run.describe_diagnostics(), "error -: Output value is not finite\n");
    let run = EngineFixture::new()
        .plan("resource \"test_thing\" \"a\" {\n  name = \"a\"\n  size = 1 / 0\n}\n");
    assert_eq!(run.describe_diagnostics(), "error test_thing.a: Object cannot be stored\n");
}
