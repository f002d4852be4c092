//! Cost of announcing every call on the disk before it is sent: calls that become ready together
//! share one request, so a run pays for its depth and not for its size.

use super::EngineFixture;

const OBJECT_COUNT: usize = 400;

/// Numbers of requests to the disk while so many objects are made and destroyed, at most so many at
/// once.
fn sync_counts(config: &str, parallelism: usize) -> [usize; 2] {
    let mut bench = EngineFixture::new();
    bench.parallelism = parallelism;
    let run = bench.apply(config);
    assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
    let made = bench.n_syncs.get();
    let run = bench.destroy(config);
    assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
    [made, bench.n_syncs.get()]
}

fn flat_config() -> String {
    let resource = |at| format!("resource \"test_thing\" \"t{at}\" {{\n  name = \"t{at}\"\n}}\n");
    (0..OBJECT_COUNT).map(resource).collect()
}

fn counted_config() -> String {
    format!(
        "resource \"test_thing\" \"t\" {{\n  count = {OBJECT_COUNT}\n  name  = \"t${{count.index}}\"\n}}\n"
    )
}

fn chain_config() -> String {
    let resource = |at: usize| {
        let before = at.checked_sub(1);
        let note = before.map_or(String::new(), |on| format!("  note = test_thing.t{on}.id\n"));
        format!("resource \"test_thing\" \"t{at}\" {{\n  name = \"t{at}\"\n{note}}}\n")
    };
    (0..OBJECT_COUNT).map(resource).collect()
}

#[test]
fn concurrent_operations_share_one_sync() {
    for config in [flat_config(), counted_config()] {
        // One sync for each batch: 400 objects in batches of 100 need four.
        for (parallelism, most) in [(OBJECT_COUNT, 1), (100, 4), (10, 40), (1, OBJECT_COUNT)] {
            let [made, destroyed] = sync_counts(&config, parallelism);
            assert!(
                made <= most && destroyed <= most,
                "{parallelism} at once: {made} and {destroyed} requests, at most {most}"
            );
        }
    }
}

#[test]
fn dependent_operations_are_synced_one_by_one() {
    // Each is announced only after the answer to the one before, so none can share.
    assert_eq!(sync_counts(&chain_config(), OBJECT_COUNT), [OBJECT_COUNT, OBJECT_COUNT]);
}
