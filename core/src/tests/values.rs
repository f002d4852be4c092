//! Data that flows between blocks: marks, conditions, variables, the clock.

use expect_test::expect;
use formwork_value::Marks;

use super::{EngineFixture, show_state};

#[test]
fn sensitivity_flows_into_the_state_and_through_references() {
    let config = r#"
        variable "password" {
          default   = "p"
          sensitive = true
        }
        resource "test_thing" "a" {
          name   = "a"
          zone   = var.password
          secret = "s"
        }
        resource "test_thing" "b" {
          name = "b"
          zone = test_thing.a.zone
          tags = { of_a = test_thing.a.secret }
        }"#;
    let mut bench = EngineFixture::new();
    let run = bench.apply(config);
    assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
    let paths: Vec<_> = bench
        .file
        .state
        .resources
        .iter()
        .map(|(addr, resource)| {
            let object = resource.instances.values().next().unwrap().current.as_ref().unwrap();
            let paths: Vec<_> = object.sensitive.iter().map(ToString::to_string).collect();
            format!("{addr}: {}", paths.join(" "))
        })
        .collect();
    expect![[r#"
        test_thing.a: .secret .zone
        test_thing.b: .secret .tags["of_a"] .zone"#]]
    .assert_eq(&paths.join("\n"));
    assert!(bench.plan(config).has_no_diagnostics());
    let after = &run.plan.unwrap().changes.values().next().unwrap().after.clone();
    assert!(after.all_marks().contains(Marks::SENSITIVE));
}

#[test]
fn attributes_outside_the_schema_are_errors_even_within_try() {
    // As in Terraform: a name that the schema lacks is found before anything is evaluated.
    let config = r#"
//- main.tf
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "many" {
          count = 2
          name  = "m"
        }
        resource "test_thing" "b" { name = can(test_thing.a.name.first) ? "a" : "b" }
        module "m" {
          source = "./m"
          given  = try(test_thing.many[0]["name"], "")
        }
        output "o" { value = try(test_thing.a.nmae, "x") }
        output "fine" { value = try(test_thing.a.tags.none, test_thing.many[5].zone, "x") }
//- m/main.tf
        variable "given" {}
        resource "test_thing" "in" { name = "i" }
        locals { there = can(test_thing.in.name[0]) }"#;
    expect![[r#"
        error -: Unsupported attribute
        error -: Invalid index operation
        error -: Invalid index
        error -: Unsupported attribute
    "#]]
    .assert_eq(&EngineFixture::new().plan(config).describe_diagnostics());
}

#[test]
fn a_change_of_only_the_sensitivity_changes_only_the_state() {
    let config =
        |zone: &str| format!("resource \"test_thing\" \"a\" {{\n name = \"a\"\n zone = {zone}\n}}");
    let mut bench = EngineFixture::with_applied(&config("\"n\""));
    // There is no call, because marks are not sent to a provider.
    let run = bench.apply(&config("sensitive(\"n\")"));
    expect![[r#"
        ~ test_thing.a
        calls: 
    "#]]
    .assert_eq(&run.describe_run());
    assert!(bench.plan(&config("sensitive(\"n\")")).has_no_diagnostics());
}

fn condition_config(kind: &str, condition: &str) -> String {
    format!(
        r#"resource "test_thing" "a" {{
             name = "a"
             lifecycle {{
               {kind} {{
                 condition     = {condition}
                 error_message = "not so"
               }}
             }}
           }}
           resource "test_thing" "b" {{
             name = "b"
             note = test_thing.a.id
           }}"#
    )
}

#[test]
fn a_condition_that_fails_while_planning_stops_the_plan() {
    let mut bench = EngineFixture::new();
    expect![[r#"
        calls: 
        error -: Resource precondition failed
    "#]]
    .assert_eq(
        &bench
            .apply(&condition_config("precondition", "terraform.workspace == \"z\""))
            .describe_run(),
    );
    expect![[r#"
        + test_thing.a
        calls: 
        error -: Resource postcondition failed
    "#]]
    .assert_eq(
        &bench.apply(&condition_config("postcondition", "self.name == \"z\"")).describe_run(),
    );
}

#[test]
fn a_condition_that_fails_while_applying_keeps_the_object_and_stops_dependents() {
    let mut bench = EngineFixture::new();
    let run = bench.apply(&condition_config("postcondition", "self.id == \"z\""));
    let tally = run.applied.as_ref().unwrap().tally;
    expect![[r#"
        + test_thing.a
        + test_thing.b
        calls: create a
        error -: Resource postcondition failed
        test_thing.a a-1
        ChangeCounts { imported: 0, added: 0, changed: 0, destroyed: 0 }"#]]
    .assert_eq(&format!("{}{}{tally:?}", run.describe_run(), bench.describe_state()));
}

#[test]
fn a_precondition_that_fails_while_applying_keeps_the_applied_dependency() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          lifecycle {
            precondition {
              condition     = test_thing.a.id == "z"
              error_message = "not so"
            }
          }
        }"#;
    let mut bench = EngineFixture::new();
    let run = bench.apply(config);
    expect![[r#"
        + test_thing.a
        + test_thing.b
        calls: create a
        error -: Resource precondition failed
        test_thing.a a-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn timestamps_of_plan_and_apply_are_distinct() {
    let config = r#"
        output "planned" { value = plantimestamp() }
        output "done" { value = timestamp() }"#;
    let mut bench = EngineFixture::new();
    // Planned, `timestamp()` would have another value when it is applied: so it is unknown.
    expect![[r#"
        + output.done unknown string
        + output.planned "1970-01-01T00:00:00Z"
        calls: 
    "#]]
    .assert_eq(&bench.apply(config).describe_run());
    expect![[r#"
        output.done "1970-01-01T00:00:00Z"
        output.planned "1970-01-01T00:00:00Z"
    "#]]
    .assert_eq(&show_state(&bench.file.state));
}

#[test]
fn a_variable_is_validated_before_it_is_used() {
    let config = r#"
        variable "size" {
          default = 3
          validation {
            condition     = var.size < 3
            error_message = "too big"
          }
        }
        resource "test_thing" "a" {
          name = "a"
          size = var.size
        }
        resource "test_thing" "b" { name = "b" }"#;
    expect![[r#"
        + test_thing.b
        calls: 
        error -: Invalid value for variable
    "#]]
    .assert_eq(&EngineFixture::new().plan(config).describe_run());
}
