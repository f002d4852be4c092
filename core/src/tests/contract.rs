//! Providers that violate the contract: the diagnostics, and the objects that are kept.

use expect_test::{Expect, expect};

use super::{CallFault, EngineFixture};

fn resource_a(more: &str) -> String {
    format!("resource \"test_thing\" \"a\" {{\n name = \"a\"\n {more}\n}}\n")
}

fn check_violation(before: &str, after: &str, call: &str, fault: CallFault, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    bench.set_fault(call, fault);
    let run = bench.apply(after);
    let n_journals = bench.journal_count();
    expect.assert_eq(&format!(
        "{}{}{n_journals} journals\n",
        run.describe_run(),
        bench.describe_state()
    ));
}

#[test]
fn a_plan_must_match_the_configuration() {
    check_violation(
        "",
        &resource_a(""),
        "plan a",
        CallFault::Other,
        expect![[r#"
        calls: 
        error test_thing.a: Provider produced invalid plan
        0 journals
    "#]],
    );
}

#[test]
fn a_violation_names_the_rule_that_is_broken() {
    let cases = [
        ("plan a", CallFault::Other, "plan-config-kept"),
        ("create a", CallFault::Other, "result-value"),
        ("create a", CallFault::Unknown, "object-known"),
        ("create a", CallFault::Null, "result-existence"),
    ];
    for (call, fault, rule) in cases {
        let mut bench = EngineFixture::new();
        bench.set_fault(call, fault);
        let run = bench.apply(&resource_a("size = 1"));
        let details: Vec<_> =
            run.diags.iter().map(|diagnostic| diagnostic.detail.as_str()).collect();
        let named = format!("broke the rule {rule} of the contract in its answer to ");
        assert!(details.iter().any(|detail| detail.contains(&named)), "{call}: {details:?}");
    }
}

#[test]
fn a_planned_destruction_must_be_null() {
    check_violation(
        &resource_a(""),
        "",
        "plan a-1",
        CallFault::Still,
        expect![[r#"
        calls: 
        error test_thing.a: Provider produced invalid plan
        test_thing.a a-1
        0 journals
    "#]],
    );
}

#[test]
fn a_result_must_match_the_plan() {
    check_violation(
        "",
        &resource_a("size = 1"),
        "create a",
        CallFault::Other,
        expect![[r#"
        + test_thing.a
        calls: create a
        error test_thing.a: Provider produced inconsistent result after apply
        test_thing.a a-1 99 tainted
        0 journals
    "#]],
    );
    // Only a creation leaves something half made, so what is updated is not tainted.
    check_violation(
        &resource_a("size = 1"),
        &resource_a("size = 2"),
        "update a-1",
        CallFault::Other,
        expect![[r#"
        ~ test_thing.a
        calls: update a-1
        error test_thing.a: Provider produced inconsistent result after apply
        test_thing.a a-1 99
        0 journals
    "#]],
    );
}

#[test]
fn a_result_must_be_known() {
    check_violation(
        "",
        &resource_a(""),
        "create a",
        CallFault::Unknown,
        expect![[r#"
        + test_thing.a
        calls: create a
        error test_thing.a: Provider returned invalid result object after apply
        test_thing.a a-1 tainted
        0 journals
    "#]],
    );
    check_violation(
        &resource_a("size = 1"),
        &resource_a("size = 2"),
        "update a-1",
        CallFault::Unknown,
        expect![[r#"
        ~ test_thing.a
        calls: update a-1
        error test_thing.a: Provider returned invalid result object after apply
        test_thing.a a-1 2
        0 journals
    "#]],
    );
}

#[test]
fn a_created_object_must_not_be_null() {
    check_violation(
        "",
        &resource_a(""),
        "create a",
        CallFault::Null,
        expect![[r#"
            + test_thing.a
            calls: create a
            error test_thing.a: Provider produced inconsistent result after apply
            0 journals
        "#]],
    );
    // The object may still exist: it is read, and not considered deleted.
    check_violation(
        &resource_a("size = 1"),
        &resource_a("size = 2"),
        "update a-1",
        CallFault::Null,
        expect![[r#"
            ~ test_thing.a
            calls: update a-1
            error test_thing.a: Provider produced inconsistent result after apply
            warning test_thing.a: An interrupted operation was resolved
            test_thing.a a-1 2
            0 journals
        "#]],
    );
}

#[test]
fn a_destroyed_object_must_be_null() {
    check_violation(
        &resource_a(""),
        "",
        "delete a-1",
        CallFault::Still,
        expect![[r#"
        - test_thing.a DeleteBecauseNoResourceConfig
        calls: delete a-1
        error test_thing.a: Provider returned invalid result object after apply
        test_thing.a a-1
        0 journals
    "#]],
    );
}

#[test]
fn a_call_without_an_answer_is_resolved_by_a_read_or_stays_open_in_the_journal() {
    // An object that was being created has no id to be read by, so the journal keeps the call open.
    check_violation(
        "",
        &resource_a(""),
        "create a",
        CallFault::Dies,
        expect![[r#"
            + test_thing.a
            calls: create a
            error test_thing.a: Plugin did not respond
            warning test_thing.a: Outcome of an operation is unknown
            1 journals
        "#]],
    );
    // An object with an id can be read, so the call is settled immediately.
    check_violation(
        &resource_a("size = 1"),
        &resource_a("size = 2"),
        "update a-1",
        CallFault::Dies,
        expect![[r#"
            ~ test_thing.a
            calls: update a-1
            error test_thing.a: Plugin did not respond
            warning test_thing.a: An interrupted operation was resolved
            test_thing.a a-1 2
            0 journals
        "#]],
    );
    check_violation(
        &resource_a(""),
        "",
        "delete a-1",
        CallFault::Dies,
        expect![[r#"
            - test_thing.a DeleteBecauseNoResourceConfig
            calls: delete a-1
            error test_thing.a: Plugin did not respond
            warning test_thing.a: An interrupted operation was resolved
            0 journals
        "#]],
    );
}

#[test]
fn a_dependent_of_an_unplanned_result_is_not_created() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          zone = test_thing.a.note
          size = test_thing.a.size
        }"#;
    let mut bench = EngineFixture::new();
    // The provider planned no size for `a` and then gives it one.
    bench.set_fault("create a", CallFault::Other);
    let run = bench.apply(config);
    expect![[r#"
        + test_thing.a
        + test_thing.b
        calls: create a
        error test_thing.a: Provider produced inconsistent result after apply
        test_thing.a a-1 99 tainted
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn an_update_that_turns_out_to_be_a_replacement_is_refused() {
    // The provider decides again with every call.
    let before = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          size = 1
        }"#;
    let after = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          name = "b"
          size = 2
        }"#;
    let mut bench = EngineFixture::with_applied(before);
    // The plan is the first and gets an update; the second one, while applying, gets a replacement.
    bench.cloud.lock_contents().moody = true;
    let run = bench.apply(after);
    expect![[r#"
        ~ test_thing.b
        calls: 
        error test_thing.b: Provider produced inconsistent final plan
        error test_thing.b: Provider produced inconsistent final plan
        error test_thing.b: Provider produced inconsistent final plan
        test_thing.a a-1
        test_thing.b b-1 1
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
}

#[test]
fn sensitive_values_are_not_reported_in_contract_violations() {
    let config = |size: &str| resource_a(&format!("size = sensitive({size})"));
    for (before, call) in [(String::new(), "create a"), (config("41"), "update a-1")] {
        let mut bench = EngineFixture::with_applied(&before);
        bench.set_fault(call, CallFault::Other);
        let run = bench.apply(&config("42"));
        let details: String = run.diags.iter().map(|problem| problem.detail.as_str()).collect();
        assert!(details.contains(".size: inconsistent values, which are sensitive"), "{details}");
        assert!(!details.contains("42") && !details.contains("99"), "{details}");
    }
}
