//! Writing a journal, and reading it whole, truncated and damaged.

use bytes::Bytes;
use formwork_value::Type;
use futures_util::future::join_all;
use std::fs::File;
use std::io;

use super::durable::yield_once;
use super::journal_file::JournalFile;
use super::scan::LostRecordKind;
use super::*;
use crate::disk::{Durability, locks};
use crate::state::{ObjectAttributes, ObjectStatus};

fn parse_addr(text: &str) -> InstanceAddr {
    text.parse().unwrap()
}

fn test_provider() -> ProviderConfigAddr {
    "provider[\"example.com/acme/t\"]".parse().unwrap()
}

fn create_intent<'a>(addr: &'a InstanceAddr, provider: &'a ProviderConfigAddr) -> Intent<'a> {
    const NULL: &Value = &Value::Null(Type::Dynamic);
    let (action, prior) = (CallAction::Create, None);
    Intent { addr, provider, deposed: None, deposes: None, action, prior, planned: NULL }
}

fn begin_journal(directory: &tempfile::TempDir) -> Journal {
    let base = StateFile::new_empty();
    Journal::begin_run(
        &directory.path().join("journal"),
        RunHeader { operation: "test", base: &base, read_from: None },
    )
    .unwrap()
}

/// A journal in a file of a certain kind that was opened before.
fn journal_in_file(path: &Path, file: File) -> Journal {
    let file = locks::lock(file).unwrap();
    let sink = JournalFile::new_empty(path.to_owned(), file, Durability::PowerLoss);
    Journal::in_empty_sink(Rc::new(sink), "a".to_owned())
}

fn record_names(journal: &Journal) -> Vec<String> {
    let log = record::scan_journal(&std::fs::read(journal.path()).unwrap()).unwrap();
    let name = |record: &Record| format!("{record:?}").split([' ', '(']).next().unwrap().to_owned();
    log.records.iter().map(|(_, record)| name(record)).collect()
}

#[tokio::test]
async fn a_call_records_its_intent_answer_and_result() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let op = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    assert_eq!(record_names(&journal), ["RunBegin", "Intent"]);
    journal
        .record_answer(op, ProviderAnswer { state: b"raw".to_vec(), ..ProviderAnswer::default() })
        .unwrap();
    journal.settle_operation(op, None).unwrap();
    // The same once more, which is not worth a record.
    journal.settle_operation(op, None).unwrap();
    journal.record_state_fingerprint(&StateFile::new_empty()).await.unwrap();
    assert_eq!(record_names(&journal), ["RunBegin", "Intent", "Answer", "Settled", "Snapshot"]);
}

#[test]
fn a_journal_with_a_non_unicode_path_can_be_read() {
    use std::os::unix::ffi::OsStrExt as _;
    let (directory, base) = (tempfile::tempdir().unwrap(), StateFile::new_empty());
    let read_from = Some(Path::new(std::ffi::OsStr::from_bytes(b"/\xff.tfstate")));
    let begin = RunHeader { operation: "test", base: &base, read_from };
    let journal = Journal::begin_run(directory.path(), begin).unwrap();
    assert_eq!(record_names(&journal), ["RunBegin"]);
}

#[tokio::test]
async fn only_the_owner_may_read_a_journal() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    // The journal contains the values of objects, including secrets.
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(journal.path()), 0o600);
    assert_eq!(mode(journal.path().parent().unwrap()), 0o700);
}

#[tokio::test]
async fn an_ended_run_leaves_no_journal() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    journal.end_run().await.unwrap();
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn the_journal_of_an_open_call_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    let path = journal.path().to_owned();
    journal.end_run().await.unwrap();
    assert!(path.exists());
}

