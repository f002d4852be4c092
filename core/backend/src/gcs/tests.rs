//! Objects, generations, tokens, and faults of their services.

use formwork_core::state::file::StateFile;
use formwork_value::Value;

use super::*;
use crate::lock::LockInfo;
use crate::scripted::{Reply, Scripted, configured_in, text};
use crate::store::{StateStore, StoreError};

/// A key of 2,048 bits that protects nothing.
const KEY: &str = include_str!("tests/service-account.pem");

fn object(content: &[u8], generation: u64) -> Reply {
    Reply::new("200 OK", content).header(&format!("X-Goog-Generation: {generation}"))
}

fn missing() -> Reply {
    Reply::new("404 Not Found", "No such object: states/a b/default.tfstate")
}

fn stored(generation: u64) -> Reply {
    Reply::new("200 OK", format!(r#"{{"kind":"storage#object","generation":"{generation}"}}"#))
}

fn not_met() -> Reply {
    Reply::new(
        "412 Precondition Failed",
        r#"{"error":{"code":412,"message":"Precondition failed"}}"#,
    )
}

fn lock(id: &str, generation: u64) -> Reply {
    object(format!(r#"{{"ID":"{id}","Who":"ana@host"}}"#).as_bytes(), generation)
}

fn backend(
    server: &Scripted,
    more: &[(&'static str, Value)],
    variables: &[(&str, &str)],
) -> Arc<dyn Backend> {
    let mut all = vec![
        ("bucket", Value::string("states")),
        ("prefix", Value::string("/a b/")),
        ("storage_custom_endpoint", Value::string(format!("{}/storage/v1/b", server.url).as_str())),
    ];
    all.extend_from_slice(more);
    configured_in("gcs", &all, variables).unwrap()
}

async fn open(server: &Scripted) -> Box<dyn StateStore> {
    let token = [("access_token", Value::string("secret"))];
    backend(server, &token, &[]).open(DEFAULT_WORKSPACE).await.unwrap()
}

async fn changed(store: &mut dyn StateStore) -> StateFile {
    let mut file = store.read().await.unwrap().unwrap_or_else(StateFile::fresh);
    file.check_results = Some(b"[\"x\"]".to_vec().into());
    file
}

#[tokio::test(start_paused = true)]
async fn an_object_is_written_only_over_the_generation_that_was_read() {
    let read = || object(&text(1), 7);
    let server = Scripted::start([read(), read(), stored(8)]);
    let mut store = open(&server).await;
    let mut file = changed(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].line, "GET /storage/v1/b/states/o/a%20b%2Fdefault.tfstate?alt=media");
    assert_eq!(asked[0].headers["authorization"], "Bearer secret");
    assert_eq!(
        asked[2].line,
        "POST /upload/storage/v1/b/states/o?uploadType=media&name=a%20b%2Fdefault.tfstate&ifGenerationMatch=7"
    );
    let server = Scripted::start([missing(), missing(), stored(8)]);
    let mut store = open(&server).await;
    let mut file = changed(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    // The service takes zero for an object that does not exist.
    assert!(server.lines()[2].ends_with("ifGenerationMatch=0"), "{:?}", server.lines());
}

#[tokio::test(start_paused = true)]
async fn a_generation_of_another_program_stays_and_a_lost_answer_is_none() {
    let read = |serial| object(&text(serial), 6 + serial);
    let server = Scripted::start([read(1), read(1), not_met(), read(2), read(2)]);
    let mut store = open(&server).await;
    let mut file = changed(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");

    // The first attempt has reached the server, but its answer was lost.
    let mut written = StateFile::read(&text(1)).unwrap();
    written.check_results = Some(b"[\"x\"]".to_vec().into());
    written.serial = 2;
    written.terraform_version = formwork_core::version::LANGUAGE_VERSION.to_string();
    let now = object(&written.write(), 8);
    let server = Scripted::start([read(1), read(1), Reply::Half, not_met(), now]);
    let mut store = open(&server).await;
    let mut file = changed(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert_eq!(file.serial, 2);
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_an_object_whose_generation_is_its_id() {
    let gone = Reply::new("204 No Content", "");
    let server = Scripted::start([stored(9), gone]);
    let mut store = open(&server).await;
    let taken = store.try_lock("OperationTypeApply").await.unwrap();
    store.unlock(taken).await.unwrap();
    let asked = server.asked();
    assert!(asked[0].line.ends_with("name=a%20b%2Fdefault.tflock&ifGenerationMatch=0"));
    let info: LockInfo = serde_json::from_slice(&asked[0].body).unwrap();
    assert_eq!(info.path, "gs://states/a b/default.tflock");
    assert_eq!(
        asked[1].line,
        "DELETE /storage/v1/b/states/o/a%20b%2Fdefault.tflock?ifGenerationMatch=9"
    );

    let server = Scripted::start([not_met(), lock("uuid", 9)]);
    let error = open(&server).await.try_lock("test").await.unwrap_err();
    assert!(error.diagnostic().detail.contains("force-unlock 9"), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_another_process_is_not_released() {
    for (id, replies) in [
        // As in Terraform, `force-unlock` wants the generation, not the ID in the text.
        ("uuid", vec![lock("uuid", 9)]),
        ("8", vec![lock("uuid", 9)]),
        // Another process takes it in between.
        ("9", vec![lock("uuid", 9), not_met(), lock("other", 10)]),
        ("9", vec![missing()]),
    ] {
        let server = Scripted::start(replies);
        let error = open(&server).await.force_unlock(id).await.unwrap_err();
        assert!(matches!(error, StoreError::NotLocked { .. }), "{error:?}");
    }
    let server = Scripted::start([lock("uuid", 9), Reply::new("204 No Content", "")]);
    open(&server).await.force_unlock("9").await.unwrap();

    // One that was released by force is reported at the end.
    let server = Scripted::start([stored(9), not_met(), lock("other", 10)]);
    let mut store = open(&server).await;
    let taken = store.try_lock("test").await.unwrap();
    let error = store.unlock(taken).await.unwrap_err().to_string();
    assert!(error.contains("by force, and ana@host"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_service_name_call_cause_and_next_step() {
    let busy = || Reply::new("503 Service Unavailable", "backendError");
    let many = || Reply::new("429 Too Many Requests", "rateLimitExceeded");
    let server = Scripted::start([busy(), Reply::Half, many(), Reply::Reset, object(&text(4), 7)]);
    assert_eq!(open(&server).await.read().await.unwrap().unwrap().serial, 4);
    let refusal = |status, message: &str| {
        Reply::new(status, format!(r#"{{"error":{{"code":1,"message":"{message}"}}}}"#))
    };
    for (replies, reason) in [
        (vec![busy(); 6], "backendError"),
        (vec![refusal("401 Unauthorized", "Invalid Credentials")], "renew them"),
        (vec![refusal("403 Forbidden", "no storage.objects.get")], "lack the permission"),
        (vec![refusal("404 Not Found", "The specified bucket does not exist.")], "check bucket"),
        (vec![refusal("400 Bad Request", "The target object is encrypted")], "encryption_key"),
        (vec![Reply::new("404 Not Found", "<html>")], "check bucket"),
        (vec![Reply::Reset; 6], "(after 6 attempts)"),
    ] {
        let server = Scripted::start(replies);
        let error = open(&server).await.read().await.unwrap_err().to_string();
        assert!(error.contains("GET http://127.0.0.1:") && error.contains(reason), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn states_are_encrypted_with_the_key_of_the_arguments_and_locks_are_not() {
    let key = STANDARD.encode([7; 32]);
    let server = Scripted::start([missing(), missing(), stored(1), stored(2)]);
    let variables = [("GOOGLE_ENCRYPTION_KEY", key.as_str()), ("GOOGLE_OAUTH_ACCESS_TOKEN", "t")];
    let mut store = backend(&server, &[], &variables).open(DEFAULT_WORKSPACE).await.unwrap();
    let mut file = changed(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    store.try_lock("test").await.unwrap();
    let asked = server.asked();
    for request in &asked[..3] {
        assert_eq!(request.headers["x-goog-encryption-key"], key);
        assert_eq!(request.headers["x-goog-encryption-algorithm"], "AES256");
    }
    assert!(!asked[3].headers.contains_key("x-goog-encryption-key"));

    let server = Scripted::start([missing(), missing(), stored(1)]);
    let kms = [("kms_encryption_key", Value::string("projects/p/k"))];
    let variables = [("GOOGLE_OAUTH_ACCESS_TOKEN", "t")];
    let mut store = backend(&server, &kms, &variables).open(DEFAULT_WORKSPACE).await.unwrap();
    let mut file = changed(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    assert!(server.lines()[2].ends_with("&kmsKeyName=projects%2Fp%2Fk"), "{:?}", server.lines());
}

#[tokio::test(start_paused = true)]
async fn a_service_account_exchanges_a_signed_assertion_for_a_token() {
    let issued = r#"{"access_token":"issued","expires_in":3599,"token_type":"Bearer"}"#;
    let no = Reply::new("400 Bad Request", r#"{"error":"invalid_grant"}"#);
    let server = Scripted::start([Reply::new("200 OK", issued), missing(), missing(), no]);
    let account = serde_json::json!({
        "type": "service_account",
        "client_email": "a@p.iam.gserviceaccount.com",
        "private_key": KEY,
        "private_key_id": "k-1",
        "token_uri": format!("{}/token", server.url),
    });
    let account = account.to_string();
    let variables = [("GOOGLE_CREDENTIALS", account.as_str())];
    let open = async || backend(&server, &[], &variables).open(DEFAULT_WORKSPACE).await.unwrap();
    let mut store = open().await;
    store.read().await.unwrap();
    store.read().await.unwrap();
    let asked = server.asked();
    let lines: Vec<&str> =
        asked.iter().map(|asked| asked.line.split('?').next().unwrap()).collect();
    // The token is used again.
    assert_eq!(lines[0], "POST /token");
    assert!(lines[1..].iter().all(|line| line.starts_with("GET ")), "{lines:?}");
    assert_eq!(asked[1].headers["authorization"], "Bearer issued");
    let form = String::from_utf8(asked[0].body.clone()).unwrap();
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
        Reply::new("200 OK", page.to_string())
    };
    let server = Scripted::start([
        page(&["a b/two.tfstate", "a b/default.tfstate", "a b/two.tflock"], "p/1"),
        page(&["a b/one.tfstate"], ""),
        Reply::new("200 OK", r#"{"kind":"storage#objects"}"#),
    ]);
    let backend = backend(&server, &[("access_token", Value::string("t"))], &[]);
    assert_eq!(backend.workspaces().await.unwrap(), [DEFAULT_WORKSPACE, "one", "two"]);
    assert_eq!(
        server.lines()[1],
        "GET /storage/v1/b/states/o?delimiter=%2F&prefix=a%20b%2F&pageToken=p%2F1"
    );
    assert_eq!(backend.workspaces().await.unwrap(), [DEFAULT_WORKSPACE]);
}

#[test]
fn arguments_that_are_not_valid_are_refused() {
    let refused = |more: &[(&'static str, &str)], variables: &[(&str, &str)]| {
        let mut all = vec![("bucket", Value::string("b"))];
        all.extend(more.iter().map(|(name, text)| (*name, Value::string(*text))));
        let backend = configured_in("gcs", &all, variables);
        backend.map_or_else(|error| error.message, |backend| backend.location(DEFAULT_WORKSPACE))
    };
    assert_eq!(refused(&[("prefix", "p")], &[]), "gs://b/p/default.tfstate");
    assert!(refused(&[("credentials", "/none")], &[]).contains("neither valid json"));
    assert!(
        refused(&[], &[("GOOGLE_APPLICATION_CREDENTIALS", "/none")]).contains("cannot be read")
    );
    assert!(refused(&[("encryption_key", "c2hvcnQ=")], &[]).contains("a key of 32 bytes"));
    let both = [("encryption_key", ""), ("kms_encryption_key", "")];
    assert!(refused(&both, &[]).contains("can't set both"));
    assert!(refused(&[("storage_custom_endpoint", "h:1")], &[]).contains("not a URL"));
}
