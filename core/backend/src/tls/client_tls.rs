//! The TLS of an HTTP client: its validated settings, and the configuration for its connections.

use std::sync::{Arc, OnceLock};

use formwork_plugin_protocol::NoVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, Error};

use super::{authority_verifier, client_identity, machine_verifier};
use crate::config_error::ConfigError;

/// TLS settings of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsSettings {
    /// Whether server certificates are not verified.
    pub(crate) insecure: bool,
    /// The PEM certificates of trusted authorities, instead of those of this machine.
    pub(crate) authorities: Option<String>,
    /// The PEM certificate chain and private key of the client.
    pub(crate) identity: Option<(String, String)>,
}

/// The servers that a client trusts.
#[derive(Clone, Debug)]
enum Trust {
    /// All servers.
    Everyone,
    /// The servers that this machine trusts.
    Machine,
    /// The servers that a verifier accepts.
    Named(Arc<dyn ServerCertVerifier>),
}

/// The TLS of a client, with validated settings.
#[derive(Clone, Debug)]
pub(crate) struct ClientTls {
    trust: Trust,
    identity: Option<Arc<SingleCertAndKey>>,
    /// The finished configuration. It is created for the first encrypted connection, because the
    /// certificates of the machine are many files, and may be missing if no connection is encrypted.
    config: OnceLock<Arc<ClientConfig>>,
}

impl ClientTls {
    /// Validates the settings.
    ///
    /// # Errors
    /// Returns an error if a certificate or key cannot be used.
    #[cfg_attr(
        not(feature = "http-client"),
        expect(dead_code, reason = "the agent of the machine has no settings")
    )]
    pub(crate) fn new(settings: &TlsSettings) -> Result<Self, ConfigError> {
        let trust = match &settings.authorities {
            _ if settings.insecure => Trust::Everyone,
            None => Trust::Machine,
            Some(pem) => {
                let certificates = pem_certificates(pem);
                if certificates.is_empty() {
                    return Err(ConfigError::new("no CA certificate is found in the PEM text"));
                }
                Trust::Named(authority_verifier(certificates).map_err(|error| {
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

    /// Trusts the certificates of this machine, and uses no client certificate.
    pub(crate) fn of_machine() -> Self {
        Self { trust: Trust::Machine, identity: None, config: OnceLock::new() }
    }

    /// The configuration for connections.
    ///
    /// # Errors
    /// Returns an error if this machine has no trusted certificates.
    pub(super) fn client_config(&self) -> Result<Arc<ClientConfig>, Error> {
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

fn pem_certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok).collect()
}