#[tokio::test]
async fn concurrent_announcements_share_one_sync() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let provider = test_provider();
    let addrs: Vec<InstanceAddr> = (0..50).map(|at| parse_addr(&format!("t.a[{at}]"))).collect();
    let all = join_all(
        addrs.iter().map(|addr| journal.announce_operation(create_intent(addr, &provider))),
    )
    .await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(journal.n_syncs.get(), 1);
    journal.make_durable().await.unwrap();
    assert_eq!(journal.n_syncs.get(), 1, "there was nothing more to make durable");
}

#[tokio::test]
async fn waiter_during_a_sync_gets_a_separate_sync() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (a, b, provider) = (parse_addr("t.a"), parse_addr("t.b"), test_provider());
    let first = journal.announce_operation(create_intent(&a, &provider));
    let second = async {
        // The first has appended, and waits for the disk.
        yield_once().await;
        yield_once().await;
        journal.announce_operation(create_intent(&b, &provider)).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!((first.unwrap(), second.unwrap()), (OperationId(2), OperationId(3)));
    assert_eq!(journal.n_syncs.get(), 2);
}

#[tokio::test]
async fn a_cancelled_waiter_does_not_delay_others() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (a, b, provider) = (parse_addr("t.a"), parse_addr("t.b"), test_provider());
    {
        let mut first = Box::pin(journal.announce_operation(create_intent(&a, &provider)));
        assert!(futures_util::poll!(&mut first).is_pending());
        // By now it waits for the disk, and is dropped in that.
        assert!(futures_util::poll!(&mut first).is_pending());
    }
    journal.announce_operation(create_intent(&b, &provider)).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_stops_new_calls() {
    // No write to it succeeds.
    let full = File::options().append(true).open("/dev/full").unwrap();
    let journal = journal_in_file(Path::new("full.wal"), full);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let error = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap_err();
    assert!(matches!(error, JournalError::Failed { doing: "write", .. }), "{error:?}");
    let error = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap_err();
    assert!(matches!(error, JournalError::Broken { .. }), "{error:?}");
}

/// The bytes that the disk has allocated for a file.
#[cfg(target_os = "linux")]
fn allocated_bytes(journal: &Journal) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    journal.path().metadata().unwrap().blocks() * 512
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_disk_keeps_space_for_the_answers_of_announced_calls() {
    let directory = tempfile::tempdir().unwrap();
    let probe = tempfile::tempfile_in(&directory).unwrap();
    if !crate::disk::reserve_disk_space(&probe, 0..1 << 12).unwrap() {
        // The file system of this directory has no reservations.
        return;
    }
    let journal = begin_journal(&directory);
    let (next, addr, provider) = (parse_addr("t.b"), parse_addr("t.a"), test_provider());
    let text = Value::String("x".repeat(100_000).into());
    let before = allocated_bytes(&journal);
    let op = journal
        .announce_operation(Intent { planned: &text, ..create_intent(&addr, &provider) })
        .await
        .unwrap();
    let length = journal.path().metadata().unwrap().len();
    let log = record::scan_journal(&journal.read_content().unwrap()).unwrap();
    assert_eq!(length, log.end as u64, "a reader sees no gap");
    // The size of the plan in base64 and in text, and of values that only the provider computes.
    assert!(
        allocated_bytes(&journal) >= before.max(length) + 200_000 + (64 << 10),
        "{}",
        allocated_bytes(&journal)
    );
    let answer = ProviderAnswer { state: vec![b'x'; 100_000], ..ProviderAnswer::default() };
    let with_space = allocated_bytes(&journal);
    journal.record_answer(op, answer).unwrap();
    journal.settle_operation(op, None).unwrap();
    assert_eq!(allocated_bytes(&journal), with_space, "the answer has taken what was reserved");
    // A state on the same disk needs the space that no call does.
    journal.record_state_fingerprint(&StateFile::new_empty()).await.unwrap();
    let length = journal.path().metadata().unwrap().len();
    assert!(allocated_bytes(&journal) < length + (64 << 10), "{}", allocated_bytes(&journal));
    let path = journal.path().to_owned();
    journal.announce_operation(create_intent(&next, &provider)).await.unwrap();
    journal.end_run().await.unwrap();
    let about = path.metadata().unwrap();
    use std::os::unix::fs::MetadataExt as _;
    assert!(about.blocks() * 512 < about.len() + (64 << 10), "the rest is given back");
}

