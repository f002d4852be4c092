//! Creations that were in flight, and what settles them.

use super::*;

#[tokio::test]
async fn a_creation_is_settled_once_its_address_has_an_object() {
    let base = state_with_objects(&[]);
    let run = RunInProgress::begin(&base);
    let a = parse_addr("t.a");
    run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    let run = run.kill_run();
    let recovery = recover_journals_in_dir(&run.path(), Some(base)).unwrap();
    assert!(recovery.unresolved[0].needs_decision());
    recovery.archive_journals().unwrap();
    // Its serial is newer, so the object came after the run.
    let theirs = rewritten_by_other_program(state_with_objects(&[("t.a", "imported")]));
    let recovery = recover_journals_in_dir(&run.path(), Some(theirs)).unwrap();
    assert!(!recovery.unresolved[0].needs_decision());
    let detail = recovery.unresolved[0].diagnostic().detail;
    assert!(detail.contains("an object has appeared at its address"), "{detail}");
    assert!(recovery.diagnostics().is_empty());
    recovery.archive_journals().unwrap();
    assert!(!run.path().exists());
}

#[tokio::test]
async fn object_in_a_state_no_newer_than_the_run_does_not_settle_a_creation() {
    let base = state_with_objects(&[("t.a", "vanished")]);
    let run = killed_while_creating(&base, &["t.a"]).await;
    let recovery = recover_journals_in_dir(&run.path(), Some(base)).unwrap();
    assert!(recovery.unresolved[0].needs_decision());
    recovery.archive_journals().unwrap();
    // Taken over, and then a user puts back a backup.
    let backup = StateFile { serial: 2, ..state_with_objects(&[("t.a", "vanished")]) };
    let recovery = recover_journals_in_dir(&run.path(), Some(backup)).unwrap();
    assert!(recovery.unresolved[0].needs_decision());
}

#[tokio::test]
async fn the_object_that_a_creation_was_to_depose_does_not_settle_it() {
    let base = state_with_objects(&[("t.a", "old")]);
    let run = RunInProgress::begin(&base);
    let (a, key, old) = (parse_addr("t.a"), DeposedKey("00000001".into()), object_with_word("old"));
    let replace =
        Intent { prior: Some(&old), deposes: Some(&key), ..run.new_intent(&a, CallAction::Create) };
    run.journal.announce_operation(replace).await.unwrap();
    let run = run.kill_run();
    for stored in [
        base,
        rewritten_by_other_program(state_with_objects(&[("t.a", "old, as a later run found it")])),
    ] {
        let recovery = recover_journals_in_dir(&run.path(), Some(stored.clone())).unwrap();
        assert_eq!(recovery.file, Some(stored));
        assert!(recovery.unresolved[0].needs_decision());
        assert_eq!(recovery.unresolved[0].deposes, Some(key.clone()));
        recovery.archive_journals().unwrap();
    }
}

#[tokio::test]
async fn earlier_object_at_the_moved_address_does_not_settle_a_creation() {
    let base = state_with_objects(&[("t.b", "there all along")]);
    let run = killed_while_creating(&base, &["t.a"]).await;
    let mut recovery = recover_journals_in_dir(&run.path(), Some(base)).unwrap();
    recovery.follow_moves(|_, _| parse_addr("t.b"));
    assert!(recovery.unresolved[0].needs_decision());
    assert_eq!(recovery.mark_decided(&parse_addr("t.b"), "looked").len(), 1);
}

#[tokio::test]
async fn new_object_settles_a_creation_only_if_it_matches_the_plan() {
    let base = state_with_objects(&[]);
    let run = RunInProgress::begin(&base);
    let (a, planned) = (parse_addr("t.a"), Value::object([("id", Value::string("made"))]));
    let create = Intent { planned: &planned, ..run.new_intent(&a, CallAction::Create) };
    run.journal.announce_operation(create).await.unwrap();
    let run = run.kill_run();
    for (word, is_open) in [("was t.c before", true), ("made", false)] {
        let stored = rewritten_by_other_program(state_with_objects(&[("t.a", word)]));
        let mut recovery = recover_journals_in_dir(&run.path(), Some(stored)).unwrap();
        recovery.follow_moves(|_, _| parse_addr("t.b"));
        assert_eq!(recovery.unresolved[0].needs_decision(), is_open, "{word}");
    }
}

#[tokio::test]
async fn creations_at_one_address_are_decided_separately() {
    let base = state_with_objects(&[]);
    let run = killed_while_creating(&base, &["t.a", "t.b", "t.c"]).await;
    let mut recovery = recover_journals_in_dir(&run.path(), Some(base)).unwrap();
    recovery.follow_moves(|_, _| parse_addr("t.c"));
    let open = |recovery: &Recovery| recovery.original_addresses(&parse_addr("t.c")).len();
    assert_eq!(open(&recovery), 3);
    // A creation that began under the very address is meant by it.
    assert_eq!(recovery.mark_decided(&parse_addr("t.c"), "looked")[0].addr, parse_addr("t.c"));
    // Both remaining operations began at other addresses, and the address is ambiguous.
    assert!(recovery.mark_decided(&parse_addr("t.c"), "which of two?").is_empty());
    assert_eq!(recovery.mark_decided(&parse_addr("t.a"), "looked")[0].addr, parse_addr("t.a"));
    assert_eq!(
        recovery.mark_decided(&parse_addr("t.c"), "the last one")[0].addr,
        parse_addr("t.b")
    );
    assert_eq!(open(&recovery), 0);
}

