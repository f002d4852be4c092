//! Faults of a server at a URL: no state is lost or overwritten, and messages include the location, the
//! call and the cause.

mod shared_journals;

use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::StateAccess;
use formwork_core::state::journal::RunHeader;
use formwork_value::Number;
use tokio::time::Instant;

use super::*;
use crate::arguments::BackendEnvironment;
use crate::scripted_server::{
    ScriptedReply, ScriptedServer, configure_backend, test_state, test_state_text,
};

/// Opens the state at a URL. The server has its lock, too.
async fn open_store(url: &str) -> Box<dyn StateStore> {
    let url = formwork_value::Value::string(url);
    let arguments =
        [("address", url.clone()), ("lock_address", url.clone()), ("unlock_address", url)];
    configure_backend("http", &arguments).open_store(DEFAULT_WORKSPACE).await.unwrap()
}

/// The message for a state that cannot be read, and the number of requests.
async fn read_error_and_n_requests(replies: Vec<ScriptedReply>) -> (String, usize) {
    let server = ScriptedServer::start(replies);
    let error = open_store(&server.url).await.read().await.unwrap_err();
    assert!(error.to_string().contains(&format!("GET {}", server.url)), "{error}");
    (error.to_string(), server.received_requests().len())
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_reported_immediately_with_its_reason() {
    for (status, reason) in [
        ("401 Unauthorized", "the HTTP remote state endpoint requires auth"),
        ("403 Forbidden", "the HTTP remote state endpoint rejects the credentials"),
        ("409 Conflict", "unexpected HTTP response code 409 Conflict: a reason"),
        ("423 Locked", "unexpected HTTP response code 423 Locked: a reason"),
    ] {
        let (message, n_asked) =
            read_error_and_n_requests(vec![ScriptedReply::new(status, "a\n reason")]).await;
        assert!(message.ends_with(reason), "{message}");
        assert_eq!(n_asked, 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_message_contains_a_part_of_a_state() {
    let secret = "\"outputs\": {\"password\": {\"value\": \"hunter2\", \"type\": \"string\", \"sensitive\": true}}";
    let text = String::from_utf8(test_state_text(4)).unwrap();
    let text = text.replace("\"outputs\": {}", secret);
    assert!(text.contains("hunter2"), "{text}");
    // A proxy that changes content, a cache, and a server with a page for each redirect.
    for status in
        ["203 Non-Authoritative Information", "206 Partial Content", "300 Multiple Choices"]
    {
        let (message, _) =
            read_error_and_n_requests(vec![ScriptedReply::new(status, text.clone())]).await;
        let code = &status[..3];
        assert!(message.contains(code) && !message.contains("hunter2"), "{message}");
    }
    // A server that quotes what it does not accept, in the escapes of JSON.
    let quoted = serde_json::json!({ "error": "no state", "input": text }).to_string();
    let server = ScriptedServer::start([
        ScriptedReply::new("200 OK", text.clone()),
        ScriptedReply::new("200 OK", text),
        ScriptedReply::new("400 Bad Request", quoted),
    ]);
    let mut store = open_store(&server.url).await;
    let mut file = store.read().await.unwrap().unwrap();
    file.check_results = Some(b"[\"x\"]".to_vec().into());
    let message = store.write(&mut file).await.unwrap_err().to_string();
    assert!(message.contains("400 Bad Request") && !message.contains("hunter2"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_retried_twice() {
    let fault = |reply: &ScriptedReply| vec![reply.clone(), reply.clone(), reply.clone()];
    let busy = ScriptedReply::new("500 Internal Server Error", "");
    for (reply, reason) in [
        (&busy, "500 Internal Server Error"),
        (&ScriptedReply::new("429 Too Many Requests", ""), "429 Too Many Requests"),
        (&ScriptedReply::Truncated, "the response was truncated"),
        (&ScriptedReply::Reset, "(after 3 attempts)"),
    ] {
        let (message, n_asked) = read_error_and_n_requests(fault(reply)).await;
        assert!(message.contains(reason), "{message}");
        assert_eq!(n_asked, 3, "{reason}");

        let server = ScriptedServer::start([
            reply.clone(),
            reply.clone(),
            ScriptedReply::new("200 OK", test_state_text(4)),
        ]);
        let began = Instant::now();
        let read = open_store(&server.url).await.read().await.unwrap().unwrap();
        assert_eq!(read.serial, 4);
        // One second, then two.
        assert_eq!(began.elapsed().as_secs(), 3, "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_specifies_the_time_of_the_next_attempt() {
    let busy = ScriptedReply::new("429 Too Many Requests", "").header("Retry-After: 17");
    let server = ScriptedServer::start([busy, ScriptedReply::new("200 OK", test_state_text(4))]);
    let began = Instant::now();
    assert!(open_store(&server.url).await.read().await.unwrap().is_some());
    assert_eq!(began.elapsed().as_secs(), 17);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_server_is_reported_with_its_address() {
    let url = {
        // The port is free again after the listener is closed, so that no server responds at it.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/state", listener.local_addr().unwrap())
    };
    let error = open_store(&url).await.read().await.unwrap_err().to_string();
    assert!(error.contains(&format!("GET {url}: ")), "{error}");
    assert!(error.contains("refused") && error.contains("(after 3 attempts)"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_does_not_match_its_sum_is_not_used() {
    // The checksum of an empty string.
    let damaged = ScriptedReply::new("200 OK", test_state_text(4))
        .header("Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==");
    let (message, _) = read_error_and_n_requests(vec![damaged]).await;
    assert!(message.ends_with("the content does not match its MD5"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_is_reported_with_the_call_and_keeps_the_stored_state() {
    let read = || ScriptedReply::new("200 OK", test_state_text(4));
    for (status, reason) in [
        ("401 Unauthorized", "requires auth"),
        ("403 Forbidden", "rejects the credentials"),
        ("409 Conflict", "409 Conflict"),
        ("423 Locked", "423 Locked"),
    ] {
        let server = ScriptedServer::start([read(), read(), ScriptedReply::new(status, "")]);
        let mut store = open_store(&server.url).await;
        let mut file = store.read().await.unwrap().unwrap();
        file.check_results = Some(b"[\"x\"]".to_vec().into());
        let error = store.write(&mut file).await.unwrap_err();
        let message = error.to_string();
        assert!(message.contains("cannot write") && message.contains(reason), "{message}");
        assert!(error.diagnostic().detail.contains("journal"), "{}", error.diagnostic().detail);
        // The serial is that of the stored state.
        assert_eq!(file.serial, 4);
        assert_eq!(server.request_lines(), ["GET /", "GET /", "POST /"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_with_a_lost_response_is_repeated_with_the_same_content() {
    let read = || ScriptedReply::new("200 OK", test_state_text(4));
    let busy = ScriptedReply::new("503 Service Unavailable", "");
    let server = ScriptedServer::start([
        read(),
        read(),
        ScriptedReply::Truncated,
        busy,
        ScriptedReply::new("200 OK", ""),
    ]);
    let mut store = open_store(&server.url).await;
    let mut file = store.read().await.unwrap().unwrap();
    file.check_results = Some(b"[\"x\"]".to_vec().into());
    store.write(&mut file).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests.len(), 5);
    // With another serial it would look like a write by another program.
    assert_eq!(requests[2].body, requests[4].body);
    assert_eq!(StateFile::parse(&requests[4].body).unwrap().serial, 5);
}

#[tokio::test(start_paused = true)]
async fn a_state_that_the_server_compresses_is_read() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &test_state_text(4)).unwrap();
    let packed = encoder.finish().unwrap();
    let reply = |encoding: &str| {
        let reply = ScriptedReply::new("200 OK", packed.clone());
        reply.header(&format!("Content-Encoding: {encoding}"))
    };
    let server = ScriptedServer::start([reply("gzip")]);
    let file = open_store(&server.url).await.read().await.unwrap().unwrap();
    assert_eq!(file.serial, 4);
    let (message, _) = read_error_and_n_requests(vec![reply("br"); 3]).await;
    assert!(message.contains("unsupported content encoding \"br\""), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_redirected_write_keeps_its_method_and_content() {
    for status in ["307 Temporary Redirect", "308 Permanent Redirect"] {
        let target = ScriptedServer::start([
            ScriptedReply::new("200 OK", ""),
            ScriptedReply::new("200 OK", ""),
            ScriptedReply::new("500 Internal Server Error", ""),
        ]);
        let lead =
            |to: &str| ScriptedReply::new(status, "moved").header(&format!("Location: {to}"));
        let elsewhere = format!("{}/there?key=word", target.url);
        let empty = || ScriptedReply::new("404 Not Found", "");
        let server = ScriptedServer::start([
            empty(),
            empty(),
            lead("/here"),
            lead(&elsewhere),
            lead(&elsewhere),
            lead(&elsewhere),
        ]);
        let arguments = [("address", &server.url), ("lock_address", &server.url)]
            .map(|(name, url)| (name, formwork_value::Value::string(url.as_str())));
        let login = ["username", "password"].map(|name| (name, formwork_value::Value::string("x")));
        let no_retries = ("retry_max", formwork_value::Value::Number(Number::from(0_i64)));
        let arguments: Vec<_> = arguments.into_iter().chain(login).chain([no_retries]).collect();
        let backend = configure_backend("http", &arguments);
        let mut store = backend.open_store(DEFAULT_WORKSPACE).await.unwrap();
        let mut file = test_state(0);
        store.write(&mut file).await.unwrap();
        let _lock = store.try_lock("test").await.unwrap();
        let requests = [server.received_requests(), target.received_requests()];
        let lines = requests.each_ref().map(|all| all.iter().map(|request| request.line.as_str()));
        let [first_lines, second_lines] = lines.map(Iterator::collect::<Vec<_>>);
        assert_eq!(first_lines, ["GET /", "GET /", "POST /", "POST /here", "LOCK /"], "{status}");
        assert_eq!(second_lines, ["POST /there?key=word", "LOCK /there?key=word"], "{status}");
        // The credentials stay on the server, and the content does not.
        assert!(requests[0][3].headers.contains_key("authorization"));
        assert!(!requests[1][0].headers.contains_key("authorization"));
        assert_eq!(requests[0][2].body, requests[1][0].body);
        assert_eq!(requests[0][2].headers["content-md5"], requests[1][0].headers["content-md5"]);
        assert!(StateFile::parse(&requests[1][0].body).is_ok());
        // A refusal names the server that it is of.
        let message = store.try_lock("other").await.unwrap_err().to_string();
        let call = format!("LOCK {} (redirected to {}/there?...)", server.url, target.url);
        assert!(message.contains(&call), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_page_is_not_a_successful_write_or_lock() {
    let replies = || {
        // The page that a client would read in place of the write.
        [
            ScriptedReply::new("302 Found", "").header("Location: /login"),
            ScriptedReply::new("200 OK", "<html>"),
        ]
    };
    let server = ScriptedServer::start(replies());
    let error = open_store(&server.url).await.try_lock("test").await.unwrap_err().to_string();
    assert!(error.contains("unexpected HTTP response code 302 Found"), "{error}");
    let [state_reply, page] = replies();
    let absent = || ScriptedReply::new("404 Not Found", "");
    let server = ScriptedServer::start([absent(), absent(), state_reply, page]);
    let mut store = open_store(&server.url).await;
    assert_eq!(store.read().await.unwrap(), None);
    let error = store.write(&mut StateFile::new_empty()).await.unwrap_err().to_string();
    assert!(error.contains("unexpected HTTP response code 302 Found"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn redirects_are_limited_and_an_unreachable_target_is_reported() {
    let lead = |to: &str| ScriptedReply::new("302 Found", "").header(&format!("Location: {to}"));
    let (message, n_asked) = read_error_and_n_requests(vec![lead("/round"); 33]).await;
    assert!(message.contains("redirected more than 10 times, at last to http://"), "{message}");
    // No further attempt would end.
    assert_eq!(n_asked, 11);
    let unreachable_url = "http://localhost:1/state?key=word";
    let (message, _) = read_error_and_n_requests(vec![lead(unreachable_url); 3]).await;
    assert!(message.contains("redirected to http://localhost:1/state?...: "), "{message}");
    assert!(!message.contains("word"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_held_lock_is_reported_with_its_holder() {
    let holder = br#"{"ID":"0f1e","Operation":"OperationTypeApply","Who":"ana@host"}"#;
    for status in ["409 Conflict", "423 Locked"] {
        let server = ScriptedServer::start([ScriptedReply::new(status, holder.to_vec())]);
        let error = open_store(&server.url).await.try_lock("test").await.unwrap_err();
        let StoreError::Held { holder: Some(holder), .. } = error else { panic!("{error:?}") };
        assert_eq!((holder.id.as_str(), holder.who.as_str()), ("0f1e", "ana@host"));
        // Some servers do not identify the holder.
        let server = ScriptedServer::start([ScriptedReply::new(status, "locked")]);
        let error = open_store(&server.url).await.try_lock("test").await.unwrap_err();
        assert!(matches!(error, StoreError::Held { holder: None, .. }), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_released_with_the_information_that_took_it() {
    let server = ScriptedServer::start([
        ScriptedReply::new("200 OK", ""),
        ScriptedReply::new("500 Internal Server Error", ""),
        ScriptedReply::new("200 OK", ""),
    ]);
    let mut store = open_store(&server.url).await;
    let lock = store.try_lock("test").await.unwrap();
    store.unlock(lock).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(server.request_lines(), ["LOCK /", "UNLOCK /", "UNLOCK /"]);
    assert_eq!(requests[0].body, requests[2].body);
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_released_after_a_lost_response() {
    let locked = || ScriptedReply::new("200 OK", "");
    let not_found_reply = || ScriptedReply::new("404 Not Found", "");
    for (replies, is_released) in [
        (vec![locked(), ScriptedReply::Truncated, not_found_reply()], true),
        (vec![locked(), not_found_reply()], false),
    ] {
        let mut store = open_store(&ScriptedServer::start(replies).url).await;
        let lock = store.try_lock("test").await.unwrap();
        let released = store.unlock(lock).await;
        assert_eq!(released.is_ok(), is_released, "{released:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_response_has_a_lower_size_limit_than_a_state() {
    let large = "x".repeat(17 << 20);
    // An unusable response is requested again.
    let server =
        ScriptedServer::start((0..5).map(|_| ScriptedReply::new("423 Locked", large.clone())));
    let mut store = open_store(&server.url).await;
    let error = store.try_lock("test").await.unwrap_err();
    assert!(error.to_string().contains("longer than the limit of 16777216 bytes"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_cannot_be_released_is_reported_with_a_remedy() {
    let server = ScriptedServer::start([
        ScriptedReply::new("200 OK", ""),
        ScriptedReply::new("403 Forbidden", ""),
    ]);
    let mut store = open_store(&server.url).await;
    let lock = store.try_lock("test").await.unwrap();
    let error = store.unlock(lock).await.unwrap_err();
    assert!(error.to_string().contains("UNLOCK"), "{error}");
    assert!(error.diagnostic().detail.contains("force-unlock"), "{}", error.diagnostic().detail);
}

#[tokio::test(start_paused = true)]
async fn a_truncated_state_on_the_server_is_not_reported_with_a_backup_file() {
    let half = test_state_text(4)[..20].to_vec();
    let server = ScriptedServer::start([ScriptedReply::new("200 OK", half)]);
    let error = open_store(&server.url).await.read().await.unwrap_err();
    let detail = error.diagnostic().detail;
    assert!(detail.contains("errored.tfstate") && detail.contains(&server.url), "{detail}");
    assert!(!detail.contains("backup") && !detail.contains("The file"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn a_state_of_a_newer_version_is_not_overwritten() {
    let newer =
        String::from_utf8(test_state_text(4)).unwrap().replace("\"version\": 4", "\"version\": 5");
    let server = ScriptedServer::start([ScriptedReply::new("200 OK", newer.into_bytes())]);
    let mut store = open_store(&server.url).await;
    let error = store.write(&mut test_state(5)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    assert_eq!(server.request_lines(), ["GET /"]);
}

#[tokio::test(start_paused = true)]
async fn the_longest_pause_is_an_argument() {
    let server = ScriptedServer::start([
        ScriptedReply::new("429 Too Many Requests", "").header("Retry-After: 1000"),
        ScriptedReply::new("404 Not Found", ""),
    ]);
    let arguments = [
        ("address", formwork_value::Value::string(server.url.as_str())),
        ("retry_wait_max", formwork_value::Value::Number(Number::from(5_i64))),
    ];
    let mut store =
        configure_backend("http", &arguments).open_store(DEFAULT_WORKSPACE).await.unwrap();
    let began = Instant::now();
    assert!(store.read().await.unwrap().is_none());
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[test]
fn a_journal_has_one_name_for_all_logins_and_spellings_of_an_address() {
    for (address, expected) in [
        ("https://u:p@Host.example:443/a", "https://host.example/a"),
        ("https://host.example/a", "https://host.example/a"),
        ("HTTP://u@h:80", "http://h/"),
        ("http://h:8080/a?b=c", "http://h:8080/a?b=c"),
        ("http://[::1]:80/A", "http://[::1]/A"),
        // Another port, path or query may be another state.
        ("http://h:443/a", "http://h:443/a"),
    ] {
        assert_eq!(journal_id_of_address(address), expected, "{address}");
    }
}

#[tokio::test]
async fn a_journal_is_found_with_another_login_and_under_its_former_name() {
    let directory = tempfile::tempdir().unwrap();
    let backend_at = |address: &str| {
        let backend = configure_backend_in(directory.path(), &[("address", address)]);
        backend.local_intents(DEFAULT_WORKSPACE)
    };
    let before = backend_at("http://ana:old@host.example/state");
    let base = test_state(1);
    let begin = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
    drop(before.begin_run(begin).await.unwrap());
    for (address, is_found) in [
        ("http://ana:new@Host.example:80/state", true),
        ("http://host.example/state", true),
        ("http://host.example/other", false),
    ] {
        let now = backend_at(address);
        assert_eq!(now.has_unfinished_run().await, is_found, "{address}");
        let recovery = now.recover_runs(Some(base.clone()), StateAccess::Locked).await.unwrap();
        assert_eq!(recovery.runs.len(), usize::from(is_found), "{address}");
    }

    // An earlier version has named it after the whole address.
    let address = "http://ana:old@host.example/former";
    let former = journal_directory_of_remote_state(directory.path(), address, DEFAULT_WORKSPACE);
    let former = LocalIntentLog::in_dir(former);
    drop(former.begin_run(begin).await.unwrap());
    let now = backend_at(address);
    assert!(now.has_unfinished_run().await);
    assert_eq!(now.unfinished_runs().len(), 1);
    let recovery = now.recover_runs(Some(base), StateAccess::Locked).await.unwrap();
    assert_eq!(recovery.runs.len(), 1);
    now.finish_recovery(&recovery).await.unwrap();
    assert!(!former.directory().exists());
}

/// Creates a backend whose configuration is in a directory.
fn configure_backend_in(directory: &std::path::Path, arguments: &[(&str, &str)]) -> HttpBackend {
    let given = arguments.iter().map(|(name, value)| {
        (formwork_value::Str::new(name), formwork_value::Value::string(*value))
    });
    let given = formwork_value::Value::object(given.collect::<Vec<_>>());
    let values = HttpBackendKind.schema().coerce(&given).unwrap();
    let environment =
        BackendEnvironment { root: directory.into(), ..BackendEnvironment::default() };
    let arguments = BackendArguments { values: &values, environment: &environment };
    HttpBackend::configure(&arguments).unwrap()
}
