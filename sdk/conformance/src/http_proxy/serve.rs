//! The provider side of the proxy: plain requests with whole URLs, and tunnels in which the proxy
//! answers for the service with a certificate issued for it.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::forward::send_upstream;
use super::lock_record;
use super::record::{CallHandling, ProxyRecord, RemoteCall};

/// The longest request that is forwarded.
const MAX_REQUEST_BYTES: usize = 64 << 20;

/// The part of a request that is kept.
const MAX_KEPT_BODY_BYTES: usize = 64 << 10;

/// The time for which a call is held.
const MAX_HOLD_TIME: Duration = Duration::from_secs(120);

/// The first byte of a connection that is encrypted.
const FIRST_TLS_BYTE: u8 = 0x16;

type SharedRecord = Arc<Mutex<ProxyRecord>>;
type HttpAnswer = Response<Full<Bytes>>;

/// The authority that issues the certificates.
pub(super) struct CertificateIssuer(CertifiedIssuer<'static, KeyPair>);

impl CertificateIssuer {
    /// Issues certificates with an authority.
    pub(super) fn new(authority: CertifiedIssuer<'static, KeyPair>) -> Self {
        Self(authority)
    }

    /// The TLS settings with a certificate for a host.
    fn tls_config_for(&self, host: &str) -> Option<ServerConfig> {
        let key = KeyPair::generate().ok()?;
        let params = CertificateParams::new([host.to_owned()]).ok()?;
        let certificate = params.signed_by(&key, &self.0).ok()?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = formwork_plugin_protocol::crypto_provider();
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().ok()?.with_no_client_auth();
        let chain = vec![certificate.der().clone(), self.0.der().clone()];
        builder.with_single_cert(chain, key).ok()
    }
}

/// Serves all connections.
pub(super) async fn serve_connections(
    listener: TcpListener,
    record: SharedRecord,
    certificates: Arc<CertificateIssuer>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (record, certificates) = (Arc::clone(&record), Arc::clone(&certificates));
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let (record, certificates) = (Arc::clone(&record), Arc::clone(&certificates));
                async move {
                    Ok::<_, Infallible>(answer_proxy_request(request, record, certificates).await)
                }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A provider that goes away is not the proxy's business.
            drop(connection.with_upgrades().await);
        });
    }
}

/// Answers a request to the proxy itself.
async fn answer_proxy_request(
    request: Request<Incoming>,
    record: SharedRecord,
    certificates: Arc<CertificateIssuer>,
) -> HttpAnswer {
    if request.method() != Method::CONNECT {
        let uri = request.uri().clone();
        return record_and_answer(request, uri, &record).await;
    }
    let Some(authority) = request.uri().authority().cloned() else {
        return status_response(StatusCode::BAD_REQUEST);
    };
    tokio::spawn(async move {
        let Ok(stream) = hyper::upgrade::on(request).await else { return };
        let mut stream = BufReader::new(TokioIo::new(stream));
        // Some clients have a tunnel for plain requests, too.
        let first = stream.fill_buf().await.ok().and_then(|bytes| bytes.first().copied());
        if first != Some(FIRST_TLS_BYTE) {
            return serve_tunnel(stream, "http", authority, record).await;
        }
        // Before the handshake, which a provider that does not trust the proxy breaks off.
        lock_record(&record).n_tunnels += 1;
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let Some(settings) = certificates.tls_config_for(&host) else { return };
        let acceptor = TlsAcceptor::from(Arc::new(settings));
        // A provider that does not trust the certificate ends it here.
        if let Ok(stream) = acceptor.accept(stream).await {
            serve_tunnel(stream, "https", authority, record).await;
        }
    });
    status_response(StatusCode::OK)
}

/// Answers the requests in a tunnel to a service.
async fn serve_tunnel(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &'static str,
    authority: Authority,
    record: SharedRecord,
) {
    let service = service_fn(|request: Request<Incoming>| {
        let (record, authority) = (Arc::clone(&record), authority.clone());
        async move {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            let uri = format!("{scheme}://{authority}{path}").parse::<Uri>();
            Ok::<_, Infallible>(match uri {
                Ok(uri) => record_and_answer(request, uri, &record).await,
                Err(_) => status_response(StatusCode::BAD_REQUEST),
            })
        }
    });
    // A provider that goes away is not the proxy's business.
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}

/// Records a request, and answers it as the service or as the fault does.
async fn record_and_answer(
    request: Request<Incoming>,
    uri: Uri,
    record: &SharedRecord,
) -> HttpAnswer {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_REQUEST_BYTES).collect().await else {
        return status_response(StatusCode::PAYLOAD_TOO_LARGE);
    };
    let body = body.to_bytes();
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let call = RemoteCall {
        method: parts.method.to_string(),
        // With a time or a signature in the query, each attempt would be a different request.
        url: uri.to_string().split('?').next().unwrap_or_default().to_owned(),
        target: header("x-amz-target").unwrap_or_default().to_owned(),
        body: body.slice(..body.len().min(MAX_KEPT_BODY_BYTES)),
        // A key for repeated requests: in a header or, with AWS, as a client token in the body.
        is_idempotent: ["idempotency-key", "x-idempotency-key", "x-client-token"]
            .iter()
            .any(|name| parts.headers.contains_key(*name))
            || String::from_utf8_lossy(&body).to_lowercase().contains("clienttoken"),
        status: 0,
        is_carried_out: false,
    };
    let (number, handling) = lock_record(record).record_request(call);
    match handling {
        CallHandling::Forward => {}
        CallHandling::Answer(refusal_status) => return fault_response(refusal_status),
        CallHandling::Hold => return hold_until_timeout(record).await,
    }
    let answer = send_upstream(parts, uri, body)
        .await
        .unwrap_or_else(|error| text_response(StatusCode::BAD_GATEWAY, &error.to_string()));
    let is_recorded = lock_record(record).record_response(number, answer.status().as_u16());
    match is_recorded {
        CallHandling::Answer(status) if status != answer.status().as_u16() => {
            fault_response(status)
        }
        CallHandling::Answer(_) | CallHandling::Forward => answer,
        CallHandling::Hold => hold_until_timeout(record).await,
    }
}

/// Announces a held call, and answers it when no provider waits any more.
async fn hold_until_timeout(record: &SharedRecord) -> HttpAnswer {
    let held = Arc::clone(&lock_record(record).held);
    // `notify_one` keeps the notice for a waiter that comes later.
    held.notify_one();
    tokio::time::sleep(MAX_HOLD_TIME).await;
    status_response(StatusCode::GATEWAY_TIMEOUT)
}

fn fault_response(status: u16) -> HttpAnswer {
    status_response(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY))
}

fn status_response(status: StatusCode) -> HttpAnswer {
    let text = if status == StatusCode::OK { "" } else { "A fault of the conformance suite." };
    text_response(status, text)
}

fn text_response(status: StatusCode, text: &str) -> HttpAnswer {
    let mut answer = Response::new(Full::new(Bytes::from(text.to_owned())));
    *answer.status_mut() = status;
    answer
}
