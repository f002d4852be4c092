//! Objects are read before the turn of their resource comes, and nothing else is any different.

use expect_test::expect;

use super::{CallFault, EngineFixture};
use crate::plan::PlanMode;

/// Each refers to the previous one.
fn chain_config() -> String {
    let mut config = String::from("resource \"test_thing\" \"a\" {\n  name = \"a\"\n}\n");
    for pair in ["a", "b", "c", "d", "e", "f"].windows(2) {
        let [on, name] = pair else { continue };
        let more = format!(
            "resource \"test_thing\" \"{name}\" {{\n  name = \"{name}\"\n  note = test_thing.{on}.id\n}}\n"
        );
        config.push_str(&more);
    }
    config
}

fn fixture_with_chain(parallelism: usize) -> EngineFixture {
    let mut bench = EngineFixture::with_applied(&chain_config());
    bench.parallelism = parallelism;
    bench
}

/// The maximum number of concurrent reads while planning.
fn max_concurrent_reads(parallelism: usize) -> usize {
    let mut bench = fixture_with_chain(parallelism);
    bench.cloud.lock_contents().slow = true;
    let run = bench.plan(&chain_config());
    assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
    let things = bench.cloud.lock_contents();
    assert_eq!(things.calls.iter().filter(|call| call.starts_with("read ")).count(), 6);
    things.most_under_way
}

#[test]
fn a_chain_is_read_concurrently_within_the_limit() {
    // Six objects, so with a limit of a hundred most slots stay free.
    assert_eq!([1, 2, 4, 100].map(max_concurrent_reads), [1, 2, 4, 6]);
}

#[test]
fn without_parallelism_reads_follow_the_order_of_the_graph() {
    let run = fixture_with_chain(1).plan(&chain_config());
    let expected = "configure -, read a-1, plan a, read b-1, plan b, read c-1, plan c, read d-1, plan d, read e-1, plan e, read f-1, plan f\n";
    assert_eq!(run.all_calls(), expected);
}

#[test]
fn plans_are_made_in_the_order_of_the_graph() {
    let run = fixture_with_chain(10).plan(&chain_config());
    let plans: Vec<_> = run.calls.iter().filter(|call| call.starts_with("plan ")).collect();
    assert_eq!(plans, ["plan a", "plan b", "plan c", "plan d", "plan e", "plan f"]);
}

#[test]
fn a_failed_early_read_is_reported_by_the_visit_of_its_resource() {
    let mut bench = fixture_with_chain(10);
    bench.set_fault("read c-1", CallFault::Refuses);
    let run = bench.plan(&chain_config());
    let plans: Vec<_> = run.calls.iter().filter(|call| call.starts_with("plan ")).collect();
    assert_eq!(plans, ["plan a", "plan b"]);
    expect![[r#"
        error test_thing.c: the cloud says no to read
    "#]]
    .assert_eq(&run.describe_diagnostics());
    // Nothing refers to c, so the error of reading it is not reported.
    bench.set_fault("plan a", CallFault::Refuses);
    expect![[r#"
        error test_thing.a: the cloud says no to plan
    "#]]
    .assert_eq(&bench.plan(&chain_config()).describe_diagnostics());
}

#[test]
fn nothing_is_read_early_without_refresh() {
    let run =
        fixture_with_chain(10).plan_with(&chain_config(), |options| options.skip_refresh = true);
    assert!(!run.all_calls().contains("read "), "{}", run.all_calls());
}

#[test]
fn only_a_target_and_its_dependencies_are_read_early() {
    let mut bench = fixture_with_chain(10);
    bench.set_targets(&["test_thing.b"]);
    let run = bench.plan(&chain_config());
    let mut reads: Vec<_> = run.calls.iter().filter(|call| call.starts_with("read ")).collect();
    reads.sort();
    assert_eq!(reads, ["read a-1", "read b-1"]);
}

/// The end of objects is read side by side across the instances of a module, too.
#[test]
fn instances_of_removed_modules_are_read_concurrently() {
    let config = |count: usize| {
        format!(
            "//- main.tf
module \"m\" {{
  source = \"./child\"
  count  = {count}
  name   = \"m${{count.index}}\"
}}
//- child/main.tf
variable \"name\" {{}}
resource \"test_thing\" \"it\" {{
  name = var.name
}}
"
        )
    };
    for destroying in [false, true] {
        let mut bench = EngineFixture::with_applied(&config(6));
        bench.parallelism = 4;
        bench.cloud.lock_contents().slow = true;
        let run = bench.plan_with(&config(if destroying { 6 } else { 0 }), |options| {
            if destroying {
                options.mode = PlanMode::Destroy;
            }
        });
        assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
        assert_eq!(bench.cloud.lock_contents().most_under_way, 4, "destroying: {destroying}");
    }
}
