//! Data sources: read while planning if that is possible, otherwise while applying.

use expect_test::{Expect, expect};

use super::EngineFixture;
use crate::plan::PlanMode;

fn check_data_run(before: &str, after: &str, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    let run = bench.apply(after);
    expect.assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
    let again = bench.plan(after);
    assert!(
        again.has_no_diagnostics(),
        "not settled: {}{}",
        again.describe_run(),
        bench.describe_state()
    );
}

#[test]
fn a_data_source_is_read_while_planning() {
    check_data_run(
        "",
        r#"data "test_lookup" "d" { key = "k" }
           output "answer" { value = data.test_lookup.d.answer }
           resource "test_thing" "a" { name = data.test_lookup.d.key }"#,
        expect![[r#"
            + test_thing.a
            + output.answer "answer to k"
            calls: look up k, create k
            data.test_lookup.d answer to k
            test_thing.a k-1 after data.test_lookup.d
            output.answer "answer to k"
        "#]],
    );
}

#[test]
fn a_data_source_waits_for_the_dependencies_of_its_repetition() {
    check_data_run(
        "",
        r#"resource "test_thing" "a" { name = "a" }
           data "test_lookup" "d" { key = test_thing.a.id }
           output "answer" { value = data.test_lookup.d.answer }"#,
        expect![[r#"
            <= data.test_lookup.d ReadBecauseConfigUnknown
            + test_thing.a
            + output.answer unknown string
            calls: create a, look up a-1
            data.test_lookup.d answer to a-1
            test_thing.a a-1
            output.answer "answer to a-1"
        "#]],
    );
}

#[test]
fn a_data_source_waits_for_changes_of_its_dependencies() {
    let config = |size: usize| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 size = {size}
               }}
               locals {{ behind = test_thing.a.name }}
               data "test_lookup" "explicit" {{
                 key        = "k"
                 depends_on = [local.behind]
               }}
               data "test_lookup" "direct" {{ key = test_thing.a.name }}
               data "test_lookup" "free" {{ key = local.behind }}"#
        )
    };
    // With `depends_on` the dependencies of a local count too, otherwise only the references of the
    // block itself.
    check_data_run(
        &config(1),
        &config(2),
        expect![[r#"
        <= data.test_lookup.direct ReadBecauseDependencyPending
        <= data.test_lookup.explicit ReadBecauseDependencyPending
        ~ test_thing.a
        calls: look up a, update a-1, look up a, look up k
        data.test_lookup.direct answer to a
        data.test_lookup.explicit answer to k
        data.test_lookup.free answer to a
        test_thing.a a-1 2
    "#]],
    );
}

#[test]
fn a_data_source_with_conditions_waits_for_all_transitive_dependencies() {
    let config = |size: usize| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 size = {size}
               }}
               locals {{ behind = test_thing.a.name }}
               data "test_lookup" "d" {{
                 key = local.behind
                 lifecycle {{
                   postcondition {{
                     condition     = self.answer != ""
                     error_message = "no answer"
                   }}
                 }}
               }}"#
        )
    };
    // As in Terraform, with conditions the dependencies of a local count as well.
    check_data_run(
        &config(1),
        &config(2),
        expect![[r#"
            <= data.test_lookup.d ReadBecauseDependencyPending
            ~ test_thing.a
            calls: update a-1, look up a
            data.test_lookup.d answer to a
            test_thing.a a-1 2
        "#]],
    );
}

#[test]
fn a_data_source_removed_from_the_configuration_is_forgotten() {
    check_data_run(
        r#"data "test_lookup" "d" { key = "k" }"#,
        "",
        expect![[r#"
        nothing
        calls: 
    "#]],
    );
}

#[test]
fn a_removed_data_source_is_kept_in_a_targeted_plan() {
    let mut bench = EngineFixture::with_applied(DATA_AND_THING);
    let config = r#"resource "test_thing" "a" { name = "a" }"#;
    bench.set_targets(&["test_thing.a"]);
    bench.apply(config);
    let limited = bench.describe_state();
    bench.set_targets(&["data.test_lookup.d"]);
    bench.apply(config);
    expect![[r#"
        data.test_lookup.d answer to a-1
        test_thing.a a-1
        output.answer "answer to a-1"
        then
        test_thing.a a-1
        output.answer "answer to a-1"
    "#]]
    .assert_eq(&format!("{limited}then\n{}", bench.describe_state()));
}

#[test]
fn repeated_data_sources_are_read_one_by_one() {
    check_data_run(
        r#"data "test_lookup" "d" {
             count = 2
             key   = "k${count.index}"
           }"#,
        r#"data "test_lookup" "d" {
             for_each = toset(["x"])
             key      = each.key
           }
           output "all" { value = [for d in data.test_lookup.d : d.answer] }"#,
        expect![[r#"
            + output.all ["answer to x"]
            calls: look up x
            data.test_lookup.d["x"] answer to x
            output.all ["answer to x"]
        "#]],
    );
}

const DATA_AND_THING: &str = r#"
    resource "test_thing" "a" { name = "a" }
    data "test_lookup" "d" { key = test_thing.a.id }
    output "answer" { value = data.test_lookup.d.answer }"#;

#[test]
fn a_full_destroy_removes_data_sources() {
    let mut bench = EngineFixture::with_applied(DATA_AND_THING);
    // Read although everything is destroyed, because a provider may be configured with it.
    let run = bench.destroy(DATA_AND_THING);
    expect![[r#"
        - test_thing.a
        - output.answer null
        calls: look up a-1, delete a-1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn refresh_only_reads_data_sources() {
    let mut bench = EngineFixture::with_applied(DATA_AND_THING);
    bench.cloud.lock_contents().answers.insert("a-1".into(), "new".into());
    let run = bench.apply_with(DATA_AND_THING, |options| options.mode = PlanMode::RefreshOnly);
    expect![[r#"
        ~ output.answer "new"
        calls: look up a-1
        data.test_lookup.d new
        test_thing.a a-1
        output.answer "new"
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn refresh_only_has_unknown_data_of_missing_objects() {
    let mut bench = EngineFixture::with_applied(DATA_AND_THING);
    bench.cloud.lock_contents().objects.clear();
    let run = bench.apply_with(DATA_AND_THING, |options| options.mode = PlanMode::RefreshOnly);
    let without_object = format!("{}{}", run.describe_run(), bench.describe_state());
    let mut fresh = EngineFixture::new();
    let run = fresh.apply_with(DATA_AND_THING, |options| options.mode = PlanMode::RefreshOnly);
    let fresh = format!("{}{}", run.describe_run(), fresh.describe_state());
    expect![[r#"
        drift - test_thing.a
        ~ output.answer unknown string
        calls: 
        output.answer null
        fresh
        + output.answer unknown string
        calls: 
        output.answer null
    "#]]
    .assert_eq(&format!("{without_object}fresh\n{fresh}"));
}

#[test]
fn static_errors_prevent_all_provider_calls() {
    let config = r#"
        data "test_lookup" "first" { key = "k" }
        ephemeral "test_token" "t" { name = "t" }
        resource "test_thing" "a" { name = "a" }
        output "wrong" { value = upper(1, 2) }
        "#;
    let mut bench = EngineFixture::with_applied("resource \"test_thing\" \"a\" { name = \"a\" }");
    let run = bench.apply(config);
    assert_eq!(run.all_calls(), "\n", "{}", run.describe_diagnostics());
    assert!(run.plan.is_none());
    assert_eq!(run.describe_diagnostics().lines().count(), 1, "{}", run.describe_diagnostics());
}
