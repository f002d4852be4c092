//! The order in which objects come and go. Mixed replacements, orphans and targets go as in
//! Terraform; where Terraform reports a cycle (an object that is or becomes create-first beside one
//! that is destroyed first), there is an order here.

use expect_test::{Expect, expect};

use super::EngineFixture;

/// A chain: `c` refers to `b`, which refers to `a`. Each name has the other arguments of its block.
fn chain_config(a: &str, b: &str, c: &str) -> String {
    let thing = |name: &str, on: &str, more: &str| match more {
        "gone" => String::new(),
        more => format!(
            "resource \"test_thing\" \"{name}\" {{\n name = \"{name}\"\n {on}\n {more}\n}}\n"
        ),
    };
    let on = |name: &str, more: &str| match more {
        "gone" => String::new(),
        _ => format!("note = test_thing.{name}.id"),
    };
    [thing("a", "", a), thing("b", &on("a", a), b), thing("c", &on("b", b), c)].concat()
}

const ZONE_NORTH: &str = r#"zone = "north""#;
const ZONE_SOUTH: &str = r#"zone = "south""#;
const CREATE_FIRST: &str = "lifecycle { create_before_destroy = true }";

fn check_order(before: &str, after: &str, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.apply(after);
    expect.assert_eq(&run.describe_run());
    let again = bench.plan(after);
    assert!(
        again.has_no_diagnostics(),
        "not settled: {}{}",
        again.describe_run(),
        bench.describe_state()
    );
}

