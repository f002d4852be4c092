//! Damaged journals.

use super::*;

/// The names of objects that a user sees after a recovery: in the state, as an open operation, or
/// in the description of the damage.
fn reported_objects(recovery: &Recovery) -> String {
    let state = recovery.file.iter().flat_map(|file| list_objects(&file.state));
    let open = recovery.unresolved.iter().filter(|operation| operation.needs_decision());
    let open = open.map(|operation| format!("{} is open", operation.addr));
    let details = recovery.diagnostics().into_iter().map(|diagnostic| diagnostic.detail);
    state.chain(open).chain(details).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_flipped_byte_loses_no_valid_result_and_hides_no_creation() {
    let base = state_with_objects(&[("t.old", "old"), ("t.gone", "old")]);
    let run = RunInProgress::begin(&base);
    let [a, b, open, old_one, deleted] =
        ["t.a", "t.b", "t.open", "t.old", "t.gone"].map(parse_addr);
    let old = object_with_word("old");
    for (addr, word) in [(&a, "made-a"), (&b, "made-b")] {
        let op =
            run.journal.announce_operation(run.new_intent(addr, CallAction::Create)).await.unwrap();
        run.journal.record_answer(op, ProviderAnswer::default()).unwrap();
        run.journal.settle_operation(op, Some(&object_with_word(word))).unwrap();
    }
    let update = Intent { prior: Some(&old), ..run.new_intent(&old_one, CallAction::Update) };
    let op = run.journal.announce_operation(update).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("new"))).unwrap();
    let delete = Intent { prior: Some(&old), ..run.new_intent(&deleted, CallAction::Delete) };
    let op = run.journal.announce_operation(delete).await.unwrap();
    run.journal.settle_operation(op, None).unwrap();
    run.journal.announce_operation(run.new_intent(&open, CallAction::Create)).await.unwrap();
    let path = run.journal.path().to_owned();
    let killed = run.kill_run();
    let bytes = std::fs::read(&path).unwrap();
    let mut n_silent = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x04;
        std::fs::write(&path, &damaged).unwrap();
        let recovery = recover_journals_in_dir(&killed.path(), Some(base.clone())).unwrap();
        let damage = recovery.runs[0].damage.as_ref().expect("every record has a checksum");
        let state = list_objects(&recovery.file.as_ref().unwrap().state);
        let reported = reported_objects(&recovery);
        for made in ["t.a", "t.b", "t.open"] {
            let is_known = state.iter().any(|object| object.starts_with(&format!("{made}=made")))
                || reported.contains(&format!("{made} is open"));
            assert!(
                is_known || damage.hides_creation,
                "byte {at}: {made} is forgotten\n{reported}"
            );
        }
        n_silent += usize::from(!damage.hides_creation);
    }
    // Only the loss of the last announcement hides an object.
    assert!(n_silent * 10 > bytes.len() * 7, "{n_silent} of {}", bytes.len());
}

#[tokio::test]
async fn garbage_between_two_records_loses_neither() {
    let base = state_with_objects(&[("t.old", "old")]);
    let run = RunInProgress::begin(&base);
    let [a, open] = ["t.a", "t.open"].map(parse_addr);
    let op = run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("made"))).unwrap();
    run.journal.announce_operation(run.new_intent(&open, CallAction::Create)).await.unwrap();
    let path = run.journal.path().to_owned();
    let killed = run.kill_run();
    let bytes = std::fs::read(&path).unwrap();
    let mut n_between = 0;
    for at in 0..bytes.len() {
        let damaged = [&bytes[..at], b"bytes of another file", &bytes[at..]].concat();
        std::fs::write(&path, &damaged).unwrap();
        let recovery = recover_journals_in_dir(&killed.path(), Some(base.clone())).unwrap();
        // In the last record they look like a truncated write.
        let Some(damage) = &recovery.runs[0].damage else { continue };
        let state = list_objects(&recovery.file.as_ref().unwrap().state);
        let reported = reported_objects(&recovery);
        let is_made = state.contains(&"t.a=made".to_owned());
        let is_known = is_made || reported.contains("t.a is open");
        let are_known = is_known && reported.contains("t.open is open");
        assert!(are_known || damage.hides_creation, "byte {at}: {state:?}\n{reported}");
        if reported.contains("in no record") {
            n_between += 1;
            assert!(is_made && are_known && !damage.hides_creation, "byte {at}: {reported}");
        }
    }
    // Before each record: the description of the run, two announcements and a result.
    assert_eq!(n_between, 4);
}

