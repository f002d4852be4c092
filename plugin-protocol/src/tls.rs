//! One-shot certificates, and TLS settings in which each side accepts exactly one peer.
//!
//! Host and plugin exchange their certificates before they connect: the host in the child's
//! environment, the plugin in the handshake line. So there is no chain, no name and no date to
//! check: a peer is accepted if it presents exactly that certificate and proves possession of its
//! key. Opens no connection.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P521_SHA512,
};
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::warn;

mod no_verifier;
mod pinned_verifier;
mod ruled_verifier;
mod weak_rsa;

pub use no_verifier::NoVerifier;
use pinned_verifier::PinnedVerifier;
pub use ruled_verifier::{CertificateRule, RuledVerifier, ShownCertificate};

/// The name in every plugin certificate, and the server name that clients use.
pub(crate) const TLS_SERVER_NAME: &str = "localhost";

/// A stream in both directions, with or without TLS.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// The certificate could not be created.
    #[error("a certificate could not be created: {0}")]
    Generate(#[from] rcgen::Error),
    /// The settings were refused; with a peer's certificate in them, most likely because of it.
    #[error("TLS could not be set up: {0}")]
    Configure(#[from] rustls::Error),
    /// The host's certificate cannot be read.
    #[error("PLUGIN_CLIENT_CERT holds no certificate in PEM form")]
    Pem,
}

/// A certificate created for one launch, with its key.
#[derive(Debug)]
pub(crate) struct TlsIdentity {
    certificate: CertificateDer<'static>,
    pem: String,
    key: PrivateKeyDer<'static>,
}

impl TlsIdentity {
    /// Creates a key and a certificate signed with it.
    ///
    /// It has the form of Terraform's own, because every plugin has been tested with that: some TLS
    /// stacks refuse, for instance, a P-256 certificate that is a CA.
    pub(crate) fn generate() -> Result<Self, TlsError> {
        let mut params = CertificateParams::new(vec![TLS_SERVER_NAME.to_owned()])?;
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Formwork");
        params.distinguished_name.push(DnType::CommonName, TLS_SERVER_NAME);
        // As in go-plugin, the certificate is its own issuer.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::KeyAgreement,
            KeyUsagePurpose::KeyCertSign,
        ];
        // Both, because Go checks the usage for the role of the peer.
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        #[expect(clippy::disallowed_methods, reason = "certificates say how long they hold")]
        let now = SystemTime::now();
        // go-plugin uses the same margin. The clock of a plugin in a container may be late.
        params.not_before = (now - Duration::from_secs(30)).into();
        // As in go-plugin. The process ends long before that.
        params.not_after = (now + Duration::from_hours(262_980)).into();

        let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512)?;
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.into(),
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        })
    }

    /// Returns the certificate as the environment carries it.
    pub(crate) fn certificate_pem(&self) -> &str {
        &self.pem
    }

    /// Returns the certificate as the handshake line carries it.
    pub(crate) fn certificate_der(&self) -> &[u8] {
        &self.certificate
    }
}

/// Returns the host's settings for the plugin that announced the certificate `server`.
pub(crate) fn client_config(
    identity: &TlsIdentity,
    server: Vec<u8>,
) -> Result<Arc<ClientConfig>, TlsError> {
    let server = CertificateDer::from(server);
    // TLS 1.3 has no RSA signature that the library verifies with a key this short; 1.2 does.
    let has_weak_key = weak_rsa::has_weak_rsa_key(&server);
    if has_weak_key {
        warn!("a plugin uses a short RSA key; it is accepted because it is pinned");
    }
    // TLS 1.2 for plugins whose gRPC library does not support 1.3.
    let versions = if has_weak_key { vec![&TLS12] } else { vec![&TLS13, &TLS12] };
    let provider = crypto_provider();
    let verifier = PinnedVerifier::new(server, &provider);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(if has_weak_key {
            verifier.allowing_weak_rsa()
        } else {
            verifier
        }));
    let chain = vec![identity.certificate.clone()];
    let mut config = builder.with_client_auth_cert(chain, identity.key.clone_key())?;
    // grpc-go from 1.67 on refuses a peer that has not negotiated `h2`.
    config.alpn_protocols = vec![b"h2".to_vec()];
    // Every connection is authenticated again.
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Returns the plugin's settings for the host whose certificate (PEM) is `client`.
pub(crate) fn server_config(
    identity: &TlsIdentity,
    client: &str,
) -> Result<Arc<ServerConfig>, TlsError> {
    let client = CertificateDer::from_pem_slice(client.as_bytes()).map_err(|_| TlsError::Pem)?;
    let provider = crypto_provider();
    let verifier = PinnedVerifier::new(client, &provider);
    let chain = vec![identity.certificate.clone()];
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(chain, identity.key.clone_key())?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    // A ticket would resume a connection without the client's certificate.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// The cryptography provider for all TLS of this program, including connections to servers other
/// than plugins.
///
/// aws-lc-rs and not ring: terraform's certificates are P-521, which ring cannot verify.
#[must_use]
pub fn crypto_provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

#[cfg(test)]
mod tests;
