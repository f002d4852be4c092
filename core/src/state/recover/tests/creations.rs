//! Creations that were in flight, and what settles them.

use super::*;

#[tokio::test]
async fn a_creation_is_settled_once_its_place_holds_an_object() {
    let base = state_of(&[]);
    let run = Run::begin(&base);
    let a = addr("t.a");
    run.journal.announce(run.call(&a, Action::Create)).await.unwrap();
    let run = run.kill();
    let recovery = recover(&run.path(), Some(base)).unwrap();
    assert!(recovery.unresolved[0].needs_decision());
    recovery.finish().unwrap();
    // Its serial is newer, so the object came after the run.
    let theirs = later(state_of(&[("t.a", "imported")]));
    let recovery = recover(&run.path(), Some(theirs)).unwrap();
    assert!(!recovery.unresolved[0].needs_decision());
    let said = recovery.unresolved[0].diagnostic().detail;
    assert!(said.contains("an object has come into its place"), "{said}");
    assert!(recovery.diagnostics().is_empty());
    recovery.finish().unwrap();
    assert!(!run.path().exists());
}

#[tokio::test]
async fn what_is_in_a_state_that_is_no_newer_than_the_run_did_not_come_in() {
    let base = state_of(&[("t.a", "vanished")]);
    let run = creating(&base, &["t.a"]).await;
    let recovery = recover(&run.path(), Some(base)).unwrap();
    assert!(recovery.unresolved[0].needs_decision());
    recovery.finish().unwrap();
    // Taken over, and then a user puts back a backup.
    let backup = StateFile { serial: 2, ..state_of(&[("t.a", "vanished")]) };
    let recovery = recover(&run.path(), Some(backup)).unwrap();
    assert!(recovery.unresolved[0].needs_decision());
}

#[tokio::test]
async fn the_object_that_a_creation_was_to_depose_does_not_settle_it() {
    let base = state_of(&[("t.a", "old")]);
    let run = Run::begin(&base);
    let (a, key, old) = (addr("t.a"), DeposedKey("00000001".into()), object("old"));
    let replace = Intent { prior: Some(&old), deposes: Some(&key), ..run.call(&a, Action::Create) };
    run.journal.announce(replace).await.unwrap();
    let run = run.kill();
    for stored in [base, later(state_of(&[("t.a", "old, as a later run found it")]))] {
        let recovery = recover(&run.path(), Some(stored.clone())).unwrap();
        assert_eq!(recovery.file, Some(stored));
        assert!(recovery.unresolved[0].needs_decision());
        assert_eq!(recovery.unresolved[0].deposes, Some(key.clone()));
        recovery.finish().unwrap();
    }
}

#[tokio::test]
async fn what_stood_where_a_creation_belongs_by_now_does_not_settle_it() {
    let base = state_of(&[("t.b", "there all along")]);
    let run = creating(&base, &["t.a"]).await;
    let mut recovery = recover(&run.path(), Some(base)).unwrap();
    recovery.follow(|_, _| addr("t.b"));
    assert!(recovery.unresolved[0].needs_decision());
    assert_eq!(recovery.decide(&addr("t.b"), "looked").len(), 1);
}

#[tokio::test]
async fn what_has_come_to_where_a_creation_began_settles_it_only_if_it_may_be_what_was_to_be_made()
{
    let base = state_of(&[]);
    let run = Run::begin(&base);
    let (a, planned) = (addr("t.a"), Value::object([("id", Value::string("made"))]));
    let create = Intent { planned: &planned, ..run.call(&a, Action::Create) };
    run.journal.announce(create).await.unwrap();
    let run = run.kill();
    for (word, is_open) in [("was t.c before", true), ("made", false)] {
        let stored = later(state_of(&[("t.a", word)]));
        let mut recovery = recover(&run.path(), Some(stored)).unwrap();
        recovery.follow(|_, _| addr("t.b"));
        assert_eq!(recovery.unresolved[0].needs_decision(), is_open, "{word}");
    }
}

