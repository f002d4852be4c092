//! The buffer: records that the system does not have, and their order in the file.

use std::future::pending;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use formwork_value::{Type, Value};

use super::*;
use crate::addr::{InstanceAddr, ProviderConfigAddr};
use crate::state::file::StateFile;
use crate::state::journal::record::scan_journal;
use crate::state::journal::{
    CallAction, Intent, InternalRecordTiming, OperationId, ProviderAnswer, RunHeader,
    StoredJournalFile,
};
use crate::state::recover::{JournalContent, recover_journals};

fn begin_journal(directory: &tempfile::TempDir) -> Journal {
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "test", base: &base, read_from: None };
    Journal::begin_run(&directory.path().join("journal"), header).unwrap()
}

/// Announces the creation of an object by the built-in provider, which changes nothing outside.
fn announce_internal_call(journal: &Journal, addr: &str) -> Result<OperationId, JournalError> {
    let (addr, provider) = parse_subject(addr, "terraform.io/builtin/terraform");
    journal.announce_internal_call(create_intent(&addr, &provider), InternalRecordTiming::Buffered)
}

fn parse_subject(addr: &str, provider: &str) -> (InstanceAddr, ProviderConfigAddr) {
    (addr.parse().unwrap(), format!("provider[\"{provider}\"]").parse().unwrap())
}

fn create_intent<'a>(addr: &'a InstanceAddr, provider: &'a ProviderConfigAddr) -> Intent<'a> {
    const NULL: &Value = &Value::Null(Type::Dynamic);
    let (action, prior) = (CallAction::Create, None);
    Intent { addr, provider, deposed: None, deposes: None, action, prior, planned: NULL }
}

/// The numbers and names of the records of the file.
fn stored_records(path: &std::path::Path) -> String {
    let log = scan_journal(&std::fs::read(path).unwrap()).unwrap();
    assert!(log.gaps.is_empty(), "{:?}", log.gaps);
    let name = |record: &Record| format!("{record:?}").split([' ', '(']).next().unwrap().to_owned();
    let names: Vec<_> =
        log.records.iter().map(|(n, record)| format!("{n} {}", name(record))).collect();
    names.join(", ")
}

#[tokio::test]
async fn buffered_records_are_written_before_a_call_leaves_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let op = announce_internal_call(&journal, "terraform_data.a").unwrap();
    journal.settle_operation(op, None).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin");
    let (addr, provider) = parse_subject("test_thing.b", "example.com/acme/test");
    let external = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    let expected = "1 RunBegin, 2 Intent, 3 Settled, 4 Intent";
    assert_eq!(stored_records(journal.path()), expected);
    // An answer as well: it is the only record of an object.
    announce_internal_call(&journal, "terraform_data.c").unwrap();
    journal.record_answer(external, ProviderAnswer::default()).unwrap();
    assert_eq!(stored_records(journal.path()), format!("{expected}, 5 Intent, 6 Answer"));
}

#[test]
fn a_result_is_written_before_a_provisioner_runs() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let op = announce_internal_call(&journal, "terraform_data.a").unwrap();
    journal.record_interim_result(op, None).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent, 3 Settled");
}

#[test]
fn the_buffer_is_written_when_the_apply_waits_and_when_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let apply = journal.run_and_write_buffer(async {
        announce_internal_call(&journal, "terraform_data.a").unwrap();
        pending::<()>().await;
    });
    let mut apply = Box::pin(apply);
    let polled = apply.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    drop(apply);
    let mut apply = Box::pin(journal.run_and_write_buffer(async {
        announce_internal_call(&journal, "terraform_data.b").unwrap();
    }));
    let polled = apply.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Ready(((), None))));
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent, 3 Intent");
}

#[test]
fn the_buffer_is_written_when_it_is_large_and_when_the_journal_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let long = format!("terraform_data.a[\"{}\"]", "k".repeat(MAX_BUFFER_LEN));
    announce_internal_call(&journal, &long).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin");
    announce_internal_call(&journal, "terraform_data.b").unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    let path = journal.path().to_owned();
    drop(journal);
    assert_eq!(stored_records(&path), "1 RunBegin, 2 Intent, 3 Intent");
}

