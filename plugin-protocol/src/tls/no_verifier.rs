//! TLS connections that accept any certificate: for the inspection of certificates, and for
//! encryption without authentication.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

/// A verifier that accepts any server.
#[derive(Debug)]
pub struct NoVerifier(Arc<CryptoProvider>);

impl NoVerifier {
    /// For connections with this cryptography.
    #[must_use]
    pub fn new(cryptography: Arc<CryptoProvider>) -> Arc<Self> {
        Arc::new(Self(cryptography))
    }
}

impl ServerCertVerifier for NoVerifier {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        accept_signature()
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        accept_signature()
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Without a verified certificate, a signature proves nothing.
fn accept_signature() -> Result<HandshakeSignatureValid, Error> {
    Ok(HandshakeSignatureValid::assertion())
}
