//! Journals of runs next to the state at a URL, on servers with and without support for them.

use std::path::Path;

use formwork_core::addr::{InstanceAddr, ProviderConfigAddr};
use formwork_core::state::journal::{CallAction, Intent, Journal, JournalCopyError, JournalError};
use formwork_value::Value;

use super::*;
use crate::journals::ObjectStore as _;

fn json_reply(body: &str) -> ScriptedReply {
    ScriptedReply::new("200 OK", body).header("Content-Type: application/json; charset=utf-8")
}

fn empty_list() -> ScriptedReply {
    json_reply(r#"{"objects": []}"#)
}

fn created_reply() -> ScriptedReply {
    ScriptedReply::new("201 Created", "")
}

/// The backend of a state on a server, on a machine with a directory.
fn new_backend(directory: &Path, server: &ScriptedServer, has_lock: bool) -> HttpBackend {
    let address = format!("{}/s?team=a", server.url);
    let address = address.as_str();
    let mut arguments = vec![("address", address), ("username", "u"), ("password", "p")];
    if has_lock {
        arguments.push(("lock_address", address));
    }
    configure_backend_in(directory, &arguments)
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

#[tokio::test(start_paused = true)]
async fn a_server_without_journal_support_is_queried_once_and_the_journal_is_local() {
    for reply in [
        ScriptedReply::new("404 Not Found", ""),
        ScriptedReply::new("405 Method Not Allowed", ""),
        ScriptedReply::new("204 No Content", ""),
        ScriptedReply::new("200 OK", "<html></html>").header("Content-Type: text/html"),
        ScriptedReply::new("200 OK", r#"{"objects": []}"#),
        // Servers with one state for any address, or with a list of something else.
        json_reply(r#"{"version": 4}"#),
        json_reply(r#"{"objects": 3}"#),
        json_reply("[]"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let server = ScriptedServer::start([reply.clone()]);
        // A command opens its state several times.
        let open = || new_backend(directory.path(), &server, true).intent_log(DEFAULT_WORKSPACE);
        assert!(!open().has_unfinished_run().await, "{reply:?}");
        let intents = open();
        let recovery = intents.recover_runs(None, StateAccess::Locked).await.unwrap();
        assert!(recovery.is_empty(), "{reply:?}");
        let journal = begin_run(&*intents).await;
        announce_creation(&journal).await;
        // `init` has reported it, so that runs do not have to.
        assert_eq!(intents.local_journal_only_reason(), None);
        assert!(Path::new(journal.location()).exists());
        drop(journal);
        let recovery = open().recover_runs(None, StateAccess::Locked).await.unwrap();
        assert_eq!(recovery.unresolved.len(), 1);
        assert_eq!(server.request_lines(), ["GET /s.journal/?team=a"], "{reply:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_or_has_an_invalid_list_may_keep_the_journal_of_a_run() {
    let failing = || ScriptedReply::new("500 Internal Server Error", "");
    for (replies, reason) in [
        (vec![failing(), failing(), failing()], "500 Internal Server Error"),
        (vec![json_reply(r#"{"objects": [{"name": "r/0"}]}"#)], "missing field `age_seconds`"),
        (vec![json_reply(r#"{"objects": ["r/0"]}"#)], "the list of journals is invalid"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let server = ScriptedServer::start(replies);
        let intents = new_backend(directory.path(), &server, true).intent_log(DEFAULT_WORKSPACE);
        let error = intents.recover_runs(None, StateAccess::Locked).await.unwrap_err();
        let JournalError::Copy(JournalCopyError::Failed { cause, .. }) = error else {
            panic!("{error:?}");
        };
        assert!(cause.to_string().contains(reason), "{cause}");
    }
}

#[tokio::test(start_paused = true)]
async fn init_queries_a_server_once_for_journal_support() {
    for (reply, is_kept) in [
        (empty_list(), true),
        (ScriptedReply::new("404 Not Found", ""), false),
        (ScriptedReply::new("500 Internal Server Error", ""), false),
        (ScriptedReply::Reset, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let server = ScriptedServer::start([reply]);
        let backend = new_backend(directory.path(), &server, true);
        assert_eq!(backend.shares_journals().await, is_kept);
        assert_eq!(server.request_lines().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn journal_parts_are_stored_next_to_the_state_and_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let server = ScriptedServer::start([empty_list(), created_reply(), created_reply()]);
    let intents = new_backend(directory.path(), &server, true).intent_log(DEFAULT_WORKSPACE);
    let journal = begin_run(&*intents).await;
    announce_creation(&journal).await;
    let run = journal.run_id();
    let part = |number: u32| format!("PUT /s.journal/{run}/{number:012}?team=a");
    let list = "GET /s.journal/?team=a".to_owned();
    assert_eq!(server.request_lines(), [list, part(0), part(1)]);
    let requests = server.received_requests();
    assert!(
        requests.iter().all(|request| request.headers["authorization"] == "Basic dTpw"),
        "{requests:?}"
    );
    for put in &requests[1..] {
        assert_eq!(put.headers["if-none-match"], "*");
        assert!(put.body.starts_with(b"r"), "{put:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_part_is_reported_and_an_existing_part_means_a_take_over() {
    let directory = tempfile::tempdir().unwrap();
    let refused_reply = ScriptedReply::new("403 Forbidden", "");
    let server = ScriptedServer::start([empty_list(), refused_reply]);
    let intents = new_backend(directory.path(), &server, true).intent_log(DEFAULT_WORKSPACE);
    begin_run(&*intents).await;
    let reason = intents.local_journal_only_reason().unwrap();
    assert!(reason.contains("rejects the credentials"), "{reason}");

    let exists = ScriptedReply::new("412 Precondition Failed", "");
    let other_content = ScriptedReply::new("200 OK", "e");
    let server = ScriptedServer::start([empty_list(), exists, other_content]);
    let intents = new_backend(directory.path(), &server, true).intent_log(DEFAULT_WORKSPACE);
    let base = StateFile::new_empty();
    let header = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
    let error = intents.begin_run(header).await.map(drop).unwrap_err();
    assert!(matches!(error, JournalError::Copy(JournalCopyError::TakenOver { .. })), "{error:?}");
}

/// The part with a journal of one call without a response.
async fn part_of_interrupted_run() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let journal = begin_run(&LocalIntentLog::in_dir(directory.path().join("journal"))).await;
    announce_creation(&journal).await;
    [&b"r"[..], &journal.read_content().unwrap()].concat()
}

#[tokio::test(start_paused = true)]
async fn a_lock_shows_its_holder_and_parts_show_others_that_no_run_is_active() {
    let part = part_of_interrupted_run().await;
    for (age, access, has_lock, n_open) in [
        (30, StateAccess::Locked, true, Some(1)),
        (30, StateAccess::ReadOnly, true, Some(0)),
        (130, StateAccess::ReadOnly, true, Some(1)),
        // The run may still be active.
        (30, StateAccess::Locked, false, None),
        (30, StateAccess::ReadOnly, false, Some(0)),
        (130, StateAccess::Locked, false, Some(1)),
    ] {
        let list =
            format!(r#"{{"objects": [{{"name": "r/000000000000", "age_seconds": {age}}}]}}"#);
        let replies = [json_reply(&list), ScriptedReply::new("200 OK", part.clone())];
        let (directory, server) = (tempfile::tempdir().unwrap(), ScriptedServer::start(replies));
        let intents =
            new_backend(directory.path(), &server, has_lock).intent_log(DEFAULT_WORKSPACE);
        let n_found = match intents.recover_runs(None, access).await {
            Ok(recovery) => Some(recovery.unresolved.len()),
            Err(JournalError::Copy(JournalCopyError::MayGoOn { .. })) => None,
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(n_found, n_open, "{age} seconds, {access:?}, lock: {has_lock}");
    }
}

#[tokio::test(start_paused = true)]
async fn runs_write_heartbeats_because_readers_cannot_see_the_lock() {
    for has_lock in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let stored = (0..3).map(|_| created_reply());
        let server = ScriptedServer::start([empty_list()].into_iter().chain(stored));
        let intents =
            new_backend(directory.path(), &server, has_lock).intent_log(DEFAULT_WORKSPACE);
        let _journal = begin_run(&*intents).await;
        tokio::time::sleep(Duration::from_secs(50)).await;
        let requests = server.received_requests();
        assert_eq!(requests.len(), 4, "{:?}", server.request_lines());
        assert_eq!(requests[3].body, b"r", "no records");
    }
}

#[test]
fn journals_are_sent_only_to_the_host_of_the_state() {
    for (address, expected) in [
        ("http://h", "http://h/.journal/"),
        ("http://h:8080/a/b", "http://h:8080/a/b.journal/"),
        ("http://h/a/", "http://h/a/.journal/"),
        ("https://u:p@h/a?b=c", "https://h/a.journal/?..."),
        ("https://h?b=c", "https://h/.journal/?..."),
    ] {
        let backend = configure_backend_in(Path::new("unused"), &[("address", address)]);
        assert_eq!(backend.journals.location(".journal/"), expected);
    }
}
