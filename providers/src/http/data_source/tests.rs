//! Exchanges with a server in this process, which answers as each test specifies and records the
//! requests.

use std::sync::{Arc, Mutex};

use formwork_sdk::testing::{PlannedAction, Refusal, TestObject, read_data, strings};
use formwork_sdk::value::{Path, Type, Value};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::super::provider;

type Set = (&'static str, Value);

/// Requests that the server has received.
type Heard = Arc<Mutex<Vec<String>>>;

/// Answers one request.
async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &str, requests: &Heard) {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let Ok(n_bytes) = stream.read(&mut buffer).await else { return };
        text.push_str(&String::from_utf8_lossy(&buffer[..n_bytes]));
        let length = text.lines().find_map(|line| {
            line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned)
        });
        let length = length.map_or(0, |length| length.parse().unwrap());
        let end = text.find("\r\n\r\n").map(|index| index + 4 + length);
        if n_bytes == 0 || end.is_some_and(|end| text.len() >= end) {
            break;
        }
    }
    requests.lock().unwrap().push(text);
    stream.write_all(answer.as_bytes()).await.ok();
    stream.shutdown().await.ok();
}

/// A server that gives these answers, one for each request, the last for all that follow; encrypted
/// with `tls`. Returns where it is and what it hears.
async fn server(answers: Vec<String>, tls: Option<ServerConfig>) -> (String, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://localhost:{}/", listener.local_addr().unwrap().port());
    let acceptor = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
    let requests = Heard::default();
    let hears = Arc::clone(&requests);
    tokio::spawn(async move {
        let mut answers = answers.into_iter().peekable();
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answers.peek().cloned().unwrap_or_default();
            if let Some(acceptor) = &acceptor {
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                serve(stream, &answer, &hears).await;
            } else {
                serve(stream, &answer, &hears).await;
            }
            if answers.len() > 1 {
                answers.next();
            }
        }
    });
    (url, requests)
}

