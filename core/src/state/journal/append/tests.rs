//! The buffer: records that the system does not have, and their order in the file.

use std::future::pending;
use std::task::{Context, Poll, Waker};

use formwork_value::{Type, Value};

use super::*;
use crate::addr::{InstanceAddr, ProviderConfigAddr};
use crate::state::file::StateFile;
use crate::state::journal::record::scan_journal;
use crate::state::journal::{CallAction, Intent, OperationId, ProviderAnswer, RunHeader};

fn begin_journal(folder: &tempfile::TempDir) -> Journal {
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "test", base: &base, read_from: None };
    Journal::begin_run(&folder.path().join("journal"), header).unwrap()
}

/// Announces the creation of an object by the built-in provider, which changes nothing outside.
fn announce_internal(journal: &Journal, addr: &str) -> Result<OperationId, JournalError> {
    let (addr, provider) = parse_subject(addr, "terraform.io/builtin/terraform");
    journal.announce_internal(create_intent(&addr, &provider))
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
async fn a_call_that_leaves_the_process_comes_behind_everything_buffered() {
    let folder = tempfile::tempdir().unwrap();
    let journal = begin_journal(&folder);
    let op = announce_internal(&journal, "terraform_data.a").unwrap();
    journal.settle_operation(op, None).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin");
    let (addr, provider) = parse_subject("test_thing.b", "example.com/acme/test");
    let external = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    let expected = "1 RunBegin, 2 Intent, 3 Settled, 4 Intent";
    assert_eq!(stored_records(journal.path()), expected);
    // An answer as well: it is the only record of an object.
    announce_internal(&journal, "terraform_data.c").unwrap();
    journal.record_answer(external, ProviderAnswer::default()).unwrap();
    assert_eq!(stored_records(journal.path()), format!("{expected}, 5 Intent, 6 Answer"));
}

#[test]
fn a_result_is_with_the_system_before_a_provisioner_runs() {
    let folder = tempfile::tempdir().unwrap();
    let journal = begin_journal(&folder);
    let op = announce_internal(&journal, "terraform_data.a").unwrap();
    journal.record_interim_result(op, None).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent, 3 Settled");
}

#[test]
fn the_buffer_is_written_when_the_apply_waits_and_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let journal = begin_journal(&folder);
    let apply = journal.run_and_write_buffer(async {
        announce_internal(&journal, "terraform_data.a").unwrap();
        pending::<()>().await;
    });
    let mut apply = Box::pin(apply);
    let polled = apply.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    drop(apply);
    let mut apply = Box::pin(journal.run_and_write_buffer(async {
        announce_internal(&journal, "terraform_data.b").unwrap();
    }));
    let polled = apply.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Ready(((), None))));
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent, 3 Intent");
}

#[test]
fn the_buffer_is_written_when_it_is_large_and_when_the_journal_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let journal = begin_journal(&folder);
    let long = format!("terraform_data.a[\"{}\"]", "k".repeat(MAX_BUFFER_LEN));
    announce_internal(&journal, &long).unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    announce_internal(&journal, "terraform_data.b").unwrap();
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    let path = journal.path().to_owned();
    drop(journal);
    assert_eq!(stored_records(&path), "1 RunBegin, 2 Intent, 3 Intent");
}

#[tokio::test]
async fn a_full_disk_leaves_no_gap_and_is_reported_by_the_apply() {
    let folder = tempfile::tempdir().unwrap();
    let journal = begin_journal(&folder);
    let (addr, provider) = parse_subject("test_thing.a", "example.com/acme/test");
    let external = journal.announce_operation(create_intent(&addr, &provider)).await.unwrap();
    let op = announce_internal(&journal, "terraform_data.b").unwrap();
    journal.settle_operation(op, None).unwrap();
    journal.fill_disk_after(2);
    let ((), failure) = journal.run_and_write_buffer(async {}).await;
    assert!(matches!(failure, Some(JournalError::Io { .. })), "{failure:?}");
    assert!(announce_internal(&journal, "terraform_data.c").is_err());
    assert!(journal.record_answer(external, ProviderAnswer::default()).is_err());
    assert_eq!(stored_records(journal.path()), "1 RunBegin, 2 Intent");
    // There is room again: the answer comes behind what is still buffered.
    journal.fill_disk_after(u64::MAX);
    journal.record_answer(external, ProviderAnswer::default()).unwrap();
    let expected = "1 RunBegin, 2 Intent, 3 Intent, 4 Settled, 5 Answer";
    assert_eq!(stored_records(journal.path()), expected);
}
