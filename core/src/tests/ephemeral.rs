//! Ephemeral resources: when they are opened and closed, and that nothing of them is kept.

use expect_test::{Expect, expect};

use formwork_value::Diagnostics;

use super::{CallFault, EngineFixture, LoadedConfig, RunResult};
use crate::provider::ProviderPool;

/// The calls of a run that are about objects and tokens, in order.
fn object_and_token_calls(run: &RunResult) -> String {
    let of_interest = ["open", "close", "renew", "configure", "create", "look up", "delete"];
    let calls =
        run.calls.iter().filter(|call| of_interest.iter().any(|word| call.starts_with(word)));
    calls.map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn check_calls(config: &str, expect: Expect) {
    let mut bench = EngineFixture::new();
    let run = bench.apply(config);
    expect.assert_eq(&format!(
        "{}\n{}{}",
        object_and_token_calls(&run),
        bench.describe_state(),
        run.describe_diagnostics()
    ));
}

#[test]
fn each_phase_opens_and_closes_after_the_last_use() {
    // What planning has opened it also closes: the plan may be applied much later.
    check_calls(
        r#"
        provider "test" {
          alias  = "opener"
          region = "opener"
        }
        ephemeral "test_token" "a" {
          provider = test.opener
          name     = "a"
        }
        provider "test" { region = ephemeral.test_token.a.token }
        resource "test_thing" "t" { name = "t" }
        resource "test_thing" "later" {
          provider = test.opener
          name     = "later"
          note     = test_thing.t.id
        }
        "#,
        expect![[r#"
            configure opener, open a, configure token of a, close a, open a, create t, create later, close a
            test_thing.later later-1 after ephemeral.test_token.a test_thing.t
            test_thing.t t-1 after ephemeral.test_token.a
        "#]],
    );
}

#[test]
fn dependents_are_closed_first() {
    check_calls(
        r#"
        ephemeral "test_token" "a" { name = "a" }
        ephemeral "test_token" "b" { name = ephemeral.test_token.a.token }
        "#,
        expect![[r#"
            configure -, open a, open token of a, close token of a, close a, open a, open token of a, close token of a, close a
        "#]],
    );
}

#[test]
fn ephemeral_resources_with_unknown_configuration_are_opened_while_applying() {
    check_calls(
        r#"
        resource "test_thing" "t" { name = "t" }
        ephemeral "test_token" "a" { name = test_thing.t.id }
        "#,
        expect![[r#"
            configure -, create t, open t-1, close t-1
            test_thing.t t-1
        "#]],
    );
}

#[test]
fn everything_is_closed_after_a_failure_with_its_private_data() {
    let bench = EngineFixture::new();
    bench.set_fault("open bad", CallFault::Refuses);
    let mut bench = bench;
    let run = bench.apply(
        r#"
        ephemeral "test_token" "a" { name = "a" }
        ephemeral "test_token" "bad" { name = "bad" }
        resource "test_thing" "t" {
          name = "t"
          lifecycle {
            precondition {
              condition     = ephemeral.test_token.a.token != ephemeral.test_token.bad.token
              error_message = "no"
            }
          }
        }
        "#,
    );
    expect![[r#"
        configure -, open a, open bad, close a
        error ephemeral.test_token.bad: the cloud says no to open
    "#]]
    .assert_eq(&format!("{}\n{}", object_and_token_calls(&run), run.describe_diagnostics()));
}

#[test]
fn contract_violations_of_ephemeral_resources_are_reported() {
    for fault in [CallFault::Unknown, CallFault::Other] {
        let mut bench = EngineFixture::new();
        bench.set_fault("open a", fault);
        let run = bench.apply(r#"ephemeral "test_token" "a" { name = "a" }"#);
        let summary = "Provider produced invalid ephemeral resource instance";
        assert!(
            run.describe_diagnostics().contains(summary),
            "{fault:?}: {}",
            run.describe_diagnostics()
        );
    }
}

#[test]
fn a_failure_to_close_is_an_error_and_nothing_is_closed_twice() {
    let mut bench = EngineFixture::new();
    bench.set_fault("close a", CallFault::Refuses);
    let run = bench.apply(r#"ephemeral "test_token" "a" { name = "a" }"#);
    expect![[r#"
        configure -, open a, close a
        error ephemeral.test_token.a: the cloud says no to close
    "#]]
    .assert_eq(&format!("{}\n{}", object_and_token_calls(&run), run.describe_diagnostics()));
}

#[test]
fn ephemeral_values_in_stored_arguments_are_refused() {
    check_calls(
        r#"
        ephemeral "test_token" "a" { name = "a" }
        resource "test_thing" "name" { name = ephemeral.test_token.a.token }
        data "test_lookup" "key" { key = ephemeral.test_token.a.token }
        output "o" { value = ephemeral.test_token.a.token }
        resource "test_thing" "count" {
          count = length(ephemeral.test_token.a.token)
          name  = "x"
        }
        "#,
        expect![[r#"

            error -: Ephemeral value not allowed
            error -: Invalid use of ephemeral value
            error -: Invalid count argument
            error -: Invalid use of ephemeral value
        "#]],
    );
}

#[tokio::test(start_paused = true)]
async fn a_hanging_renewal_does_not_block_others() {
    let bench = EngineFixture::new();
    bench.set_fault("renew a", CallFault::Hangs);
    bench.set_fault("create t", CallFault::Waits);
    let config = r#"
        ephemeral "test_token" "a" {
          name  = "a"
          lasts = 1
        }
        ephemeral "test_token" "b" {
          name  = "b"
          lasts = 1
        }
        resource "test_thing" "t" {
          name = "t"
          lifecycle {
            precondition {
              condition     = ephemeral.test_token.a.token != ephemeral.test_token.b.token
              error_message = "no"
            }
          }
        }"#;
    let mut diags = Diagnostics::new();
    // A resource that is being renewed is closed when that is done, so this one never ends.
    let loaded = LoadedConfig::load(config);
    let pool = ProviderPool::new(&bench.cloud);
    let run = bench.plan_and_apply(&loaded, &pool, true, &mut diags);
    // The clock is paused, so waiting takes no time.
    let patience = std::time::Duration::from_secs(60);
    let ended = tokio::time::timeout(patience, run).await;
    assert!(ended.is_err());
    let calls = bench.cloud.lock_contents().calls.clone();
    let renewed: Vec<_> = calls.iter().filter(|call| call.starts_with("renew")).collect();
    assert_eq!(renewed, ["renew a", "renew b", "renew b again"]);
}
