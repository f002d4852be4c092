//! Parts that planning could not settle: conditions and errors that show only once objects exist,
//! even if nothing depends on the value or the object that they belong to.

use expect_test::{Expect, expect};

use formwork_value::Diagnostics;

use super::{EngineFixture, LoadedConfig, SessionParts, block_on, host_values};
use crate::apply;
use crate::eval::Results;
use crate::plan::PlanMode;
use crate::provider::ProviderPool;

/// The result of an apply after another one.
fn check_second_apply(before: &str, after: &str, expect: &Expect) {
    let run = EngineFixture::with_applied(before).apply(after);
    expect.assert_eq(&run.describe_run());
}

/// A module with something that is not referenced, called with an id that is known late.
fn module_config(inside: &str) -> String {
    format!(
        r#"
//- main.tf
resource "test_thing" "a" {{ name = "a" }}
module "m" {{
  source = "./m"
  x      = test_thing.a.id
}}
//- m/main.tf
{inside}
"#
    )
}

#[test]
fn conditions_of_an_unreferenced_output_are_checked() {
    // While planning the id is unknown, and the condition neither holds nor fails.
    let inside = r#"
        variable "x" {}
        output "y" {
          value = var.x
          precondition {
            condition     = var.x != "a-1"
            error_message = "it is ${var.x}"
          }
        }"#;
    check_second_apply(
        "",
        &module_config(inside),
        &expect![[r#"
        + test_thing.a
        calls: create a
        error -: Module output value precondition failed
    "#]],
    );
}

#[test]
fn an_unreferenced_variable_is_validated() {
    let inside = r#"
        variable "x" {
          validation {
            condition     = var.x != "a-1"
            error_message = "it is ${var.x}"
          }
        }"#;
    check_second_apply(
        "",
        &module_config(inside),
        &expect![[r#"
        + test_thing.a
        calls: create a
        error -: Invalid value for variable
    "#]],
    );
}

#[test]
fn unreferenced_values_are_evaluated_when_they_are_known() {
    let inside = r#"
        variable "x" {}
        locals { number = tonumber(var.x) }
        output "y" { value = tonumber(var.x) }"#;
    check_second_apply(
        "",
        &module_config(inside),
        &expect![[r#"
        + test_thing.a
        calls: create a
        error -: Invalid function argument
        error -: Invalid function argument
    "#]],
    );
    let root = r#"
        resource "test_thing" "a" { name = "a" }
        locals { number = tonumber(test_thing.a.id) }"#;
    check_second_apply(
        "",
        root,
        &expect![[r#"
        + test_thing.a
        calls: create a
        error -: Invalid function argument
    "#]],
    );
}

#[test]
fn known_values_are_not_evaluated_again() {
    let config = |size: usize| {
        format!(
            r#"
            resource "test_thing" "a" {{
              name = "a"
              size = {size}
            }}
            resource "test_thing" "b" {{ name = "b" }}
            locals {{
              settled   = test_thing.a.size
              unsettled = test_thing.b.id
            }}"#
        )
    };
    let first = evaluated_locals(&EngineFixture::new(), &config(1));
    expect!["settled, unsettled"].assert_eq(&first);
    let then = evaluated_locals(&EngineFixture::with_applied(&config(1)), &config(2));
    expect![[r#""#]].assert_eq(&then);
}

/// The local values that applying would look at.
fn evaluated_locals(bench: &EngineFixture, config: &str) -> String {
    let loaded = LoadedConfig::load(config);
    let drawn = block_on(async {
        let pool = ProviderPool::new(&bench.cloud);
        let mut diags = Diagnostics::new();
        let plan = bench.plan_in_session(&loaded, &pool, &mut diags).await.unwrap();
        let (results, world) = (Results::new(&loaded.config), host_values(true));
        let with =
            SessionParts { pool: &pool, results: &results, world: &world, stop: &bench.stop };
        let session = bench.new_session(&loaded, with);
        apply::apply_graph_dot(&session, &mut diags, &plan).unwrap()
    });
    let is_one = |name: &&str| drawn.contains(&format!("local.{name} (expand)"));
    let names: Vec<&str> = ["settled", "unsettled"].into_iter().filter(is_one).collect();
    names.join(", ")
}

#[test]
fn values_are_not_evaluated_again_in_limited_runs() {
    let config = module_config(
        r#"
        variable "x" {}
        locals { number = tonumber(var.x) }"#,
    );
    let mut bench = EngineFixture::new();
    // As in Terraform, what no target needs is not looked at.
    bench.set_targets(&["test_thing.a"]);
    let limited = bench.apply(&config).describe_run();
    expect![[r#"
        + test_thing.a
        calls: create a
    "#]]
    .assert_eq(&limited);
}

#[test]
fn dependents_of_excluded_resources_are_not_evaluated_again() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" { name = "b" }
        locals {
          of_b    = tonumber(test_thing.b.id)
          of_both = tonumber("${test_thing.a.id}${test_thing.b.id}")
        }"#;
    // `b` gets no id in this run, so nothing is known about its dependents.
    let run = EngineFixture::new().apply_with(config, |options| {
        options.excludes = vec!["test_thing.b".parse().unwrap()];
    });
    expect![[r#"
        + test_thing.a
        calls: create a
    "#]]
    .assert_eq(&run.describe_run());
}

#[test]
fn refresh_only_checks_conditions_of_modules() {
    let config = |wrong: &str| {
        module_config(&format!(
            r#"
            variable "x" {{}}
            output "y" {{
              value = var.x
              precondition {{
                condition     = var.x != "{wrong}"
                error_message = "it is ${{var.x}}"
              }}
            }}"#
        ))
    };
    let mut bench = EngineFixture::with_applied(&config("none"));
    let run = bench.apply_with(&config("a-1"), |options| options.mode = PlanMode::RefreshOnly);
    expect![[r#"
        nothing
        calls: 
        warning -: Module output value precondition failed
        error -: Module output value precondition failed
    "#]]
    .assert_eq(&run.describe_run());
}

/// An object that stays, with a condition, between one that is recreated and one that is updated.
fn unchanged_between(name: &str, size: usize, kind: &str) -> String {
    format!(
        r#"
        resource "test_thing" "a" {{
          name = "{name}"
          zone = "{name}"
        }}
        resource "test_thing" "stays" {{
          name = "s"
          lifecycle {{
            {kind} {{
              condition     = test_thing.a.id != "wrong-1"
              error_message = "it is ${{test_thing.a.id}}"
            }}
          }}
        }}
        resource "test_thing" "after" {{
          name = "after"
          note = test_thing.stays.id
          size = {size}
        }}"#
    )
}

#[test]
fn failed_conditions_of_unchanged_objects_stop_dependents() {
    let check = |name: &str, kind: &str, expect: Expect| {
        check_second_apply(
            &unchanged_between("a", 1, kind),
            &unchanged_between(name, 2, kind),
            &expect,
        );
    };
    check(
        "wrong",
        "precondition",
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        ~ test_thing.after
        calls: delete a-1, create wrong
        error -: Resource precondition failed
    "#]],
    );
    check(
        "wrong",
        "postcondition",
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        ~ test_thing.after
        calls: delete a-1, create wrong
        error -: Resource postcondition failed
    "#]],
    );
    check(
        "right",
        "postcondition",
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        ~ test_thing.after
        calls: delete a-1, create right, update after-1
    "#]],
    );
}

#[test]
fn conditions_of_unchanged_objects_have_results() {
    let mut bench = EngineFixture::with_applied(&unchanged_between("a", 1, "postcondition"));
    let run = bench.apply(&unchanged_between("right", 1, "postcondition"));
    let checks = run.applied.and_then(|applied| applied.checks.to_json()).unwrap();
    expect![[r#"[{"object_kind":"resource","config_addr":"test_thing.stays","status":"pass","objects":[{"object_addr":"test_thing.stays","status":"pass"}]}]"#]].assert_eq(&String::from_utf8_lossy(&checks));
}
