//! The side of the proxy that talks to services, with the usual verification of their certificates.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::http::request::Parts;
use hyper::{Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The longest answer that is passed on.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// The headers that are between two neighbours only.
const HOP_BY_HOP_HEADERS: [header::HeaderName; 5] = [
    header::CONNECTION,
    header::PROXY_AUTHORIZATION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
];

/// Sends a request to its service.
///
/// # Errors
/// When the service cannot be reached, or breaks off.
pub(super) async fn send_upstream(
    parts: Parts,
    uri: Uri,
    body: Bytes,
) -> io::Result<Response<Full<Bytes>>> {
    let is_encrypted = uri.scheme_str() == Some("https");
    let authority = uri.authority().ok_or_else(|| io::Error::other("the URL has no host"))?;
    // An IPv6 address is written in brackets in a URL.
    let host = authority.host().trim_matches(['[', ']']).to_owned();
    let port = authority.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(parts.method).uri(path);
    for (name, value) in &parts.headers {
        // Old clients send this one, which is in no standard.
        let is_own = HOP_BY_HOP_HEADERS.contains(name) || name.as_str() == "proxy-connection";
        if !is_own && name != header::HOST {
            request = request.header(name, value);
        }
    }
    // HTTP/1.1 demands the host, and the request line has only a path.
    let request = request.header(header::HOST, authority.as_str()).body(Full::new(body));
    let request = request.map_err(io::Error::other)?;
    if !is_encrypted {
        return send_request(stream, request).await;
    }
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    // As the provider itself would verify it: the proxy must not hide an invalid certificate.
    let config = ClientConfig::builder_with_provider(formwork_plugin_protocol::crypto_provider())
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(io::Error::other)?
        .with_no_client_auth();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    send_request(stream, request).await
}

async fn send_request(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> io::Result<Response<Full<Bytes>>> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // hyper makes progress only while the connection is polled together with the request.
    tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(io::Error::other)?;
    let (mut parts, body) = answer.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await.map_err(io::Error::other)?;
    // The body was collected, so its old framing is wrong.
    for name in &HOP_BY_HOP_HEADERS {
        parts.headers.remove(name);
    }
    Ok(Response::from_parts(parts, Full::new(body.to_bytes())))
}
