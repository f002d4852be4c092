//! Runs that are cut off in the middle of a call, and the findings of the next one.

use std::cell::Cell;
use std::task::Poll;

use expect_test::{Expect, expect};
use formwork_value::Diagnostics;

use super::{CallFault, EngineFixture, LoadedConfig, RunResult, block_on, show_state};
use crate::moved;
use crate::provider::ProviderPool;
use crate::state::recover::recover_journals_in_dir;

/// Applies a configuration and drops everything once nothing moves any more.
fn apply_and_cut_off(bench: &EngineFixture, config: &str) {
    let loaded = LoadedConfig::load(config);
    let mut diags = Diagnostics::new();
    block_on(async {
        let pool = ProviderPool::new(&bench.cloud);
        let plan = bench.plan_in_session(&loaded, &pool, &mut diags).await.unwrap();
        let mut work = Box::pin(bench.apply_in_session(&loaded, &pool, &plan, &mut diags));
        let calls = || bench.cloud.lock_contents().calls.len();
        let still = Cell::new((calls(), 0));
        let ended = std::future::poll_fn(|context| {
            if let Poll::Ready(applied) = work.as_mut().poll(context) {
                return Poll::Ready(applied.is_some());
            }
            let (before, turns) = still.get();
            let turns = if before == calls() { turns + 1 } else { 0 };
            still.set((calls(), turns));
            let hung = bench.cloud.lock_contents().hung;
            // Other calls may continue while one hangs, so that is not the end of the run.
            if hung && turns > 50 {
                return Poll::Ready(false);
            }
            // A call that hangs wakes no task, so the future has to be polled again without.
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        assert!(!ended, "the run was to hang");
    });
}

fn check_cut_off(before: &str, after: &str, call: &str, expect: Expect) {
    let mut bench = EngineFixture::with_applied(before);
    bench.set_fault(call, CallFault::Hangs);
    apply_and_cut_off(&bench, after);
    bench.clear_faults();
    let recovery =
        recover_journals_in_dir(bench.directory.path(), Some(bench.file.clone())).unwrap();
    let mut story =
        format!("replayed {}\n", recovery.runs.iter().map(|run| run.n_replayed).sum::<usize>());
    for open in &recovery.unresolved {
        story += &format!("open: {:?} {}\n", open.action, open.addr);
    }
    bench.file = recovery.file.clone().unwrap();
    story += &show_state(&bench.file.state);
    recovery.archive_journals().unwrap();
    let next = bench.plan(after);
    story += &format!("then\n{}", next.describe_run());
    expect.assert_eq(&story);
}

const CHAIN_CONFIG: &str = r#"
    resource "test_thing" "a" { name = "a" }
    resource "test_thing" "b" {
      name = "b"
      note = test_thing.a.id
    }"#;

#[test]
fn results_before_a_crash_are_recovered_and_open_operations_are_named() {
    check_cut_off(
        "",
        CHAIN_CONFIG,
        "create b",
        expect![[r#"
        replayed 1
        open: Create test_thing.b
        test_thing.a a-1
        then
        + test_thing.b
        calls: 
    "#]],
    );
}

#[test]
fn an_interrupted_update_or_destruction_is_resolved_by_the_next_refresh() {
    let changed = CHAIN_CONFIG.replace("name = \"b\"", "name = \"b\"\nsize = 1");
    check_cut_off(
        CHAIN_CONFIG,
        &changed,
        "update b-1",
        expect![[r#"
        replayed 0
        open: Update test_thing.b
        test_thing.a a-1
        test_thing.b b-1 after test_thing.a
        then
        drift ~ test_thing.b
        calls: 
    "#]],
    );
    // `b` was destroyed before: its destruction is replayed.
    check_cut_off(
        CHAIN_CONFIG,
        "",
        "delete a-1",
        expect![[r#"
        replayed 1
        open: Delete test_thing.a
        test_thing.a a-1
        then
        drift - test_thing.a
        calls: 
    "#]],
    );
}

#[test]
fn both_halves_of_a_replacement_are_distinguished() {
    let config = |zone: &str, first: bool| {
        format!(
            "resource \"test_thing\" \"a\" {{
               name = \"a\"
               zone = \"{zone}\"
               lifecycle {{ create_before_destroy = {first} }}
             }}"
        )
    };
    // Destroyed first: the old object is destroyed when the creation is interrupted.
    check_cut_off(
        &config("n", false),
        &config("s", false),
        "create a",
        expect![[r#"
        replayed 1
        open: Create test_thing.a
        then
        + test_thing.a
        calls: 
    "#]],
    );
    // Created first: as long as nothing is known of a successor, the old one is current.
    check_cut_off(
        &config("n", true),
        &config("s", true),
        "create a",
        expect![[r#"
            replayed 0
            open: Create test_thing.a
            test_thing.a a-1 create-first
            then
            +/- test_thing.a ReplaceBecauseCannotUpdate .zone
            calls: 
        "#]],
    );
    // The successor is made, and the old one deposed until its end is reported.
    check_cut_off(
        &config("n", true),
        &config("s", true),
        "delete a-1",
        expect![[r#"
        replayed 1
        open: Delete test_thing.a
        test_thing.a a-2 create-first
        test_thing.a (deposed) a-1 create-first
        then
        drift - test_thing.a (deposed)
        calls: 
    "#]],
    );
}

#[test]
fn a_sensitive_value_is_not_written_to_the_journal() {
    let bench = EngineFixture::new();
    bench.set_fault("create a", CallFault::Hangs);
    let config = r#"
        resource "test_thing" "a" {
          name   = "a"
          secret = "by the schema"
          tags   = { k = sensitive("by the configuration") }
        }"#;
    apply_and_cut_off(&bench, config);
    let journal = bench.directory.path().read_dir().unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(journal).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("test_thing.a"), "{text}");
    let recovery =
        recover_journals_in_dir(bench.directory.path(), Some(bench.file.clone())).unwrap();
    let planned = recovery.unresolved[0].planned_attributes();
    assert_eq!(planned, [("name".to_owned(), "\"a\"".to_owned())]);
    for secret in ["by the schema", "by the configuration"] {
        assert!(!text.contains(secret), "{secret}: {text}");
        assert!(!format!("{:?}", recovery.unresolved).contains(secret), "{secret}");
    }
}

#[test]
fn the_id_in_a_recorded_answer_is_shown_unless_it_is_sensitive() {
    for is_sensitive in [false, true] {
        // The beginning, the announcement and the answer fit on the disk, the result does not.
        let mut bench = EngineFixture { room: Some(3), ..EngineFixture::new() };
        bench.cloud.lock_contents().has_sensitive_id = is_sensitive;
        let stored = bench.file.clone();
        bench.apply(FOUND_BY_NAME);
        let recovery = recover_journals_in_dir(bench.directory.path(), Some(stored)).unwrap();
        let [open] = &recovery.unresolved[..] else { panic!("{recovery:?}") };
        assert_eq!(open.guess_object_id().as_deref(), Some("a-1"));
        assert_eq!(open.shown_object_id().is_none(), is_sensitive);
        let detail = open.diagnostic().detail;
        assert_eq!(detail.contains("a-1"), !is_sensitive, "{detail}");
        assert!(detail.contains("the answer had arrived"), "{detail}");
    }
}

#[test]
fn nothing_is_called_before_it_is_announced() {
    let bench = EngineFixture::new();
    bench.set_fault("create a", CallFault::Hangs);
    apply_and_cut_off(&bench, CHAIN_CONFIG);
    let journal = bench.directory.path().read_dir().unwrap().next().unwrap().unwrap().path();
    let text = String::from_utf8_lossy(&std::fs::read(journal).unwrap()).into_owned();
    assert!(text.contains("test_thing.a"), "{text}");
    // An announced call counts as sent, so one that was not must not be found there.
    assert!(!text.contains("test_thing.b"), "{text}");
}

/// Cuts off the creation of `a`, changes the world, and plans again with what is known of that.
fn replan_after_cut_off(config: &str, change: impl FnOnce(&EngineFixture)) -> String {
    let bench = EngineFixture::new();
    bench.cloud.lock_contents().identified = true;
    replan_after_cut_off_on(bench, [FOUND_BY_NAME, config], change)
}

fn replan_after_cut_off_on(
    mut bench: EngineFixture,
    [first, config]: [&str; 2],
    change: impl FnOnce(&EngineFixture),
) -> String {
    bench.set_fault("create a", CallFault::Hangs);
    apply_and_cut_off(&bench, first);
    bench.clear_faults();
    change(&bench);
    let mut recovery =
        recover_journals_in_dir(bench.directory.path(), Some(bench.file.clone())).unwrap();
    let loaded = LoadedConfig::load(config);
    recovery.follow_moves(|addr, provider| moved::current_address(&loaded.config, addr, provider));
    bench.file = recovery.file.clone().unwrap();
    let open = recovery.unresolved.iter();
    let open = open.filter_map(|operation| {
        Some((operation.current_addr().clone(), operation.planned_value_to_find()?.clone()))
    });
    let interrupted = open.collect();
    let run = bench.apply_with(config, |options| options.interrupted_creations = interrupted);
    let searches = run.plan.as_ref().map(|plan| plan.searches.clone()).unwrap_or_default();
    let searches: Vec<_> = searches.values().collect();
    format!("{}{searches:?}\n{}", run.describe_run(), bench.describe_state())
}

const FOUND_BY_NAME: &str = r#"resource "test_thing" "a" { name = "a" }"#;

#[test]
fn an_interrupted_creation_is_found_by_its_identity() {
    let story = replan_after_cut_off(FOUND_BY_NAME, |_| ());
    expect![[r#"
        nothing
        calls: 
        [Found]
        test_thing.a a-1
    "#]]
    .assert_eq(&story);
    // The configuration may have changed since: then what was found is changed.
    let larger = "resource \"test_thing\" \"a\" {\n name = \"a\"\n size = 5\n}";
    let story = replan_after_cut_off(larger, |_| ());
    expect![[r#"
        ~ test_thing.a
        calls: update a-1
        [Found]
        test_thing.a a-1 5
    "#]]
    .assert_eq(&story);
}

#[test]
fn an_interrupted_creation_is_searched_at_its_current_address() {
    let renamed = r#"
        resource "test_thing" "z" {
          count = 1
          name  = "a"
        }
        moved {
          from = test_thing.a
          to   = test_thing.z[0]
        }"#;
    let story = replan_after_cut_off(renamed, |_| ());
    expect![[r#"
        nothing
        calls: 
        [Found]
        test_thing.z[0] a-1
    "#]]
    .assert_eq(&story);
}

#[test]
fn a_creation_that_kills_its_provider_is_resolved_immediately() {
    let mut bench = EngineFixture::new();
    bench.cloud.lock_contents().identified = true;
    bench.set_fault("create a", CallFault::Dies);
    let run = bench.apply(FOUND_BY_NAME);
    expect![[r#"
        + test_thing.a
        calls: create a
        error test_thing.a: Plugin did not respond
        warning test_thing.a: An interrupted operation was resolved
        test_thing.a a-1
        0 journals
    "#]]
    // Nothing is open any more, so the journal need not be kept for the next run.
    .assert_eq(&format!(
        "{}{}{} journals\n",
        run.describe_run(),
        bench.describe_state(),
        bench.journal_count()
    ));
    bench.clear_faults();
    let again = bench.plan(FOUND_BY_NAME);
    assert!(again.has_no_diagnostics(), "not settled: {}", again.describe_run());
}

#[test]
fn an_interrupted_creation_without_effect_is_repeated() {
    // An identity names one object: where none has it, none was made.
    let story =
        replan_after_cut_off(FOUND_BY_NAME, |bench| bench.cloud.lock_contents().objects.clear());
    expect![[r#"
        + test_thing.a
        calls: create a
        [NotCreated]
        test_thing.a a-2
    "#]]
    .assert_eq(&story);
}

#[test]
fn an_object_that_differs_from_the_plan_is_not_adopted() {
    let story = replan_after_cut_off(FOUND_BY_NAME, |bench| {
        // The same name with other values may be of another's making.
        let mut things = bench.cloud.lock_contents();
        let object = things.objects.get_mut("a-1").unwrap();
        *object =
            super::cloud::with_attribute(object, "zone", formwork_value::Value::string("theirs"));
    });
    expect![[r#"
        + test_thing.a
        calls: create a
        warning test_thing.a: An interrupted operation could not be resolved
        []
        test_thing.a a-2
    "#]]
    .assert_eq(&story);
}

#[test]
fn an_object_with_interrupted_provisioners_is_tainted() {
    let config = r#"
        resource "test_thing" "a" {
          name = "a"
          provisioner "local-exec" { command = "x" }
        }"#;
    let bench = super::provisioners::fixture_with_provisioner();
    bench.cloud.lock_contents().identified = true;
    // Provisioners run after the creation, so at the cut none had: the object counts as tainted, as
    // after one that failed.
    let story = replan_after_cut_off_on(bench, [FOUND_BY_NAME, config], |_| ());
    expect![[r#"
        -/+ test_thing.a ReplaceBecauseTainted
        calls: delete a-1, create a
        [Found]
        test_thing.a a-2
    "#]]
    .assert_eq(&story);
}

/// Interrupts the creation of `a` while `b` exists, with a provider that can list objects.
fn replan_with_listing(change: impl FnOnce(&EngineFixture)) -> String {
    let other_resource = "resource \"test_thing\" \"b\" { name = \"b\" }";
    let mut bench = EngineFixture::new();
    bench.cloud.lock_contents().listed = true;
    let run = bench.apply(other_resource);
    assert_eq!(run.describe_diagnostics(), "");
    let both = format!("{FOUND_BY_NAME}\n{other_resource}");
    replan_after_cut_off_on(bench, [&both, &both], change)
}

#[test]
fn an_interrupted_creation_is_found_by_listing() {
    expect![[r#"
        nothing
        calls: 
        [Found]
        test_thing.a a-1
        test_thing.b b-1
    "#]]
    .assert_eq(&replan_with_listing(|_| ()));
}

/// Forgets everything that was created, as if all of it had been cut off, and plans with what is known
/// of that.
fn replan_after_forgetting(config: &str, change: impl FnOnce(&EngineFixture)) -> String {
    let (run, bench) = forget_and_replan(config, change);
    let searches = run.plan.as_ref().map(|plan| plan.searches.clone()).unwrap_or_default();
    let searches: Vec<_> = searches.values().collect();
    format!("{}{searches:?}\n{}", run.describe_run(), bench.describe_state())
}

/// The run of [`replan_after_forgetting`].
fn forget_and_replan(
    config: &str,
    change: impl FnOnce(&EngineFixture),
) -> (RunResult, EngineFixture) {
    let mut bench = EngineFixture::new();
    bench.cloud.lock_contents().listed = true;
    let before = bench.file.clone();
    let created = bench.apply(config).plan.unwrap();
    let created = created.changes.values();
    let interrupted = created.map(|change| (change.addr.clone(), change.after.clone())).collect();
    bench.file = before;
    change(&bench);
    let run = bench.apply_with(config, |options| options.interrupted_creations = interrupted);
    (run, bench)
}

/// The warning that a search settled nothing; empty without one.
fn detail_of_unresolved(run: &RunResult) -> String {
    let unresolved = run.diags.iter().find(|diagnostic| {
        diagnostic.is_about_message(crate::messages::INTERRUPTED_OPERATION_COULD_NOT_BE_RESOLVED)
    });
    unresolved.map(|diagnostic| diagnostic.detail.clone()).unwrap_or_default()
}

#[test]
fn a_list_that_fails_is_reported_with_the_reason() {
    let detail = |fault| {
        let (run, _) = forget_and_replan(FOUND_BY_NAME, |bench| bench.set_fault("list", fault));
        detail_of_unresolved(&run)
    };
    let refused = detail(CallFault::Refuses);
    assert!(
        refused.ends_with("\n\nThe provider reported an error: the cloud says no to list"),
        "{refused}"
    );
    let lacks_object = detail(CallFault::Null);
    assert!(
        lacks_object.contains("The object of a listed object cannot be used: it is missing."),
        "{lacks_object}"
    );
    let lost = detail(CallFault::Dies);
    assert!(
        lost.contains(
            "exited or disconnected during ListResource for test_thing: the connection was closed."
        ),
        "{lost}"
    );
}

#[test]
fn a_search_by_identity_that_fails_is_reported_with_the_reason() {
    let (run, _) = forget_and_replan(FOUND_BY_NAME, |bench| {
        bench.set_fault("read a-1", CallFault::Hangs);
        bench.cloud.lock_contents().deadlines = "read=200ms".parse().unwrap();
    });
    let detail = detail_of_unresolved(&run);
    assert!(detail.contains("has not answered ReadResource for test_thing.a"), "{detail}");
    assert!(detail.ends_with(". So it is unknown whether the object exists."), "{detail}");
}

#[test]
fn candidates_for_an_interrupted_creation_are_listed() {
    let config = "resource \"test_thing\" \"a\" { name = \"a\" }";
    let detail_with_ids = |ids: Vec<String>| {
        let (run, _) = forget_and_replan(config, |bench| {
            let mut things = bench.cloud.lock_contents();
            let first = things.objects["a-1"].clone();
            for id in ids {
                let object = super::cloud::with_attribute(
                    &first,
                    "id",
                    formwork_value::Value::string(id.as_str()),
                );
                things.objects.insert(id, object);
            }
        });
        detail_of_unresolved(&run)
    };
    let detail = detail_with_ids(vec!["a-8".into(), "a-9".into()]);
    assert!(detail.ends_with("These fit:\n  a-1\n  a-8\n  a-9"), "{detail}");
    // Of 21 that fit ten are named, as no list should fill the screen.
    let detail = detail_with_ids((10..30).map(|number| format!("b-{number}")).collect());
    assert!(detail.ends_with("b-17\n  b-18\n  and 11 more"), "{detail}");
}

#[test]
fn interrupted_creations_are_distinguished_by_their_plans() {
    let both = format!("{FOUND_BY_NAME}\nresource \"test_thing\" \"b\" {{ name = \"b\" }}");
    expect![[r#"
        nothing
        calls: 
        [Found, Found]
        test_thing.a a-1
        test_thing.b b-1
    "#]]
    .assert_eq(&replan_after_forgetting(&both, |_| ()));
}

#[test]
fn equally_planned_objects_are_interchangeable() {
    let alike = r#"
        resource "test_thing" "a" {
          count = 2
          name  = "a"
        }"#;
    expect![[r#"
        nothing
        calls: 
        [Found, Found]
        test_thing.a[0] a-1
        test_thing.a[1] a-2
    "#]]
    .assert_eq(&replan_after_forgetting(alike, |_| ()));
    // A third one belongs to something else, and it is unknown which it is.
    let story = replan_after_forgetting(alike, |bench| {
        let mut things = bench.cloud.lock_contents();
        let id = formwork_value::Value::string("a-9");
        let other = super::cloud::with_attribute(&things.objects["a-1"], "id", id);
        things.objects.insert("a-9".into(), other);
    });
    assert!(story.contains("An interrupted operation could not be resolved"), "{story}");
}

#[test]
fn ambiguous_candidates_are_not_adopted() {
    // To take the wrong one would put another's object under this configuration.
    let story = replan_with_listing(|bench| {
        let mut things = bench.cloud.lock_contents();
        let id = formwork_value::Value::string("a-9");
        let other = super::cloud::with_attribute(&things.objects["a-1"], "id", id);
        things.objects.insert("a-9".into(), other);
    });
    expect![[r#"
        + test_thing.a
        calls: create a
        warning test_thing.a: An interrupted operation could not be resolved
        []
        test_thing.a a-2
        test_thing.b b-1
    "#]]
    .assert_eq(&story);
}

#[test]
fn an_endless_list_is_abandoned_at_the_read_deadline() {
    let story = replan_with_listing(|bench| {
        bench.set_fault("list", CallFault::Hangs);
        bench.cloud.lock_contents().deadlines = "read=2s".parse().unwrap();
    });
    assert!(story.starts_with("+ test_thing.a\n"), "{story}");
    let warning = "warning test_thing.a: An interrupted operation could not be resolved";
    assert!(story.contains(warning), "{story}");
}

#[test]
fn an_unlisted_object_may_still_exist() {
    // A list may lack what was made just now, so unlike an identity it proves nothing.
    let story =
        replan_with_listing(|bench| drop(bench.cloud.lock_contents().objects.remove("a-1")));
    expect![[r#"
        + test_thing.a
        calls: create a
        warning test_thing.a: An interrupted operation could not be resolved
        []
        test_thing.a a-2
        test_thing.b b-1
    "#]]
    .assert_eq(&story);
}
