//! Requests to a bucket and a table, and faults of their service.

mod shared_journals;

use formwork_core::state::file::StateFile;
use formwork_value::{Str, Value};
use tokio::time::Instant;

use super::*;
use crate::arguments::BackendEnvironment;
use crate::lock::LockInfo;
use crate::scripted_server::{
    ScriptedReply, ScriptedServer, configure_backend_with_variables, test_state_text,
};
use crate::store::{StateStore, StoreError, StoreOperation};

const ACCESS_KEY_VARIABLES: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "S")];

/// The arguments of a state on a server.
fn backend_arguments(server: &ScriptedServer) -> Vec<(&'static str, Value)> {
    let url = || Value::string(server.url.as_str());
    let endpoints = ["s3", "dynamodb", "sts"].map(|name| (Str::new(name), url()));
    vec![
        ("bucket", Value::string("b")),
        ("key", Value::string("k/s")),
        ("region", Value::string("eu-west-1")),
        ("use_path_style", Value::Bool(true)),
        ("skip_metadata_api_check", Value::Bool(true)),
        ("endpoints", Value::object(endpoints)),
    ]
}

fn new_backend(
    server: &ScriptedServer,
    extra_arguments: &[(&'static str, Value)],
) -> Arc<dyn Backend> {
    let mut arguments = backend_arguments(server);
    arguments.extend_from_slice(extra_arguments);
    configure_backend_with_variables("s3", &arguments, &ACCESS_KEY_VARIABLES).unwrap()
}

async fn open_store(
    server: &ScriptedServer,
    extra_arguments: &[(&'static str, Value)],
) -> Box<dyn StateStore> {
    new_backend(server, extra_arguments).open_store(DEFAULT_WORKSPACE).await.unwrap()
}

fn error_reply(status: &'static str, code: &str) -> ScriptedReply {
    ScriptedReply::new(status, format!("<Error><Code>{code}</Code><Message>m.</Message></Error>"))
}

fn not_found_reply() -> ScriptedReply {
    error_reply("404 Not Found", "NoSuchKey")
}

fn stored_reply(serial: u64, tag: &str) -> ScriptedReply {
    ScriptedReply::new("200 OK", test_state_text(serial)).header(&format!("ETag: \"{tag}\""))
}

fn success_reply(tag: &str) -> ScriptedReply {
    ScriptedReply::new("200 OK", "").header(&format!("ETag: \"{tag}\""))
}

/// The backend of a state on a server, on a machine with a directory.
fn new_backend_in(
    directory: &Path,
    server: &ScriptedServer,
    extra_arguments: &[(&'static str, Value)],
) -> S3Backend {
    let configured = backend_arguments(server).into_iter().chain(extra_arguments.iter().cloned());
    let configured = Value::object(configured.map(|(name, value)| (Str::new(name), value)));
    let values = S3BackendKind.schema().coerce(&configured).unwrap();
    let variables = ACCESS_KEY_VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment =
        BackendEnvironment { root: directory.to_owned(), variables: variables.into() };
    let arguments = BackendArguments { values: &values, environment: &environment };
    S3Backend::configure(&arguments).unwrap()
}

async fn read_and_change(store: &mut dyn StateStore) -> StateFile {
    let mut file = store.read().await.unwrap().unwrap_or_else(StateFile::new_empty);
    file.check_results = Some(b"[\"x\"]".to_vec().into());
    file
}

#[tokio::test(start_paused = true)]
async fn a_state_is_written_only_over_the_version_that_was_read() {
    // A write reads the state first, so two responses come before its own.
    let server = ScriptedServer::start([
        not_found_reply(),
        not_found_reply(),
        success_reply("1"),
        stored_reply(1, "1"),
        success_reply("2"),
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[2].line, "PUT /b/k/s");
    assert_eq!(requests[2].headers["if-none-match"], "*");
    assert!(requests[2].headers.contains_key("x-amz-checksum-sha256"));
    let authorization = &requests[2].headers["authorization"];
    assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIA/"), "{authorization}");
    assert!(authorization.contains("/eu-west-1/s3/aws4_request"), "{authorization}");

    let server =
        ScriptedServer::start([stored_reply(1, "1"), stored_reply(1, "1"), success_reply("2")]);
    let mut store = open_store(&server, &[("skip_s3_checksum", Value::Bool(true))]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let put_request = &server.received_requests()[2];
    assert_eq!(put_request.headers["if-match"], "\"1\"");
    assert!(!put_request.headers.contains_key("x-amz-checksum-sha256"));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_another_program_has_written_is_kept() {
    let refused_reply = error_reply("412 Precondition Failed", "PreconditionFailed");
    let server = ScriptedServer::start([
        stored_reply(1, "1"),
        stored_reply(1, "1"),
        refused_reply.clone(),
        stored_reply(2, "2"),
        stored_reply(2, "2"),
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");
    assert_eq!(server.request_lines().iter().filter(|line| line.starts_with("PUT")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_first_state_of_another_program_with_serial_zero_is_kept() {
    let server =
        ScriptedServer::start([not_found_reply(), stored_reply(0, "1"), success_reply("2")]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 0, read: 0 }), "{error:?}");
    assert!(server.request_lines().iter().all(|line| line.starts_with("GET")));
}

#[tokio::test(start_paused = true)]
async fn a_page_of_a_proxy_is_not_treated_as_an_absent_state() {
    for page in ["default backend - 404", "<html><body>Not found</body></html>", "{}"] {
        let server = ScriptedServer::start([ScriptedReply::new("404 Not Found", page)]);
        let error = open_store(&server, &[]).await.read().await.unwrap_err().to_string();
        assert!(error.starts_with("cannot read s3://b/k/s: "), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_table_lock_is_released_if_the_lock_object_is_unreadable() {
    let info = LockInfo::new("OperationTypeApply", "b/k/s".to_owned());
    let item =
        serde_json::json!({ "Item": { "Info": { "S": serde_json::to_string(&info).unwrap() } } });
    let server = ScriptedServer::start([
        error_reply("403 Forbidden", "AccessDenied"),
        ScriptedReply::new("200 OK", item.to_string()),
        ScriptedReply::new("200 OK", "{}"),
    ]);
    let lock_arguments =
        [("use_lockfile", Value::Bool(true)), ("dynamodb_table", Value::string("t"))];
    let mut store = open_store(&server, &lock_arguments).await;
    let released = store.force_unlock(&info.id).await;
    assert!(released.is_err());
    assert_eq!(server.request_lines(), ["GET /b/k/s.tflock", "POST /", "POST /"]);
}

#[tokio::test(start_paused = true)]
async fn a_write_with_a_lost_response_succeeds_if_the_state_is_found() {
    let refused_reply = error_reply("412 Precondition Failed", "PreconditionFailed");
    let server = ScriptedServer::start([
        stored_reply(1, "1"),
        stored_reply(1, "1"),
        ScriptedReply::Truncated,
        refused_reply,
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    // The last response has the content of the request, so it is created by hand.
    let error = store.write(&mut file).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Failed { operation: StoreOperation::Write, .. }),
        "{error:?}"
    );
    let content = server.received_requests()[2].body.clone();
    let refused_reply = error_reply("412 Precondition Failed", "PreconditionFailed");
    let current_reply = ScriptedReply::new("200 OK", content).header("ETag: \"2\"");
    let server = ScriptedServer::start([
        stored_reply(1, "1"),
        stored_reply(1, "1"),
        ScriptedReply::Truncated,
        refused_reply,
        current_reply,
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert_eq!(file.serial, 2);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_with_another_request_is_repeated_and_not_reported_as_a_refusal() {
    let conflict = || error_reply("409 Conflict", "ConditionalRequestConflict");
    let lockfile = [("use_lockfile", Value::Bool(true))];
    let before = [stored_reply(1, "1"), stored_reply(1, "1")];
    let server = ScriptedServer::start(before.clone().into_iter().chain([
        conflict(),
        conflict(),
        success_reply("2"),
    ]));
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert_eq!(file.serial, 2);
    let server = ScriptedServer::start([conflict(), success_reply("1")]);
    drop(open_store(&server, &lockfile).await.try_lock("test").await.unwrap());

    // Endless conflicts are neither a state of another program nor a held lock.
    let endless = || vec![conflict(); 5];
    let server = ScriptedServer::start(before.into_iter().chain(endless()));
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Failed { operation: StoreOperation::Write, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("in progress at each attempt"), "{error}");
    let server = ScriptedServer::start(endless());
    let error = open_store(&server, &lockfile).await.try_lock("test").await.unwrap_err();
    assert!(matches!(error, StoreError::LockRefused { .. }), "{error:?}");
    assert_eq!(server.request_lines().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_conditional_writes_stores_states_but_no_locks() {
    let lacking = || error_reply("501 Not Implemented", "NotImplemented");
    let server = ScriptedServer::start([
        stored_reply(1, "1"),
        stored_reply(1, "1"),
        lacking(),
        success_reply("2"),
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert!(!server.received_requests()[3].headers.contains_key("if-match"));

    let server = ScriptedServer::start([lacking()]);
    let mut store = open_store(&server, &[("use_lockfile", Value::Bool(true))]).await;
    let error = store.try_lock("test").await.unwrap_err().to_string();
    assert!(error.contains("use_lockfile requires conditional writes"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_an_object_that_did_not_exist() {
    let refused_reply = || error_reply("412 Precondition Failed", "PreconditionFailed");
    let lockfile = [("use_lockfile", Value::Bool(true))];
    let server = ScriptedServer::start([success_reply("1")]);
    drop(open_store(&server, &lockfile).await.try_lock("OperationTypeApply").await.unwrap());
    let put_request = &server.received_requests()[0];
    assert_eq!(
        (put_request.line.as_str(), put_request.headers["if-none-match"].as_str()),
        ("PUT /b/k/s.tflock", "*")
    );
    let info: LockInfo = serde_json::from_slice(&put_request.body).unwrap();
    assert_eq!((info.path.as_str(), info.operation.as_str()), ("b/k/s", "OperationTypeApply"));

    let holder = ScriptedReply::new("200 OK", r#"{"ID":"0f1e","Who":"ana@host"}"#);
    let server = ScriptedServer::start([refused_reply(), holder.clone()]);
    let error = open_store(&server, &lockfile).await.try_lock("test").await.unwrap_err();
    assert!(error.diagnostic().detail.contains("force-unlock 0f1e"), "{error:?}");

    let server = ScriptedServer::start([holder.clone(), ScriptedReply::new("204 No Content", "")]);
    open_store(&server, &lockfile).await.force_unlock("0f1e").await.unwrap();
    assert_eq!(server.request_lines(), ["GET /b/k/s.tflock", "DELETE /b/k/s.tflock"]);
    let server = ScriptedServer::start([holder.clone()]);
    let lock_info = open_store(&server, &lockfile).await.current_lock_holder().await.unwrap();
    assert_eq!(lock_info.unwrap().who, "ana@host");
    let server = ScriptedServer::start([holder]);
    let error = open_store(&server, &lockfile).await.force_unlock("other").await.unwrap_err();
    assert!(matches!(error, StoreError::NotLocked { holder: Some(_), .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stolen_lock_is_reported_and_kept() {
    let thief = ScriptedReply::new("200 OK", r#"{"ID":"0f1e","Who":"ana@host"}"#);
    let server = ScriptedServer::start([success_reply("1"), thief]);
    let mut store = open_store(&server, &[("use_lockfile", Value::Bool(true))]).await;
    let lock = store.try_lock("test").await.unwrap();
    let error = store.unlock(lock).await.unwrap_err().to_string();
    assert!(error.contains("released the lock by force") && error.contains("ana@host"), "{error}");
    assert_eq!(server.request_lines().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_lock_file_is_removed_when_the_table_is_locked() {
    let held_body = r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"m"}"#;
    let holder = r#"{"Item":{"LockID":{"S":"b/k/s"},"Info":{"S":"{\"ID\":\"0f1e\"}"}}}"#;
    let server = ScriptedServer::start([
        success_reply("1"),
        ScriptedReply::new("400 Bad Request", held_body),
        ScriptedReply::new("200 OK", holder),
        ScriptedReply::new("204 No Content", ""),
    ]);
    let lock_arguments =
        [("use_lockfile", Value::Bool(true)), ("dynamodb_table", Value::string("t"))];
    let error = open_store(&server, &lock_arguments).await.try_lock("test").await.unwrap_err();
    assert!(matches!(error, StoreError::Held { holder: Some(_), .. }), "{error:?}");
    let lines = server.request_lines();
    assert_eq!(lines, ["PUT /b/k/s.tflock", "POST /", "POST /", "DELETE /b/k/s.tflock"]);
    assert_eq!(server.received_requests()[1].headers["x-amz-target"], "DynamoDB_20120810.PutItem");
}

#[tokio::test(start_paused = true)]
async fn content_with_another_checksum_than_the_table_is_waited_for() {
    let table = [("dynamodb_table", Value::string("t"))];
    let digest = |checksum: &str| {
        ScriptedReply::new("200 OK", format!(r#"{{"Item":{{"Digest":{{"S":"{checksum}"}}}}}}"#))
    };
    let checksum: String = {
        use md5::Digest as _;
        md5::Md5::digest(test_state_text(2)).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let server = ScriptedServer::start([
        stored_reply(1, "1"),
        digest(&checksum),
        stored_reply(2, "2"),
        digest(&checksum),
    ]);
    let began = Instant::now();
    // The clock of the test advances by itself whenever all tasks wait.
    let read = open_store(&server, &table).await.read().await.unwrap().unwrap();
    assert_eq!((read.serial, began.elapsed().as_secs()), (2, 2));

    let server = ScriptedServer::start([stored_reply(2, "2"), digest(&checksum.to_uppercase())]);
    assert_eq!(open_store(&server, &table).await.read().await.unwrap().unwrap().serial, 2);

    let stale_replies = (0..6).flat_map(|_| [stored_reply(1, "1"), digest(&checksum)]);
    let server = ScriptedServer::start(stale_replies);
    let error = open_store(&server, &table).await.read().await.unwrap_err().to_string();
    assert!(error.contains("does not have the expected content"), "{error}");
    assert!(error.contains(&checksum) && error.contains("b/k/s-md5"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_state_with_an_unstored_checksum_is_reported_as_stored() {
    let table = [("dynamodb_table", Value::string("t"))];
    let nothing = || ScriptedReply::new("200 OK", "{}");
    let denied = ScriptedReply::new(
        "400 Bad Request",
        r#"{"__type":"com.amazon.coral.service#AccessDeniedException","message":"no"}"#,
    );
    let before =
        [not_found_reply(), nothing(), not_found_reply(), nothing(), success_reply("1"), denied];
    let server = ScriptedServer::start(before);
    let mut store = open_store(&server, &table).await;
    let mut file = read_and_change(store.as_mut()).await;
    let detail = store.write(&mut file).await.unwrap_err().diagnostic().detail.to_string();
    for part in [
        "DynamoDB PutItem on table \"t\"",
        "AccessDeniedException",
        "The new state is in the bucket, but its checksum is not in the table",
        "set the Digest of the item b/k/s-md5 to ",
    ] {
        assert!(detail.contains(part), "{part}: {detail}");
    }
    assert!(!detail.contains("The previous state still exists"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn a_request_to_a_busy_service_is_made_five_times() {
    let busy = || error_reply("503 Service Unavailable", "SlowDown");
    let server = ScriptedServer::start([
        busy(),
        ScriptedReply::Reset,
        ScriptedReply::Truncated,
        busy(),
        stored_reply(1, "1"),
    ]);
    assert!(open_store(&server, &[]).await.read().await.unwrap().is_some());
    let server = ScriptedServer::start((0..6).map(|_| busy()));
    let error = open_store(&server, &[]).await.read().await.unwrap_err().to_string();
    assert!(error.contains("SlowDown"), "{error}");
    assert_eq!(server.received_requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn refusals_are_reported_with_location_call_and_remedy() {
    for (reply, expected) in [
        (error_reply("403 Forbidden", "AccessDenied"), "lack the permission"),
        (error_reply("400 Bad Request", "ExpiredToken"), "log in again"),
        (error_reply("403 Forbidden", "SignatureDoesNotMatch"), "check access key"),
        (
            error_reply("403 Forbidden", "RequestTimeTooSkewed")
                .header("Date: Thu, 01 Jan 2026 00:00:00 GMT"),
            "the time of the server is Thu, 01 Jan 2026",
        ),
        (
            error_reply("301 Moved Permanently", "PermanentRedirect")
                .header("x-amz-bucket-region: us-west-2"),
            "requested bucket from \"eu-west-1\", actual location \"us-west-2\"",
        ),
        (error_reply("404 Not Found", "NoSuchBucket"), "S3 bucket \"b\" does not exist"),
    ] {
        let server = ScriptedServer::start([reply]);
        let error = open_store(&server, &[]).await.read().await.unwrap_err().to_string();
        assert!(error.starts_with("cannot read s3://b/k/s: "), "{error}");
        assert!(error.contains(expected), "{error}");
        assert_eq!(server.request_lines(), ["GET /b/k/s"]);
    }
}

#[tokio::test(start_paused = true)]
async fn encryption_and_acl_are_requested() {
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let prefix = "x-amz-server-side-encryption";
    for (argument, header, value) in [
        (("acl", Value::string("private")), prefix.to_owned(), "AES256"),
        (
            ("kms_key_id", Value::string("arn:aws:kms:us-east-1:1:alias/k")),
            format!("{prefix}-aws-kms-key-id"),
            "arn:aws:kms:us-east-1:1:alias/k",
        ),
        (("sse_customer_key", Value::string(key)), format!("{prefix}-customer-key"), key),
    ] {
        let server =
            ScriptedServer::start([not_found_reply(), not_found_reply(), success_reply("1")]);
        let mut store = open_store(&server, &[("encrypt", Value::Bool(true)), argument]).await;
        let mut file = read_and_change(store.as_mut()).await;
        store.write(&mut file).await.unwrap();
        let requests = server.received_requests();
        assert_eq!(requests[2].headers[&header], value);
        // Reads require a customer-supplied key, too.
        assert_eq!(requests[0].headers.contains_key(&header), header.ends_with("customer-key"));
    }
}

#[tokio::test(start_paused = true)]
async fn workspaces_are_listed_over_several_pages() {
    let page = |keys: &[&str], next: &str| {
        let keys: String =
            keys.iter().map(|key| format!("<Contents><Key>{key}</Key></Contents>")).collect();
        ScriptedReply::new("200 OK", format!("<ListBucketResult>{keys}{next}</ListBucketResult>"))
    };
    let server = ScriptedServer::start([
        page(
            &["env:/b/k/s", "env:/b/k/s.tflock", "env:/other"],
            // A plus that is not encoded would reach the service as a space.
            "<NextContinuationToken>t+/</NextContinuationToken>",
        ),
        page(&["env:/a/k/s"], ""),
    ]);
    assert_eq!(new_backend(&server, &[]).workspaces().await.unwrap(), ["default", "a", "b"]);
    let lines = server.request_lines();
    assert_eq!(lines[0], "GET /b/?list-type=2&max-keys=1000&prefix=env%3A%2F");
    assert!(lines[1].starts_with("GET /b/?continuation-token=t%2B%2F&"), "{}", lines[1]);

    let server = ScriptedServer::start([error_reply("403 Forbidden", "AccessDenied")]);
    assert_eq!(new_backend(&server, &[]).workspaces().await.unwrap(), ["default"]);
    let server = ScriptedServer::start([error_reply("403 Forbidden", "AccessDenied")]);
    let prefix = [("workspace_key_prefix", Value::string("ws"))];
    let error = new_backend(&server, &prefix).workspaces().await.unwrap_err().to_string();
    assert!(error.contains("s3:ListBucket"), "{error}");
}

/// The credentials in the header of the first request to the bucket.
async fn access_key_of_first_request(
    server: &ScriptedServer,
    arguments: &[(&str, Value)],
    variables: &[(&str, &str)],
) -> (String, String) {
    let backend = configure_backend_with_variables("s3", arguments, variables).unwrap();
    assert!(backend.open_store(DEFAULT_WORKSPACE).await.unwrap().read().await.unwrap().is_none());
    let requests = server.received_requests();
    let headers = &requests.last().unwrap().headers;
    let authorization = headers["authorization"].clone();
    let id = authorization.split(['=', '/']).nth(1).unwrap_or_default().to_owned();
    (id, headers.get("x-amz-security-token").cloned().unwrap_or_default())
}

const SESSION_CREDENTIALS_XML: &str = "<Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration></Credentials>";

#[tokio::test(start_paused = true)]
async fn a_token_of_another_provider_is_exchanged_for_a_role() {
    let answer = format!(
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>{SESSION_CREDENTIALS_XML}</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
    );
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "jwt\n").unwrap();
    let server = ScriptedServer::start([ScriptedReply::new("200 OK", answer), not_found_reply()]);
    let path = token.path().display().to_string();
    let variables =
        [("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"), ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str())];
    let access_key =
        access_key_of_first_request(&server, &backend_arguments(&server), &variables).await;
    assert_eq!(access_key, ("ASIA".to_owned(), "T".to_owned()));
    let requests = server.received_requests();
    let body = String::from_utf8_lossy(&requests[0].body);
    assert!(
        body.contains("Action=AssumeRoleWithWebIdentity") && body.ends_with("WebIdentityToken=jwt"),
        "{body}"
    );
    // The token proves the identity of the caller, and there are no keys yet to sign with.
    assert!(!requests[0].headers.contains_key("authorization"));
}

#[tokio::test(start_paused = true)]
async fn credentials_of_a_container_and_a_machine_are_requested() {
    let keys = r#"{"AccessKeyId":"ASIA","SecretAccessKey":"S","Token":"T","Expiration":"2999-01-01T00:00:00Z","Code":"Success"}"#;
    let server = ScriptedServer::start([ScriptedReply::new("200 OK", keys), not_found_reply()]);
    let url = format!("{}/creds", server.url);
    let variables = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", url.as_str())];
    let access_key =
        access_key_of_first_request(&server, &backend_arguments(&server), &variables).await;
    assert_eq!(access_key.0, "ASIA");

    let server = ScriptedServer::start([
        // The second version of the metadata service: a token, the name of the role, and its keys.
        ScriptedReply::new("200 OK", "token"),
        ScriptedReply::new("200 OK", "role"),
        ScriptedReply::new("200 OK", keys),
        not_found_reply(),
    ]);
    let mut arguments = backend_arguments(&server);
    arguments.retain(|(name, _)| *name != "skip_metadata_api_check");
    arguments.push(("ec2_metadata_service_endpoint", Value::string(server.url.as_str())));
    let access_key = access_key_of_first_request(&server, &arguments, &[]).await;
    assert_eq!(access_key.0, "ASIA");
    assert_eq!(server.request_lines()[2], "GET /latest/meta-data/iam/security-credentials/role");
}

#[tokio::test(start_paused = true)]
async fn missing_credentials_are_reported_with_the_searched_sources() {
    let server = ScriptedServer::start([]);
    let backend = configure_backend_with_variables("s3", &backend_arguments(&server), &[]).unwrap();
    let mut store = backend.open_store(DEFAULT_WORKSPACE).await.unwrap();
    let error = store.read().await.unwrap_err().to_string();
    assert!(error.contains("no valid credential sources found"), "{error}");
    assert!(error.contains("AWS_ACCESS_KEY_ID") && error.contains("~/.aws/credentials"), "{error}");
    assert!(server.received_requests().is_empty());
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let server = ScriptedServer::start([]);
    let refusal = |name: &'static str, value: Value| {
        let mut arguments = backend_arguments(&server);
        arguments.retain(|(argument, _)| *argument != name);
        arguments.push((name, value));
        configure_backend_with_variables("s3", &arguments, &ACCESS_KEY_VARIABLES)
            .err()
            .map(|error| error.message)
            .unwrap_or_default()
    };
    assert!(refusal("bucket", Value::string("")).contains("\"bucket\" is required"));
    assert!(refusal("key", Value::string("/k")).contains("must not start or end with \"/\""));
    assert!(refusal("key", Value::string("a//b")).contains("must not contain \"//\""));
    assert!(refusal("region", Value::string("mars")).contains("invalid AWS Region: mars"));
    assert!(refusal("region", Value::string("")).contains("AWS_DEFAULT_REGION"));
    assert!(refusal("sse_customer_key", Value::string("short")).contains("44 characters"));
    assert!(
        refusal("endpoint", Value::string("http://x")).contains("cannot be configured together")
    );
    assert!(
        refusal("force_path_style", Value::Bool(true))
            .contains("only one of force_path_style and use_path_style")
    );
    assert!(refusal("access_key", Value::string("A")).contains("must be set together"));
    assert_eq!(refusal("region", Value::string("eu-central-1")), "");
    let role = |name: &str, value: &str| {
        Value::object([
            (Str::new("role_arn"), Value::string("arn:aws:iam::1:role/r")),
            (Str::new(name), Value::string(value)),
        ])
    };
    for duration in ["1h30m", "900s", "12h", "0.5h"] {
        assert_eq!(refusal("assume_role", role("duration", duration)), "", "{duration}");
    }
    for duration in ["14m", "13h", "1", "h", "1d", ""] {
        let message = refusal("assume_role", role("duration", duration));
        assert!(message.contains("between 15m and 12h"), "{duration}: {message}");
    }
    let long = "x".repeat(65);
    for (name, value, part) in [
        ("role_arn", "arn:aws:iam::1:user/r", "not the ARN of an IAM role"),
        ("session_name", "a", "2 to 64"),
        ("session_name", long.as_str(), "2 to 64"),
        ("session_name", "a/b", "only letters"),
        ("session_name", "a+=,.@-_9", ""),
        ("source_identity", "a b", "only letters"),
        ("external_id", "", "2 to 1224"),
        ("external_id", "a b", "only letters"),
        ("external_id", "a:/b", ""),
        ("policy", "[]", "JSON object"),
        ("policy", "", "JSON object"),
        ("policy", " {}", ""),
    ] {
        let message = refusal("assume_role", role(name, value));
        assert!(message.contains(part) && message.is_empty() == part.is_empty(), "{message}");
    }
    let uuid = "12345678-1234-1234-9234-123456789012";
    let arn = |resource: &str| format!("arn:aws:kms:us-east-1:1:{resource}");
    for (id, is_valid) in [
        (uuid.to_owned(), true),
        (uuid.replace("-1234-9", "-6234-9"), false),
        (format!("mrk-{}", "a".repeat(32)), true),
        ("alias/x".to_owned(), true),
        ("alias/".to_owned(), false),
        ("nope".to_owned(), false),
        (arn(&format!("key/{uuid}")), true),
        (arn("alias/x"), true),
        (arn(&format!("x/{uuid}")), false),
    ] {
        assert_eq!(refusal("kms_key_id", Value::string(&*id)).is_empty(), is_valid, "{id}");
    }
}
