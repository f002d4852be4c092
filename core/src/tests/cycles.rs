//! Diagnostics of cycles: the vertices that wait for each other, the locations of the references,
//! and the flags that forced the order.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};

use super::{EngineFixture, RunResult};
use crate::state::ObjectState;

fn check_cycle(run: &RunResult, expect: Expect) {
    let mut text = String::new();
    for diagnostic in run.diags.iter() {
        let _ = writeln!(text, "{}\n{}", diagnostic.summary, diagnostic.detail);
    }
    // The keys are random.
    let mut parts = text.split("deposed ");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |all, part| format!("{all}deposed KEY{}", &part[8..]));
    expect.assert_eq(&text);
}

#[test]
fn each_edge_of_a_cycle_names_its_argument() {
    let mut bench = EngineFixture::new();
    let run = bench.plan(
        r#"
        resource "test_thing" "a" {
          name       = "a"
          depends_on = [test_thing.c]
        }
        resource "test_thing" "b" {
          name = "b"
          note = test_thing.a.id
        }
        resource "test_thing" "c" {
          name = "c"
          lifecycle {
            replace_triggered_by = [test_thing.b.id]
          }
        }
        "#,
    );
    check_cycle(
        &run,
        expect![[r#"
        Cycle: test_thing.a, test_thing.c, test_thing.b
        Each of these needs the next before it can be done:
          - test_thing.a needs test_thing.c: its depends_on mentions it at main.tf:3,25
          - test_thing.c needs test_thing.b: its replace_triggered_by mentions it at main.tf:12,37
          - test_thing.b needs test_thing.a: it mentions it at main.tf:7,18

        Take one of the mentions away to break the cycle.
    "#]],
    );
}

/// Records in the state that one object was created after another.
fn add_state_dependency(bench: &mut EngineFixture, dependent: &str, on: &str) {
    let addr = format!("test_thing.{dependent}").parse::<crate::addr::InstanceAddr>().unwrap();
    let on = format!("test_thing.{on}").parse::<crate::addr::InstanceAddr>().unwrap();
    let provider = bench.file.state.resources[&addr.resource_addr()].provider.clone();
    let resource = bench.file.state.resource_or_insert(addr.resource_addr(), &provider);
    let instance = resource.instances.get_mut(&addr.key).unwrap();
    let object = instance.current.take().unwrap();
    let dependencies = Arc::new(vec![on.resource_addr().config_addr()]);
    instance.current = Some(Arc::new(ObjectState { dependencies, ..(*object).clone() }));
}

fn things_config(zone: &str, a: &str, b: &str, c: &str) -> String {
    format!(
        r#"
        resource "test_thing" "a" {{
          name = "a"
          zone = "{zone}"
          {a}
        }}
        resource "test_thing" "b" {{
          name = "b"
          zone = "{zone}"
          {b}
        }}
        locals {{
          id = test_thing.a.id
        }}
        resource "test_thing" "c" {{
          name = "c"
          note = local.id
          {c}
        }}
        "#
    )
}

const CREATE_FIRST: &str = "lifecycle {\n            create_before_destroy = true\n          }";

#[test]
fn a_cycle_only_in_the_state_is_not_blamed_on_the_configuration() {
    let config = things_config("north", "", "", "");
    let mut bench = EngineFixture::with_applied(&config);
    add_state_dependency(&mut bench, "a", "b");
    add_state_dependency(&mut bench, "b", "a");
    check_cycle(
        &bench.destroy(&config),
        expect![[r#"
        Cycle: test_thing.a (destroy), test_thing.b (gone), test_thing.b (destroy), test_thing.a (gone)
        Each of these needs the next before it can be done:
          - test_thing.a (destroy) needs test_thing.b (gone): it goes after what depends on it, as the state has it
          - test_thing.b (gone) needs test_thing.b (destroy): it belongs to that resource
          - test_thing.b (destroy) needs test_thing.a (gone): it goes after what depends on it, as the state has it
          - test_thing.a (gone) needs test_thing.a (destroy): it belongs to that resource

        The configuration contains none of this. It comes from the state. Destroy or remove some of them first, with the option -target or `formwork state rm`.
    "#]],
    );
}

#[test]
fn create_before_destroy_in_a_cycle_is_named_with_its_position() {
    let check_with = |a: &str, c: &str, expect: Expect| {
        let mut bench =
            EngineFixture::with_applied(&things_config("north", "note = test_thing.b.id", "", ""));
        let a = format!("note = 1\n{a}");
        let run = bench.apply(&things_config("south", &a, "note = test_thing.a.id", c));
        check_cycle(&run, expect);
        assert_eq!(run.changing_calls(), "\n", "nothing was done");
    };
    check_with(
        CREATE_FIRST,
        "",
        expect![[r#"
        Cycle: test_thing.b (done), test_thing.b, test_thing.b (destroy), test_thing.a (gone), test_thing.a (destroy deposed KEY)
        Each of these needs the next before it can be done:
          - test_thing.b (done) needs test_thing.b: it belongs to that resource
          - test_thing.b needs test_thing.b (destroy): it replaces it, and create_before_destroy is not set
          - test_thing.b (destroy) needs test_thing.a (gone): it goes after what depends on it, as the state has it
          - test_thing.a (gone) needs test_thing.a (destroy deposed KEY): it belongs to that resource
          - test_thing.a (destroy deposed KEY) needs test_thing.b (done): it is destroyed only when its successor and its users are there: create_before_destroy is set at main.tf:6,13

        Set create_before_destroy for all of them or for none, or make the changes one after the other.
    "#]],
    );
    check_with(
        "",
        CREATE_FIRST,
        expect![[r#"
        Cycle: test_thing.b (done), test_thing.b, test_thing.b (destroy), test_thing.a (gone), test_thing.a (destroy deposed KEY)
        Each of these needs the next before it can be done:
          - test_thing.b (done) needs test_thing.b: it belongs to that resource
          - test_thing.b needs test_thing.b (destroy): it replaces it, and create_before_destroy is not set
          - test_thing.b (destroy) needs test_thing.a (gone): it goes after what depends on it, as the state has it
          - test_thing.a (gone) needs test_thing.a (destroy deposed KEY): it belongs to that resource
          - test_thing.a (destroy deposed KEY) needs test_thing.b (done): it is destroyed only when its successor and its users are there: create_before_destroy is inherited from test_thing.c, which needs it and sets it at main.tf:19,13

        Set create_before_destroy for all of them or for none, or make the changes one after the other.
    "#]],
    );
}
