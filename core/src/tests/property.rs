//! Random configurations, applied one after the other: for any first configuration and any change,
//! the second is applied without a cycle, and in an order in which no object outlives one that it
//! depends on.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::EngineFixture;
use crate::graph::walk::RecordOrder;

/// One resource: the earlier ones that it refers to; its position; whether it is created first; the
/// module that contains it, if not the root.
#[derive(Clone, Debug)]
struct GeneratedResource {
    dependencies: Vec<usize>,
    zone: u8,
    first: bool,
    written: bool,
    count: Option<u8>,
    home: Option<usize>,
}

fn any_resource() -> impl Strategy<Value = GeneratedResource> {
    (
        prop::collection::vec(0_usize..8, 0..3),
        0_u8..2,
        prop::bool::weighted(0.5),
        prop::bool::weighted(0.75),
        prop::option::weighted(0.3, 0_u8..3),
        prop::option::weighted(0.6, 0_usize..2),
    )
        .prop_map(|(on, zone, first, written, count, home)| GeneratedResource {
            dependencies: on,
            zone,
            first,
            written,
            count,
            home,
        })
}

/// Expression for the ids of the instances of an earlier resource, written in its own module.
fn ids_expression(at: usize) -> String {
    // `flatten` takes both the one object and the list that `count` makes of it.
    format!("flatten([test_thing.r{at}])[*].id")
}

/// The same from another module. A repeated call has two instances, of which the first is referred
/// to.
fn ids_expression_from_outside(
    things: &[GeneratedResource],
    keyed: [bool; 2],
    at: usize,
) -> String {
    match things[at].home {
        None => ids_expression(at),
        Some(home) if keyed[home] => format!("module.m{home}[\"k\"].r{at}"),
        Some(home) => format!("module.m{home}.r{at}"),
    }
}

fn referenced_resources(things: &[GeneratedResource], at: usize) -> Vec<usize> {
    let on = things[at].dependencies.iter().copied();
    // Only earlier ones, so that no configuration is a cycle by itself.
    on.filter(|&on| on < at && things[on].written).collect()
}

/// The resources of one module, the root if none is named.
fn write_resources(
    text: &mut String,
    things: &[GeneratedResource],
    keyed: [bool; 2],
    home: Option<usize>,
) {
    let members =
        things.iter().enumerate().filter(|(_, thing)| thing.written && thing.home == home);
    for (at, thing) in members {
        let _ = writeln!(text, "resource \"test_thing\" \"r{at}\" {{");
        if let Some(count) = thing.count {
            let _ = writeln!(text, "count = {count}");
        }
        let _ = writeln!(text, "name = \"r{at}\"\nzone = \"{}\"", thing.zone);
        let on =
            referenced_resources(things, at).into_iter().map(|on| match things[on].home == home {
                true => ids_expression(on),
                false if home.is_none() => ids_expression_from_outside(things, keyed, on),
                false => format!("var.r{on}"),
            });
        let on: Vec<_> = on.collect();
        // `[]` because there may be nothing to join.
        let _ = writeln!(text, "note = join(\",\", concat([], {}))", on.join(", "));
        let _ = writeln!(text, "lifecycle {{ create_before_destroy = {} }}\n}}", thing.first);
    }
}

/// A configuration with two called modules, each of them repeated or not.
fn config_of_resources(things: &[GeneratedResource], keyed: [bool; 2]) -> String {
    let mut text = String::from("//- main.tf\n");
    write_resources(&mut text, things, keyed, None);
    let mut modules = String::new();
    for (home, is_keyed) in keyed.into_iter().enumerate() {
        let written = (0..things.len()).filter(|&at| things[at].written);
        let members: Vec<usize> = written.filter(|&at| things[at].home == Some(home)).collect();
        if members.is_empty() {
            continue;
        }
        let needed: BTreeSet<usize> = members
            .iter()
            .flat_map(|&at| referenced_resources(things, at))
            .filter(|&on| things[on].home != Some(home))
            .collect();
        let _ = writeln!(text, "module \"m{home}\" {{\nsource = \"./m{home}\"");
        if is_keyed {
            let _ = writeln!(text, "for_each = toset([\"k\", \"l\"])");
        }
        let _ = writeln!(modules, "//- m{home}/main.tf");
        for on in needed {
            let _ = writeln!(text, "r{on} = {}", ids_expression_from_outside(things, keyed, on));
            let _ = writeln!(modules, "variable \"r{on}\" {{}}");
        }
        text.push_str("}\n");
        write_resources(&mut modules, things, keyed, Some(home));
        for at in members {
            let _ = writeln!(modules, "output \"r{at}\" {{\nvalue = {}\n}}", ids_expression(at));
        }
    }
    text + &modules
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_configuration_follows_any_other(
        before in prop::collection::vec(any_resource(), 1..7),
        after in prop::collection::vec(any_resource(), 1..7),
        keyed in any::<[[bool; 2]; 2]>(),
        seed in any::<u64>(),
    ) {
        let (before, after) = (config_of_resources(&before, keyed[0]), config_of_resources(&after, keyed[1]));
        let mut bench = EngineFixture::new();
        let first = bench.apply(&before);
        prop_assert!(!first.diags.has_errors(), "{before}\n{}", first.describe_diagnostics());
        bench.parallelism = 4;
        bench.finishing = RecordOrder::Shuffled(seed);
        let second = bench.apply(&after);
        prop_assert!(!second.diags.has_errors(), "{before}\nthen\n{after}\n{}", second.describe_diagnostics());
        let again = bench.plan(&after);
        prop_assert!(again.has_no_diagnostics(), "{before}\nthen\n{after}\n{}", again.describe_run());
        let last = bench.destroy(&after);
        prop_assert!(!last.diags.has_errors(), "{after}\n{}", last.describe_diagnostics());
        prop_assert!(bench.file.state.is_empty() && bench.cloud.lock_contents().objects.is_empty());
    }
}