#[test]
fn records_of_an_object_with_provisioners_are_written_immediately() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = parse_subject("terraform_data.a", "terraform.io/builtin/terraform");
    let intent = create_intent(&addr, &provider);
    let op = journal.announce_internal_call(intent, InternalRecordTiming::AtOnce).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    journal.record_interim_result(op, None).unwrap();
    journal.settle_operation(op, None).unwrap();
    let expected = "1 RunBegin, 2 Intent, 3 Settled, 4 Settled";
    assert_eq!(stored_records(journal.path()), expected);
}

#[tokio::test]
async fn a_full_disk_rejects_the_buffer_but_stores_a_shorter_answer() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = parse_subject("test_thing.a", "example.com/acme/test");
    let external = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    let settled = announce_internal_call(&journal, "terraform_data.b").unwrap();
    journal.settle_operation(settled, None).unwrap();
    let running = announce_internal_call(&journal, "terraform_data.c").unwrap();
    // The buffer ends with the fifth record, and one more record has room.
    journal.fill_disk_after(3);
    journal.record_answer(external, ProviderAnswer::default()).unwrap();
    let expected = "1 RunBegin, 2 Intent, 3 Answer";
    assert_eq!(stored_records(journal.path()), expected);
    assert!(announce_internal_call(&journal, "terraform_data.d").is_err());
    // The call was dropped with its announcement, so its result cannot be recorded.
    journal.settle_operation(running, None).unwrap();
    let ((), failure) = journal.run_and_write_buffer(async {}).await;
    assert!(matches!(failure, Some(JournalError::Failed { .. })), "{failure:?}");
    assert_eq!(stored_records(journal.path()), expected);
    // No call stays open for the next run.
    journal.fill_disk_after(u64::MAX);
    journal.settle_operation(external, None).unwrap();
    assert_eq!(stored_records(journal.path()), format!("{expected}, 4 Settled"));
    let path = journal.path().to_owned();
    journal.end_run().await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_rejected_buffer_does_not_prevent_a_provider_call() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = parse_subject("test_thing.a", "example.com/acme/test");
    let announcing = journal.announce_operation(create_intent(&addr, &provider));
    let buffering = async {
        // Polled while the announcement, which is written already, waits for the disk.
        announce_internal_call(&journal, "terraform_data.b").unwrap();
        journal.fill_disk_after(2);
        journal.write_buffer();
    };
    let (announced, ()) = futures_util::join!(announcing, buffering);
    announced.unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
}

#[tokio::test]
async fn a_run_with_open_calls_ends_without_the_rejected_buffer() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let (addr, provider) = parse_subject("test_thing.a", "example.com/acme/test");
    journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    announce_internal_call(&journal, "terraform_data.b").unwrap();
    journal.fill_disk_after(2);
    let path = journal.path().to_owned();
    journal.end_run().await.unwrap();
    assert_eq!(stored_records(&path), "1 RunBegin, 2 Intent");
}

#[test]
fn a_journal_truncated_within_the_buffer_has_no_open_operations() {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_journal(&directory);
    let path = journal.path().to_owned();
    let begin = std::fs::read(&path).unwrap().len();
    for name in ["terraform_data.a", "terraform_data.b"] {
        let op = announce_internal_call(&journal, name).unwrap();
        journal.settle_operation(op, None).unwrap();
    }
    journal.write_buffer();
    let complete = std::fs::read(&path).unwrap();
    let base = StateFile::new_empty();
    for length in begin..=complete.len() {
        let stored = Arc::new(StoredJournalFile { path: path.clone() });
        let content =
            JournalContent { journal: stored, bytes: complete[..length].to_vec(), seal: None };
        let recovery = recover_journals(vec![content], Some(base.clone())).unwrap();
        assert!(recovery.unresolved.is_empty(), "cut off at {length}: {:?}", recovery.unresolved);
    }
}
