//! TLS of clients: the servers that are trusted, and the certificate that is shown to them. Opens no
//! connection itself; [`connector`] is for HTTP, and `pg::tls` for PostgreSQL.

pub mod connector;

use std::sync::{Arc, OnceLock};

use formwork_plugin_protocol::{CertificateRule, NoVerifier, RuledVerifier, ShownCertificate};
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, ClientConfig, Error, InconsistentKeys, RootCertStore};
use rustls_platform_verifier::Verifier;
use x509_cert::der::{Decode as _, Encode as _};

use crate::config_error::ConfigError;

/// TLS settings of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsSettings {
    /// Whether certificates of servers are not verified.
    pub(crate) insecure: bool,
    /// The certificates, in PEM, of trusted authorities, instead of those of this machine.
    pub(crate) authorities: Option<String>,
    /// The certificate chain and the private key that are shown to servers, in PEM.
    pub(crate) identity: Option<(String, String)>,
}

/// The servers that a client trusts.
#[derive(Clone, Debug)]
enum Trust {
    /// Everyone.
    Everyone,
    /// Those that this machine trusts.
    Machine,
    /// The servers that a verifier accepts.
    Named(Arc<dyn ServerCertVerifier>),
}

/// The TLS of a client: checked settings.
#[derive(Clone, Debug)]
pub(crate) struct ClientTls {
    trust: Trust,
    identity: Option<Arc<SingleCertAndKey>>,
    /// The finished configuration. It is made for the first connection that is encrypted, because the
    /// certificates of the machine are many files, and may be missing where nothing is encrypted.
    config: OnceLock<Arc<ClientConfig>>,
}

impl ClientTls {
    /// Checks the settings.
    ///
    /// # Errors
    /// When a certificate or key cannot be used.
    pub(crate) fn new(settings: &TlsSettings) -> Result<Self, ConfigError> {
        let trust = match &settings.authorities {
            _ if settings.insecure => Trust::Everyone,
            None => Trust::Machine,
            Some(pem) => {
                let found = pem_certificates(pem);
                if found.is_empty() {
                    return Err(ConfigError::new("no CA certificate is found in the PEM text"));
                }
                Trust::Named(authority_verifier(found).map_err(|error| {
                    ConfigError::new(format!("the CA certificates cannot be used: {error}"))
                })?)
            }
        };
        let identity = settings.identity.as_ref().map(|(chain, key)| {
            let chain = pem_certificates(chain);
            if chain.is_empty() {
                return Err(ConfigError::new("cannot load client certificate: there is none"));
            }
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| {
                ConfigError::new(format!("cannot load client private key: {error}"))
            })?;
            client_identity(chain, key)
        });
        Ok(Self { trust, identity: identity.transpose()?, config: OnceLock::new() })
    }

    /// The trusted certificates of this machine, and no certificate of the client.
    pub(crate) fn of_machine() -> Self {
        Self { trust: Trust::Machine, identity: None, config: OnceLock::new() }
    }

    /// The configuration for connections.
    ///
    /// # Errors
    /// When this machine has no trusted certificates.
    fn client_config(&self) -> Result<Arc<ClientConfig>, Error> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let cryptography = formwork_plugin_protocol::crypto_provider();
        let verifier: Arc<dyn ServerCertVerifier> = match &self.trust {
            Trust::Everyone => NoVerifier::new(Arc::clone(&cryptography)),
            Trust::Machine => machine_verifier()?,
            Trust::Named(verifier) => Arc::clone(verifier),
        };
        let builder = ClientConfig::builder_with_provider(cryptography)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = Arc::new(match &self.identity {
            Some(identity) => builder.with_client_cert_resolver(Arc::clone(identity) as _),
            None => builder.with_no_client_auth(),
        });
        Ok(Arc::clone(self.config.get_or_init(|| config)))
    }
}

/// The certificate of a client, checked against its key.
///
/// # Errors
/// When the key cannot be read, or is the key of another certificate.
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
        // The library does not read X.509 version 1, which `openssl x509 -req` makes. Servers do.
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

/// Whether the first certificate has the public key of the private key; `None` if it is no certificate.
fn certificate_matches_key(identity: &CertifiedKey) -> Option<bool> {
    let certificate = x509_cert::Certificate::from_der(identity.cert.first()?).ok()?;
    let public = certificate.tbs_certificate.subject_public_key_info.to_der().ok()?;
    Some(identity.key.public_key().is_none_or(|expected| expected.as_ref() == public))
}

/// A verifier for servers of authorities. Certificates among them that cannot be read do not count, as
/// long as there are others: bundles of authorities hold some that break the rules.
///
/// # Errors
/// When no certificate can be used.
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

/// A verifier for the servers that this machine trusts.
///
/// # Errors
/// When the machine has no trusted certificates.
pub(crate) fn machine_verifier() -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let chain = Arc::new(Verifier::new(formwork_plugin_protocol::crypto_provider())?);
    Ok(Arc::new(RuledVerifier { chain, rule: RootAsServer { roots: None } }))
}

/// Accepts a server whose certificate is a trusted root itself, as `openssl req -x509` makes it.
///
/// The library refuses certificates of authorities as those of servers. Terraform accepts them. The owner
/// of a root can issue a certificate for any server, so trust in its own does not add any.
#[derive(Debug)]
struct RootAsServer {
    /// The trusted roots; `None` for those of this machine.
    roots: Option<Vec<CertificateDer<'static>>>,
}

impl RootAsServer {
    fn trusts(&self, certificate: &CertificateDer<'_>) -> bool {
        match &self.roots {
            Some(roots) => roots.iter().any(|root| root == certificate),
            // Read here, because the verifier of the machine does not tell its roots, and servers of this
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

fn pem_certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests;
