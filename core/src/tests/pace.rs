//! Number of concurrent calls, and the order in which calls start.

use super::EngineFixture;

/// Number of resources that need nothing, beside one that has as many instances.
const INDEPENDENT_COUNT: usize = 20;
/// Number of resources that need the one before.
const CHAIN_LEN: usize = 30;

/// Resources and instances that need nothing, and a chain.
fn config_of_size(size: usize) -> String {
    let independent = (0..INDEPENDENT_COUNT).map(|at| (format!("a{at}"), String::new()));
    let chain = (0..CHAIN_LEN).map(|at| match at.checked_sub(1) {
        Some(on) => (format!("c{at}"), format!("  note = test_thing.c{on}.id\n")),
        None => (format!("c{at}"), String::new()),
    });
    let block = |(name, link): (String, String)| {
        format!(
            "resource \"test_thing\" \"{name}\" {{\n  name = \"{name}\"\n  size = {size}\n{link}}}\n"
        )
    };
    let counted = format!(
        "resource \"test_thing\" \"d\" {{\n  count = {INDEPENDENT_COUNT}\n  name = \"d${{count.index}}\"\n  size = {size}\n}}\n"
    );
    independent.chain(chain).map(block).chain([counted]).collect()
}

#[test]
fn concurrent_calls_reach_the_limit_and_do_not_exceed_it() {
    // The largest number must not overflow the count of slots.
    for limit in [1, 10, 1000, usize::MAX] {
        let mut bench = EngineFixture::with_applied("");
        bench.parallelism = limit;
        bench.cloud.lock_contents().slow = true;
        let (made, changed) = (config_of_size(1), config_of_size(2));
        for (action, text) in [("create", &made), ("no change", &made), ("update", &changed)] {
            let run = bench.apply(text);
            assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
            let most = std::mem::take(&mut bench.cloud.lock_contents().most_under_way);
            assert!(most <= limit, "{action}: {most} of at most {limit}");
            // One of the chain and all others can continue at any time; everything can be read.
            let could = if action == "create" {
                2 * INDEPENDENT_COUNT + 1
            } else {
                2 * INDEPENDENT_COUNT + CHAIN_LEN
            };
            assert_eq!(most, could.min(limit), "{action}");
        }
        let run = bench.destroy(&changed);
        assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
        let most = std::mem::take(&mut bench.cloud.lock_contents().most_under_way);
        assert_eq!(most, (2 * INDEPENDENT_COUNT + CHAIN_LEN).min(limit), "destroy");
        assert!(bench.cloud.lock_contents().objects.is_empty());
    }
}

#[test]
fn early_reads_do_not_starve_other_work() {
    // With a limit of one nothing is read early.
    for limit in [2, 10] {
        let mut bench = EngineFixture::with_applied(&config_of_size(1));
        bench.parallelism = limit;
        bench.cloud.lock_contents().slow = true;
        let run = bench.plan(&config_of_size(2));
        assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
        // The first of the chain needs nothing; all others of it are read ahead.
        let first = run.calls.iter().position(|call| call == "plan c0").expect("it is planned");
        let is_ahead = |call: &&String| call.starts_with("read c") && *call != "read c0-1";
        let n_ahead = run.calls[..first].iter().filter(is_ahead).count();
        assert!(n_ahead <= limit, "{n_ahead} reads ahead of what can go on: {}", run.all_calls());
        assert_eq!(run.calls.iter().filter(is_ahead).count(), CHAIN_LEN - 1);
    }
}