#[tokio::test]
async fn a_failed_sync_is_not_retried() {
    // A file that is not on a disk cannot be made durable.
    let null = File::options().append(true).open("/dev/null").unwrap();
    let journal = journal_in_file(Path::new("null.wal"), null);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let error = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap_err();
    assert!(matches!(error, JournalError::Failed { doing: "write", .. }), "{error:?}");
    assert!(matches!(journal.make_durable().await, Err(JournalError::Broken { .. })));
}

#[tokio::test]
#[should_panic(expected = "made before it was announced")]
async fn no_call_is_made_before_it_is_announced() {
    let directory = tempfile::tempdir().unwrap();
    begin_journal(&directory).record_answer(OperationId(7), ProviderAnswer::default()).unwrap();
}

#[tokio::test]
async fn dependents_wait_until_the_result_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let op = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    assert!(!journal.may_start_dependents(&addr, None));
    journal.record_answer(op, ProviderAnswer::default()).unwrap();
    assert!(!journal.may_start_dependents(&addr, None));
    journal.settle_operation(op, None).unwrap();
    assert!(journal.may_start_dependents(&addr, None));
}

/// Announces the creation of an object while its predecessor is deposed.
async fn announce_replacement(
    journal: &Journal,
    addr: &InstanceAddr,
    key: &DeposedKey,
) -> OperationId {
    let provider = test_provider();
    let intent = Intent { deposes: Some(key), ..create_intent(addr, &provider) };
    let op = journal.announce_operation(intent).await.unwrap();
    journal.record_answer(op, ProviderAnswer::default()).unwrap();
    op
}

async fn settle_deposed(journal: &Journal, addr: &InstanceAddr, key: &DeposedKey) {
    let provider = test_provider();
    let (action, deposed) = (CallAction::Delete, Some(key));
    journal
        .announce_operation(Intent { action, deposed, ..create_intent(addr, &provider) })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_predecessor_is_destroyed_after_its_successor_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, addr, key) =
        (begin_journal(&directory), parse_addr("t.a"), DeposedKey("01234567".into()));
    let op = announce_replacement(&journal, &addr, &key).await;
    journal.settle_operation(op, None).unwrap();
    settle_deposed(&journal, &addr, &key).await;
}

#[tokio::test]
#[should_panic(expected = "a predecessor goes before its successor")]
async fn a_predecessor_is_not_destroyed_before_its_successor_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, addr, key) =
        (begin_journal(&directory), parse_addr("t.a"), DeposedKey("01234567".into()));
    announce_replacement(&journal, &addr, &key).await;
    settle_deposed(&journal, &addr, &key).await;
}

#[tokio::test]
#[should_panic(expected = "a state is stored while a call has no answer")]
async fn no_state_is_stored_while_a_call_has_no_answer() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    journal.record_state_fingerprint(&StateFile::new_empty()).await.unwrap();
}

#[tokio::test]
#[should_panic(expected = "a journal is removed before its state is stored")]
async fn no_journal_is_deleted_before_its_results_are_stored() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let op = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    journal.record_answer(op, ProviderAnswer::default()).unwrap();
    journal.record_state_fingerprint(&StateFile::new_empty()).await.unwrap();
    journal.settle_operation(op, None).unwrap();
    journal.end_run().await.unwrap();
}

fn object_with_status(status: ObjectStatus) -> ObjectState {
    ObjectState {
        status,
        schema_version: 0,
        attributes: ObjectAttributes::default(),
        sensitive: Arc::default(),
        private: Bytes::new(),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    }
}

