//! The certificates that a server shows. It is reached directly or through a proxy, and asked for
//! nothing else.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, Error as TlsError};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use ureq::{Proxy, ProxyProtocol};

use crate::anyone::Anyone;

/// How long a server may take to show its certificates.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a proxy's answer may be.
const ANSWER_LIMIT: usize = 8 * 1024;

/// A server.
pub(super) struct Server<'s> {
    pub(super) host: &'s str,
    pub(super) port: u16,
    pub(super) proxy: Option<Proxy>,
    /// Whether it must be one that this machine trusts.
    pub(super) is_verified: bool,
}

/// Why there are no certificates.
#[derive(Debug, thiserror::Error)]
pub(super) enum PeerError {
    #[error("{0}")]
    Unreachable(#[from] io::Error),
    #[error("the proxy refuses: {0}")]
    Proxy(String),
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[error("{0:?} is no name of a server")]
    Name(String),
    #[error("no answer within {} seconds", PATIENCE.as_secs())]
    Late,
}

/// Returns the certificates in DER, the server's own first.
pub(super) async fn certificates(server: &Server<'_>) -> Result<Vec<Vec<u8>>, PeerError> {
    match tokio::time::timeout(PATIENCE, shake_hands(server)).await {
        Ok(certificates) => certificates,
        Err(_) => Err(PeerError::Late),
    }
}

async fn shake_hands(server: &Server<'_>) -> Result<Vec<Vec<u8>>, PeerError> {
    let host = server.host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| PeerError::Name(host.to_owned()))?;
    let stream = match &server.proxy {
        Some(proxy) => tunnel(proxy, server.host, server.port).await?,
        None => TcpStream::connect((host, server.port)).await?,
    };
    let connector = TlsConnector::from(Arc::new(settings(server.is_verified)?));
    let stream = connector.connect(name, stream).await?;
    let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
    Ok(shown.iter().map(|certificate| certificate.to_vec()).collect())
}

fn settings(is_verified: bool) -> Result<ClientConfig, TlsError> {
    let cryptography = formwork_plugin_protocol::cryptography();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&cryptography))
        .with_safe_default_protocol_versions()?;
    let builder = match is_verified {
        true => builder.with_platform_verifier()?,
        false => builder.dangerous().with_custom_certificate_verifier(Anyone::new(cryptography)),
    };
    Ok(builder.with_no_client_auth())
}

/// Has a proxy connect us with a server.
async fn tunnel(proxy: &Proxy, host: &str, port: u16) -> Result<TcpStream, PeerError> {
    if proxy.protocol() != ProxyProtocol::Http {
        return Err(PeerError::Proxy("only proxies with http:// URLs are supported".to_owned()));
    }
    let mut stream = TcpStream::connect((proxy.host(), proxy.port())).await?;
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(name) = proxy.username() {
        let pair = STANDARD.encode(format!("{name}:{}", proxy.password().unwrap_or_default()));
        request.push_str(&format!("Proxy-Authorization: Basic {pair}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    // Byte by byte: what follows the answer is the server's, and read by others.
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < ANSWER_LIMIT {
        answer.push(stream.read_u8().await?);
    }
    let answer = String::from_utf8_lossy(&answer);
    let line = answer.lines().next().unwrap_or_default();
    match line.split(' ').nth(1) {
        Some("200") => Ok(stream),
        _ => Err(PeerError::Proxy(line.to_owned())),
    }
}
