//! Blobs, leases, tokens, and faults of their services.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::StateAccess;
use formwork_value::Value;

use super::identity::{IdentityTokenIssuer, TokenIdentity, TokenSource};
use super::*;
use crate::journals::{AppendOutcome, JournalStore as _, SharedRun};
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient as _};
use crate::scripted_server::{
    ScriptedReply, ScriptedServer, configure_backend_with_variables, test_state_text,
};

const FAST_RETRIES: RetryPolicy =
    RetryPolicy { most: 2, shortest: Duration::ZERO, longest: Duration::ZERO };

fn new_client() -> HttpClient {
    HttpClient::new(&TlsSettings::default(), FAST_RETRIES, |_| None).unwrap().without_redirects()
}

fn new_remote_client(server: &ScriptedServer) -> AzureClient {
    let account = StorageAccount::for_test_at_url(&server.url, new_client(), "a2V5");
    AzureClient::new(
        Container::new("states".to_owned(), Arc::new(account)),
        "a b".to_owned(),
        false,
    )
}

fn blob_reply(content: &[u8], tag: &str) -> ScriptedReply {
    ScriptedReply::new("200 OK", content)
        .header(&format!("ETag: {tag}"))
        .header("x-ms-meta-kept: k")
}

fn not_found_reply() -> ScriptedReply {
    ScriptedReply::new("404 Not Found", "").header("x-ms-error-code: BlobNotFound")
}

fn stored_reply(tag: &str) -> ScriptedReply {
    ScriptedReply::new("201 Created", "").header(&format!("ETag: {tag}"))
}

fn error_reply(status: &'static str, code: &str) -> ScriptedReply {
    let body = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>No.\nRequestId:1</Message></Error>"
    );
    ScriptedReply::new(status, body).header(&format!("x-ms-error-code: {code}"))
}

fn held_lock_reply(id: &str) -> ScriptedReply {
    let info = LockInfo { id: id.to_owned(), who: "ana@host".to_owned(), ..LockInfo::default() };
    let text = STANDARD.encode(serde_json::to_vec(&info).unwrap());
    ScriptedReply::new("200 OK", "")
        .header("x-ms-lease-status: locked")
        .header(&format!("x-ms-meta-terraformlockid: {text}"))
}

#[tokio::test(start_paused = true)]
async fn a_blob_is_written_only_over_the_version_that_was_read() {
    let server = ScriptedServer::start([
        blob_reply(&test_state_text(1), "\"t1\""),
        stored_reply("\"t2\""),
        stored_reply("\"t3\""),
    ]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), Some(test_state_text(1)));
    client.put(test_state_text(2)).await.unwrap();
    client.put(test_state_text(3)).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[0].line, "GET /states/a%20b");
    assert!(requests[0].headers["authorization"].starts_with("SharedKey account:"));
    assert_eq!(requests[1].headers["if-match"], "\"t1\"");
    // The metadata belong to the holder of the lock.
    assert_eq!(requests[1].headers["x-ms-meta-kept"], "k");
    assert_eq!(requests[2].headers["if-match"], "\"t2\"");

    let server = ScriptedServer::start([not_found_reply(), stored_reply("\"t1\"")]);
    let mut client = new_remote_client(&server);
    assert_eq!(client.get().await.unwrap(), None);
    client.put(test_state_text(1)).await.unwrap();
    assert_eq!(server.received_requests()[1].headers["if-none-match"], "*");
}

