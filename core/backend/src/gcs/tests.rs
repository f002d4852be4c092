//! Objects, generations, tokens, and faults of their services.

use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::StateAccess;
use formwork_value::{Str, Value};

use super::*;
use crate::arguments::BackendEnvironment;
use crate::journals::{AppendOutcome, JournalStore as _, SharedRun};
use crate::lock::LockInfo;
use crate::scripted_server::{
    ScriptedReply, ScriptedServer, configure_backend_with_variables, test_state_text,
};
use crate::store::{StateStore, StoreError};

/// A 2,048-bit key that protects nothing.
const SERVICE_ACCOUNT_KEY: &str = include_str!("tests/service-account.pem");

fn object_reply(content: &[u8], generation: u64) -> ScriptedReply {
    ScriptedReply::new("200 OK", content).header(&format!("X-Goog-Generation: {generation}"))
}

fn not_found_reply() -> ScriptedReply {
    ScriptedReply::new("404 Not Found", "No such object: states/a b/default.tfstate")
}

fn stored_reply(generation: u64) -> ScriptedReply {
    ScriptedReply::new(
        "200 OK",
        format!(r#"{{"kind":"storage#object","generation":"{generation}"}}"#),
    )
}

fn precondition_failed_reply() -> ScriptedReply {
    ScriptedReply::new(
        "412 Precondition Failed",
        r#"{"error":{"code":412,"message":"Precondition failed"}}"#,
    )
}

fn lock_reply(id: &str, generation: u64) -> ScriptedReply {
    object_reply(format!(r#"{{"ID":"{id}","Who":"ana@host"}}"#).as_bytes(), generation)
}

fn new_backend(
    server: &ScriptedServer,
    more: &[(&'static str, Value)],
    variables: &[(&str, &str)],
) -> Arc<dyn Backend> {
    let mut all = vec![
        ("bucket", Value::string("states")),
        ("prefix", Value::string("/a b/")),
        ("storage_custom_endpoint", Value::string(format!("{}/storage/v1/b", server.url).as_str())),
    ];
    all.extend_from_slice(more);
    configure_backend_with_variables("gcs", &all, variables).unwrap()
}

async fn open_store(server: &ScriptedServer) -> Box<dyn StateStore> {
    let token = [("access_token", Value::string("secret"))];
    new_backend(server, &token, &[]).open_store(DEFAULT_WORKSPACE).await.unwrap()
}

async fn read_and_change(store: &mut dyn StateStore) -> StateFile {
    let mut file = store.read().await.unwrap().unwrap_or_else(StateFile::new_empty);
    file.check_results = Some(b"[\"x\"]".to_vec().into());
    file
}

#[tokio::test(start_paused = true)]
async fn an_object_is_written_only_over_the_generation_that_was_read() {
    let read = || object_reply(&test_state_text(1), 7);
    let server = ScriptedServer::start([read(), read(), stored_reply(8)]);
    let mut store = open_store(&server).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[0].line, "GET /storage/v1/b/states/o/a%20b%2Fdefault.tfstate?alt=media");
    assert_eq!(requests[0].headers["authorization"], "Bearer secret");
    assert_eq!(
        requests[2].line,
        "POST /upload/storage/v1/b/states/o?uploadType=media&name=a%20b%2Fdefault.tfstate&ifGenerationMatch=7"
    );
    let server = ScriptedServer::start([not_found_reply(), not_found_reply(), stored_reply(8)]);
    let mut store = open_store(&server).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    // The service expects zero for an object that does not exist.
    assert!(
        server.request_lines()[2].ends_with("ifGenerationMatch=0"),
        "{:?}",
        server.request_lines()
    );
}

#[tokio::test(start_paused = true)]
async fn a_generation_of_another_program_is_kept_and_a_lost_response_is_not_a_conflict() {
    let read = |serial| object_reply(&test_state_text(serial), 6 + serial);
    let server =
        ScriptedServer::start([read(1), read(1), precondition_failed_reply(), read(2), read(2)]);
    let mut store = open_store(&server).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");

    // The first attempt reached the server, but its response was lost.
    let mut written = StateFile::parse(&test_state_text(1)).unwrap();
    written.check_results = Some(b"[\"x\"]".to_vec().into());
    written.serial = 2;
    written.terraform_version = formwork_core::version::LANGUAGE_VERSION.to_string();
    let now = object_reply(&written.to_bytes(), 8);
    let server = ScriptedServer::start([
        read(1),
        read(1),
        ScriptedReply::Truncated,
        precondition_failed_reply(),
        now,
    ]);
    let mut store = open_store(&server).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert_eq!(file.serial, 2);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_with_another_request_is_repeated() {
    let read = || object_reply(&test_state_text(1), 7);
    let conflict = ScriptedReply::new(
        "409 Conflict",
        r#"{"error":{"code":409,"errors":[{"reason":"conflict"}],"message":"Conflict"}}"#,
    );
    let slow = ScriptedReply::new("408 Request Timeout", "");
    let server = ScriptedServer::start([read(), read(), conflict, slow, stored_reply(8)]);
    let mut store = open_store(&server).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert_eq!(file.serial, 2);
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_an_object_whose_generation_is_its_id() {
    let released_reply = ScriptedReply::new("204 No Content", "");
    let server = ScriptedServer::start([stored_reply(9), released_reply]);
    let mut store = open_store(&server).await;
    let taken = store.try_lock("OperationTypeApply").await.unwrap();
    store.unlock(taken).await.unwrap();
    let requests = server.received_requests();
    assert!(requests[0].line.ends_with("name=a%20b%2Fdefault.tflock&ifGenerationMatch=0"));
    let info: LockInfo = serde_json::from_slice(&requests[0].body).unwrap();
    assert_eq!(info.path, "gs://states/a b/default.tflock");
    assert_eq!(
        requests[1].line,
        "DELETE /storage/v1/b/states/o/a%20b%2Fdefault.tflock?ifGenerationMatch=9"
    );

    let server = ScriptedServer::start([precondition_failed_reply(), lock_reply("uuid", 9)]);
    let error = open_store(&server).await.try_lock("test").await.unwrap_err();
    assert!(error.diagnostic().detail.contains("force-unlock 9"), "{error:?}");
    let server = ScriptedServer::start([lock_reply("uuid", 9)]);
    let lock_info = open_store(&server).await.current_lock_holder().await.unwrap().unwrap();
    assert_eq!((lock_info.id.as_str(), lock_info.who.as_str()), ("9", "ana@host"));
}

#[tokio::test(start_paused = true)]
async fn a_release_after_a_lost_response_succeeds() {
    for again in [not_found_reply(), precondition_failed_reply()] {
        let replies = [stored_reply(9), ScriptedReply::Truncated, again.clone()];
        let mut store = open_store(&ScriptedServer::start(replies)).await;
        let taken = store.try_lock("test").await.unwrap();
        store.unlock(taken).await.unwrap();
        let replies = [lock_reply("uuid", 9), ScriptedReply::Reset, again];
        open_store(&ScriptedServer::start(replies)).await.force_unlock("9").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_another_process_is_not_released() {
    for (id, replies) in [
        // As in Terraform, `force-unlock` requires the generation, not the ID in the content.
        ("uuid", vec![lock_reply("uuid", 9)]),
        ("8", vec![lock_reply("uuid", 9)]),
        // Another process acquires the lock in between.
        ("9", vec![lock_reply("uuid", 9), precondition_failed_reply(), lock_reply("other", 10)]),
        ("9", vec![not_found_reply()]),
    ] {
        let server = ScriptedServer::start(replies);
        let error = open_store(&server).await.force_unlock(id).await.unwrap_err();
        assert!(matches!(error, StoreError::NotLocked { .. }), "{error:?}");
    }
    let server =
        ScriptedServer::start([lock_reply("uuid", 9), ScriptedReply::new("204 No Content", "")]);
    open_store(&server).await.force_unlock("9").await.unwrap();

    // A lock that was released by force is reported at the end.
    let server = ScriptedServer::start([
        stored_reply(9),
        precondition_failed_reply(),
        lock_reply("other", 10),
    ]);
    let mut store = open_store(&server).await;
    let taken = store.try_lock("test").await.unwrap();
    let error = store.unlock(taken).await.unwrap_err().to_string();
    assert!(error.contains("by force, and ana@host"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn service_errors_are_reported_with_call_cause_and_remedy() {
    let busy = || ScriptedReply::new("503 Service Unavailable", "backendError");
    let many = || ScriptedReply::new("429 Too Many Requests", "rateLimitExceeded");
    let server = ScriptedServer::start([
        busy(),
        ScriptedReply::Truncated,
        many(),
        ScriptedReply::Reset,
        object_reply(&test_state_text(4), 7),
    ]);
    assert_eq!(open_store(&server).await.read().await.unwrap().unwrap().serial, 4);
    let refusal = |status, message: &str| {
        ScriptedReply::new(status, format!(r#"{{"error":{{"code":1,"message":"{message}"}}}}"#))
    };
    for (replies, reason) in [
        (vec![busy(); 6], "backendError"),
        (vec![refusal("401 Unauthorized", "Invalid Credentials")], "renew them"),
        (vec![refusal("403 Forbidden", "no storage.objects.get")], "lack the permission"),
        (vec![refusal("404 Not Found", "The specified bucket does not exist.")], "check bucket"),
        (vec![refusal("400 Bad Request", "The target object is encrypted")], "encryption_key"),
        (vec![ScriptedReply::new("404 Not Found", "<html>")], "check bucket"),
        (vec![ScriptedReply::Reset; 6], "(after 6 attempts)"),
    ] {
        let server = ScriptedServer::start(replies);
        let error = open_store(&server).await.read().await.unwrap_err().to_string();
        assert!(error.contains("GET http://127.0.0.1:") && error.contains(reason), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn states_are_encrypted_with_the_key_of_the_arguments_and_locks_are_not() {
    let key = STANDARD.encode([7; 32]);
    let server = ScriptedServer::start([
        not_found_reply(),
        not_found_reply(),
        stored_reply(1),
        stored_reply(2),
    ]);
    let variables = [("GOOGLE_ENCRYPTION_KEY", key.as_str()), ("GOOGLE_OAUTH_ACCESS_TOKEN", "t")];
    let mut store =
        new_backend(&server, &[], &variables).open_store(DEFAULT_WORKSPACE).await.unwrap();
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let _lock = store.try_lock("test").await.unwrap();
    let requests = server.received_requests();
    for request in &requests[..3] {
        assert_eq!(request.headers["x-goog-encryption-key"], key);
        assert_eq!(request.headers["x-goog-encryption-algorithm"], "AES256");
    }
    assert!(!requests[3].headers.contains_key("x-goog-encryption-key"));

    let server = ScriptedServer::start([not_found_reply(), not_found_reply(), stored_reply(1)]);
    let kms = [("kms_encryption_key", Value::string("projects/p/k"))];
    let variables = [("GOOGLE_OAUTH_ACCESS_TOKEN", "t")];
    let mut store =
        new_backend(&server, &kms, &variables).open_store(DEFAULT_WORKSPACE).await.unwrap();
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert!(
        server.request_lines()[2].ends_with("&kmsKeyName=projects%2Fp%2Fk"),
        "{:?}",
        server.request_lines()
    );
}

#[tokio::test(start_paused = true)]
async fn a_service_account_exchanges_a_signed_assertion_for_a_token() {
    let issued = r#"{"access_token":"issued","expires_in":3599,"token_type":"Bearer"}"#;
    let no = ScriptedReply::new("400 Bad Request", r#"{"error":"invalid_grant"}"#);
    let server = ScriptedServer::start([
        ScriptedReply::new("200 OK", issued),
        not_found_reply(),
        not_found_reply(),
        no,
    ]);
    let account = serde_json::json!({
        "type": "service_account",
        "client_email": "a@p.iam.gserviceaccount.com",
        "private_key": SERVICE_ACCOUNT_KEY,
        "private_key_id": "k-1",
        "token_uri": format!("{}/token", server.url),
    });
    let account = account.to_string();
    let variables = [("GOOGLE_CREDENTIALS", account.as_str())];
    let open =
        async || new_backend(&server, &[], &variables).open_store(DEFAULT_WORKSPACE).await.unwrap();
    let mut store = open().await;
    store.read().await.unwrap();
    store.read().await.unwrap();
    let requests = server.received_requests();
    let lines: Vec<&str> =
        requests.iter().map(|request| request.line.split('?').next().unwrap()).collect();
    // The token is reused.
    assert_eq!(lines[0], "POST /token");
    assert!(lines[1..].iter().all(|line| line.starts_with("GET ")), "{lines:?}");
    assert_eq!(requests[1].headers["authorization"], "Bearer issued");
    let form = String::from_utf8(requests[0].body.clone()).unwrap();
    let (_, assertion) = form.split_once("&assertion=").unwrap();
    let claims = assertion.split('.').nth(1).unwrap();
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(claims).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["iss"], "a@p.iam.gserviceaccount.com");
    assert_eq!(claims["aud"], format!("{}/token", server.url));

    let error = open().await.read().await.unwrap_err().to_string();
    assert!(error.contains("invalid_grant") && error.contains("check the key"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn names_of_all_pages_are_listed() {
    let page = |names: &[&str], next: &str| {
        let items: Vec<_> = names.iter().map(|name| serde_json::json!({ "name": name })).collect();
        let page = serde_json::json!({ "items": items, "nextPageToken": next });
        ScriptedReply::new("200 OK", page.to_string())
    };
    let server = ScriptedServer::start([
        page(&["a b/two.tfstate", "a b/default.tfstate", "a b/two.tflock"], "p/1"),
        page(&["a b/one.tfstate"], ""),
        ScriptedReply::new("200 OK", r#"{"kind":"storage#objects"}"#),
    ]);
    let backend = new_backend(&server, &[("access_token", Value::string("t"))], &[]);
    assert_eq!(backend.workspaces().await.unwrap(), [DEFAULT_WORKSPACE, "one", "two"]);
    assert_eq!(
        server.request_lines()[1],
        "GET /storage/v1/b/states/o?delimiter=%2F&prefix=a%20b%2F&pageToken=p%2F1"
    );
    assert_eq!(backend.workspaces().await.unwrap(), [DEFAULT_WORKSPACE]);
}

#[test]
fn arguments_that_are_not_valid_are_refused() {
    let refusal = |extra_arguments: &[(&'static str, &str)], variables: &[(&str, &str)]| {
        let mut all = vec![("bucket", Value::string("b"))];
        all.extend(extra_arguments.iter().map(|(name, text)| (*name, Value::string(*text))));
        let backend = configure_backend_with_variables("gcs", &all, variables);
        backend.map_or_else(|error| error.message, |backend| backend.location(DEFAULT_WORKSPACE))
    };
    assert_eq!(refusal(&[("prefix", "p")], &[]), "gs://b/p/default.tfstate");
    assert!(refusal(&[("credentials", "/none")], &[]).contains("neither valid json"));
    assert!(
        refusal(&[], &[("GOOGLE_APPLICATION_CREDENTIALS", "/none")]).contains("cannot be read")
    );
    assert!(refusal(&[("encryption_key", "c2hvcnQ=")], &[]).contains("a key of 32 bytes"));
    let both = [("encryption_key", ""), ("kms_encryption_key", "")];
    assert!(refusal(&both, &[]).contains("can't set both"));
    assert!(refusal(&[("storage_custom_endpoint", "h:1")], &[]).contains("not a URL"));
}

/// The journals beside the state of the default workspace.
fn shared_journals(server: &ScriptedServer) -> ObjectJournals<GcsObjects> {
    let endpoint = format!("{}/storage/v1/b", server.url);
    let given = [
        ("bucket", "states"),
        ("prefix", "a b"),
        ("storage_custom_endpoint", endpoint.as_str()),
        ("access_token", "secret"),
    ];
    let given = given.map(|(name, text)| (Str::new(name), Value::string(text)));
    let values = GcsBackendKind.schema().coerce(&Value::object(given)).unwrap();
    let environment = BackendEnvironment { root: "unused".into(), ..BackendEnvironment::default() };
    let arguments = BackendArguments { values: &values, environment: &environment };
    GcsBackend::from_arguments(&arguments).unwrap().shared_journals(DEFAULT_WORKSPACE)
}

fn list_reply(names: &[&str]) -> ScriptedReply {
    let items: Vec<String> = names.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
    ScriptedReply::new("200 OK", format!(r#"{{"items":[{}]}}"#, items.join(",")))
}

#[tokio::test(start_paused = true)]
async fn a_journal_part_is_an_object_that_is_created_once() {
    let server = ScriptedServer::start([
        list_reply(&[]),
        stored_reply(1),
        // The response to an attempt was lost.
        precondition_failed_reply(),
        object_reply(b"part", 2),
        // Another machine has taken over the run.
        precondition_failed_reply(),
        object_reply(b"theirs", 3),
    ]);
    let journals = shared_journals(&server);
    assert_eq!(journals.store_location(), "gs://states/a b/default.tfstate.journal/");
    assert_eq!(journals.begin_run("run").await.unwrap(), None);
    for (number, outcome) in
        [(0, AppendOutcome::Stored), (1, AppendOutcome::Stored), (2, AppendOutcome::Occupied)]
    {
        assert_eq!(journals.append_part("run", number, b"part").await.unwrap(), outcome);
    }
    let requests = server.received_requests();
    let first = "a%20b%2Fdefault.tfstate.journal%2Frun%2F000000000000";
    // Without a delimiter, which would exclude the objects in directories.
    assert_eq!(requests[0].line, format!("GET /storage/v1/b/states/o?prefix={first}"));
    assert_eq!(
        requests[1].line,
        format!(
            "POST /upload/storage/v1/b/states/o?uploadType=media&name={first}&ifGenerationMatch=0"
        )
    );
    assert_eq!(requests[1].body, b"part");
}

#[tokio::test(start_paused = true)]
async fn parts_of_journals_are_read_and_removed_by_their_names() {
    let name = |number: &str| format!("a b/default.tfstate.journal/run/{number}");
    let (first, last) = (name("000000000000"), name("000000000007"));
    let listed = || list_reply(&[&last, &first, &name("x"), "a b/default.tfstate.journal/x"]);
    let part = |text: &[u8]| object_reply(text, 1);
    let server = ScriptedServer::start([listed(), part(b"0"), part(b"7")]);
    let runs = shared_journals(&server).read_runs(StateAccess::Locked).await.unwrap();
    let parts = vec![(0, b"0".to_vec()), (7, b"7".to_vec())];
    assert_eq!(runs, [SharedRun { id: "run".to_owned(), is_live: false, silent_for: None, parts }]);

    // To a reader, the run is active while the lock exists.
    let server = ScriptedServer::start([listed(), lock_reply("uuid", 9)]);
    let runs = shared_journals(&server).read_runs(StateAccess::ReadOnly).await.unwrap();
    assert_eq!(
        runs,
        [SharedRun { id: "run".to_owned(), is_live: true, silent_for: None, parts: Vec::new() }]
    );

    let server = ScriptedServer::start([listed(), ScriptedReply::new("204 No Content", "")]);
    shared_journals(&server).remove_parts_below("run", 7).await.unwrap();
    let removed = &server.request_lines()[1];
    assert!(removed.starts_with("DELETE ") && removed.ends_with("000000000000"), "{removed}");
}

#[tokio::test(start_paused = true)]
async fn journals_are_local_without_a_permission() {
    let denied =
        || ScriptedReply::new("403 Forbidden", r#"{"error":{"code":403,"message":"No access"}}"#);
    let server = ScriptedServer::start([denied(), denied(), denied(), denied()]);
    let journals = shared_journals(&server);
    let reason = journals.begin_run("run").await.unwrap().unwrap();
    assert!(reason.contains("cannot be listed") && reason.contains("No access"), "{reason}");
    assert!(journals.read_runs(StateAccess::Locked).await.unwrap().is_empty());
    let first = journals.append_part("run", 0, b"part").await.unwrap();
    assert!(matches!(first, AppendOutcome::CannotStore(_)), "{first:?}");
    // At this point the run relies on the journal.
    journals.append_part("run", 1, b"part").await.unwrap_err();
}
