//! TLS of clients: the trusted servers, and the client certificate. This module opens no connection:
//! `connector` is for HTTP, and `pg::tls` for PostgreSQL.

#[cfg(feature = "http-agent")]
pub(crate) mod client_tls;
#[cfg(feature = "http-agent")]
pub mod connector;

use std::sync::Arc;

use formwork_plugin_protocol::{CertificateRule, RuledVerifier, ShownCertificate};
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, Error, InconsistentKeys, RootCertStore};
use rustls_platform_verifier::Verifier;
use x509_cert::der::{Decode as _, Encode as _};

use crate::config_error::ConfigError;

/// Creates a client certificate, which is verified against its key.
///
/// # Errors
/// Returns an error if the key cannot be read, or belongs to another certificate.
pub(crate) fn client_identity(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<SingleCertAndKey>, ConfigError> {
    let cryptography = formwork_plugin_protocol::crypto_provider();
    let key = cryptography
        .key_provider
        .load_private_key(key)
        .map_err(|error| ConfigError::new(format!("cannot load client private key: {error}")))?;
    let identity = CertifiedKey::new(chain, key);
    let fits = match identity.keys_match() {
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(true),
        Err(Error::InconsistentKeys(_)) => Ok(false),
        // The library does not accept X.509 version 1, which `openssl x509 -req` creates. Servers
        // do.
        Err(Error::InvalidCertificate(_)) => certificate_matches_key(&identity).ok_or(()),
        Err(error) => {
            return Err(ConfigError::new(format!("cannot load client certificate: {error}")));
        }
    };
    match fits {
        Ok(true) => Ok(Arc::new(identity.into())),
        Ok(false) => Err(ConfigError::new(
            "cannot load client certificate: the private key does not match the public key of \
             the certificate",
        )),
        Err(()) => Err(ConfigError::new(
            "cannot load client certificate: the first certificate cannot be read",
        )),
    }
}

/// Whether the first certificate has the public key of the private key. `None` if it is not a
/// certificate.
fn certificate_matches_key(identity: &CertifiedKey) -> Option<bool> {
    let certificate = x509_cert::Certificate::from_der(identity.cert.first()?).ok()?;
    let public = certificate.tbs_certificate.subject_public_key_info.to_der().ok()?;
    Some(identity.key.public_key().is_none_or(|expected| expected.as_ref() == public))
}

/// Creates a verifier for servers with certificates from these authorities. Unreadable certificates
/// among them are ignored, as long as others are readable: bundles of authorities contain some that
/// violate the rules.
///
/// # Errors
/// Returns an error if no certificate can be used.
pub(crate) fn authority_verifier(
    authorities: Vec<CertificateDer<'static>>,
) -> Result<Arc<dyn ServerCertVerifier>, rustls::client::VerifierBuilderError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities.iter().cloned());
    let cryptography = formwork_plugin_protocol::crypto_provider();
    let chain =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), cryptography).build()?;
    Ok(Arc::new(RuledVerifier { chain, rule: RootAsServer { roots: Some(authorities) } }))
}

/// Creates a verifier for the servers that this machine trusts.
///
/// # Errors
/// Returns an error if the machine has no trusted certificates.
pub(crate) fn machine_verifier() -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let chain = Arc::new(Verifier::new(formwork_plugin_protocol::crypto_provider())?);
    Ok(Arc::new(RuledVerifier { chain, rule: RootAsServer { roots: None } }))
}

/// Accepts a server whose certificate is a trusted root itself, as created by `openssl req -x509`.
///
/// The library refuses CA certificates as server certificates. Terraform accepts them. The owner of a
/// root can issue a certificate for any server, so to trust the root itself adds no risk.
#[derive(Debug)]
struct RootAsServer {
    /// The trusted roots, or `None` for those of this machine.
    roots: Option<Vec<CertificateDer<'static>>>,
}

impl RootAsServer {
    fn trusts(&self, certificate: &CertificateDer<'_>) -> bool {
        match &self.roots {
            Some(roots) => roots.iter().any(|root| root == certificate),
            // Read here, because the machine's verifier does not expose its roots, and servers of this
            // kind are rare.
            None => rustls_native_certs::load_native_certs().certs.contains(certificate),
        }
    }
}

impl CertificateRule for RootAsServer {
    fn verdict(
        &self,
        chain: &dyn ServerCertVerifier,
        shown: ShownCertificate<'_>,
    ) -> Result<ServerCertVerified, Error> {
        match shown.verify(chain) {
            Err(Error::InvalidCertificate(CertificateError::Other(error)))
                // The dates are checked before this error. The type of the error is not public here.
                if error.to_string() == "CaUsedAsEndEntity" && self.trusts(shown.certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(shown.certificate)?, shown.name)?;
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }
}

#[cfg(test)]
mod tests;
