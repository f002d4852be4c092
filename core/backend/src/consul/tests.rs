//! Keys, chunks and sessions, and faults of their server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::StateAccess;
use formwork_value::Value;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::journals::ConsulKeys;
use super::session::{ConsulSession, SESSION_TIMES, SessionTimes};
use super::*;
use crate::journals::{AppendOutcome, JournalStore as _, SharedRun};
use crate::lock::LockInfo;
use crate::remote::{LockOutcome, PutError, RemoteClient as _};
use crate::scripted_server::{
    ScriptedReply, ScriptedServer, configure_backend_with_variables, test_state_text,
};
use crate::store::{StateStore, StoreError};

fn key_reply(content: &[u8], version: u64) -> ScriptedReply {
    let value = STANDARD.encode(content);
    ScriptedReply::new(
        "200 OK",
        format!(r#"[{{"Key":"k","Value":"{value}","ModifyIndex":{version},"Flags":0}}]"#),
    )
}

fn not_found_reply() -> ScriptedReply {
    ScriptedReply::new("404 Not Found", "")
}

fn success_reply() -> ScriptedReply {
    ScriptedReply::new("200 OK", "true")
}

fn stored_reply(version: u64) -> ScriptedReply {
    ScriptedReply::new(
        "200 OK",
        format!(r#"{{"Results":[{{"KV":{{"ModifyIndex":{version}}}}}],"Errors":null}}"#),
    )
}

async fn open_store(
    server: &ScriptedServer,
    more: &[(&'static str, Value)],
) -> Box<dyn StateStore> {
    let mut all =
        vec![("address", Value::string(server.url.as_str())), ("path", Value::string("a b/k"))];
    all.extend_from_slice(more);
    let variables = [("CONSUL_HTTP_TOKEN", "secret")];
    configure_backend_with_variables("consul", &all, &variables)
        .unwrap()
        .open_store(DEFAULT_WORKSPACE)
        .await
        .unwrap()
}

async fn read_and_change(store: &mut dyn StateStore) -> StateFile {
    let mut file = store.read().await.unwrap().unwrap_or_else(StateFile::new_empty);
    file.check_results = Some(b"[\"x\"]".to_vec().into());
    file
}

#[tokio::test(start_paused = true)]
async fn a_key_is_written_only_over_the_version_that_was_read() {
    let read = || key_reply(&test_state_text(1), 7);
    let server = ScriptedServer::start([read(), read(), read(), stored_reply(8)]);
    let datacenter = [("datacenter", Value::string("d"))];
    let mut store = open_store(&server, &datacenter).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[0].line, "GET /v1/kv/a%20b/k?dc=d");
    assert_eq!(requests[0].headers["x-consul-token"], "secret");
    let operation: serde_json::Value = serde_json::from_slice(&requests[3].body).unwrap();
    assert_eq!(operation[0]["KV"]["Verb"], "cas");
    assert_eq!(operation[0]["KV"]["Index"], 7);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_another_program_has_written_is_kept() {
    let read = |serial| key_reply(&test_state_text(serial), 6 + serial);
    let stale = ScriptedReply::new(
        "409 Conflict",
        r#"{"Results":null,"Errors":[{"What":"index is stale"}]}"#,
    );
    let server = ScriptedServer::start([read(1), read(1), read(1), stale, read(2), read(2)]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_large_state_is_split_and_its_sum_is_checked() {
    let large =
        ScriptedReply::new("413 Request Entity Too Large", "Request body(9 bytes) too large");
    let server = ScriptedServer::start([
        not_found_reply(),
        not_found_reply(),
        not_found_reply(),
        large,
        success_reply(),
        stored_reply(3),
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let requests = server.received_requests();
    assert!(requests[4].line.starts_with("PUT /v1/kv/a%20b/k/tfstate."), "{}", requests[4].line);
    let operation: serde_json::Value = serde_json::from_slice(&requests[5].body).unwrap();
    let list = STANDARD.decode(operation[0]["KV"]["Value"].as_str().unwrap()).unwrap();

    let server = ScriptedServer::start([key_reply(&list, 3), key_reply(&requests[4].body, 2)]);
    assert!(open_store(&server, &[]).await.read().await.unwrap().is_some());
    let server = ScriptedServer::start([key_reply(&list, 3), key_reply(b"{}", 2)]);
    let error = open_store(&server, &[]).await.read().await.unwrap_err().to_string();
    assert!(error.contains("1 chunks has the MD5"), "{error}");
    let server = ScriptedServer::start([key_reply(&list, 3), not_found_reply()]);
    let error = open_store(&server, &[]).await.read().await.unwrap_err().to_string();
    assert!(error.contains("could not be found"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_compressed_state_is_read_regardless_of_the_argument() {
    let server = ScriptedServer::start([
        not_found_reply(),
        not_found_reply(),
        not_found_reply(),
        stored_reply(3),
    ]);
    let mut store = open_store(&server, &[("gzip", Value::Bool(true))]).await;
    let mut file = read_and_change(store.as_mut()).await;
    store.write(&mut file).await.unwrap();
    let operation: serde_json::Value =
        serde_json::from_slice(&server.received_requests()[3].body).unwrap();
    let value = STANDARD.decode(operation[0]["KV"]["Value"].as_str().unwrap()).unwrap();
    assert_eq!(value[..2], [0x1f, 0x8b]);
    let server = ScriptedServer::start([key_reply(&value, 3)]);
    assert!(open_store(&server, &[]).await.read().await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_lock_with_an_ended_session_is_retaken_before_a_write() {
    let session = |id: &str| ScriptedReply::new("200 OK", format!(r#"{{"ID":"{id}"}}"#));
    let refused_reply = || ScriptedReply::new("200 OK", "false");
    let holder = |id: &str| key_reply(format!(r#"{{"ID":"{id}","Who":"ana@host"}}"#).as_bytes(), 3);
    let locked = || [session("s-1"), not_found_reply(), success_reply(), success_reply()];
    let delayed_replies =
        || [session("s-2"), not_found_reply(), refused_reply(), success_reply(), holder("s-1")];
    let again = [session("s-3"), not_found_reply(), success_reply(), success_reply()];
    for (replies, written) in [
        (
            [delayed_replies().to_vec(), again.to_vec(), vec![not_found_reply(), stored_reply(8)]]
                .concat(),
            true,
        ),
        (
            [session("s-2"), not_found_reply(), refused_reply(), success_reply(), holder("s-9")]
                .to_vec(),
            false,
        ),
    ] {
        let server = ScriptedServer::start(locked().into_iter().chain(replies));
        let mut client =
            ConsulClient::new(server_without_retries(&server), "k".to_owned(), false, true);
        let info = LockInfo::new("test", "k".to_owned());
        assert!(matches!(client.lock(&info).await, Ok(LockOutcome::Taken)));
        client.session().unwrap().mark_ended_by_server();
        let put = client.put(test_state_text(1)).await;
        assert_eq!(put.is_ok(), written, "{put:?}");
        let n_written =
            server.request_lines().iter().filter(|line| line.contains("/v1/txn")).count();
        assert_eq!(n_written, usize::from(written));
        // Without a lock of its own, no later attempt writes either.
        if !written {
            assert!(client.put(test_state_text(1)).await.is_err());
        }
    }
}

/// A server without retries.
fn server_without_retries(server: &ScriptedServer) -> ConsulServer {
    let retries = RetryPolicy { most: 0, shortest: Duration::ZERO, longest: Duration::ZERO };
    let client = HttpClient::new(&TlsSettings::default(), retries, |_| None).unwrap();
    let url = server.url.clone();
    ConsulServer { url, token: None, auth: None, parameters: vec![], client }
}

#[tokio::test]
async fn a_session_whose_renewal_fails_is_renewed_again() {
    let busy = ScriptedReply::new("500 Internal Server Error", "No cluster leader");
    let session_lost_reply = ScriptedReply::new("404 Not Found", "Session id 's-1' not found");
    let server = ScriptedServer::start([
        busy,
        ScriptedReply::Reset,
        ScriptedReply::new("200 OK", "[]"),
        session_lost_reply,
    ]);
    let short = Duration::from_millis(1);
    let times = SessionTimes {
        ttl: Duration::MAX,
        pause: short,
        retry: short,
        limit: Duration::from_secs(60),
    };
    let session = ConsulSession::keep_alive(
        server_without_retries(&server),
        "s-1".to_owned(),
        Instant::now(),
        times,
    )
    .unwrap();
    while !session.has_ended() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        server.request_lines(),
        // The connection that was reset carried no request.
        ["PUT /v1/session/renew/s-1", "", "PUT /v1/session/renew/s-1", "PUT /v1/session/renew/s-1",]
    );
    assert!(session.may_have_ended());
}

#[tokio::test]
async fn a_session_that_was_not_renewed_within_its_ttl_is_lost_until_it_is_renewed() {
    let session = ScriptedReply::new("200 OK", r#"{"ID":"s-1"}"#);
    let taken = [session, not_found_reply(), success_reply(), success_reply()];
    let down = || ScriptedReply::new("500 Internal Server Error", "No cluster leader");
    let server = ScriptedServer::start(taken.into_iter().chain([down(), down()]));
    let mut client =
        ConsulClient::new(server_without_retries(&server), "k".to_owned(), false, true);
    let info = LockInfo::new("test", "k".to_owned());
    assert!(matches!(client.lock(&info).await, Ok(LockOutcome::Taken)));
    assert!(!client.session().unwrap().may_have_ended());
    client.session().unwrap().pretend_unrenewed_for(SESSION_TIMES.ttl);
    assert!(client.session().unwrap().may_have_ended() && !client.session().unwrap().has_ended());
    // A server that does not respond prevents the state from being written.
    let PutError::Failed(cause) = client.put(test_state_text(1)).await.unwrap_err() else {
        panic!()
    };
    let cause = cause.to_string();
    assert!(
        cause.contains("the lock could not be renewed, and cannot be acquired again"),
        "{cause}"
    );
    assert!(!server.request_lines().iter().any(|line| line.contains("/v1/txn")));
}

#[tokio::test(start_paused = true)]
async fn the_lock_entry_of_another_holder_is_kept_at_a_release() {
    let session = ScriptedReply::new("200 OK", r#"{"ID":"s-1"}"#);
    let other_lock_reply = key_reply(br#"{"ID":"s-9","Who":"ana@host"}"#, 5);
    let lock_owner_reply =
        ScriptedReply::new("200 OK", r#"[{"Key":"k","ModifyIndex":9,"Session":"s-9"}]"#);
    let taking = [session, not_found_reply(), success_reply(), success_reply()];
    let replies = [
        other_lock_reply,
        ScriptedReply::new("200 OK", "false"),
        lock_owner_reply,
        success_reply(),
    ];
    let server = ScriptedServer::start(taking.into_iter().chain(replies));
    let mut store = open_store(&server, &[]).await;
    let lock = store.try_lock("test").await.unwrap();
    let error = store.unlock(lock).await.unwrap_err().to_string();
    assert!(error.contains("another program has released the lock by force"), "{error}");
    assert!(
        !server.request_lines().iter().any(|line| line.starts_with("DELETE")),
        "{:?}",
        server.request_lines()
    );
}

#[tokio::test]
async fn the_token_is_taken_from_the_file_then_the_argument_then_the_variable() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("token"), "of-file\n").unwrap();
    std::fs::write(path("empty"), "\n").unwrap();
    let variable = ("CONSUL_HTTP_TOKEN", "of-variable".to_owned());
    let file = |name| ("CONSUL_HTTP_TOKEN_FILE", path(name));
    for (argument, variables, expected) in [
        ("", vec![variable.clone()], "of-variable"),
        ("of-argument", vec![variable.clone()], "of-argument"),
        ("of-argument", vec![variable.clone(), file("token")], "of-file"),
        ("", vec![variable, file("empty")], "of-variable"),
    ] {
        let server = ScriptedServer::start([not_found_reply()]);
        let all = [
            ("address", Value::string(server.url.as_str())),
            ("path", Value::string("k")),
            ("access_token", Value::string(argument)),
        ];
        let variables: Vec<_> = variables.iter().map(|(name, text)| (*name, &**text)).collect();
        let backend = configure_backend_with_variables("consul", &all, &variables).unwrap();
        backend.open_store(DEFAULT_WORKSPACE).await.unwrap().read().await.unwrap();
        assert_eq!(server.received_requests()[0].headers["x-consul-token"], expected);
    }
    let all = [("path", Value::string("k"))];
    let error = configure_backend_with_variables(
        "consul",
        &all,
        &[("CONSUL_HTTP_TOKEN_FILE", &path("none"))],
    );
    let error = error.err().unwrap().message;
    assert!(
        error.contains("CONSUL_HTTP_TOKEN_FILE") && error.contains("cannot be read"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_release_after_a_lost_response_succeeds() {
    let session = ScriptedReply::new("200 OK", r#"{"ID":"s-1"}"#);
    let taking = [session, not_found_reply(), success_reply(), success_reply()];
    let giving = [
        // The entry with the holder is already deleted.
        not_found_reply(),
        ScriptedReply::Truncated,
        ScriptedReply::new("200 OK", "false"),
        not_found_reply(),
        success_reply(),
    ];
    let server = ScriptedServer::start(taking.into_iter().chain(giving));
    let mut store = open_store(&server, &[]).await;
    let lock = store.try_lock("test").await.unwrap();
    store.unlock(lock).await.unwrap();
    let lines = server.request_lines();
    let released = lines.iter().filter(|line| line.contains("?release=s-1")).count();
    assert_eq!(released, 2, "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_a_key_of_a_session() {
    let session = || ScriptedReply::new("200 OK", r#"{"ID":"s-1"}"#);
    let free = ScriptedReply::new("200 OK", r#"[{"Key":"k","ModifyIndex":9}]"#);
    let taking = [session(), not_found_reply(), success_reply(), success_reply()];
    let info = key_reply(br#"{"ID":"s-1"}"#, 8);
    let giving = [info, success_reply(), success_reply(), free, success_reply(), success_reply()];
    let server = ScriptedServer::start(taking.into_iter().chain(giving));
    let mut store = open_store(&server, &[]).await;
    let lock = store.try_lock("OperationTypeApply").await.unwrap();
    store.unlock(lock).await.unwrap();
    let lines = server.request_lines();
    // Consul's own client marks the keys of locks with this number.
    assert_eq!(lines[2], "PUT /v1/kv/a%20b/k/.lock?acquire=s-1&flags=3304740253564472344");
    assert_eq!(lines[5], "DELETE /v1/kv/a%20b/k/.lockinfo?cas=8");
    assert_eq!(lines[6], "PUT /v1/kv/a%20b/k/.lock?release=s-1&flags=3304740253564472344");
    assert_eq!(lines[8], "DELETE /v1/kv/a%20b/k/.lock?cas=9");
    let info: LockInfo = serde_json::from_slice(&server.received_requests()[3].body).unwrap();
    assert_eq!((info.id.as_str(), info.info.as_str()), ("s-1", "consul session: s-1"));

    let refused_reply = ScriptedReply::new("200 OK", "false");
    let holder = key_reply(br#"{"ID":"s-0","Who":"ana@host"}"#, 3);
    let server = ScriptedServer::start([
        session(),
        not_found_reply(),
        refused_reply,
        success_reply(),
        holder,
    ]);
    let error = open_store(&server, &[]).await.try_lock("test").await.unwrap_err();
    assert!(error.diagnostic().detail.contains("force-unlock s-0"), "{error:?}");
    assert_eq!(server.request_lines()[3], "PUT /v1/session/destroy/s-1");

    let holder = key_reply(br#"{"ID":"s-0","Who":"ana@host"}"#, 3);
    let server = ScriptedServer::start([holder]);
    let lock_info = open_store(&server, &[]).await.current_lock_holder().await.unwrap();
    assert_eq!(lock_info.unwrap().who, "ana@host");

    // A key of another program is not changed.
    let server = ScriptedServer::start([session(), key_reply(b"x", 3), success_reply()]);
    let error = open_store(&server, &[]).await.try_lock("test").await.unwrap_err().to_string();
    assert!(error.contains("does not match lock use"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn server_errors_are_reported_with_call_and_cause() {
    let busy = || ScriptedReply::new("500 Internal Server Error", "No cluster leader");
    let server = ScriptedServer::start([
        busy(),
        ScriptedReply::Truncated,
        key_reply(&test_state_text(4), 7),
    ]);
    assert_eq!(open_store(&server, &[]).await.read().await.unwrap().unwrap().serial, 4);
    for (replies, reason) in [
        (vec![busy(), busy(), busy()], "No cluster leader"),
        (vec![ScriptedReply::new("403 Forbidden", "Permission denied")], "check access_token"),
        (vec![ScriptedReply::new("200 OK", "<html>")], "the response cannot be read"),
        (
            vec![ScriptedReply::Reset, ScriptedReply::Reset, ScriptedReply::Reset],
            "(after 3 attempts)",
        ),
    ] {
        let server = ScriptedServer::start(replies);
        let error = open_store(&server, &[]).await.read().await.unwrap_err().to_string();
        assert!(error.contains("GET http://127.0.0.1:") && error.contains(reason), "{error}");
    }
}

#[test]
fn addresses_have_the_forms_that_consul_has() {
    let url = |address: &str, variables: &[(&str, &str)]| {
        let all = [("path", Value::string("p")), ("address", Value::string(address))];
        let backend = configure_backend_with_variables("consul", &all, variables);
        backend.map_or_else(|error| error.message, |backend| backend.location(DEFAULT_WORKSPACE))
    };
    assert_eq!(url("", &[]), "http://127.0.0.1:8500/v1/kv/p");
    assert_eq!(url("h:1", &[("CONSUL_HTTP_SSL", "true")]), "https://h:1/v1/kv/p");
    assert_eq!(url("https://h/", &[]), "https://h/v1/kv/p");
    assert_eq!(url("", &[("CONSUL_HTTP_ADDR", "c:2")]), "http://c:2/v1/kv/p");
    assert!(url("unix:///run/c", &[]).contains("sockets are not supported"));
    let secret = url("https://user:hush@h", &[]);
    assert!(secret.contains("set http_auth") && !secret.contains("hush"), "{secret}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_transaction_is_reported_with_its_reason() {
    let refusal_body = r#"{"Results":null,"Errors":[{"OpIndex":0,"What":"Permission denied"}]}"#;
    let read = || key_reply(&test_state_text(1), 7);
    let server = ScriptedServer::start([
        read(),
        read(),
        read(),
        ScriptedReply::new("409 Conflict", refusal_body),
    ]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err().to_string();
    assert!(error.contains("/v1/kv/a b/k: Permission denied"), "{error}");
    // A page from a proxy does not mean that another program has written the key.
    let page = ScriptedReply::new("409 Conflict", "<html>");
    let server = ScriptedServer::start([read(), read(), read(), page]);
    let mut store = open_store(&server, &[]).await;
    let mut file = read_and_change(store.as_mut()).await;
    let error = store.write(&mut file).await.unwrap_err();
    assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
}

/// Reads a request, and responds that the key does not exist.
fn answer_not_found(mut stream: impl Read + Write) -> std::io::Result<()> {
    let (mut request, mut part) = (Vec::new(), [0; 1000]);
    while !request.ends_with(b"\r\n\r\n") {
        let n = stream.read(&mut part)?;
        request.extend_from_slice(&part[..n]);
        if n == 0 {
            return Ok(());
        }
    }
    let answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(answer.as_bytes())
}

/// Serves connections with a certificate for `consul.test`, and responds that the key does not
/// exist. Returns the address and the certificate of the authority.
fn start_tls_server() -> (String, String) {
    let authority = {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["consul.test".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let provider = formwork_plugin_protocol::crypto_provider();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.serialize_der().try_into().unwrap())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            // A client that does not trust the server closes the connection.
            drop(answer_not_found(rustls::StreamOwned::new(connection, stream)));
        }
    });
    (address, authority.pem())
}

#[tokio::test]
async fn a_server_may_have_another_name_in_its_certificate_and_an_authority_in_a_directory() {
    for (name, outcome) in [
        (Some("consul.test"), Ok(())),
        (Some("consul.test:8501"), Ok(())),
        (Some("other.test"), Err("other.test")),
        (None, Err("127.0.0.1")),
    ] {
        let (address, authority) = start_tls_server();
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.pem"), authority).unwrap();
        let path = directory.path().to_str().unwrap();
        let all = [
            ("address", Value::string(format!("https://{address}"))),
            ("path", Value::string("k")),
        ];
        let mut variables = vec![("CONSUL_CAPATH", path)];
        variables.extend(name.map(|name| ("CONSUL_TLS_SERVER_NAME", name)));
        let backend = configure_backend_with_variables("consul", &all, &variables).unwrap();
        let mut store = backend.open_store(DEFAULT_WORKSPACE).await.unwrap();
        match (store.read().await, outcome) {
            (read, Ok(())) => assert_eq!(read.unwrap(), None),
            (read, Err(expected)) => {
                let error = read.unwrap_err().to_string();
                assert!(error.contains("certificate") && error.contains(expected), "{error}");
            }
        }
    }
    let all = [("path", Value::string("k"))];
    let error =
        configure_backend_with_variables("consul", &all, &[("CONSUL_CAPATH", "/nowhere/at/all")])
            .err();
    assert!(error.unwrap().message.starts_with("CONSUL_CAPATH \"/nowhere/at/all\" cannot be read"));
}

/// The journals below a key.
fn shared_journals(server: &ScriptedServer) -> ObjectJournals<LimitedObjects<ConsulKeys>> {
    let state = ConsulClient::new(server_without_retries(server), "a b/k".to_owned(), false, true);
    let keys = ConsulKeys { server: server_without_retries(server), state, has_lock: true };
    ObjectJournals::new(LimitedObjects::new(keys, MAX_JOURNAL_VALUE_LEN), "a b/k/")
}

fn rejected_reply(reason: &str) -> ScriptedReply {
    ScriptedReply::new(
        "409 Conflict",
        format!(r#"{{"Results":null,"Errors":[{{"What":"{reason}"}}]}}"#),
    )
}

#[tokio::test(start_paused = true)]
async fn a_journal_part_is_a_key_that_is_created_once() {
    let part = |text: &[u8]| key_reply(&crate::compression::compress_gzip(text).unwrap(), 2);
    let stale = || rejected_reply("failed to set key: index is stale");
    let server = ScriptedServer::start([
        not_found_reply(),
        stored_reply(1),
        // The response to an attempt was lost.
        stale(),
        part(b"part"),
        // Another machine has taken over the run.
        stale(),
        part(b"theirs"),
    ]);
    let journals = shared_journals(&server);
    assert!(journals.store_location().ends_with("/v1/kv/a b/k/.journal/"));
    assert_eq!(journals.begin_run("run").await.unwrap(), None);
    for (number, outcome) in
        [(0, AppendOutcome::Stored), (1, AppendOutcome::Stored), (2, AppendOutcome::Occupied)]
    {
        assert_eq!(journals.append_part("run", number, b"part").await.unwrap(), outcome);
    }
    let requests = server.received_requests();
    assert_eq!(requests[0].line, "GET /v1/kv/a%20b/k/.journal/run/000000000000?keys=");
    let operation: serde_json::Value = serde_json::from_slice(&requests[1].body).unwrap();
    // The version of a key that does not exist.
    assert_eq!(operation[0]["KV"]["Index"], 0);
    assert_eq!(operation[0]["KV"]["Key"], "a b/k/.journal/run/000000000000");
}

#[tokio::test(start_paused = true)]
async fn parts_of_journals_are_read_and_removed_by_their_keys() {
    let listed = || {
        ScriptedReply::new(
            "200 OK",
            r#"["a b/k/.journal/run/000000000007","a b/k/.journal/run/000000000000","a b/k/.journal/run/000000000000.aa.0"]"#,
        )
    };
    let part = |text: &[u8]| key_reply(&crate::compression::compress_gzip(text).unwrap(), 1);
    let server = ScriptedServer::start([listed(), part(b"0"), part(b"7")]);
    let runs = shared_journals(&server).read_runs(StateAccess::Locked).await.unwrap();
    let parts = vec![(0, b"0".to_vec()), (7, b"7".to_vec())];
    assert_eq!(runs, [SharedRun { id: "run".to_owned(), is_live: false, silent_for: None, parts }]);

    let pieces = || ScriptedReply::new("200 OK", r#"["a b/k/.journal/run/000000000000.aa.0"]"#);
    let server = ScriptedServer::start([listed(), success_reply(), pieces(), success_reply()]);
    shared_journals(&server).remove_parts_below("run", 7).await.unwrap();
    let requests = server.request_lines();
    assert!(requests[3].starts_with("DELETE ") && requests[3].ends_with(".aa.0"), "{requests:?}");
    let removed = &requests[1];
    assert!(removed.starts_with("DELETE ") && removed.ends_with("000000000000"), "{removed}");
}

#[tokio::test(start_paused = true)]
async fn journals_are_local_without_a_permission() {
    let denied = || ScriptedReply::new("403 Forbidden", "Permission denied");
    let lacking = || rejected_reply("Permission denied: token with AccessorID lacks permission");
    let server = ScriptedServer::start([denied(), denied(), lacking(), lacking()]);
    let journals = shared_journals(&server);
    let reason = journals.begin_run("run").await.unwrap().unwrap();
    assert!(reason.contains("cannot be listed") && reason.contains("access_token"), "{reason}");
    assert!(journals.read_runs(StateAccess::Locked).await.unwrap().is_empty());
    let first = journals.append_part("run", 0, b"part").await.unwrap();
    assert!(matches!(first, AppendOutcome::CannotStore(_)), "{first:?}");
    // At this point the run relies on the journal.
    journals.append_part("run", 1, b"part").await.unwrap_err();
}