#[tokio::test(start_paused = true)]
async fn a_version_of_another_program_is_kept_and_a_lost_response_is_not_a_conflict() {
    let not_met = || error_reply("412 Precondition Failed", "ConditionNotMet");
    let read = |serial, tag| blob_reply(&test_state_text(serial), tag);
    for (now, more, outcome) in [
        // Another program has written the blob.
        (read(7, "\"t2\""), None, "Changed"),
        // The response to an attempt was lost.
        (read(2, "\"t2\""), None, "Ok"),
        // Only the metadata have changed.
        (read(1, "\"t2\""), Some(stored_reply("\"t3\"")), "Ok"),
        (read(1, "\"t2\""), Some(not_met()), "Failed"),
    ] {
        let replies = [read(1, "\"t1\""), not_met(), now].into_iter().chain(more);
        let server = ScriptedServer::start(replies);
        let mut client = new_remote_client(&server);
        client.get().await.unwrap();
        let put = match client.put(test_state_text(2)).await {
            Ok(()) => "Ok",
            Err(PutError::Changed) => "Changed",
            Err(PutError::Failed(_) | PutError::Unfinished { .. }) => "Failed",
        };
        assert_eq!(put, outcome, "{:?}", server.request_lines());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_a_lease_whose_holder_is_in_the_metadata() {
    let ok = || ScriptedReply::new("200 OK", "");
    let taking = [not_found_reply(), stored_reply("\"t\""), stored_reply("\"t\""), ok()];
    let info = LockInfo::new("test", String::new());
    let giving = [held_lock_reply(&info.id), ok(), ok()];
    let server = ScriptedServer::start(
        taking.into_iter().chain([blob_reply(b"", "\"t\""), stored_reply("\"u\"")]).chain(giving),
    );
    let mut client = new_remote_client(&server);
    assert!(matches!(client.lock(&info).await, Ok(LockOutcome::Taken)));
    client.put(test_state_text(1)).await.unwrap();
    client.unlock(&info.id).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[0].line, "HEAD /states/a%20b");
    assert_eq!(requests[2].line, "PUT /states/a%20b?comp=lease");
    assert_eq!(requests[2].headers["x-ms-proposed-lease-id"], info.id);
    // A lease that ends only when it is released, as Terraform acquires it.
    assert_eq!(requests[2].headers["x-ms-lease-duration"], "-1");
    assert_eq!(requests[3].line, "PUT /states/a%20b?comp=metadata");
    let described = STANDARD.decode(&requests[3].headers["x-ms-meta-terraformlockid"]).unwrap();
    let described: LockInfo = serde_json::from_slice(&described).unwrap();
    assert_eq!((described.id, described.path.as_str()), (info.id.clone(), "states/a b"));
    // Without the lease the service would refuse the write.
    assert_eq!(requests[5].headers["x-ms-lease-id"], info.id);
    assert!(!requests[7].headers.contains_key("x-ms-meta-terraformlockid"));
    assert_eq!(requests[8].headers["x-ms-lease-action"], "release");
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_another_process_is_described_and_kept() {
    let info = LockInfo::new("test", String::new());
    let taken = || error_reply("409 Conflict", "LeaseAlreadyPresent");
    let free = || blob_reply(b"", "\"t\"");
    let breaking = error_reply("409 Conflict", "LeaseIsBreakingAndCannotBeAcquired");
    for replies in [
        vec![held_lock_reply("l-1"), held_lock_reply("l-1")],
        vec![free(), taken(), held_lock_reply("l-1")],
        vec![free(), breaking, held_lock_reply("l-1")],
    ] {
        let server = ScriptedServer::start(replies);
        let LockOutcome::Held(Some(holder)) = new_remote_client(&server).lock(&info).await.unwrap()
        else {
            panic!("it is held");
        };
        assert_eq!((holder.id.as_str(), holder.who.as_str()), ("l-1", "ana@host"));
    }
    let server = ScriptedServer::start([held_lock_reply("l-1")]);
    let lock_info = new_remote_client(&server).read_lock_holder().await.unwrap();
    assert_eq!(lock_info.unwrap().who, "ana@host");
    // Only the lock with this ID is broken.
    let server = ScriptedServer::start([held_lock_reply("l-1")]);
    let broken = new_remote_client(&server).break_lock("l-2").await.unwrap();
    assert!(matches!(broken, ForceUnlockOutcome::OtherLock(Some(_))));
    assert_eq!(server.request_lines().len(), 1);
    // A lease whose holder was killed before it wrote its description.
    let leased = || ScriptedReply::new("200 OK", "").header("x-ms-lease-status: locked");
    let other_lease_reply = error_reply("409 Conflict", "LeaseIdMismatchWithLeaseOperation");
    for (answer, released) in [(ScriptedReply::new("200 OK", ""), true), (other_lease_reply, false)]
    {
        let server = ScriptedServer::start([leased(), answer]);
        let broken = new_remote_client(&server).break_lock("l-2").await.unwrap();
        assert_eq!(matches!(broken, ForceUnlockOutcome::Released), released);
    }
}

#[tokio::test(start_paused = true)]
async fn a_release_after_a_lost_response_succeeds() {
    for code in ["LeaseNotPresentWithLeaseOperation", "LeaseIdMismatchWithLeaseOperation"] {
        let server = ScriptedServer::start([
            held_lock_reply("l-1"),
            ScriptedReply::new("200 OK", ""),
            ScriptedReply::Truncated,
            error_reply("409 Conflict", code),
        ]);
        new_remote_client(&server).unlock("l-1").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_without_a_description_is_released_again() {
    let info = LockInfo::new("test", String::new());
    let refusal = error_reply("403 Forbidden", "AuthorizationPermissionMismatch");
    let free = blob_reply(b"", "\"t\"");
    let server = ScriptedServer::start([
        free,
        stored_reply("\"t\""),
        refusal,
        ScriptedReply::new("200 OK", ""),
    ]);
    let error = new_remote_client(&server).lock(&info).await.unwrap_err().to_string();
    assert!(error.contains("lack the permission"), "{error}");
    assert_eq!(server.received_requests()[3].headers["x-ms-lease-action"], "release");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_after_the_lease_was_lost() {
    let info = LockInfo::new("test", String::new());
    for code in
        ["LeaseIdMismatchWithBlobOperation", "LeaseLost", "LeaseNotPresentWithBlobOperation"]
    {
        let ok = ScriptedReply::new("200 OK", "");
        let lost = error_reply("412 Precondition Failed", code);
        let read = blob_reply(&test_state_text(1), "\"t\"");
        let server = ScriptedServer::start([
            blob_reply(b"", "\"t\""),
            stored_reply("\"t\""),
            ok,
            read,
            lost,
            held_lock_reply("l-9"),
        ]);
        let mut client = new_remote_client(&server);
        assert!(matches!(client.lock(&info).await, Ok(LockOutcome::Taken)));
        client.get().await.unwrap();
        let Err(PutError::Failed(cause)) = client.put(test_state_text(2)).await else {
            panic!("it must fail");
        };
        assert!(cause.to_string().contains("released the lock by force"), "{cause}");
        let error = client.unlock(&info.id).await.unwrap_err().to_string();
        assert!(error.contains("ana@host"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn service_errors_are_reported_with_call_cause_and_remedy() {
    let busy = || error_reply("503 Service Unavailable", "ServerBusy");
    let many = || ScriptedReply::new("429 Too Many Requests", "").header("Retry-After: 0");
    let read = || blob_reply(&test_state_text(4), "\"t\"");
    for passing in
        [vec![busy(), ScriptedReply::Truncated, read()], vec![many(), ScriptedReply::Reset, read()]]
    {
        let server = ScriptedServer::start(passing);
        let content = new_remote_client(&server).get().await.unwrap().unwrap();
        assert_eq!(StateFile::parse(&content).unwrap().serial, 4);
    }
    let skewed = "<Error><Code>AuthenticationFailed</Code><Message>m</Message><AuthenticationErrorDetail>Request date header too old</AuthenticationErrorDetail></Error>";
    for (replies, reason) in [
        (vec![busy(), busy(), busy()], "ServerBusy"),
        (
            vec![error_reply("403 Forbidden", "AuthenticationFailed")],
            "check access_key or sas_token",
        ),
        (vec![error_reply("404 Not Found", "ContainerNotFound")], "check container_name"),
        (
            vec![ScriptedReply::new("404 Not Found", "<html>no</html>")],
            "unexpected HTTP response code 404",
        ),
        (vec![ScriptedReply::new("403 Forbidden", skewed)], "the clock of this machine is wrong"),
        (
            vec![ScriptedReply::Reset, ScriptedReply::Reset, ScriptedReply::Reset],
            "(after 3 attempts)",
        ),
    ] {
        let server = ScriptedServer::start(replies);
        let error = new_remote_client(&server).get().await.unwrap_err().to_string();
        assert!(error.contains("GET http://127.0.0.1:") && error.contains(reason), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn names_of_all_pages_are_listed() {
    let page = |name: &str, next: &str| {
        let text = format!(
            "\u{feff}<?xml version=\"1.0\"?><EnumerationResults><Prefix>k</Prefix><Blobs><Blob><Name>{name}</Name><Properties/></Blob></Blobs><NextMarker>{next}</NextMarker></EnumerationResults>"
        );
        ScriptedReply::new("200 OK", text)
    };
    let empty = "<EnumerationResults><Blobs /><NextMarker /></EnumerationResults>";
    let server = ScriptedServer::start([page("kenv:a", "m&amp;1"), page("kenv:b/c", "")]);
    let account = StorageAccount::for_test_at_url(&server.url, new_client(), "a2V5");
    let container = Container::new("states".to_owned(), Arc::new(account));
    let azure =
        AzureBackend { container, key: "k".to_owned(), snapshot: false, root: "unused".into() };
    assert_eq!(azure.workspaces().await.unwrap(), [DEFAULT_WORKSPACE, "a"]);
    assert!(
        server.request_lines()[1].ends_with("&prefix=kenv%3A&marker=m%261"),
        "{:?}",
        server.request_lines()
    );
    let server = ScriptedServer::start([ScriptedReply::new("200 OK", empty)]);
    let account = StorageAccount::for_test_at_url(&server.url, new_client(), "a2V5");
    let container = Container::new("states".to_owned(), Arc::new(account));
    assert!(container.list("k").await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_metadata_service_issues_tokens_and_a_refusal_has_a_remedy() {
    use reqsign_core::{Context, ProvideCredential as _};
    let issued =
        r#"{"access_token":"t","expires_in":"3599","expires_on":"1","token_type":"Bearer"}"#;
    let no = ScriptedReply::new("400 Bad Request", r#"{"error_description":"Identity not found"}"#);
    let server = ScriptedServer::start([ScriptedReply::new("200 OK", issued), no]);
    let identity = TokenIdentity {
        tenant: None,
        client_id: Some("c".to_owned()),
        source: TokenSource::Machine(format!("{}/token", server.url)),
    };
    let tokens = IdentityTokenIssuer {
        identity,
        cloud: cloud::AzureCloud::find_by_name("public").unwrap(),
        resource: "https://storage.azure.com".to_owned(),
        client: new_client(),
        local_client: new_client(),
    };
    assert!(tokens.provide_credential(&Context::new()).await.unwrap().is_some());
    let requests = server.received_requests();
    assert_eq!(
        requests[0].line,
        "GET /token?api-version=2018-02-01&resource=https%3A%2F%2Fstorage.azure.com&client_id=c"
    );
    assert_eq!(requests[0].headers["metadata"], "true");
    let error = tokens.provide_credential(&Context::new()).await.unwrap_err().to_string();
    assert!(error.contains("Identity not found") && error.contains("msi_endpoint"), "{error}");
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    let refusal = |extra_arguments: &[(&'static str, Value)], variables: &[(&str, &str)]| {
        let text = |name, text: &str| (name, Value::string(text));
        let mut all = vec![
            text("storage_account_name", "acct"),
            text("container_name", "c"),
            text("key", "k"),
        ];
        all.extend_from_slice(extra_arguments);
        let backend = configure_backend_with_variables("azurerm", &all, variables);
        backend.map_or_else(|error| error.message, |backend| backend.location(DEFAULT_WORKSPACE))
    };
    let text = |name, text: &str| (name, Value::string(text));
    let key = ("ARM_ACCESS_KEY", "a2V5");
    assert_eq!(refusal(&[], &[key]), "https://acct.blob.core.windows.net/c/k");
    let china = [text("environment", "china")];
    assert_eq!(refusal(&china, &[key]), "https://acct.blob.core.chinacloudapi.cn/c/k");
    assert!(refusal(&[], &[]).contains("`resource_group_name` must be specified"));
    let lookup = [("lookup_blob_endpoint", Value::Bool(true))];
    assert!(refusal(&lookup, &[key]).contains("`resource_group_name` is required"));
    let principal = [
        text("tenant_id", "t"),
        text("client_id", "c"),
        text("client_secret", "s"),
        ("use_azuread_auth", Value::Bool(true)),
    ];
    assert!(refusal(&principal, &[]).starts_with("https://"));
    let certificate = [&principal[..], &[text("client_certificate_path", "p")]].concat();
    assert!(refusal(&certificate, &[]).contains("client certificates are not supported"));
    let file = [&principal[..], &[text("client_secret_file_path", "/none")]].concat();
    assert!(refusal(&file, &[]).contains("cannot be read"));
    let aks = [&principal[..], &[("use_aks_workload_identity", Value::Bool(true))]].concat();
    assert!(refusal(&aks, &[("AZURE_TENANT_ID", "other")]).contains("mismatch between the tenant"));
    let none = [("use_azuread_auth", Value::Bool(true)), ("use_cli", Value::Bool(false))];
    assert!(refusal(&none, &[]).contains("there are no credentials"));
    assert!(refusal(&[], &[("ARM_SNAPSHOT", "maybe"), key]).contains("ARM_SNAPSHOT"));
}

/// The journals of a state.
fn shared_journals(server: &ScriptedServer) -> ObjectJournals<AzureObjects> {
    let account = StorageAccount::for_test_at_url(&server.url, new_client(), "a2V5");
    let container = Container::new("states".to_owned(), Arc::new(account));
    let (key, root) = ("a b".to_owned(), PathBuf::new());
    AzureBackend { container, key, snapshot: false, root }.shared_journals("ws")
}

fn list_reply(names: &[&str]) -> ScriptedReply {
    let blobs: String =
        names.iter().map(|name| format!("<Blob><Name>{name}</Name></Blob>")).collect();
    let text =
        format!("<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker /></EnumerationResults>");
    ScriptedReply::new("200 OK", text)
}

#[tokio::test(start_paused = true)]
async fn a_journal_part_is_a_blob_that_is_created_once() {
    let exists = || error_reply("409 Conflict", "BlobAlreadyExists");
    let server = ScriptedServer::start([
        list_reply(&[]),
        stored_reply("\"t\""),
        // The response to an attempt was lost.
        exists(),
        blob_reply(b"part", "\"t\""),
        // Another machine has taken over the run.
        exists(),
        blob_reply(b"theirs", "\"t\""),
    ]);
    let journals = shared_journals(&server);
    assert_eq!(journals.begin_run("run").await.unwrap(), None);
    for (number, outcome) in
        [(0, AppendOutcome::Stored), (1, AppendOutcome::Stored), (2, AppendOutcome::Occupied)]
    {
        assert_eq!(journals.append_part("run", number, b"part").await.unwrap(), outcome);
    }
    let requests = server.received_requests();
    assert_eq!(requests[1].line, "PUT /states/a%20benv%3Aws.journal/run/000000000000");
    assert_eq!(requests[1].headers["if-none-match"], "*");
    assert_eq!(requests[1].headers["x-ms-blob-type"], "BlockBlob");
    assert_eq!(requests[1].body, b"part");
}

#[tokio::test(start_paused = true)]
async fn parts_of_journals_are_read_and_removed_by_their_names() {
    let listed = || {
        list_reply(&["a benv:ws.journal/run/000000000000", "a benv:ws.journal/run/000000000007"])
    };
    let part = |text: &[u8]| blob_reply(text, "\"t\"");
    let server = ScriptedServer::start([listed(), part(b"0"), part(b"7")]);
    let runs = shared_journals(&server).read_runs(StateAccess::Locked).await.unwrap();
    let parts = vec![(0, b"0".to_vec()), (7, b"7".to_vec())];
    assert_eq!(runs, [SharedRun { id: "run".to_owned(), is_live: false, silent_for: None, parts }]);

    // To a reader, the run is active while the lease exists.
    let server = ScriptedServer::start([listed(), held_lock_reply("uuid")]);
    let runs = shared_journals(&server).read_runs(StateAccess::ReadOnly).await.unwrap();
    assert_eq!(
        runs,
        [SharedRun { id: "run".to_owned(), is_live: true, silent_for: None, parts: Vec::new() }]
    );

    let server = ScriptedServer::start([listed(), ScriptedReply::new("202 Accepted", "")]);
    shared_journals(&server).remove_parts_below("run", 7).await.unwrap();
    assert_eq!(server.request_lines()[1], "DELETE /states/a%20benv%3Aws.journal/run/000000000000");
}

#[tokio::test(start_paused = true)]
async fn journals_are_local_without_a_permission() {
    let denied = || error_reply("403 Forbidden", "AuthorizationPermissionMismatch");
    let refused_reply = error_reply("403 Forbidden", "AuthenticationFailed");
    let server = ScriptedServer::start([denied(), denied(), denied(), denied(), refused_reply]);
    let journals = shared_journals(&server);
    let reason = journals.begin_run("run").await.unwrap().unwrap();
    assert!(reason.contains("cannot be listed"), "{reason}");
    assert!(journals.read_runs(StateAccess::Locked).await.unwrap().is_empty());
    let first = journals.append_part("run", 0, b"part").await.unwrap();
    assert!(matches!(first, AppendOutcome::CannotStore(_)), "{first:?}");
    // At this point the run relies on the journal.
    journals.append_part("run", 1, b"part").await.unwrap_err();
    // Wrong credentials are an error, not a missing permission.
    journals.begin_run("run").await.unwrap_err();
}
