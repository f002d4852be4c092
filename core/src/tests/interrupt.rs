//! Runs that are interrupted while providers start, die or hang. Requests after that are not waited
//! for, except those that report the effect of a change.

use formwork_value::Diagnostics;

use super::mending::region_config;
use super::{CallFault, EngineFixture, LoadedConfig, RunResult, block_on};
use crate::provider::ProviderPool;

/// Number of turns of all other tasks for which a test waits.
const MAX_TURNS: usize = 20_000;

const RESOURCE_A: &str = r#"resource "test_thing" "a" { name = "a" }"#;
const LARGER_RESOURCE_A: &str = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  size = 2\n}\n";

/// Waits until something is so. Returns whether it came to be.
async fn wait_until(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..MAX_TURNS {
        if is_so() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

/// Applies a configuration, and runs another future concurrently.
fn apply_while(
    bench: &mut EngineFixture,
    config: &str,
    other: impl AsyncFnOnce(&EngineFixture, &ProviderPool<'_>),
) -> RunResult {
    let loaded = LoadedConfig::load(config);
    let first = bench.cloud.lock_contents().calls.len();
    {
        let mut things = bench.cloud.lock_contents();
        // Counted from here on, because faults name processes by their number.
        (things.n_launches, things.n_running, things.hung) = (0, 0, false);
    }
    let mut diags = Diagnostics::new();
    let (plan, applied) = block_on(async {
        let pool = ProviderPool::new(&bench.cloud);
        let work = bench.plan_and_apply(&loaded, &pool, true, &mut diags);
        tokio::join!(work, other(bench, &pool)).0
    });
    if let Some(applied) = &applied {
        bench.file.state = applied.state.clone();
    }
    let calls = bench.cloud.lock_contents().calls[first..].to_vec();
    RunResult { plan, applied, diags, calls }
}

/// Interrupts as soon as something hangs.
async fn interrupt_on_hang(bench: &EngineFixture, pool: &ProviderPool<'_>) {
    assert!(wait_until(|| bench.cloud.lock_contents().hung).await, "nothing hangs");
    bench.stop.set(true);
    pool.stop_providers().await;
}

#[test]
fn an_interrupt_abandons_a_starting_provider() {
    for call in ["launch 1", "schema 1", "identities 1"] {
        let mut bench = EngineFixture::with_applied(RESOURCE_A);
        bench.set_fault(call, CallFault::Hangs);
        let run = apply_while(&mut bench, RESOURCE_A, interrupt_on_hang);
        let expected = "error -: Failed to start provider registry.terraform.io/hashicorp/test\n";
        assert_eq!(run.describe_diagnostics(), expected, "{call}");
    }
}

#[test]
fn a_provider_without_schemas_is_abandoned_at_the_read_deadline() {
    for (fault, call) in
        [("schema 1", "GetProviderSchema"), ("identities 1", "GetResourceIdentitySchemas")]
    {
        let mut bench = EngineFixture::new();
        bench.set_fault(fault, CallFault::Hangs);
        bench.cloud.lock_contents().deadlines = "read=2s".parse().unwrap();
        let run = bench.apply(RESOURCE_A);
        let expected = "error -: Provider call was given up\n";
        assert_eq!(run.describe_diagnostics(), expected, "{call}");
    }
}

#[test]
fn calls_lost_by_an_interrupted_provider_are_not_retried() {
    let mut bench = EngineFixture::with_applied(RESOURCE_A);
    bench.set_fault("read a-1", CallFault::Hangs);
    bench.cloud.lock_contents().ends_when_stopped = true;
    let run = apply_while(&mut bench, RESOURCE_A, async |bench, pool| {
        interrupt_on_hang(bench, pool).await;
        // Only now the read comes back, and finds that its process has ended.
        bench.clear_faults();
    });
    assert_eq!(run.describe_diagnostics(), "error test_thing.a: Plugin did not respond\n");
    assert_eq!(bench.cloud.lock_contents().n_launches, 1);
}

#[test]
fn an_interrupt_abandons_a_starting_replacement() {
    for call in ["launch 2", "schema 2"] {
        let mut bench = EngineFixture::with_applied(RESOURCE_A);
        bench.cloud.lock_contents().deaths.insert("read a-1".into());
        bench.set_fault(call, CallFault::Hangs);
        let run = apply_while(&mut bench, RESOURCE_A, interrupt_on_hang);
        assert_eq!(
            run.describe_diagnostics(),
            "error test_thing.a: Plugin did not respond\n",
            "{call}"
        );
        let n_read = run.calls.iter().filter(|call| *call == "read a-1").count();
        assert_eq!(n_read, 1, "{call}");
    }
}

#[test]
fn a_replacement_started_after_an_interrupt_gets_no_calls() {
    let mut bench = EngineFixture::with_applied(RESOURCE_A);
    // The read is lost with process 1, and process 2 hangs while it gets its configuration.
    bench.cloud.lock_contents().deaths.insert("read a-1".into());
    bench.set_fault("configure - 2", CallFault::Hangs);
    let run = apply_while(&mut bench, RESOURCE_A, async |bench, pool| {
        interrupt_on_hang(bench, pool).await;
        bench.clear_faults();
    });
    assert_eq!(run.describe_diagnostics(), "error test_thing.a: Plugin did not respond\n");
    assert_eq!(run.calls.iter().filter(|call| *call == "read a-1").count(), 1);
    assert!(run.calls.contains(&"stop".to_owned()), "{:?}", run.calls);
}

#[test]
fn a_provider_resolving_a_lost_change_is_not_interrupted() {
    for call in ["launch 2", "schema 2", "configure - 2"] {
        let mut bench = EngineFixture::with_applied(RESOURCE_A);
        bench.set_fault("update a-1", CallFault::Dies);
        bench.set_fault(call, CallFault::Hangs);
        let run = apply_while(&mut bench, LARGER_RESOURCE_A, async |bench, pool| {
            interrupt_on_hang(bench, pool).await;
            // It is neither abandoned nor called again.
            let n_calls = bench.cloud.lock_contents().calls.len();
            let went_on = wait_until(|| bench.cloud.lock_contents().calls.len() > n_calls).await;
            assert!(!went_on, "{call}");
            bench.clear_faults();
        });
        assert!(
            run.describe_diagnostics().contains("An interrupted operation was resolved"),
            "{}",
            run.describe_diagnostics()
        );
        assert_eq!(bench.describe_state(), "test_thing.a a-1 2\n", "{call}");
    }
}

#[test]
fn restarts_of_distinct_processes_do_not_wait_for_each_other() {
    let config = ["x", "y"].map(region_config).concat();
    let mut bench = EngineFixture::with_applied(&config);
    bench.parallelism = 10;
    // Slow, so that both are called before either dies.
    bench.cloud.lock_contents().slow = true;
    bench.cloud.lock_contents().deaths.extend(["read x-1".to_owned(), "read y-1".to_owned()]);
    // The first of the two replacements: the other one starts without trouble.
    bench.set_fault("launch 3", CallFault::Hangs);
    let run = apply_while(&mut bench, &config, async |bench, _| {
        assert!(wait_until(|| bench.cloud.lock_contents().hung).await, "nothing hangs");
        let n_read = || {
            let things = bench.cloud.lock_contents();
            things.calls.iter().filter(|call| call.starts_with("read")).count()
        };
        // Two when everything was made, two that were lost, and the one that need not wait.
        let before = n_read();
        assert!(wait_until(|| n_read() > before).await, "both wait");
        bench.clear_faults();
    });
    assert_eq!(
        run.describe_diagnostics().matches("asked a second time").count(),
        2,
        "{}",
        run.describe_diagnostics()
    );
}