#[tokio::test]
async fn of_several_creations_that_belong_to_one_address_none_is_decided_with_another() {
    let base = state_of(&[]);
    let run = creating(&base, &["t.a", "t.b", "t.c"]).await;
    let mut recovery = recover(&run.path(), Some(base)).unwrap();
    recovery.follow(|_, _| addr("t.c"));
    let open = |recovery: &Recovery| recovery.origins(&addr("t.c")).len();
    assert_eq!(open(&recovery), 3);
    // A creation that began under the very address is meant by it.
    assert_eq!(recovery.decide(&addr("t.c"), "looked")[0].addr, addr("t.c"));
    // Both that are left began elsewhere, and the address does not say which is meant.
    assert!(recovery.decide(&addr("t.c"), "which of two?").is_empty());
    assert_eq!(recovery.decide(&addr("t.a"), "looked")[0].addr, addr("t.a"));
    assert_eq!(recovery.decide(&addr("t.c"), "the last one")[0].addr, addr("t.b"));
    assert_eq!(open(&recovery), 0);
}

#[tokio::test]
async fn a_create_in_flight_is_reported_until_it_is_decided_and_an_update_once() {
    let base = state_of(&[("t.b", "old"), ("t.c", "old")]);
    let run = Run::begin(&base);
    let (a, b, c, old) = (addr("t.a"), addr("t.b"), addr("t.c"), object("old"));
    let update = Intent { prior: Some(&old), ..run.call(&c, Action::Update) };
    let op = run.journal.announce(update).await.unwrap();
    run.journal.settle(op, Some(&object("new"))).unwrap();
    let planned = Value::object([("id", Value::unknown(Type::String)), ("size", Value::int(3))]);
    let create = Intent { planned: &planned, ..run.call(&a, Action::Create) };
    run.journal.announce(create).await.unwrap();
    let update = Intent { prior: Some(&old), ..run.call(&b, Action::Update) };
    let op = run.journal.announce(update).await.unwrap();
    run.journal
        .answer(op, ProviderAnswer { state: b"raw".to_vec(), ..ProviderAnswer::default() })
        .unwrap();

    let run = run.kill();
    let recovery = recover(&run.path(), Some(base)).unwrap();
    assert_eq!(recovery.unresolved[0].planned, Some(planned));
    let told: Vec<String> = recovery
        .diagnostics()
        .iter()
        .skip(1)
        .zip(&recovery.unresolved)
        .map(|(diagnostic, one)| diagnostic.detail.replace(&to_the_second(&one.when), "TIME"))
        .collect();
    expect_test::expect![[r#"
        t.a was being created (asked for at TIME) when the run was cut off; no usable answer had arrived. The object may exist although the state does not have it. Look for it, and settle the operation: `formwork recover list` shows how. Until then it is not created a second time.
        t.b was being updated (asked for at TIME) when the run was cut off; the answer had arrived but was not taken over. The state holds the object as it was before; the next refresh shows the outcome."#]]
    .assert_eq(&told.join("\n"));
    recovery.finish().unwrap();

    // A later run has changed the state back; that must not bring the results of this one back.
    let later = state_of(&[("t.b", "newer"), ("t.c", "old")]);
    let recovery = recover(&run.path(), Some(later.clone())).unwrap();
    assert_eq!(recovery.file, Some(later));
    let [unresolved] = &recovery.unresolved[..] else { panic!("{recovery:?}") };
    assert_eq!(unresolved.addr, a);
    decided(&run, recovery.file.clone(), &a, "imported");
    assert!(recover(&run.path(), None).unwrap().is_nothing());
    assert!(!run.path().exists());
}

#[tokio::test]
async fn a_create_that_made_nothing_leaves_what_it_was_to_depose() {
    let base = state_of(&[("t.a", "old")]);
    let mut run = Run::begin(&base);
    let (a, key) = (addr("t.a"), DeposedKey("00000001".into()));
    let old = object("old");
    let replace = Intent { prior: Some(&old), deposes: Some(&key), ..run.call(&a, Action::Create) };
    let op = run.journal.announce(replace).await.unwrap();
    run.then(&["t.a=old"], &["Create t.a"]);
    run.journal.settle(op, None).unwrap();
    run.then(&["t.a=old"], &[]);
    run.check_every_cut(Some(&base));
}