#[tokio::test]
async fn a_damaged_journal_is_set_aside_and_its_operations_stay_open() {
    let base = state_with_objects(&[]);
    // Lost is the description of the run, or an announcement whose result is sound.
    for (is_open, lost) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
        let run = RunInProgress::begin(&base);
        let [a, b, c] = ["t.a", "t.b", "t.c"].map(parse_addr);
        let op =
            run.journal.announce_operation(run.new_intent(&a, CallAction::Create)).await.unwrap();
        run.journal.settle_operation(op, Some(&object_with_word("made"))).unwrap();
        let op =
            run.journal.announce_operation(run.new_intent(&b, CallAction::Create)).await.unwrap();
        run.journal.settle_operation(op, None).unwrap();
        if is_open {
            run.journal.announce_operation(run.new_intent(&c, CallAction::Create)).await.unwrap();
        }
        let path = run.journal.path().to_owned();
        let killed = run.kill_run();
        let mut bytes = std::fs::read(&path).unwrap();
        let ends: Vec<usize> = {
            let log = record::scan_journal(&bytes).unwrap();
            let frames =
                log.records.iter().map(|(number, it)| record::frame_record(*number, it).len());
            frames.scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect()
        };
        bytes[ends[lost - 1] + 20] ^= 0x04;
        std::fs::write(&path, &bytes).unwrap();

        let recovery = recover_journals_in_dir(&killed.path(), Some(base.clone())).unwrap();
        let damage = recovery.runs[0].damage.clone().unwrap();
        assert!(!damage.hides_creation);
        let file = rewritten_by_other_program(recovery.file.clone().unwrap());
        assert_eq!(list_objects(&file.state), ["t.a=made"]);
        recovery.archive_journals().unwrap();
        assert_eq!(std::fs::read(damage.damaged_copy_location()).unwrap(), bytes);
        let next = recover_journals_in_dir(&killed.path(), Some(file.clone())).unwrap();
        assert_eq!(next.file, Some(file));
        let open: Vec<_> =
            next.unresolved.iter().map(|operation| operation.addr.to_string()).collect();
        assert_eq!(open, if is_open { vec!["t.c"] } else { Vec::new() });
        assert!(next.runs.iter().all(|run| run.damage.is_none()), "it is told once");
    }
}

#[tokio::test]
async fn a_result_without_its_intent_does_not_overwrite_another_object() {
    let base = state_with_objects(&[("t.a", "there")]);
    let run = RunInProgress::begin(&base);
    let (a, key, old) =
        (parse_addr("t.a"), DeposedKey("00000001".into()), object_with_word("there"));
    let replace =
        Intent { prior: Some(&old), deposes: Some(&key), ..run.new_intent(&a, CallAction::Create) };
    let op = run.journal.announce_operation(replace).await.unwrap();
    let start = usize::try_from(run.journal.path().metadata().unwrap().len()).unwrap();
    run.journal.settle_operation(op, Some(&object_with_word("new"))).unwrap();
    let path = run.journal.path().to_owned();
    let killed = run.kill_run();
    let mut bytes = std::fs::read(&path).unwrap();
    // In the announcement, of which this is the end.
    bytes[start - 3] ^= 0x04;
    std::fs::write(&path, &bytes).unwrap();
    let recovery = recover_journals_in_dir(&killed.path(), Some(base.clone())).unwrap();
    assert_eq!(recovery.file, Some(base));
    let damage = recovery.runs[0].damage.as_ref().unwrap();
    assert!(damage.hides_creation);
    let detail = damage.damage_warning(&recovery.runs[0]).detail;
    assert!(detail.contains("a result for t.a, where the state has another object"), "{detail}");
}

#[tokio::test]
async fn an_empty_journal_is_damaged_and_without_a_state_an_error() {
    let run = RunInProgress::begin(&no_state());
    let path = run.journal.path().to_owned();
    let killed = run.kill_run();
    std::fs::write(&path, "").unwrap();
    let error = recover_journals_in_dir(&killed.path(), None).unwrap_err();
    assert!(matches!(error, JournalError::Headless { .. }), "{error:?}");
    let recovery =
        recover_journals_in_dir(&killed.path(), Some(state_with_objects(&[("t.a", "there")])))
            .unwrap();
    let damage = recovery.runs[0].damage.as_ref().unwrap();
    assert!(damage.hides_creation);
    recovery.archive_journals().unwrap();
    assert!(recover_journals_in_dir(&killed.path(), None).unwrap().is_empty(), "it is set aside");
}

#[test]
fn a_pipe_instead_of_a_journal_is_refused_without_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.wal");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(recover_journals_in_dir(directory.path(), None).is_err());
}
