//! Certificates of a server in this process, seen directly and through a proxy.

use std::sync::Arc;

use formwork_sdk::testing::{Refusal, read_data};
use formwork_sdk::value::{Path, Value};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use x509_cert::der::pem;

use super::super::fetch_certificates::{TlsServer, fetch_certificates};
use super::super::issue_certificate::{
    self, CertificateSubject, CertificateTerms, Issuer, decode_pem_with_label,
};
use super::super::key::{Curve, KeyKind, PrivateKey};
use super::super::{distinguished_name, provider};

/// A key, and a certificate that it signed itself.
fn identity() -> (PrivateKey, String) {
    let key = PrivateKey::generate(KeyKind::Ecdsa(Curve::P256)).unwrap();
    let name =
        distinguished_name::build_distinguished_name(&[("CN", vec!["localhost".to_owned()])], None)
            .unwrap();
    let [from, until] = [1_700_000_000, 4_000_000_000].map(std::time::Duration::from_secs);
    let terms = CertificateTerms {
        from,
        until,
        uses: &["server_auth".to_owned()],
        is_ca: false,
        max_path_length: None,
        has_subject_key_id: false,
    };
    let holder = CertificateSubject {
        name: name.clone(),
        alternatives: None,
        key: key.public_key_info().unwrap(),
    };
    let issuer = Issuer { name, key: &key, key_id: None };
    let issued = issue_certificate::issue_certificate(&terms, holder, &issuer).unwrap();
    (key, issued.pem)
}

/// A server that shows a certificate to everyone; returns its port.
async fn server(key: &PrivateKey, certificate: &str) -> u16 {
    let der = pem::decode_vec(key.to_pkcs8().unwrap().as_bytes()).unwrap().1;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(der));
    let chain =
        vec![CertificateDer::from(decode_pem_with_label("CERTIFICATE", certificate).unwrap())];
    let config = ServerConfig::builder_with_provider(formwork_plugin_protocol::crypto_provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _stream = acceptor.accept(stream).await;
        }
    });
    port
}

/// A proxy that speaks SOCKS 5 and demands the password; returns its port.
async fn socks() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut greeting = [0; 2];
            stream.read_exact(&mut greeting).await.unwrap();
            let mut methods = vec![0; usize::from(greeting[1])];
            stream.read_exact(&mut methods).await.unwrap();
            if !methods.contains(&2) {
                stream.write_all(&[5, 0xff]).await.unwrap();
                continue;
            }
            stream.write_all(&[5, 2]).await.unwrap();
            let mut authentication = [0; 11];
            stream.read_exact(&mut authentication).await.unwrap();
            if authentication != *b"\x01\x02me\x06secret" {
                stream.write_all(&[1, 1]).await.unwrap();
                continue;
            }
            stream.write_all(&[1, 0]).await.unwrap();
            let mut target = [0; 16];
            stream.read_exact(&mut target).await.unwrap();
            assert_eq!(target[..14], *b"\x05\x01\x00\x03\x09localhost");
            let port = u16::from_be_bytes([target[14], target[15]]);
            let mut target = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 9]).await.unwrap();
            tokio::spawn(async move {
                tokio::io::copy_bidirectional(&mut stream, &mut target).await.ok();
            });
        }
    });
    port
}

/// A proxy that demands the password; returns its port.
async fn proxy() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            // "me:secret" in base64.
            if !head.contains("Proxy-Authorization: Basic bWU6c2VjcmV0") {
                stream.write_all(b"HTTP/1.1 407 Who are you\r\n\r\n").await.unwrap();
                continue;
            }
            let target = head.split(' ').nth(1).unwrap().to_owned();
            let mut target = TcpStream::connect(target).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            tokio::spawn(async move {
                tokio::io::copy_bidirectional(&mut stream, &mut target).await.ok();
            });
        }
    });
    port
}

