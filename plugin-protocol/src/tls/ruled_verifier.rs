//! A verifier of servers in two parts: another verifier, and a rule that decides about certificates
//! with its help. Signatures are the other verifier's business.

use std::fmt::Debug;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

/// A certificate that a server has shown, with the facts that it is verified against.
#[derive(Clone, Copy, Debug)]
pub struct ShownCertificate<'a> {
    /// The certificate.
    pub certificate: &'a CertificateDer<'a>,
    /// The certificates between it and an authority.
    pub intermediates: &'a [CertificateDer<'a>],
    /// The name of the server.
    pub name: &'a ServerName<'a>,
    /// An answer about revocation; empty if the server has sent none.
    pub ocsp: &'a [u8],
    /// The time.
    pub now: UnixTime,
}

impl ShownCertificate<'_> {
    /// The verdict of a verifier on the certificate.
    ///
    /// # Errors
    /// When the verifier refuses it.
    pub fn verify(self, verifier: &dyn ServerCertVerifier) -> Result<ServerCertVerified, Error> {
        let Self { certificate, intermediates, name, ocsp, now } = self;
        verifier.verify_server_cert(certificate, intermediates, name, ocsp, now)
    }
}

/// A rule that decides about the certificates of servers.
pub trait CertificateRule: Debug + Send + Sync {
    /// The verdict on a certificate. `chain` verifies chain and name.
    ///
    /// # Errors
    /// When the certificate is refused.
    fn verdict(
        &self,
        chain: &dyn ServerCertVerifier,
        shown: ShownCertificate<'_>,
    ) -> Result<ServerCertVerified, Error>;
}

/// A verifier with a rule.
#[derive(Debug)]
pub struct RuledVerifier<R> {
    /// The verifier of chains, names and signatures.
    pub chain: Arc<dyn ServerCertVerifier>,
    /// The rule about certificates.
    pub rule: R,
}

impl<R: CertificateRule> ServerCertVerifier for RuledVerifier<R> {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown_certificate = ShownCertificate { certificate, intermediates, name, ocsp, now };
        self.rule.verdict(&*self.chain, shown_certificate)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.supported_verify_schemes()
    }
}