fn status(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

async fn ask(config: Vec<Set>) -> Result<Value, Refusal> {
    read_data(provider(), "http", config).await
}

fn get(answer: &Value, name: &str) -> Value {
    Path::root().attribute(name).find(answer).unwrap().clone()
}

fn text(name: &'static str, text: &str) -> Set {
    (name, Value::string(text))
}

fn retry(attempts: i64, min: i64, max: i64) -> Set {
    let of = |number| Value::int(number);
    let retry = [("attempts", of(attempts)), ("min_delay_ms", of(min)), ("max_delay_ms", of(max))];
    ("retry", Value::object(retry))
}

#[tokio::test]
async fn urls_are_escaped() {
    let (url, requests) = server(vec![status("200 OK", "")], None).await;
    let written = format!("{url}a b/é{{x}}?q=a b%20c#end");
    let answer = ask(vec![text("url", &written)]).await.unwrap();
    assert_eq!(get(&answer, "id"), Value::string(&written));
    let requests = requests.lock().unwrap().join("");
    assert!(
        requests.starts_with("GET /a%20b/%C3%A9%7Bx%7D?q=a%20b%20c HTTP/1.1\r\n"),
        "{requests}"
    );
    assert!(ask(vec![text("url", &format!("{url}a\nb"))]).await.is_err());
}

#[tokio::test]
async fn a_response_has_status_headers_and_body() {
    let answer = "HTTP/1.1 404 Not Found\r\nx-a: 1\r\nX-A: 2\r\ncontent-type: text/plain\r\n\
                  Content-Length: 5\r\nConnection: close\r\n\r\nhallo";
    let (url, requests) = server(vec![answer.to_owned()], None).await;
    let headers = ("request_headers", strings([("Host", "example.com"), ("X-B", "b")]));
    let answer = ask(vec![text("url", &url), headers]).await.unwrap();
    assert_eq!(get(&answer, "status_code"), Value::int(404));
    assert_eq!(get(&answer, "response_body"), Value::string("hallo"));
    assert_eq!(get(&answer, "body"), Value::string("hallo"));
    assert_eq!(get(&answer, "response_body_base64"), Value::string("aGFsbG8="));
    assert_eq!(get(&answer, "id"), Value::string(&url));
    let expected = [("Connection", "close"), ("Content-Length", "5")];
    let [first, second] = expected;
    let request_headers = [first, second, ("Content-Type", "text/plain"), ("X-A", "1, 2")];
    assert_eq!(get(&answer, "response_headers"), strings(request_headers));
    let requests = requests.lock().unwrap().join("").to_lowercase();
    assert!(requests.starts_with("get / http/1.1\r\n"), "{requests}");
    assert!(
        requests.contains("host: example.com\r\n") && requests.contains("x-b: b\r\n"),
        "{requests}"
    );
    assert_eq!(requests.matches("host:").count(), 1);
}

#[tokio::test]
async fn requests_may_have_a_body_and_responses_may_have_none() {
    let (url, requests) = server(vec![status("200 OK", "")], None).await;
    for method in ["POST", "GET"] {
        let config = vec![text("url", &url), text("method", method), text("request_body", "ask")];
        ask(config).await.unwrap();
        let requests = requests.lock().unwrap().pop().unwrap();
        assert!(requests.starts_with(method) && requests.ends_with("\r\n\r\nask"), "{requests}");
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\n".to_owned();
    let (url, _) = server(vec![head], None).await;
    let answer = ask(vec![text("url", &url), text("method", "HEAD")]).await.unwrap();
    assert_eq!(get(&answer, "response_body"), Value::string(""));
}

#[tokio::test]
async fn redirects_are_followed() {
    let (url, _) = server(vec![status("200 OK", "here")], None).await;
    let elsewhere = format!(
        "HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let (url, _) = server(vec![elsewhere], None).await;
    let answer = ask(vec![text("url", &url)]).await.unwrap();
    assert_eq!(get(&answer, "response_body"), Value::string("here"));
    assert_eq!(get(&answer, "id"), Value::string(&url));
}

#[tokio::test]
async fn requests_are_retried_only_if_configured_and_useful() {
    let busy = || status("503 Busy", "");
    let (url, requests) = server(vec![busy(), busy(), status("200 OK", "x")], None).await;
    let answer = ask(vec![text("url", &url), retry(2, 1, 2)]).await.unwrap();
    assert_eq!(get(&answer, "response_body"), Value::string("x"));
    assert_eq!(requests.lock().unwrap().len(), 3);
    let table = [
        ("503 Busy", vec![], Some("giving up after 1 attempt(s): unexpected HTTP status 503")),
        ("429 Later", vec![retry(1, 0, 1)], Some("giving up after 2 attempt(s)")),
        ("501 No", vec![retry(1, 0, 1)], None),
        ("400 No", vec![retry(1, 0, 1)], None),
    ];
    for (line, with, expected) in table {
        let (url, requests) = server(vec![status(line, "")], None).await;
        let config = with.iter().cloned().chain([text("url", &url)]).collect();
        match (ask(config).await, expected) {
            (Err(refusal), Some(expected)) => assert!(refusal.0.contains(expected), "{refusal:?}"),
            (Ok(_), None) => assert_eq!(requests.lock().unwrap().len(), 1),
            (other, _) => panic!("{line}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn the_retry_after_header_is_respected() {
    let busy = |line: &str, after: &str| {
        status(line, "").replace("Connection", &format!("Retry-After: {after}\r\nConnection"))
    };
    let past = "Wed, 21 Oct 2015 07:28:00 GMT";
    let hour = 3_600_000;
    for (line, after) in [("503 Busy", "0"), ("429 Later", past)] {
        let (url, requests) = server(vec![busy(line, after), status("200 OK", "x")], None).await;
        let answer = ask(vec![text("url", &url), retry(1, hour, hour)]).await.unwrap();
        assert_eq!(get(&answer, "response_body"), Value::string("x"));
        assert_eq!(requests.lock().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn credentials_are_repeated_only_to_the_same_host() {
    let moved = |to: &str| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    };
    let (other_url, requests_to_other) = server(vec![status("200 OK", "there")], None).await;
    let other_url = other_url.replace("localhost", "127.0.0.1");
    let (url, requests) = server(vec![moved("/t"), moved(&other_url)], None).await;
    let authorization = ("request_headers", strings([("Authorization", "Bearer abc")]));
    let answer = ask(vec![text("url", &url), authorization]).await.unwrap();
    assert_eq!(get(&answer, "response_body"), Value::string("there"));
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.contains("Bearer abc")), "{requests:?}");
    assert!(!requests_to_other.lock().unwrap().concat().contains("Bearer"));
}

#[tokio::test]
async fn a_body_is_sent_again_where_the_redirect_keeps_the_method() {
    let moved = |status: &str, to: &str| {
        format!(
            "HTTP/1.1 {status}\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    };
    for (line, method, expected) in [
        ("307 Temporary Redirect", "POST", "POST /u"),
        ("308 Permanent Redirect", "POST", "POST /u"),
        ("307 Temporary Redirect", "GET", "GET /u"),
        ("303 See Other", "POST", "GET /u"),
        ("302 Found", "POST", "GET /u"),
    ] {
        let (other, there) = server(vec![status("200 OK", "there")], None).await;
        let other = other.replace("localhost", "127.0.0.1") + "u";
        let (url, here) = server(vec![moved(line, "/t"), moved(line, &other)], None).await;
        let who = ("request_headers", strings([("Authorization", "Bearer abc")]));
        let body = text("request_body", "ask");
        let config = vec![text("url", &url), text("method", method), who, body];
        let answer = ask(config).await.unwrap();
        assert_eq!(get(&answer, "response_body"), Value::string("there"), "{line}");
        let (here, there) = (here.lock().unwrap(), there.lock().unwrap().concat());
        let keeps = matches!(&line[..3], "307" | "308");
        assert_eq!(here.len(), 2, "{line}");
        assert!(here.iter().all(|request| request.contains("Bearer abc")), "{here:?}");
        assert_eq!(here[1].ends_with("\r\n\r\nask"), keeps, "{here:?}");
        assert!(there.starts_with(expected) && !there.contains("Bearer"), "{there}");
        assert_eq!(there.ends_with("\r\n\r\nask"), keeps, "{there}");
        assert!(there.contains(&other[7..other.len() - 2]), "the host of the target: {there}");
    }
    let (url, heard) = server(vec![moved("307 Temporary Redirect", "/round")], None).await;
    let config = vec![text("url", &url), text("request_body", "ask"), retry(1, 0, 0)];
    let refusal = ask(config).await.unwrap_err();
    assert!(refusal.0.contains("too many redirects"), "{refusal:?}");
    assert_eq!(heard.lock().unwrap().len(), 11);
}

#[tokio::test]
async fn requests_without_a_response_are_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/", listener.local_addr().unwrap());
    let closed_port = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/", listener.local_addr().unwrap())
    };
    let secret = closed_port.replace("://", "://joe:s3cret@");
    let short = ("request_timeout_ms", Value::int(20));
    let pem = |name| text(name, "x");
    let header = ("request_headers", strings([("a b", "c")]));
    let table = [
        (vec![text("url", &silent), short], "request exceeded the specified timeout: 20ms"),
        (vec![text("url", &closed_port)], "giving up after 1 attempt(s)"),
        (vec![text("url", &secret)], "GET http://joe:xxxxx@"),
        (vec![text("url", &closed_port), retry(1, 0, 0)], "giving up after 2 attempt(s)"),
        (
            vec![text("url", "ftp://joe:s3cret@localhost/")],
            "and \"ftp://joe:xxxxx@localhost/\" does not",
        ),
        (vec![text("url", "not a url")], "\"not a url\" is no URL"),
        (vec![text("url", &closed_port), header], "Error creating request"),
        (vec![text("url", &closed_port), text("method", "PUT")], "Invalid Attribute Value Match"),
        (vec![text("url", &closed_port), pem("ca_cert_pem")], "Error configuring TLS client"),
        (vec![text("url", &closed_port), pem("client_cert_pem")], "Invalid Attribute Combination"),
        (
            vec![text("url", &closed_port), pem("client_cert_pem"), pem("client_key_pem")],
            "error creating x509 key pair",
        ),
        (vec![text("url", &closed_port), retry(1, 2, 1)], "less than `min_delay_ms`"),
        (vec![text("url", &closed_port), retry(-1, 2, 1)], "Invalid Attribute Value"),
    ];
    for (config, expected) in table {
        let refusal = ask(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
}

/// An object of the `tls` provider.
async fn create_object(type_name: &str, config: Vec<Set>) -> TestObject {
    let mut object = TestObject::new(crate::tls::provider(), type_name).await.unwrap();
    assert_eq!(object.apply(config).await, Ok(PlannedAction::Create));
    object
}

fn pem(object: &TestObject, name: &str) -> String {
    match object.get(name) {
        Value::String(text) => text.as_str().to_owned(),
        other => panic!("{name} is {other:?}"),
    }
}

/// An authority, and a certificate for this machine that it signed, with the key of both.
async fn certificates() -> [String; 3] {
    let key = create_object("tls_private_key", vec![text("algorithm", "ED25519")]).await;
    let key = pem(&key, "private_key_pem");
    let list = |name, items: &str| {
        let items = items.split(' ').map(Value::string).collect();
        (name, Value::list(Type::String, items))
    };
    let subject = Value::object([("common_name", Value::string("authority"))]);
    let subject = ("subject", Value::list(subject.ty(), vec![subject]));
    let hours = ("validity_period_hours", Value::int(1));
    let authority = vec![
        text("private_key_pem", &key),
        ("is_ca_certificate", Value::Bool(true)),
        list("allowed_uses", "cert_signing"),
        hours.clone(),
        subject,
    ];
    let authority = pem(&create_object("tls_self_signed_cert", authority).await, "cert_pem");
    let request = vec![text("private_key_pem", &key), list("dns_names", "localhost")];
    let request = pem(&create_object("tls_cert_request", request).await, "cert_request_pem");
    let leaf = vec![
        text("ca_private_key_pem", &key),
        text("ca_cert_pem", &authority),
        text("cert_request_pem", &request),
        list("allowed_uses", "server_auth client_auth"),
        hours,
    ];
    let leaf = pem(&create_object("tls_locally_signed_cert", leaf).await, "cert_pem");
    [authority, leaf, key]
}

#[tokio::test]
async fn servers_and_clients_authenticate_with_certificates() {
    let [authority, leaf, key] = certificates().await;
    let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let cryptography = formwork_plugin_protocol::crypto_provider;
    let mut roots = RootCertStore::empty();
    roots.add(der(&authority)).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), cryptography());
    let config = ServerConfig::builder_with_provider(cryptography())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(vec![der(&leaf)], PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
        .unwrap();
    let (url, _) = server(vec![status("200 OK", "secret")], Some(config)).await;
    let client_identity = [text("client_cert_pem", &leaf), text("client_key_pem", &key)];
    let trusting = text("ca_cert_pem", &authority);
    let [_, _, other_key] = certificates().await;
    let mismatch =
        vec![text("url", &url), client_identity[0].clone(), text("client_key_pem", &other_key)];
    let refusal = ask(mismatch).await.unwrap_err();
    assert!(refusal.0.contains("the private key does not match the public key"), "{refusal:?}");
    let careless = ("insecure", Value::Bool(true));
    let table = [
        (vec![trusting.clone(), client_identity[0].clone(), client_identity[1].clone()], true),
        (vec![careless, client_identity[0].clone(), client_identity[1].clone()], true),
        (client_identity.to_vec(), false),
        (vec![trusting], false),
    ];
    for (with, is_answered) in table {
        let answer = ask([vec![text("url", &url)], with.clone()].concat()).await;
        assert_eq!(answer.is_ok(), is_answered, "{with:?}: {answer:?}");
    }
}
