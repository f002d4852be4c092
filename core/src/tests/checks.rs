//! `check` blocks: looked at when planning and again when all is done, and never in the way.

use expect_test::expect;

use super::EngineFixture;
use crate::plan::PlanMode;

const CHECKED_CONFIG: &str = r#"
resource "test_thing" "a" { name = "a" }
check "c" {
  data "test_lookup" "l" { key = "k" }
  assert {
    condition     = data.test_lookup.l.answer == "yes"
    error_message = "it says ${data.test_lookup.l.answer}"
  }
  assert {
    condition     = test_thing.a.id == "a-1"
    error_message = "it is ${test_thing.a.id}"
  }
}
"#;

fn describe_check_results(run: &super::RunResult) -> String {
    let json =
        run.applied.as_ref().and_then(|applied| applied.checks.to_json()).unwrap_or_default();
    format!("{}\n", String::from_utf8_lossy(&json))
}

#[test]
fn a_failed_assertion_is_a_warning_and_is_stored() {
    // Read again at the end, as in Terraform: the changes may have altered what is checked.
    let mut bench = EngineFixture::new();
    let run = bench.apply(CHECKED_CONFIG);
    expect![[r#"
        <= data.test_lookup.l ReadBecauseCheckNested
        + test_thing.a
        calls: look up k, create a, look up k
        warning -: Check block assertion failed
        warning -: Check block assertion known after apply
        warning -: Check block assertion failed
        [{"object_kind":"check","config_addr":"check.c","status":"fail","objects":[{"object_addr":"check.c","status":"fail","failure_messages":["it says answer to k"]}]}]
    "#]].assert_eq(&format!("{}{}", run.describe_run(), describe_check_results(&run)));
}

#[test]
fn deferred_conditions_are_listed_in_the_plan() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        data "test_lookup" "l" {
          key = test_thing.a.id
          lifecycle {
            postcondition {
              condition     = self.answer != ""
              error_message = "no answer"
            }
          }
        }
        output "o" {
          value = "x"
          precondition {
            condition     = test_thing.a.id != ""
            error_message = "no id"
          }
        }"#;
    let named = |run: super::RunResult| {
        let json = run.plan.unwrap().checks.to_json().unwrap();
        format!("{}\n", String::from_utf8_lossy(&json))
    };
    let mut bench = EngineFixture::new();
    let planned = named(bench.plan(config));
    bench.apply(config);
    let ended = named(bench.plan_with(config, |options| options.mode = PlanMode::Destroy));
    expect![[r#"
        [{"object_kind":"output","config_addr":"output.o","status":"unknown","objects":[{"object_addr":"output.o","status":"unknown"}]},{"object_kind":"resource","config_addr":"data.test_lookup.l","status":"unknown","objects":[{"object_addr":"data.test_lookup.l","status":"unknown"}]}]
        [{"object_kind":"output","config_addr":"output.o","status":"unknown","objects":[{"object_addr":"output.o","status":"unknown"}]},{"object_kind":"resource","config_addr":"data.test_lookup.l","status":"unknown","objects":null}]
    "#]].assert_eq(&format!("{planned}{ended}"));
}

#[test]
fn a_failed_read_in_a_check_does_not_stop_the_run() {
    let mut bench = EngineFixture::new();
    // Terraform turns every error within a check into a warning.
    bench.set_fault("look up k", super::CallFault::Refuses);
    let run = bench.apply(CHECKED_CONFIG);
    expect![[r#"
        <= data.test_lookup.l ReadBecauseCheckNested
        + test_thing.a
        calls: look up k, create a, look up k
        warning data.test_lookup.l: the cloud says no to look up
        warning data.test_lookup.l: the cloud says no to look up
        [{"object_kind":"check","config_addr":"check.c","status":"fail","objects":[{"object_addr":"check.c","status":"fail","failure_messages":["the cloud says no to look up: "]}]}]
    "#]].assert_eq(&format!("{}{}", run.describe_run(), describe_check_results(&run)));
}
