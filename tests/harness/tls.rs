//! Certificates of one test: an authority, and servers and clients that it vouches for.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

/// An authority that issues certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// Creates an authority with a new key.
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // OpenSSL treats a certificate with the name of its issuer as self-signed.
        params.distinguished_name.push(DnType::CommonName, "Test authority");
        let key = KeyPair::generate().expect("a key can be made");
        Self(CertifiedIssuer::self_signed(params, key).expect("valid parameters"))
    }

    /// The certificate of the authority.
    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for this machine. Returns it with its key.
    fn issue(&self) -> (Certificate, KeyPair) {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let params = CertificateParams::new(names).expect("valid names");
        let key = KeyPair::generate().expect("a key can be made");
        (params.signed_by(&key, &self.0).expect("valid parameters"), key)
    }

    /// Issues a certificate for a client. Returns it with its key.
    pub(crate) fn issue_pem(&self) -> [String; 2] {
        let (certificate, key) = self.issue();
        [certificate.pem(), key.serialize_pem()]
    }

    /// The server's side of TLS. It serves only clients with a certificate of another authority, if one
    /// is given.
    pub(crate) fn server_config(&self, clients: Option<&Self>) -> ServerConfig {
        let (certificate, key) = self.issue();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has these");
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(Self(issuer)) => {
                let mut roots = RootCertStore::empty();
                roots.add(issuer.der().clone()).expect("a certificate");
                let roots = Arc::new(roots);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                config.with_client_cert_verifier(verifier.build().expect("it has a root"))
            }
        };
        let certificates = vec![certificate.der().clone()];
        config.with_single_cert(certificates, key).expect("the key fits")
    }
}