#[tokio::test]
async fn an_object_is_incomplete_while_its_provisioners_run() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let op = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    assert!(!journal.may_run_provisioner(&addr));
    journal.record_interim_result(op, Some(&object_with_status(ObjectStatus::Tainted))).unwrap();
    assert!(journal.may_run_provisioner(&addr));
    journal.settle_operation(op, Some(&object_with_status(ObjectStatus::Ready))).unwrap();
    assert!(!journal.may_run_provisioner(&addr));
}

#[tokio::test]
#[should_panic(expected = "whole before what runs beside it")]
async fn an_object_is_complete_only_after_all_its_provisioners() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a"), test_provider());
    let op = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    journal.record_interim_result(op, Some(&object_with_status(ObjectStatus::Ready))).unwrap();
}

/// Some encoded records, and the offset at which each ends.
fn some_records() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut ends = vec![0];
    for number in 1..6 {
        let how = "x".repeat(usize::try_from(number).unwrap() * 7);
        bytes.extend(record::frame_record(number, &Record::Resolved { op: number, how }));
        ends.push(bytes.len());
    }
    (bytes, ends)
}

#[test]
fn a_truncated_journal_is_read_up_to_its_last_complete_record() {
    let (bytes, ends) = some_records();
    for cut in 0..=bytes.len() {
        let log = record::scan_journal(&bytes[..cut]).unwrap();
        let n_whole = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!((log.records.len(), log.end), (n_whole, ends[n_whole]), "cut at {cut}");
    }
}

#[test]
fn garbage_after_the_end_is_ignored() {
    let (bytes, ends) = some_records();
    // Bytes that a file system may leave after the end in a crash.
    for noise in [vec![0; 600], vec![0xff; 600], (0..=255).cycle().take(600).collect()] {
        let log = record::scan_journal(&[bytes.clone(), noise].concat()).unwrap();
        assert_eq!((log.records.len(), log.end), (5, ends[5]));
    }
}

#[test]
fn a_flipped_byte_loses_one_record_that_is_named() {
    let (bytes, ends) = some_records();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        let n_before = ends.iter().filter(|end| **end <= at).count() - 1;
        let lost = n_before as u64 + 1;
        let log = record::scan_journal(&damaged).unwrap();
        let numbers: Vec<u64> = log.records.iter().map(|(number, _)| *number).collect();
        let sound: Vec<u64> = (1..6).filter(|number| *number != lost).collect();
        assert_eq!(numbers, sound, "byte {at}");
        let [gap] = &log.gaps[..] else { panic!("byte {at}: {:?}", log.gaps) };
        assert_eq!((gap.offset, gap.first), (ends[n_before], lost), "byte {at}");
        assert_eq!(gap.kind, LostRecordKind::Other, "byte {at}");
    }
}

#[test]
fn records_that_are_missing_are_a_gap() {
    let (bytes, ends) = some_records();
    let log = record::scan_journal(&[&bytes[..ends[1]], &bytes[ends[3]..]].concat()).unwrap();
    let [gap] = &log.gaps[..] else { panic!("{:?}", log.gaps) };
    assert_eq!((gap.first, gap.last, gap.kind), (2, Some(3), LostRecordKind::Unknown));
    let log = record::scan_journal(&bytes[ends[1]..]).unwrap();
    assert_eq!((log.gaps[0].first, log.gaps[0].last, log.records.len()), (1, Some(1), 4));
}

#[test]
fn subject_of_a_lost_announcement_can_often_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = (parse_addr("t.a[\"k\"]"), test_provider());
    journal
        .announce_internal_call(create_intent(&addr, &provider), InternalRecordTiming::Buffered)
        .unwrap();
    journal.write_buffer();
    let mut bytes = std::fs::read(journal.path()).unwrap();
    let at = bytes.windows(6).position(|window| window == b"create").unwrap();
    // In the action: the address after it can still be read.
    bytes[at] ^= 1;
    let log = record::scan_journal(&bytes).unwrap();
    let [gap] = &log.gaps[..] else { panic!("{:?}", log.gaps) };
    assert_eq!(
        (gap.kind, &gap.addresses[..]),
        (LostRecordKind::Intent, &["t.a[\"k\"]".to_owned()][..])
    );
}