#[test]
fn a_chain_is_created_dependencies_first_and_destroyed_dependents_first() {
    check_order(
        "",
        &chain_config("", "", ""),
        expect![[r#"
        + test_thing.a
        + test_thing.b
        + test_thing.c
        calls: create a, create b, create c
    "#]],
    );
    check_order(
        &chain_config("", "", ""),
        "",
        expect![[r#"
        - test_thing.a DeleteBecauseNoResourceConfig
        - test_thing.b DeleteBecauseNoResourceConfig
        - test_thing.c DeleteBecauseNoResourceConfig
        calls: delete c-1, delete b-1, delete a-1
    "#]],
    );
    let mut bench = EngineFixture::with_applied(&chain_config("", "", ""));
    expect![[r#"
        delete c-1, delete b-1, delete a-1
    "#]]
    .assert_eq(&bench.destroy(&chain_config("", "", "")).changing_calls());
}

#[test]
fn a_replaced_chain_is_destroyed_dependents_first_and_created_dependencies_first() {
    check_order(
        &chain_config(ZONE_NORTH, ZONE_NORTH, ZONE_NORTH),
        &chain_config(ZONE_SOUTH, ZONE_SOUTH, ZONE_SOUTH),
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        -/+ test_thing.b ReplaceBecauseCannotUpdate .zone
        -/+ test_thing.c ReplaceBecauseCannotUpdate .zone
        calls: delete c-1, delete b-1, delete a-1, create a, create b, create c
    "#]],
    );
}

#[test]
fn a_create_first_chain_is_created_before_the_old_one_is_destroyed() {
    let all = |zone: &str| {
        let block = format!("{zone}\n{CREATE_FIRST}");
        chain_config(&block, &block, &block)
    };
    check_order(
        &all(ZONE_NORTH),
        &all(ZONE_SOUTH),
        expect![[r#"
        +/- test_thing.a ReplaceBecauseCannotUpdate .zone
        +/- test_thing.b ReplaceBecauseCannotUpdate .zone
        +/- test_thing.c ReplaceBecauseCannotUpdate .zone
        calls: create a, create b, create c, delete c-1, delete b-1, delete a-1
    "#]],
    );
}

#[test]
fn dependencies_of_a_create_first_object_are_also_created_first() {
    let some = |zone: &str| chain_config(zone, zone, &format!("{zone}\n{CREATE_FIRST}"));
    // As in Terraform: else an old dependency would have to go while the old object still uses it.
    check_order(
        &some(ZONE_NORTH),
        &some(ZONE_SOUTH),
        expect![[r#"
        +/- test_thing.a ReplaceBecauseCannotUpdate .zone
        +/- test_thing.b ReplaceBecauseCannotUpdate .zone
        +/- test_thing.c ReplaceBecauseCannotUpdate .zone
        calls: create a, create b, create c, delete c-1, delete b-1, delete a-1
    "#]],
    );
    // The other way round nothing is inherited.
    let some = |zone: &str| chain_config(zone, &format!("{zone}\n{CREATE_FIRST}"), zone);
    check_order(
        &some(ZONE_NORTH),
        &some(ZONE_SOUTH),
        expect![[r#"
        +/- test_thing.a ReplaceBecauseCannotUpdate .zone
        +/- test_thing.b ReplaceBecauseCannotUpdate .zone
        -/+ test_thing.c ReplaceBecauseCannotUpdate .zone
        calls: delete c-1, create a, create b, create c, delete b-1, delete a-1
    "#]],
    );
}

#[test]
fn a_dependent_is_updated_before_the_old_create_first_object_is_destroyed() {
    let some = |zone: &str| chain_config(&format!("{zone}\n{CREATE_FIRST}"), "", "");
    // `b` uses the old `a` until it is updated.
    check_order(
        &some(ZONE_NORTH),
        &some(ZONE_SOUTH),
        expect![[r#"
        +/- test_thing.a ReplaceBecauseCannotUpdate .zone
        ~ test_thing.b
        calls: create a, update b-1, delete a-1
    "#]],
    );
}

#[test]
fn a_replaced_dependency_is_destroyed_before_its_dependent_is_updated() {
    // The default order of Terraform, although `b` refers to the destroyed object.
    check_order(
        &chain_config(ZONE_NORTH, "", ""),
        &chain_config(ZONE_SOUTH, "", ""),
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        ~ test_thing.b
        calls: delete a-1, create a, update b-1
    "#]],
    );
}

#[test]
fn an_object_is_updated_after_its_former_dependency_is_destroyed() {
    // By the dependencies in the state, as in Terraform: the block of `b` no longer refers to `a`.
    check_order(
        &chain_config("", "", ""),
        &chain_config("gone", "size = 1", ""),
        expect![[r#"
        - test_thing.a DeleteBecauseNoResourceConfig
        ~ test_thing.b
        calls: delete a-1, update b-1
    "#]],
    );
}

#[test]
fn an_orphan_is_destroyed_before_its_dependency_changes() {
    // The orphans use `a` as it was, so they go before it changes.
    check_order(
        &chain_config("", "", ""),
        &chain_config("size = 1", "gone", "gone"),
        expect![[r#"
        ~ test_thing.a
        - test_thing.b DeleteBecauseNoResourceConfig
        - test_thing.c DeleteBecauseNoResourceConfig
        calls: delete c-1, delete b-1, update a-1
    "#]],
    );
    check_order(
        &chain_config(ZONE_NORTH, "", ""),
        &chain_config(ZONE_SOUTH, "gone", "gone"),
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        - test_thing.b DeleteBecauseNoResourceConfig
        - test_thing.c DeleteBecauseNoResourceConfig
        calls: delete c-1, delete b-1, delete a-1, create a
    "#]],
    );
}

#[test]
fn a_create_first_orphan_is_destroyed_before_its_dependency() {
    // Its flag would make it go last, but what it depended on must go before its successor comes.
    check_order(
        &chain_config(ZONE_NORTH, CREATE_FIRST, ""),
        &chain_config(ZONE_SOUTH, "gone", "gone"),
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            - test_thing.b DeleteBecauseNoResourceConfig
            - test_thing.c DeleteBecauseNoResourceConfig
            calls: delete c-1, delete b-1, delete a-1, create a
        "#]],
    );
    check_order(
        &chain_config(ZONE_NORTH, "", CREATE_FIRST),
        &chain_config(ZONE_SOUTH, "", "gone"),
        expect![[r#"
        -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
        ~ test_thing.b
        - test_thing.c DeleteBecauseNoResourceConfig
        calls: delete c-1, delete a-1, create a, update b-1
    "#]],
    );
}

#[test]
fn becoming_create_first_while_a_dependency_is_destroyed_causes_no_cycle() {
    // A cycle in Terraform: the new `b` waits for the end of `a`, which waits for that of the old
    // `b`, which waits for the new one.
    check_order(
        &chain_config("", ZONE_NORTH, ""),
        &chain_config("gone", &format!("{ZONE_SOUTH}\n{CREATE_FIRST}"), ""),
        expect![[r#"
            - test_thing.a DeleteBecauseNoResourceConfig
            +/- test_thing.b ReplaceBecauseCannotUpdate .zone
            ~ test_thing.c
            calls: create b, update c-1, delete b-1, delete a-1
        "#]],
    );
}

#[test]
fn becoming_create_first_while_a_dependency_is_replaced_causes_no_cycle() {
    // c uses the old b until it is updated, and a is replaced only when the old b is destroyed: so
    // c cannot wait for that, although it was made after a, too.
    let after = format!(
        r#"resource "test_thing" "a" {{
             name = "a"
             {ZONE_SOUTH}
           }}
           resource "test_thing" "b" {{
             name = "b"
             {ZONE_SOUTH}
             {CREATE_FIRST}
           }}
           resource "test_thing" "c" {{
             name = "c"
             note = "other"
           }}"#
    );
    check_order(
        &chain_config(ZONE_NORTH, ZONE_NORTH, ""),
        &after,
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            +/- test_thing.b ReplaceBecauseCannotUpdate .zone
            ~ test_thing.c
            calls: create b, update c-1, delete b-1, delete a-1, create a
        "#]],
    );
}

#[test]
fn a_successor_may_use_a_changed_object_despite_other_former_dependencies() {
    // The old b is destroyed before the old a, as the new b is created before that; so what the new
    // b uses cannot wait until the old a is destroyed, although that was created after it.
    let thing = |name: &str, more: &str| {
        format!("resource \"test_thing\" \"{name}\" {{\n name = \"{name}\"\n {more}\n}}\n")
    };
    let before = [
        thing("n", r#"note = "1""#),
        thing("a", &format!("{ZONE_NORTH}\nnote = test_thing.n.id")),
        thing("b", &format!("{ZONE_NORTH}\nnote = test_thing.a.id")),
    ];
    let after = [
        thing("n", r#"note = "2""#),
        thing("a", ZONE_SOUTH),
        thing("b", &format!("{ZONE_SOUTH}\nnote = test_thing.n.id\n{CREATE_FIRST}")),
    ];
    check_order(
        &before.concat(),
        &after.concat(),
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            +/- test_thing.b ReplaceBecauseCannotUpdate .zone
            ~ test_thing.n
            calls: update n-1, create b, delete b-1, delete a-1, create a
        "#]],
    );
}

#[test]
fn removed_instances_are_destroyed_dependents_first() {
    let config = |n: usize| {
        format!(
            r#"resource "test_thing" "a" {{
                 count = {n}
                 name  = "a${{count.index}}"
               }}
               resource "test_thing" "b" {{
                 count = {n}
                 name  = "b${{count.index}}"
                 note  = test_thing.a[count.index].id
               }}"#
        )
    };
    check_order(
        &config(3),
        &config(1),
        expect![[r#"
        - test_thing.a[1] DeleteBecauseCountIndex
        - test_thing.a[2] DeleteBecauseCountIndex
        - test_thing.b[1] DeleteBecauseCountIndex
        - test_thing.b[2] DeleteBecauseCountIndex
        calls: delete b1-1, delete b2-1, delete a1-1, delete a2-1
    "#]],
    );
    check_order(
        &config(1),
        &config(2),
        expect![[r#"
        + test_thing.a[1]
        + test_thing.b[1]
        calls: create a1, create b1
    "#]],
    );
}

#[test]
fn destroy_order_follows_values_and_data_sources() {
    // The key is not known while planning, so the read waits for `a`.
    check_order(
        "",
        r#"resource "test_thing" "a" { name = "a" }
           locals { id = test_thing.a.id }
           data "test_lookup" "d" { key = local.id }
           resource "test_thing" "b" {
             name = "b"
             note = data.test_lookup.d.answer
           }"#,
        expect![[r#"
            <= data.test_lookup.d ReadBecauseConfigUnknown
            + test_thing.a
            + test_thing.b
            calls: create a, look up a-1, create b
        "#]],
    );
}

/// The calls of the end of everything.
fn check_destroy_order(before: &str, after: &str, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.destroy(after);
    expect.assert_eq(&format!("{}{}", run.changing_calls(), run.describe_diagnostics()));
}

#[test]
fn renamed_objects_are_still_destroyed_after_their_dependents() {
    let named = |name: &str, zone: &str| {
        format!(
            r#"
            resource "test_thing" "{name}" {{
              name = "a"
              {zone}
            }}
            resource "test_thing" "y" {{
              name = "y"
              note = test_thing.{name}.id
              {zone}
            }}
            "#
        )
    };
    let moved = "moved {\n from = test_thing.m\n to = test_thing.b\n}\n";
    // The state of `y` names `m`, which has to be followed to its new name.
    check_destroy_order(
        &named("m", ZONE_NORTH),
        &(named("b", ZONE_NORTH) + moved),
        expect![[r#"
        delete y-1, delete a-1
    "#]],
    );
    check_order(
        &named("m", ZONE_NORTH),
        &(named("b", ZONE_SOUTH) + moved),
        expect![[r#"
            -/+ test_thing.b (was test_thing.m) ReplaceBecauseCannotUpdate .zone
            -/+ test_thing.y ReplaceBecauseCannotUpdate .zone
            calls: delete y-1, delete a-1, create a, create y
        "#]],
    );
    // Even if the configuration has no resource at its new address any more.
    check_destroy_order(
        &named("m", ZONE_NORTH),
        moved,
        expect![[r#"
        delete y-1, delete a-1
    "#]],
    );
}

#[test]
fn newly_referenced_objects_are_destroyed_after_their_dependents() {
    let both = |note: &str, zone: &str| {
        format!(
            r#"
            resource "test_thing" "a" {{
              name = "a"
              {zone}
            }}
            locals {{ a = test_thing.a.id }}
            resource "test_thing" "b" {{
              name = "b"
              {note}
              {zone}
            }}
            "#
        )
    };
    let since = "note = local.a";
    // The state records no dependency yet, so the order comes from the configuration.
    check_destroy_order(
        &both("", ZONE_NORTH),
        &both(since, ZONE_NORTH),
        expect![[r#"
        delete b-1, delete a-1
    "#]],
    );
    check_order(
        &both("", ZONE_NORTH),
        &both(since, ZONE_SOUTH),
        expect![[r#"
            -/+ test_thing.a ReplaceBecauseCannotUpdate .zone
            -/+ test_thing.b ReplaceBecauseCannotUpdate .zone
            calls: delete b-1, delete a-1, create a, create b
        "#]],
    );
}

#[test]
fn recorded_dependencies_take_precedence_over_new_references() {
    let before = r#"
        resource "test_thing" "a" {
          name = "a"
          note = test_thing.b.id
        }
        resource "test_thing" "b" { name = "b" }
        "#;
    let after = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          note = test_thing.a.id
        }
        "#;
    // To follow both would be a cycle.
    check_destroy_order(
        before,
        after,
        expect![[r#"
        delete a-1, delete b-1
    "#]],
    );
}

#[test]
fn new_objects_wait_for_destructions_of_all_their_references() {
    let first = r#"
        resource "test_thing" "a" {
          count = 2
          name  = "a${count.index}"
        }"#;
    let then = r#"
        resource "test_thing" "a" {
          count = 1
          name  = "a${count.index}"
        }
        resource "test_thing" "c" {
          name = "c"
          note = test_thing.a[0].id
        }"#;
    let mut bench = EngineFixture::with_applied(first);
    // `c` needs `a[0]` only, but a reference counts for all of `a`.
    bench.set_fault("delete a1-1", super::cloud::CallFault::Refuses);
    expect![[r#"
        - test_thing.a[1] DeleteBecauseCountIndex
        + test_thing.c
        calls: delete a1-1
        error test_thing.a[1]: the cloud says no to delete a1-1
    "#]]
    .assert_eq(&bench.apply(then).describe_run());
}
