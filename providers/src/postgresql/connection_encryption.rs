//! Encrypted connections: the SSL modes and the servers that each of them trusts. Opens no
//! connection itself.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use formwork_plugin_protocol::{CertificateRule, RuledVerifier, ShownCertificate};
use formwork_sdk::prelude::*;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, Error as TlsError, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as Stream;

use formwork_plugin_protocol::NoVerifier;

/// The certificate that we show.
#[derive(Clone, Debug, Nested)]
pub(super) struct ClientCertificate {
    /// The file with the certificate, in PEM, and its issuers' certificates.
    #[attr(required)]
    pub(super) cert: String,
    /// The file with its private key, in PEM.
    #[attr(required, sensitive)]
    pub(super) key: String,
    /// Whether `cert` and `key` contain PEM instead of file names.
    #[attr(optional)]
    pub(super) sslinline: Option<bool>,
}

impl ClientCertificateDraft {
    /// Whether any part is not known yet.
    pub(super) fn has_unknown_part(&self) -> bool {
        self.cert.is_unknown() || self.key.is_unknown() || self.sslinline.is_unknown()
    }
}

/// Encryption settings of a configuration.
pub(super) struct EncryptionSettings {
    /// Whether the server is reached through a Unix socket, which is never encrypted.
    pub(super) is_local: bool,
    pub(super) mode: String,
    /// The file with the certificates of whom we trust.
    pub(super) authorities: Option<String>,
    pub(super) client: Option<ClientCertificateDraft>,
}

/// Encryption of connections.
#[derive(Clone)]
pub(super) struct ConnectionEncryption {
    mode: SslMode,
    config: Arc<ClientConfig>,
}

/// Why connections cannot be encrypted as they should.
#[derive(Debug, thiserror::Error)]
enum EncryptionError {
    #[error("{0} cannot be read: {1}")]
    File(String, io::Error),
    #[error("{0} holds no {1} in PEM: {2}")]
    Pem(String, &'static str, PemError),
    #[error("{0} holds no certificate in PEM")]
    Empty(String),
    #[error("{0}")]
    Refused(String),
}

impl From<TlsError> for EncryptionError {
    fn from(error: TlsError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl ConnectionEncryption {
    /// Builds the TLS configuration; reads the files.
    pub(super) fn from_settings(settings: EncryptionSettings) -> Answer<Self> {
        let mode = match settings.mode.as_str() {
            _ if settings.is_local => SslMode::Disable,
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            _ => SslMode::Require,
        };
        match build_tls_config(&settings) {
            Ok(config) => Ok(Self { mode, config: Arc::new(config) }),
            Err(error) => {
                let detail = format!("Connections cannot be encrypted as configured: {error}.");
                Err(Problem::new("Error preparing TLS", detail))
            }
        }
    }

    /// Whether connections are to be encrypted.
    pub(super) fn ssl_mode(&self) -> SslMode {
        self.mode
    }
}

fn build_tls_config(settings: &EncryptionSettings) -> Result<ClientConfig, EncryptionError> {
    let cryptography = formwork_plugin_protocol::crypto_provider();
    let builder = ClientConfig::builder_with_provider(Arc::clone(&cryptography))
        .with_safe_default_protocol_versions()?;
    let verifier: Arc<dyn ServerCertVerifier> =
        match (settings.mode.as_str(), &settings.authorities) {
            ("disable" | "allow" | "prefer", _) | ("require", None) => {
                NoVerifier::new(cryptography)
            }
            ("verify-full", None) => Arc::new(Verifier::new(cryptography)?),
            (mode, authorities) => {
                let known_authorities = match authorities {
                    Some(file) => parse_certificates(file, read_pem_file(file)?.as_bytes())?,
                    None => Vec::new(),
                };
                let chain: Arc<dyn ServerCertVerifier> = if known_authorities.is_empty() {
                    Arc::new(Verifier::new(cryptography)?)
                } else {
                    let mut roots = RootCertStore::empty();
                    roots.add_parsable_certificates(known_authorities.iter().cloned());
                    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), cryptography)
                        .build()
                        .map_err(|error| EncryptionError::Refused(error.to_string()))?
                };
                let rule = TrustedCertificateVerifier {
                    known_authorities,
                    by_any_name: mode != "verify-full",
                };
                Arc::new(RuledVerifier { chain, rule })
            }
        };
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    let Some(client) = &settings.client else { return Ok(builder.with_no_client_auth()) };
    let (cert, key) = (client.cert.or_default(), client.key.or_default());
    let (cert, key, [cert_from, key_from]) = match client.sslinline.get() {
        Some(true) => (cert, key, ["`cert`".to_owned(), "`key`".to_owned()]),
        _ => (read_pem_file(&cert)?, read_pem_file(&key)?, [cert, key]),
    };
    let chain = parse_certificates(&cert_from, cert.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
        .map_err(|error| EncryptionError::Pem(key_from, "private key", error))?;
    Ok(builder.with_client_auth_cert(chain, key)?)
}

fn read_pem_file(file: &str) -> Result<String, EncryptionError> {
    std::fs::read_to_string(file).map_err(|error| EncryptionError::File(file.to_owned(), error))
}

fn parse_certificates(
    from: &str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, EncryptionError> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates
        .map_err(|error| EncryptionError::Pem(from.to_owned(), "certificate", error))?;
    match certificates.is_empty() {
        true => Err(EncryptionError::Empty(from.to_owned())),
        false => Ok(certificates),
    }
}

/// Verifier for servers whose certificate is signed by a trusted authority, or is trusted itself.
#[derive(Debug)]
struct TrustedCertificateVerifier {
    /// Certificates of whom we trust, if these are not just whom the machine trusts.
    known_authorities: Vec<CertificateDer<'static>>,
    /// Whether the name in the certificate is ignored.
    by_any_name: bool,
}

impl CertificateRule for TrustedCertificateVerifier {
    fn verdict(
        &self,
        chain: &dyn ServerCertVerifier,
        presented: ShownCertificate<'_>,
    ) -> Result<ServerCertVerified, TlsError> {
        use CertificateError::{NotValidForName, NotValidForNameContext, Other};
        let ShownCertificate { certificate, name, .. } = presented;
        match presented.verify(chain) {
            Err(TlsError::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if self.by_any_name =>
            {
                Ok(ServerCertVerified::assertion())
            }
            // A server that signs for itself is its own authority, which strict rules on who may be a
            // server do not provide for.
            Err(TlsError::InvalidCertificate(Other(_)))
                if self.known_authorities.contains(certificate) =>
            {
                if !self.by_any_name {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }
}

impl MakeTlsConnect<Socket> for ConnectionEncryption {
    type Stream = EncryptedStream;
    type TlsConnect = TlsHandshake;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, name: &str) -> Result<TlsHandshake, Self::Error> {
        let name = ServerName::try_from(name.to_owned())?;
        Ok(TlsHandshake { connector: TlsConnector::from(Arc::clone(&self.config)), name })
    }
}

/// Handshake of one connection.
pub(super) struct TlsHandshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for TlsHandshake {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.name, socket).await?;
            Ok(EncryptedStream(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(super) struct EncryptedStream(Box<Stream<Socket>>);

impl TlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(ctx, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        ctx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(ctx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(ctx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(ctx)
    }
}
