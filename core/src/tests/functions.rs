//! Functions of providers: called when an evaluation needs them, once for the same arguments in a
//! phase, in every position of an expression.

use expect_test::{Expect, expect};

use super::EngineFixture;

pub(super) const REQUIRED_PROVIDER: &str =
    "terraform {\n  required_providers {\n    test = { source = \"hashicorp/test\" }\n  }\n}\n";

/// The calls of functions while planning, and the diagnostics.
fn check_function_calls(config: &str, expect: Expect) {
    let run = EngineFixture::new().plan(&format!("{REQUIRED_PROVIDER}{config}"));
    let calls =
        run.calls.iter().filter(|call| call.starts_with("shout") || call.starts_with("refuse"));
    let calls: Vec<_> = calls.map(String::as_str).collect();
    let outputs = run.plan.iter().flat_map(|plan| &plan.outputs);
    let outputs: String =
        outputs.map(|(name, output)| format!("{name} = {:?}\n", output.after)).collect();
    expect.assert_eq(&format!("{}\n{outputs}{}", calls.join(", "), run.describe_diagnostics()));
}

#[test]
fn equal_calls_are_made_once() {
    check_function_calls(
        r#"
        locals { all = [for n in ["a", "b", "a"] : provider::test::shout(n)] }
        output "o" { value = join(" ", local.all, [provider::test::shout("b")]) }
        "#,
        expect![[r#"
            shout a, shout b
            o = String("a! b! a! b!")
        "#]],
    );
}

#[test]
fn a_call_result_may_be_an_argument() {
    check_function_calls(
        r#"output "o" { value = provider::test::shout(provider::test::shout(upper("a"))) }"#,
        expect![[r#"
            shout A, shout A!
            o = String("A!!")
        "#]],
    );
}

#[test]
fn repetitions_and_conditions_may_call_functions() {
    check_function_calls(
        r#"
        variable "v" {
          default = "x"
          validation {
            condition     = provider::test::shout(var.v) == "x!"
            error_message = "no"
          }
        }
        resource "test_thing" "t" {
          for_each = toset([provider::test::shout("key")])
          name     = provider::test::shout("name")
          lifecycle {
            precondition {
              condition     = provider::test::shout(each.key) == "key!!"
              error_message = provider::test::shout("unneeded")
            }
          }
        }
        output "o" { value = keys(test_thing.t)[0] }
        "#,
        expect![[r#"
            shout key, shout name, shout unneeded, shout x, shout key!
            o = String("key!")
        "#]],
    );
}

#[test]
fn unknown_arguments_are_not_sent_and_marks_are_kept() {
    check_function_calls(
        r#"
        resource "test_thing" "t" { name = "t" }
        output "later" { value = provider::test::shout(test_thing.t.id) }
        output "secret" {
          value     = provider::test::shout(sensitive("s"))
          sensitive = true
        }
        "#,
        expect![[r#"
            shout s
            later = Unknown(Unknown { ty: String, refinement: Refinement { not_null: false, prefix: None, lower: None, upper: None, min_length: 0, max_length: None } })
            secret = Marked(Marked { marks: {"sensitive"}, value: String("s!") })
        "#]],
    );
}

#[test]
fn a_function_error_points_at_the_argument_and_can_be_caught() {
    check_function_calls(
        r#"
        output "caught" { value = try(provider::test::refuse("a"), "caught") }
        output "o" { value = provider::test::refuse("b") }
        "#,
        expect![[r#"
            refuse a, refuse b
            error -: Invalid function argument
        "#]],
    );
}

#[test]
fn unknown_function_names_are_explained() {
    let config = r#"
        output "a" { value = provider::test::shut("a") }
        output "b" { value = provider::tst::shout("a") }
        output "c" { value = provider::test("a") }
        output "d" { value = other::shout("a") }
        output "e" { value = shout("a") }
        output "f" { value = provider::test::shout("a") }
    "#;
    let run = EngineFixture::new().plan(&format!("{REQUIRED_PROVIDER}{config}"));
    let details: Vec<_> = run.diags.iter().map(|problem| problem.detail.as_str()).collect();
    expect![[r#"
        The function "shut" is not available from the provider "test". Did you mean "shout"?
        There is no function named "provider::tst::shout". Ensure that provider name "tst" is declared in this module's required_providers block, and that this provider offers a function named "shout". Did you mean "test"?
        The name of a provider and that of its function must follow `provider::`, as in `provider::test::FUNCTION`.
        The function namespace "other" is not valid. Provider function calls must use the "provider::" namespace prefix.
        There is no function named "shout". Did you mean "provider::test::shout"?"#]].assert_eq(&details.join("\n"));
}

#[test]
fn ever_changing_arguments_are_limited() {
    let mut bench = EngineFixture::new();
    // Each evaluation gives another argument, and so needs another answer.
    let config = r#"resource "test_thing" "t" { name = provider::test::shout(uuid()) }"#;
    let run = bench.apply(&format!("{REQUIRED_PROVIDER}{config}"));
    assert!(
        run.describe_diagnostics().contains("Too many calls of provider functions"),
        "{}",
        run.describe_diagnostics()
    );
}

#[test]
fn a_function_with_another_result_while_applying_is_reported() {
    let config = r#"resource "test_thing" "t" { name = provider::test::waver("x") }"#;
    let mut bench = EngineFixture::new();
    let run = bench.apply(&format!("{REQUIRED_PROVIDER}{config}"));
    assert_eq!(run.describe_diagnostics(), "error -: Error in function call\n");
    let detail = &run.diags.iter().next().unwrap().detail;
    expect![[r#"Call to function "provider::test::waver" failed: it returned an inconsistent result: while the plan was made, it answered the same call otherwise; this is a bug in provider registry.terraform.io/hashicorp/test."#]]
        .assert_eq(detail);
    assert_eq!(bench.describe_state(), "");
}

#[test]
fn one_process_serves_all_calls() {
    let mut config = REQUIRED_PROVIDER.to_owned();
    for n in 0..30 {
        config.push_str(&format!(
            "output \"o{n}\" {{\n  value = provider::test::shout(\"{n}\")\n}}\n"
        ));
    }
    let mut bench = EngineFixture::new();
    // Several concurrently, so that many need a process before one exists.
    bench.parallelism = 10;
    let run = bench.plan(&config);
    assert_eq!(run.describe_diagnostics(), "");
    assert_eq!(bench.cloud.lock_contents().n_launches, 1);
}

#[test]
fn one_process_serves_all_calls_after_the_configured_one_ended() {
    let mut config =
        format!("{REQUIRED_PROVIDER}resource \"test_thing\" \"t\" {{ name = \"t\" }}\n");
    for n in 0..30 {
        config.push_str(&format!(
            "output \"o{n}\" {{\n  value = provider::test::shout(\"${{test_thing.t.id}} {n}\")\n}}\n"
        ));
    }
    let mut bench = EngineFixture::new();
    bench.parallelism = 10;
    let run = bench.apply(&config);
    assert_eq!(run.describe_diagnostics(), "");
    let shouts = run.calls.iter().filter(|call| call.starts_with("shout t-1")).count();
    assert_eq!(shouts, 30);
    // The first was configured, and ended when the object was made.
    assert_eq!(bench.cloud.lock_contents().n_launches, 2);
}