#[tokio::test]
async fn a_create_in_flight_is_reported_until_it_is_decided_and_an_update_once() {
    let base = state_with_objects(&[("t.b", "old"), ("t.c", "old")]);
    let run = RunInProgress::begin(&base);
    let (a, b, c, old) =
        (parse_addr("t.a"), parse_addr("t.b"), parse_addr("t.c"), object_with_word("old"));
    let update = Intent { prior: Some(&old), ..run.new_intent(&c, CallAction::Update) };
    let op = run.journal.announce_operation(update).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("new"))).unwrap();
    let planned = Value::object([("id", Value::unknown(Type::String)), ("size", Value::int(3))]);
    let create = Intent { planned: &planned, ..run.new_intent(&a, CallAction::Create) };
    run.journal.announce_operation(create).await.unwrap();
    let update = Intent { prior: Some(&old), ..run.new_intent(&b, CallAction::Update) };
    let op = run.journal.announce_operation(update).await.unwrap();
    run.journal
        .record_answer(op, ProviderAnswer { state: b"raw".to_vec(), ..ProviderAnswer::default() })
        .unwrap();

    let run = run.kill_run();
    let recovery = recover_journals_in_dir(&run.path(), Some(base)).unwrap();
    assert_eq!(recovery.unresolved[0].planned, Some(planned));
    let details: Vec<String> = recovery
        .diagnostics()
        .iter()
        .skip(1)
        .zip(&recovery.unresolved)
        .map(|(diagnostic, operation)| {
            diagnostic.detail.replace(&strip_subseconds(&operation.when), "TIME")
        })
        .collect();
    expect_test::expect![[r#"
        t.a was being created (requested at TIME) when the run was interrupted; no usable answer had arrived. The object may exist although it is not in the state. Look for it, and settle the operation: `formwork recover list` shows how. Until then it is not created a second time.
        t.b was being updated (requested at TIME) when the run was interrupted; the answer had arrived but was not taken over. The state has the object as it was before; the next refresh shows the outcome."#]]
    .assert_eq(&details.join("\n"));
    recovery.archive_journals().unwrap();

    // A later run has changed the state back; that must not bring the results of this one back.
    let later = state_with_objects(&[("t.b", "newer"), ("t.c", "old")]);
    let recovery = recover_journals_in_dir(&run.path(), Some(later.clone())).unwrap();
    assert_eq!(recovery.file, Some(later));
    let [unresolved] = &recovery.unresolved[..] else { panic!("{recovery:?}") };
    assert_eq!(unresolved.addr, a);
    decide_and_record(&run, recovery.file.clone(), &a, "imported");
    assert!(recover_journals_in_dir(&run.path(), None).unwrap().is_empty());
    assert!(!run.path().exists());
}

#[tokio::test]
async fn a_creation_without_effect_keeps_the_object_to_depose() {
    let base = state_with_objects(&[("t.a", "old")]);
    let mut run = RunInProgress::begin(&base);
    let (a, key) = (parse_addr("t.a"), DeposedKey("00000001".into()));
    let old = object_with_word("old");
    let replace =
        Intent { prior: Some(&old), deposes: Some(&key), ..run.new_intent(&a, CallAction::Create) };
    let op = run.journal.announce_operation(replace).await.unwrap();
    run.expect_after_cut(&["t.a=old"], &["Create t.a"]);
    run.journal.settle_operation(op, None).unwrap();
    run.expect_after_cut(&["t.a=old"], &[]);
    run.check_every_cut(Some(&base));
}

#[tokio::test]
async fn the_id_of_a_result_is_in_no_message_if_it_is_sensitive() {
    let base = state_with_objects(&[]);
    let run = RunInProgress::begin(&base);
    let a = parse_addr("t.a");
    let op = run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    let id = formwork_value::Path::root().attribute("id");
    let made = ObjectState { sensitive: Arc::new(vec![id]), ..object_with_word("hunter2") };
    run.journal.settle_operation(op, Some(&made)).unwrap();
    let run = run.kill_run();
    let theirs = rewritten_by_other_program(state_with_objects(&[("t.a", "theirs")]));
    let recovery = recover_journals_in_dir(&run.path(), Some(theirs)).unwrap();
    let [open] = &recovery.unresolved[..] else { panic!("{recovery:?}") };
    assert_eq!(open.guess_object_id().as_deref(), Some("hunter2"));
    assert_eq!(open.shown_object_id(), None);
    let detail = open.diagnostic().detail;
    assert!(detail.contains("the answer had arrived") && !detail.contains("hunter2"), "{detail}");
    // An error that lists all results of the journal.
    let other = StateFile { lineage: "two".to_owned(), ..base };
    let refused = recover_journals_in_dir(&run.path(), Some(other)).unwrap_err();
    let detail = refused.diagnostic().detail;
    assert!(detail.contains("t.a") && !detail.contains("hunter2"), "{detail}");
}