#[test]
fn a_directory_of_journals_that_is_a_link_is_not_followed() {
    let (directory, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let link = directory.path().join("journal");
    // An existing directory, and one that following the link would create.
    for target in [victim.path().to_owned(), victim.path().join("new")] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        let base = StateFile::new_empty();
        let begin = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
        let error = Journal::begin_run(&link, begin).err().unwrap().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(victim.path().read_dir().unwrap().count(), 0);
        std::fs::remove_file(&link).unwrap();
    }
}

#[test]
fn a_copied_journal_is_not_written_through_a_planted_link() {
    let (directory, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, precious) = (directory.path().join("run.wal"), victim.path().join("precious"));
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, path.with_extension("begin")).unwrap();
    write_journal_file(&path, b"journal").unwrap();
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert!(!path.is_symlink());
    assert_eq!(std::fs::read(&path).unwrap(), b"journal");
}

#[test]
fn a_journal_has_its_name_only_once_its_first_record_is_durable() {
    let directory = tempfile::tempdir().unwrap();
    let journals = directory.path().join("journal");
    let (first, killed) = (begin_journal(&directory), journals.join("killed.begin"));
    std::fs::write(&killed, "").unwrap();
    let second = begin_journal(&directory);
    let mut paths: Vec<_> =
        journals.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut expected = vec![first.path().to_owned(), second.path().to_owned()];
    expected.sort();
    assert_eq!(paths, expected, "what a killed run left before it had begun is removed");
    for journal in [first, second] {
        assert_eq!(record_names(&journal), ["RunBegin"]);
    }
}

#[tokio::test]
async fn an_announcement_that_cannot_be_synced_is_withdrawn() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.wal");
    std::fs::write(&path, "").unwrap();
    // Writing to a pipe succeeds, and nothing makes it durable.
    let (mut reader, writer) = io::pipe().unwrap();
    let writer = File::from(std::os::fd::OwnedFd::from(writer));
    let journal = journal_in_file(&path, writer);
    let (a, b, provider) = (parse_addr("t.a"), parse_addr("t.b"), test_provider());
    let [first, second] =
        [&a, &b].map(|addr| journal.announce_operation(create_intent(addr, &provider)));
    let (first, second) = tokio::join!(first, second);
    // A call after the disk has answered finds the journal broken; it is a race which call that is.
    let errors = [first.unwrap_err(), second.unwrap_err()];
    assert!(errors.iter().any(|error| matches!(error, JournalError::Failed { .. })), "{errors:?}");
    let third = journal.announce_operation(create_intent(&a, &provider)).await;
    assert!(matches!(third.unwrap_err(), JournalError::Broken { .. }), "nothing is begun any more");
    journal.end_run().await.unwrap();
    assert!(!path.exists(), "there is nothing that the next run has to know");
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut reader, &mut bytes).unwrap();
    let log = record::scan_journal(&bytes).unwrap();
    let resolved = log.records.iter().filter(|(_, it)| matches!(it, Record::Resolved { .. }));
    assert_eq!(resolved.count(), 2);
}

#[test]
fn a_file_system_without_locks_is_reported() {
    use nix::errno::Errno;
    for errno in [Errno::ENOLCK, Errno::EOPNOTSUPP] {
        let diagnostic =
            JournalError::io_error("lock", Path::new("a.wal"))(errno.into()).diagnostic();
        assert!(diagnostic.detail.contains("does not lock files"), "{}", diagnostic.detail);
    }
    let diagnostic =
        JournalError::io_error("lock", Path::new("a.wal"))(Errno::EPERM.into()).diagnostic();
    assert!(!diagnostic.detail.contains("does not lock files"), "{}", diagnostic.detail);
}
