//! Tables: a configuration and the addresses in the state; then where everything is.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use expect_test::{Expect, expect};
use formwork_value::Diagnostics;

use super::{DeclaredObjects, Moves};
use crate::addr::{InstanceAddr, ProviderAddr, ProviderConfigAddr};
use crate::config::config_from_text::{format_diagnostics, load_valid_fixture};
use crate::eval::{Expansion, Results};
use crate::state::{InstanceState, ObjectAttributes, ObjectState, ObjectStatus, State};

fn test_object() -> Arc<ObjectState> {
    Arc::new(ObjectState {
        status: ObjectStatus::Ready,
        schema_version: 0,
        attributes: ObjectAttributes::default(),
        sensitive: Arc::default(),
        private: Bytes::new(),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    })
}

fn state_with(addrs: &[&str]) -> State {
    let provider = ProviderConfigAddr {
        module: Default::default(),
        provider: ProviderAddr::implied_by_name(&"terraform".into()),
        alias: None,
    };
    let mut state = State::default();
    for text in addrs {
        let addr: InstanceAddr = text.parse().unwrap();
        let instance = InstanceState { current: Some(test_object()), deposed: BTreeMap::new() };
        state
            .resource_or_insert(addr.resource_addr(), &provider)
            .instances
            .insert(addr.key, instance);
    }
    state
}

/// Moves, and lists every address with its former one, then the blocked moves.
fn check_moves(config: &str, addrs: &[&str], expect: Expect) {
    let (config, _) = load_valid_fixture(config);
    let (moves, after) = Moves::apply_all_moves(&config, &state_with(addrs));
    let mut out = String::new();
    for (resource, held) in &after.resources {
        for key in held.instances.keys() {
            let addr = resource.instance_addr(key.clone());
            match moves.original_address(&addr) {
                Some(from) => out += &format!("{from} → {addr}"),
                None => out += &addr.to_string(),
            }
            if let Some(source) = moves.former_resource(&addr) {
                out += &format!(" (was {})", source.kind);
            }
            out += "\n";
        }
    }
    for (actual, wanted) in &moves.blocked {
        out += &format!("blocked: {actual} → {wanted}\n");
    }
    expect.assert_eq(&out);
}

