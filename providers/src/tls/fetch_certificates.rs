//! Fetches the certificates of a server, directly or through a proxy, without any other request.

mod tunnel;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, Error as TlsError};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use ureq::Proxy;

use formwork_plugin_protocol::NoVerifier;
use tunnel::{ByteStream, unbracketed};

/// Time limit for the certificates of a server.
const CERTIFICATES_TIMEOUT: Duration = Duration::from_secs(30);

/// A server.
pub(super) struct TlsServer<'s> {
    pub(super) host: &'s str,
    pub(super) port: u16,
    pub(super) proxy: Option<Proxy>,
    /// Whether this machine must trust the certificate.
    pub(super) is_verified: bool,
}

/// The reason why certificates could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum PeerError {
    #[error("{0}")]
    Unreachable(#[from] io::Error),
    #[error("the proxy refuses: {0}")]
    Proxy(String),
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[error("{0:?} is not a server name")]
    Name(String),
    #[error("no answer within {} seconds", CERTIFICATES_TIMEOUT.as_secs())]
    Late,
}

/// Returns the certificates in DER, the server's own first.
pub(super) async fn fetch_certificates(server: &TlsServer<'_>) -> Result<Vec<Vec<u8>>, PeerError> {
    match tokio::time::timeout(CERTIFICATES_TIMEOUT, shake_hands(server)).await {
        Ok(certificates) => certificates,
        Err(_) => Err(PeerError::Late),
    }
}

async fn shake_hands(server: &TlsServer<'_>) -> Result<Vec<Vec<u8>>, PeerError> {
    let host = unbracketed(server.host);
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| PeerError::Name(host.to_owned()))?;
    let stream: Box<dyn ByteStream> = match &server.proxy {
        Some(proxy) => tunnel::connect_through_proxy(proxy, server.host, server.port).await?,
        None => Box::new(TcpStream::connect((host, server.port)).await?),
    };
    let connector = TlsConnector::from(Arc::new(build_tls_config(server.is_verified)?));
    let stream = connector.connect(name, stream).await?;
    let presented = stream.get_ref().1.peer_certificates().unwrap_or_default();
    Ok(presented.iter().map(|certificate| certificate.to_vec()).collect())
}

fn build_tls_config(is_verified: bool) -> Result<ClientConfig, TlsError> {
    let cryptography = formwork_plugin_protocol::crypto_provider();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&cryptography))
        .with_safe_default_protocol_versions()?;
    let builder = match is_verified {
        true => builder.with_platform_verifier()?,
        false => {
            builder.dangerous().with_custom_certificate_verifier(NoVerifier::new(cryptography))
        }
    };
    Ok(builder.with_no_client_auth())
}
