//! Accepts the one announced certificate, from any holder of its key. Trusts nothing else.

use rustls::DigitallySignedStruct;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DistinguishedName, Error, SignatureScheme};

use super::weak_rsa;

/// Verifies a peer, of either role, against one certificate.
#[derive(Debug)]
pub(super) struct PinnedVerifier {
    certificate: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
    weak_rsa: bool,
}

impl PinnedVerifier {
    pub(super) fn new(certificate: CertificateDer<'static>, provider: &CryptoProvider) -> Self {
        let algorithms = provider.signature_verification_algorithms;
        Self { certificate, algorithms, weak_rsa: false }
    }

    /// Checks signatures of RSA keys that are too short for public use. Only TLS 1.2 supports them.
    pub(super) fn allowing_weak_rsa(self) -> Self {
        Self { weak_rsa: true, ..self }
    }

    // webpki's own verifiers cannot do this: they refuse a CA certificate as the peer's own.
    fn check_is_pinned(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        if *shown == self.certificate {
            Ok(())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }
}

/// The common part of the verifiers of both roles: the peer proves possession of the key of its
/// certificate.
macro_rules! define_signature_methods {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            if self.weak_rsa {
                return weak_rsa::verify_weak_rsa_signature(
                    message,
                    certificate,
                    signed.scheme,
                    signed.signature(),
                );
            }
            verify_tls12_signature(message, certificate, signed, &self.algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signed, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            match self.weak_rsa {
                true => weak_rsa::WEAK_RSA_SIGNATURE_SCHEMES.to_vec(),
                false => self.algorithms.supported_schemes(),
            }
        }
    };
}

impl ServerCertVerifier for PinnedVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        // A match alone proves nothing, because certificates are public. The signature proves the
        // key.
        self.check_is_pinned(end_entity).map(|()| ServerCertVerified::assertion())
    }

    define_signature_methods!();
}

impl ClientCertVerifier for PinnedVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // No hint: a client would send no certificate if the hint did not contain its issuer.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check_is_pinned(end_entity).map(|()| ClientCertVerified::assertion())
    }

    define_signature_methods!();
}