async fn read(config: Vec<(&'static str, Value)>) -> Result<Vec<Value>, Refusal> {
    let answer = read_data(provider(), "tls_certificate", config).await?;
    match Path::root().attribute("certificates").find(&answer) {
        Some(Value::List(list)) => Ok(list.items().to_vec()),
        other => panic!("{other:?}"),
    }
}

fn get(certificate: &Value, name: &str) -> Value {
    Path::root().attribute(name).find(certificate).unwrap().clone()
}

#[tokio::test]
async fn the_certificates_of_a_server_are_returned() {
    let (key, certificate) = identity();
    let port = server(&key, &certificate).await;
    for url in [format!("https://localhost:{port}"), format!("tls://127.0.0.1:{port}")] {
        let url = ("url", Value::string(&url));
        let from_server =
            read(vec![url.clone(), ("verify_chain", Value::Bool(false))]).await.unwrap();
        let from_content = read(vec![("content", Value::string(&certificate))]).await.unwrap();
        assert_eq!(from_server, from_content);
        let [from_server] = from_server.as_slice() else { panic!("{from_server:?}") };
        assert_eq!(get(from_server, "cert_pem"), Value::string(&certificate));
        assert_eq!(get(from_server, "signature_algorithm"), Value::string("ECDSA-SHA256"));
        assert_eq!(get(from_server, "issuer"), Value::string("CN=localhost"));
        assert_eq!(get(from_server, "not_before"), Value::string("2023-11-14T22:13:20Z"));
        assert_eq!(get(from_server, "max_path_length"), Value::int(-1));
        assert_eq!(get(from_server, "is_ca"), Value::Bool(false));
        let refusal = read(vec![url]).await.unwrap_err();
        assert!(refusal.0.contains("Failed to identify fetch peer certificates"), "{refusal:?}");
    }
}

#[tokio::test]
async fn the_first_certificate_of_the_content_is_read() {
    let (_, first) = identity();
    let (_, second) = identity();
    let alone = read(vec![("content", Value::string(&first))]).await.unwrap();
    let wide: String = first
        .lines()
        .map(|line| if line.starts_with('-') { format!("\n{line}\n") } else { line.to_owned() })
        .collect();
    for text in
        [format!("{first}{second}"), format!("{first}\n\n"), format!("mine:\n{first}"), wide]
    {
        let read = read(vec![("content", Value::string(&text))]).await;
        assert_eq!(read.as_ref(), Ok(&alone), "{text}");
    }
}

#[tokio::test]
async fn a_proxy_that_accepts_the_credentials_is_used() {
    let (key, certificate) = identity();
    let (port, proxy) = (server(&key, &certificate).await, proxy().await);
    let through = |url: String| {
        let proxy = Some(ureq::Proxy::new(&url).unwrap());
        TlsServer { host: "localhost", port, proxy, is_verified: false }
    };
    let friend = through(format!("http://me:secret@127.0.0.1:{proxy}"));
    let der = decode_pem_with_label("CERTIFICATE", &certificate).unwrap();
    assert_eq!(fetch_certificates(&friend).await.unwrap(), vec![der]);
    let stranger = through(format!("http://127.0.0.1:{proxy}"));
    let refusal = fetch_certificates(&stranger).await.unwrap_err().to_string();
    assert_eq!(refusal, "the proxy refuses: HTTP/1.1 407 Who are you");
}

#[tokio::test]
async fn socks_proxies_are_supported() {
    let (key, certificate) = identity();
    let (port, socks) = (server(&key, &certificate).await, socks().await);
    let through = async |url: String| {
        let proxy = Some(crate::proxy::parse_proxy(&url).unwrap());
        fetch_certificates(&TlsServer { host: "localhost", port, proxy, is_verified: false }).await
    };
    let der = decode_pem_with_label("CERTIFICATE", &certificate).unwrap();
    let friend = through(format!("socks5://me:secret@127.0.0.1:{socks}")).await;
    assert_eq!(friend.unwrap(), vec![der]);
    let table = [
        ("me:other!@", "the proxy refuses: name or password is wrong"),
        ("", "the proxy refuses: it requires another authentication method"),
    ];
    for (user_info, expected) in table {
        let refusal = through(format!("socks5://{user_info}127.0.0.1:{socks}")).await.unwrap_err();
        assert_eq!(refusal.to_string(), expected);
    }
}

#[tokio::test]
async fn sources_without_a_certificate_are_refused() {
    let table = [
        (vec![], "Invalid Attribute Combination"),
        (vec![("url", Value::string("http://localhost"))], "Invalid URL scheme"),
        (vec![("url", Value::string("tls://localhost"))], "the port is missing"),
        (vec![("url", Value::string("a b"))], "Invalid URL"),
        (vec![("content", Value::string("x"))], "Failed to decoded PEM"),
    ];
    for (config, expected) in table {
        let refusal = read(config).await.unwrap_err();
        assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
    }
}
