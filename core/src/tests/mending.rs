//! Processes that die during read-only calls: the calls that are repeated, the processes that
//! answer them, and the number of processes in the meantime.

use super::functions::REQUIRED_PROVIDER;
use super::{CallFault, EngineFixture};

fn things_config(names: &[&str]) -> String {
    let resource =
        |name: &&str| format!("resource \"test_thing\" \"{name}\" {{ name = \"{name}\" }}\n");
    names.iter().map(resource).collect()
}

/// A configuration of the provider under an alias, with one user.
pub(super) fn region_config(name: &str) -> String {
    format!(
        r#"
        provider "test" {{
          alias  = "{name}"
          region = "{name}"
        }}
        resource "test_thing" "{name}" {{
          provider = test.{name}
          name     = "{name}"
        }}
        "#
    )
}

fn set_deadly_calls(bench: &EngineFixture, calls: &[&str]) {
    bench.cloud.lock_contents().deaths.extend(calls.iter().map(|call| (*call).to_owned()));
}

/// Number of processes that a plan starts.
fn count_launches(bench: &mut EngineFixture, config: &str) -> (usize, String) {
    let before = bench.cloud.lock_contents().n_launches;
    let run = bench.plan(config);
    assert!(run.has_no_diagnostics(), "{}", run.describe_diagnostics());
    let after = bench.cloud.lock_contents().n_launches;
    (after - before, run.describe_diagnostics())
}

#[test]
fn calls_lost_with_one_process_are_retried_on_one_replacement() {
    let config = things_config(&["a", "b", "c"]);
    let mut bench = EngineFixture::with_applied(&config);
    bench.parallelism = 10;
    // Slow, so that all three calls are pending when the process dies.
    bench.cloud.lock_contents().slow = true;
    assert_eq!(count_launches(&mut bench, &config), (1, String::new()));
    set_deadly_calls(&bench, &["read b-1"]);
    // Only the question about `b` ends it, but all three are lost.
    let warnings = "warning -: Provider was asked a second time\n".repeat(3);
    assert_eq!(count_launches(&mut bench, &config), (2, warnings));
}

#[test]
fn a_configured_process_that_dies_in_a_function_call_is_replaced_with_its_configuration() {
    let config = format!(
        "{REQUIRED_PROVIDER}{}\noutput \"o\" {{ value = provider::test::shout(test_thing.x.id) }}\n{}",
        region_config("x"),
        r#"
        resource "test_thing" "later" {
          provider = test.x
          name     = provider::test::shout(test_thing.x.id)
        }"#
    );
    let mut bench = EngineFixture::with_applied(&config);
    bench.cloud.lock_contents().limit = Some(1);
    set_deadly_calls(&bench, &["shout x-1"]);
    let run = bench.plan(&config);
    assert!(run.has_no_diagnostics(), "{}", run.describe_diagnostics());
    let calls: Vec<_> = run
        .calls
        .iter()
        .filter(|call| call.starts_with("shout") || call.starts_with("configure"))
        .collect();
    assert_eq!(calls, ["configure x", "shout x-1", "configure x", "shout x-1"]);
    assert_eq!(bench.cloud.lock_contents().most_running, 1);
}

#[test]
fn the_process_limit_holds_when_processes_die() {
    let config = ["x", "y", "z"].map(region_config).concat();
    for limit in [1, 2, 3] {
        let mut bench = EngineFixture::with_applied("");
        bench.cloud.lock_contents().limit = Some(limit);
        bench.parallelism = 10;
        bench.cloud.lock_contents().slow = true;
        assert_eq!(bench.apply(&config).describe_diagnostics(), "");
        set_deadly_calls(&bench, &["read x-1", "read y-1", "plan z"]);
        let warnings = count_launches(&mut bench, &config).1;
        assert_eq!(warnings.matches("asked a second time").count(), 3, "{warnings}");
        assert_eq!(bench.cloud.lock_contents().most_running, limit);
    }
}

#[test]
fn an_unusable_replacement_process_is_stopped() {
    for call in ["schema 2", "configure x 2"] {
        let config = ["x", "y"].map(region_config).concat();
        let mut bench = EngineFixture::with_applied(&config);
        {
            let mut things = bench.cloud.lock_contents();
            // Counted from here on, so that process 2 is the replacement.
            (things.limit, things.n_launches, things.most_running) = (Some(1), 0, 0);
        }
        set_deadly_calls(&bench, &["read x-1"]);
        bench.set_fault(call, CallFault::Refuses);
        let run = bench.plan(&config);
        assert_eq!(
            run.describe_diagnostics(),
            "error test_thing.x: Plugin did not respond\n",
            "{call}"
        );
        assert_eq!(bench.cloud.lock_contents().most_running, 1, "{call}");
    }
}
