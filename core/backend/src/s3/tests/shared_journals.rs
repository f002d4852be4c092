//! Journals of runs in the bucket of their state.

use std::time::Duration;

use formwork_core::addr::{InstanceAddr, ProviderConfigAddr};
use formwork_core::state::intent_log::{LocalIntentLog, StateAccess};
use formwork_core::state::journal::{
    CallAction, Intent, Journal, JournalCopyError, JournalError, RunHeader,
};
use formwork_value::Type;

use super::*;
use crate::journals::{AppendOutcome, JournalStore as _};

type Argument = (&'static str, Value);

/// The arguments of a state without a lock, and of one with a lock.
fn locks() -> (Vec<Argument>, Vec<Argument>) {
    (Vec::new(), vec![("use_lockfile", Value::Bool(true))])
}

async fn begin_run(intents: &dyn IntentLog) -> Journal {
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
    intents.begin_run(header).await.unwrap()
}

async fn announce_creation(journal: &Journal) {
    let (addr, provider): (InstanceAddr, ProviderConfigAddr) =
        ("t.a".parse().unwrap(), "provider[\"example.com/acme/t\"]".parse().unwrap());
    let (action, planned) = (CallAction::Create, &Value::Null(Type::Dynamic));
    let (addr, provider) = (&addr, &provider);
    let intent =
        Intent { addr, provider, deposed: None, deposes: None, action, prior: None, planned };
    journal.announce_operation(intent).await.unwrap();
}

/// The part with a journal of one call without a response.
async fn part_of_interrupted_run(tag: u8) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_run(&LocalIntentLog::in_dir(directory.path().join("journal"))).await;
    announce_creation(&journal).await;
    [&[tag], &journal.read_content().unwrap()[..]].concat()
}

/// The responses of a bucket with one part of a run, which was written some seconds before.
fn run_replies(seconds: u32, part: &[u8]) -> [ScriptedReply; 2] {
    let list_body = "<ListBucketResult><Contents><Key>k/s.journal/r/000000000000</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents></ListBucketResult>";
    let date = format!("Date: Thu, 01 Jan 2026 00:{:02}:{:02} GMT", seconds / 60, seconds % 60);
    [ScriptedReply::new("200 OK", list_body).header(&date), ScriptedReply::new("200 OK", part)]
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_journal_that_conflicts_was_not_taken_over() {
    let (directory, conflict) = (tempfile::tempdir().unwrap(), || {
        error_reply("409 Conflict", "ConditionalRequestConflict")
    });
    let append = async |server: ScriptedServer| {
        let journals = new_backend_in(directory.path(), &server, &[]).shared_journals("default");
        journals.append_part("r", 1, b"x").await
    };
    let server = ScriptedServer::start([conflict(), success_reply("1")]);
    assert_eq!(append(server).await.unwrap(), AppendOutcome::Stored);
    // Neither `Occupied`, which means that the run was taken over, nor a reason to do without the copy.
    assert!(append(ScriptedServer::start((0..5).map(|_| conflict()))).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_lock_is_taken_over_only_when_it_writes_no_heartbeat() {
    let (none, lockfile) = locks();
    let (own_part, taken_over) =
        (part_of_interrupted_run(b'r').await, part_of_interrupted_run(b'c').await);
    let recover = async |replies: [ScriptedReply; 2],
                         access: StateAccess,
                         extra_arguments: &[Argument]| {
        let (directory, server) = (tempfile::tempdir().unwrap(), ScriptedServer::start(replies));
        let intents = new_backend_in(directory.path(), &server, extra_arguments)
            .intent_log_of(DEFAULT_WORKSPACE);
        let recovered = intents.recover_runs(None, access).await;
        recovered.map(|recovery| recovery.unresolved.len())
    };
    let error = recover(run_replies(30, &own_part), StateAccess::Locked, &none).await.unwrap_err();
    assert!(matches!(error, JournalError::Copy(JournalCopyError::MayGoOn { .. })), "{error:?}");
    let detail = error.diagnostic().detail;
    for part in ["(apply, since ", "30 seconds ago", "again in 91 seconds", "use_lockfile"] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    for (replies, access, extra_arguments, n_open) in [
        // A reader sees exactly the state.
        (run_replies(30, &own_part), StateAccess::ReadOnly, &none, 0),
        (run_replies(130, &own_part), StateAccess::Locked, &none, 1),
        (run_replies(130, &own_part), StateAccess::ReadOnly, &none, 1),
        // Another process has taken it over, so the run itself cannot continue.
        (run_replies(30, &taken_over), StateAccess::Locked, &none, 1),
        // The lock shows that the run is not active.
        (run_replies(30, &own_part), StateAccess::Locked, &lockfile, 1),
    ] {
        assert_eq!(recover(replies, access, extra_arguments).await.unwrap(), n_open);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_lock_writes_heartbeats() {
    let list_reply = || ScriptedReply::new("200 OK", "<ListBucketResult></ListBucketResult>");
    let (none, lockfile) = locks();
    for (extra_arguments, n_requests) in [(&none, 4), (&lockfile, 2)] {
        let directory = tempfile::tempdir().unwrap();
        let stored = (0..3).map(|_| success_reply("1"));
        let server = ScriptedServer::start([list_reply()].into_iter().chain(stored));
        let intents = new_backend_in(directory.path(), &server, extra_arguments)
            .intent_log_of(DEFAULT_WORKSPACE);
        let _journal = begin_run(&*intents).await;
        tokio::time::sleep(Duration::from_secs(50)).await;
        let requests = server.received_requests();
        assert_eq!(requests.len(), n_requests, "{:?}", server.request_lines());
        if let Some(last_request) = requests.get(3) {
            assert!(last_request.line.ends_with("/000000000002"), "{}", last_request.line);
            assert_eq!(last_request.body, b"r", "no records");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_without_a_response_is_not_treated_as_a_part_of_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let list_reply = ScriptedReply::new("200 OK", "<ListBucketResult></ListBucketResult>");
    let failing = (0..7).map(|_| error_reply("400 Bad Request", "Down"));
    let server =
        ScriptedServer::start([list_reply, success_reply("0")].into_iter().chain(failing).chain([
            // Stored by one of the attempts.
            error_reply("412 Precondition Failed", "PreconditionFailed"),
            ScriptedReply::new("200 OK", "r"),
            success_reply("2"),
        ]));
    let intents = new_backend_in(directory.path(), &server, &[]).intent_log_of(DEFAULT_WORKSPACE);
    let journal = begin_run(&*intents).await;
    // After the attempts at the first heartbeat, and before the second.
    tokio::time::sleep(Duration::from_secs(35)).await;
    announce_creation(&journal).await;
    let lines = server.request_lines();
    assert_eq!(lines.len(), 12, "{lines:?}");
    assert!(lines[9].starts_with("PUT ") && lines[9].ends_with("/000000000001"), "{lines:?}");
    assert!(lines[11].ends_with("/000000000002"), "{lines:?}");
}
