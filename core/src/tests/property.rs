//! Random configurations, applied one after the other: whatever the first was and whatever is
//! changed, the second is applied without a cycle and in an order that leaves no object standing on
//! one that is gone.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::Bench;
use crate::graph::walk::Finishing;

/// One resource: what it mentions, among the earlier ones; where it is; whether it is created first.
#[derive(Clone, Debug)]
struct Thing {
    on: Vec<usize>,
    zone: u8,
    first: bool,
    written: bool,
    count: Option<u8>,
}

fn thing() -> impl Strategy<Value = Thing> {
    (
        prop::collection::vec(0_usize..8, 0..3),
        0_u8..2,
        prop::bool::weighted(0.5),
        prop::bool::weighted(0.75),
        prop::option::weighted(0.3, 0_u8..3),
    )
        .prop_map(|(on, zone, first, written, count)| Thing {
            on,
            zone,
            first,
            written,
            count,
        })
}

fn config(things: &[Thing]) -> String {
    let mut text = String::new();
    for (at, thing) in things.iter().enumerate().filter(|(_, thing)| thing.written) {
        let _ = writeln!(text, "resource \"test_thing\" \"r{at}\" {{");
        if let Some(count) = thing.count {
            let _ = writeln!(text, "count = {count}");
        }
        let _ = writeln!(text, "name = \"r{at}\"\nzone = \"{}\"", thing.zone);
        let on = thing.on.iter().filter(|&&on| on < at && things[on].written);
        let on: Vec<_> = on.map(|on| format!("flatten([test_thing.r{on}])[*].id")).collect();
        let _ = writeln!(text, "note = join(\",\", concat([], {}))", on.join(", "));
        let _ = writeln!(text, "lifecycle {{ create_before_destroy = {} }}\n}}", thing.first);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_configuration_follows_any_other(
        before in prop::collection::vec(thing(), 1..7),
        after in prop::collection::vec(thing(), 1..7),
        seed in any::<u64>(),
    ) {
        let (before, after) = (config(&before), config(&after));
        let mut bench = Bench::new();
        let first = bench.apply(&before);
        prop_assert!(!first.diags.has_errors(), "{before}\n{}", first.said());
        bench.parallelism = 4;
        bench.finishing = Finishing::Shuffled(seed);
        let second = bench.apply(&after);
        prop_assert!(!second.diags.has_errors(), "{before}\nthen\n{after}\n{}", second.said());
        let again = bench.plan(&after);
        prop_assert!(again.is_clean(), "{before}\nthen\n{after}\n{}", again.story());
        let last = bench.destroy(&after);
        prop_assert!(!last.diags.has_errors(), "{after}\n{}", last.said());
        prop_assert!(bench.file.state.is_empty() && bench.cloud.things().objects.is_empty());
    }
}