#[test]
fn resources_and_instances_are_moved_to_their_destination() {
    check_moves(
        "moved {
           from = a.old
           to   = a.new
         }
         moved {
           from = a.one
           to   = a.many[\"k\"]
         }
         moved {
           from = a.n[2]
           to   = a.n[\"two\"]
         }
         moved {
           from = a.out
           to   = module.m[0].a.in
         }
         moved {
           from = module.q.a.in
           to   = a.freed
         }",
        &["a.old[0]", "a.old[1]", "a.one", "a.n[1]", "a.n[2]", "a.out", "module.q.a.in", "a.other"],
        expect![[r#"
            module.q.a.in → a.freed
            a.one → a.many["k"]
            a.n[1]
            a.n[2] → a.n["two"]
            a.old[0] → a.new[0]
            a.old[1] → a.new[1]
            a.other
            a.out → module.m[0].a.in
        "#]],
    );
}

#[test]
fn modules_are_moved_with_all_their_content() {
    check_moves(
        "moved {
           from = module.a
           to   = module.b
         }
         moved {
           from = module.one
           to   = module.many[\"k\"]
         }
         moved {
           from = module.x.module.y
           to   = module.y
         }",
        &[
            "module.a[0].t.r",
            "module.a[1].module.in[\"q\"].t.r[3]",
            "module.one.t.r",
            "module.x.t.stays",
            "module.x.module.y[7].t.r",
        ],
        expect![[r#"
            module.a[0].t.r → module.b[0].t.r
            module.one.t.r → module.many["k"].t.r
            module.x.t.stays
            module.x.module.y[7].t.r → module.y[7].t.r
            module.a[1].module.in["q"].t.r[3] → module.b[1].module.in["q"].t.r[3]
        "#]],
    );
}

#[test]
fn chained_moves_are_applied_in_order_and_count_as_one() {
    // Written in an order that differs from the order of application.
    check_moves(
        "moved {
           from = t.b
           to   = t.c
         }
         moved {
           from = module.m.t.c
           to   = module.m.t.d
         }
         moved {
           from = t.a
           to   = t.b
         }
         moved {
           from = t.c
           to   = module.m.t.c
         }
         moved {
           from = module.m
           to   = module.n
         }",
        &["t.a"],
        expect![[r#"
            t.a → module.n.t.d
        "#]],
    );
}

#[test]
fn one_instance_moves_before_its_resource_by_the_old_name_and_after_it_by_the_new_one() {
    check_moves(
        "moved {
           from = t.a
           to   = t.b
         }
         moved {
           from = t.a[1]
           to   = t.one
         }
         moved {
           from = t.x
           to   = t.b[2]
         }
         moved {
           from = t.b[3]
           to   = t.three
         }
         moved {
           from = t.y
           to   = t.a[4]
         }",
        &["t.a[0]", "t.a[1]", "t.a[2]", "t.a[3]", "t.x", "t.y"],
        expect![[r#"
            t.a[0] → t.b[0]
            t.a[2] → t.b[2]
            t.y → t.b[4]
            t.a[1] → t.one
            t.a[3] → t.three
            t.x
            blocked: t.x → t.b[2]
        "#]],
    );
}

#[test]
fn object_at_the_destination_is_not_moved() {
    // As in Terraform, a move to an occupied address is only a warning.
    check_moves(
        "moved {
           from = t.a
           to   = t.b
         }
         moved {
           from = t.c[0]
           to   = t.c[1]
         }
         moved {
           from = module.m
           to   = module.n
         }",
        &["t.a", "t.b", "t.c[0]", "t.c[1]", "module.m.t.r", "module.n.t.q"],
        expect![[r#"
            t.a
            t.b
            t.c[0]
            t.c[1]
            module.m.t.r
            module.n.t.q
            blocked: module.m → module.n
            blocked: t.a → t.b
            blocked: t.c[0] → t.c[1]
        "#]],
    );
}

#[test]
fn the_first_instance_follows_a_change_of_count_unless_a_moved_block_exists() {
    // Implied moves of Terraform: between no key and `[0]`, in both directions.
    let addrs = &["t.more", "t.less[0]", "t.less[1]", "t.each", "t.own", "t.same[0]"];
    check_moves(
        "resource \"t\" \"more\" {
           count = 2
         }
         resource \"t\" \"less\" {}
         resource \"t\" \"each\" {
           for_each = {}
         }
         resource \"t\" \"own\" {
           count = 2
         }
         resource \"t\" \"same\" {
           count = 1
         }
         moved {
           from = t.own
           to   = t.own[1]
         }",
        addrs,
        expect![[r#"
            t.each
            t.less[0] → t.less
            t.less[1]
            t.more → t.more[0]
            t.own → t.own[1]
            t.same[0]
        "#]],
    );
}

#[test]
fn another_resource_type_is_remembered_through_a_chain() {
    check_moves(
        "moved {
           from = null_resource.a
           to   = terraform_data.a
         }
         moved {
           from = terraform_data.a
           to   = terraform_data.b
         }
         moved {
           from = x.a
           to   = y.a
         }
         moved {
           from = y.a
           to   = x.b
         }",
        // Back at its own type, an object has nothing to be converted from.
        &["null_resource.a", "x.a"],
        expect![[r#"
            null_resource.a → terraform_data.b (was null_resource)
            x.a → x.b
        "#]],
    );
}

/// Checks the errors in the moves, when every resource of the configuration is expanded.
fn check_move_errors(config: &str, expect: Expect) {
    let (config, sources) = load_valid_fixture(config);
    let results = Results::new(&config);
    for name in config.root.resources.keys() {
        results.root().resource_results(name).unwrap().set_expansion(Expansion::Single);
    }
    let (moves, _) = Moves::apply_all_moves(&config, &State::default());
    let mut diags = Diagnostics::new();
    let declared = DeclaredObjects { sources: &sources, results: &results };
    let _ = moves.validate_moves(&mut diags, declared);
    expect.assert_eq(&format_diagnostics(&sources, &diags));
}

#[test]
fn contradictory_moves_are_reported() {
    check_move_errors(
        r#"
moved {
  from = t.a
  to   = t.a
}
moved {
  from = t.there
  to   = t.b
}
resource "t" "there" {}
moved {
  from = t.c
  to   = t.d
}
moved {
  from = t.c
  to   = t.e
}
moved {
  from = t.f
  to   = t.d
}
"#,
        expect![[r#"
            error main.tf:1,1-6 Redundant move statement
                This moves t.a to the same address. Remove the block.
            error main.tf:5,1-6 Moved object still exists
                This block declares a move from t.there, but that resource is still declared at main.tf:9,1. Change the configuration so that this resource is declared as t.b instead.
            error main.tf:14,1-6 Ambiguous move statements
                This block moves t.c to t.e, but the block at main.tf:10,1 moves it to t.d. A resource can move to one resource only.
            error main.tf:18,1-6 Ambiguous move statements
                This block moves t.f to t.d, but the block at main.tf:10,1 moves t.c to the same address. Only one resource can move to a resource.
        "#]],
    );
}

#[test]
fn cyclic_moves_are_reported() {
    check_move_errors(
        r#"
moved {
  from = module.a
  to   = module.b
}
moved {
  from = module.b
  to   = module.a
}
"#,
        expect![[r#"
            error - Cyclic dependency in move statements
                These moves form a cycle, so their objects have no final address:
                  - main.tf:1,1: module.a[*] → module.b[*]
                  - main.tf:5,1: module.b[*] → module.a[*]

                A chain of moves must end at an address that no other move begins with.
        "#]],
    );
}

#[test]
fn ten_thousand_moves_take_linear_time() {
    // To compare each with each would be a hundred million steps.
    let moves: String = (0..10_000)
        .map(|at| format!("moved {{\n  from = t.a[{at}]\n  to = t.b[\"k{at}\"]\n}}\n"))
        .collect();
    let (config, _) = load_valid_fixture(&moves);
    let addrs: Vec<String> = (0..10_000).map(|at| format!("t.a[{at}]")).collect();
    let addrs: Vec<&str> = addrs.iter().map(String::as_str).collect();
    let (moves, after) = Moves::apply_all_moves(&config, &state_with(&addrs));
    assert_eq!(moves.origins.len(), 10_000);
    assert_eq!(after.resources.len(), 1);
}

#[test]
fn an_address_outside_the_state_is_also_resolved() {
    let (config, _) = load_valid_fixture(
        "resource \"a\" \"counted\" { count = 2 }
         moved {
           from = a.old
           to   = a.between
         }
         moved {
           from = a.between
           to   = module.m.a.new
         }",
    );
    let provider = ProviderConfigAddr {
        module: Default::default(),
        provider: ProviderAddr::implied_by_name(&"terraform".into()),
        alias: None,
    };
    // Implied moves count as well.
    let current = ["a.old[\"k\"]", "a.counted", "a.counted[1]", "a.other"]
        .map(|text| super::current_address(&config, &text.parse().unwrap(), &provider).to_string());
    assert_eq!(current, ["module.m.a.new[\"k\"]", "a.counted[0]", "a.counted[1]", "a.other"]);
}
