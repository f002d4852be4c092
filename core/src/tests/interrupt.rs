//! Runs that are interrupted while providers start, die or hang. Requests after that are not waited
//! for, except those that report the effect of a change.

use formwork_value::Diagnostics;

use super::mending::region;
use super::{EvalFixture, Fault, Loaded, Run, block_on};
use crate::provider::Pool;

/// Number of turns of all other tasks for which a test waits.
const TURNS: usize = 20_000;

const A: &str = r#"resource "test_thing" "a" { name = "a" }"#;
const LARGER: &str = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  size = 2\n}\n";

/// Waits until something is so. Returns whether it came to be.
async fn until(is_so: impl Fn() -> bool) -> bool {
    for _ in 0..TURNS {
        if is_so() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

/// Applies a configuration; meanwhile does something else.
fn meanwhile(
    bench: &mut EvalFixture,
    config: &str,
    other: impl AsyncFnOnce(&EvalFixture, &Pool<'_>),
) -> Run {
    let loaded = Loaded::of(config);
    let first = bench.cloud.things().calls.len();
    {
        let mut things = bench.cloud.things();
        // Counted from here on, because faults name processes by their number.
        (things.n_launches, things.n_running, things.hung) = (0, 0, false);
    }
    let mut diags = Diagnostics::new();
    let (plan, applied) = block_on(async {
        let pool = Pool::new(&bench.cloud);
        let work = bench.both(&loaded, &pool, true, &mut diags);
        tokio::join!(work, other(bench, &pool)).0
    });
    if let Some(applied) = &applied {
        bench.file.state = applied.state.clone();
    }
    let calls = bench.cloud.things().calls[first..].to_vec();
    Run { plan, applied, diags, calls }
}

/// Interrupts as soon as something hangs.
async fn interrupt(bench: &EvalFixture, pool: &Pool<'_>) {
    assert!(until(|| bench.cloud.things().hung).await, "nothing hangs");
    bench.stop.set(true);
    pool.stop().await;
}

#[test]
fn a_provider_that_is_not_ready_is_given_up() {
    for call in ["launch 1", "schema 1", "identities 1"] {
        let mut bench = EvalFixture::after(A);
        bench.fault(call, Fault::Hangs);
        let run = meanwhile(&mut bench, A, interrupt);
        let said = "error -: Failed to start provider registry.terraform.io/hashicorp/test\n";
        assert_eq!(run.said(), said, "{call}");
    }
}

#[test]
fn what_is_lost_because_a_provider_ends_when_asked_to_stop_is_not_asked_again() {
    let mut bench = EvalFixture::after(A);
    bench.fault("read a-1", Fault::Hangs);
    bench.cloud.things().ends_when_stopped = true;
    let run = meanwhile(&mut bench, A, async |bench, pool| {
        interrupt(bench, pool).await;
        // Only now the read comes back, and finds that its process has ended.
        bench.well_again();
    });
    assert_eq!(run.said(), "error test_thing.a: Plugin did not respond\n");
    assert_eq!(bench.cloud.things().n_launches, 1);
}

#[test]
fn a_replacement_that_is_not_ready_is_given_up() {
    for call in ["launch 2", "schema 2"] {
        let mut bench = EvalFixture::after(A);
        bench.cloud.things().deaths.insert("read a-1".into());
        bench.fault(call, Fault::Hangs);
        let run = meanwhile(&mut bench, A, interrupt);
        assert_eq!(run.said(), "error test_thing.a: Plugin did not respond\n", "{call}");
        let n_read = run.calls.iter().filter(|call| *call == "read a-1").count();
        assert_eq!(n_read, 1, "{call}");
    }
}

#[test]
fn a_replacement_that_gets_ready_after_the_interrupt_is_asked_nothing() {
    let mut bench = EvalFixture::after(A);
    // The read is lost with process 1, and process 2 hangs while it gets its configuration.
    bench.cloud.things().deaths.insert("read a-1".into());
    bench.fault("configure - 2", Fault::Hangs);
    let run = meanwhile(&mut bench, A, async |bench, pool| {
        interrupt(bench, pool).await;
        bench.well_again();
    });
    assert_eq!(run.said(), "error test_thing.a: Plugin did not respond\n");
    assert_eq!(run.calls.iter().filter(|call| *call == "read a-1").count(), 1);
    assert!(run.calls.contains(&"stop".to_owned()), "{:?}", run.calls);
}

#[test]
fn a_provider_that_is_to_say_what_a_lost_change_did_gets_the_time_it_needs() {
    for call in ["launch 2", "schema 2", "configure - 2"] {
        let mut bench = EvalFixture::after(A);
        bench.fault("update a-1", Fault::Dies);
        bench.fault(call, Fault::Hangs);
        let run = meanwhile(&mut bench, LARGER, async |bench, pool| {
            interrupt(bench, pool).await;
            // It is neither given up nor asked anything else.
            let n_calls = bench.cloud.things().calls.len();
            let went_on = until(|| bench.cloud.things().calls.len() > n_calls).await;
            assert!(!went_on, "{call}");
            bench.well_again();
        });
        assert!(run.said().contains("An interrupted operation was resolved"), "{}", run.said());
        assert_eq!(bench.state(), "test_thing.a a-1 2\n", "{call}");
    }
}

#[test]
fn who_lost_one_process_does_not_wait_for_who_lost_another() {
    let config = ["x", "y"].map(region).concat();
    let mut bench = EvalFixture::after(&config);
    bench.parallelism = 10;
    // Slow, so that both are asked before either dies.
    bench.cloud.things().slow = true;
    bench.cloud.things().deaths.extend(["read x-1".to_owned(), "read y-1".to_owned()]);
    // The first of the two replacements: the other one starts without trouble.
    bench.fault("launch 3", Fault::Hangs);
    let run = meanwhile(&mut bench, &config, async |bench, _| {
        assert!(until(|| bench.cloud.things().hung).await, "nothing hangs");
        let n_read = || {
            let things = bench.cloud.things();
            things.calls.iter().filter(|call| call.starts_with("read")).count()
        };
        // Two when everything was made, two that were lost, and the one that need not wait.
        let before = n_read();
        assert!(until(|| n_read() > before).await, "both wait");
        bench.well_again();
    });
    assert_eq!(run.said().matches("asked a second time").count(), 2, "{}", run.said());
}
