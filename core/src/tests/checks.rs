//! `check` blocks: looked at when planning and again when all is done, and never in the way.

use expect_test::expect;

use super::Bench;

const CHECKED: &str = r#"
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

fn checks(run: &super::Run) -> String {
    let json =
        run.applied.as_ref().and_then(|applied| applied.checks.to_json()).unwrap_or_default();
    format!("{}\n", String::from_utf8_lossy(&json))
}

#[test]
fn a_failed_assertion_is_a_warning_and_kept() {
    let mut bench = Bench::new();
    let run = bench.apply(CHECKED);
    expect![[r#"
        <= data.test_lookup.l ReadBecauseCheckNested
        + test_thing.a
        calls: look up k, create a, look up k
        warning -: Check block assertion failed
        warning -: Check block assertion known after apply
        warning -: Check block assertion failed
        [{"object_kind":"check","config_addr":"check.c","status":"fail","objects":[{"object_addr":"check.c","status":"fail","failure_messages":["it says answer to k"]}]}]
    "#]].assert_eq(&format!("{}{}", run.story(), checks(&run)));
}

#[test]
fn a_data_source_of_a_check_that_cannot_be_read_stops_nothing() {
    let mut bench = Bench::new();
    bench.fault("look up k", super::Fault::Refuses);
    let run = bench.apply(CHECKED);
    expect![[r#"
        <= data.test_lookup.l ReadBecauseCheckNested
        + test_thing.a
        calls: look up k, create a, look up k
        warning data.test_lookup.l: the cloud says no to look up
        warning data.test_lookup.l: the cloud says no to look up
        [{"object_kind":"check","config_addr":"check.c","status":"fail","objects":[{"object_addr":"check.c","status":"fail","failure_messages":["the cloud says no to look up: "]}]}]
    "#]].assert_eq(&format!("{}{}", run.story(), checks(&run)));
}
