//! Encrypted connections to PostgreSQL: the modes of the client library that Terraform uses.

use std::path::Path;
use std::sync::Arc;

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_file};
use formwork_plugin_protocol::{CertificateRule, RuledVerifier, ShownCertificate};
use rustls::client::danger::{ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, ClientConfig, Error};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connect::TlsFiles;
use crate::cause::Cause;
use crate::config_error::ConfigError;
use crate::tls::{authority_verifier, client_identity, machine_verifier};

/// An encryption mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// No encryption.
    Disable,
    /// Encrypted, with any server. If a file of trusted authorities is specified, the server's
    /// certificate is verified.
    Require,
    /// The certificate of the server must be issued by a trusted authority.
    VerifyCa,
    /// In addition, the certificate must be valid for the host name.
    VerifyFull,
}

impl TlsMode {
    /// Parses the name of a mode.
    ///
    /// # Errors
    /// Returns an error if the mode is not supported.
    pub(super) fn parse(text: &str) -> Result<Self, ConfigError> {
        match text {
            "disable" => Ok(Self::Disable),
            "require" => Ok(Self::Require),
            "verify-ca" => Ok(Self::VerifyCa),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(ConfigError::new(format!(
                "unsupported sslmode {text:?}; only \"require\" (default), \"verify-full\", \"verify-ca\", and \"disable\" supported"
            ))),
        }
    }
}

/// Creates the connector of a mode. Reads the files.
///
/// # Errors
/// Returns an error if a file cannot be read, or has no usable content.
pub(super) fn tls_connector(mode: TlsMode, files: &TlsFiles) -> Result<MakeRustlsConnect, Cause> {
    let cryptography = formwork_plugin_protocol::crypto_provider();
    let trusted: Option<Arc<dyn ServerCertVerifier>> = match &files.authorities {
        Some(path) => Some(authority_verifier(read_certificates(path)?)?),
        None if mode == TlsMode::Require => None,
        None => Some(machine_verifier()?),
    };
    // If the issuer is not verified, the server must still prove that it has the key of its
    // certificate.
    let fallback: Arc<dyn ServerCertVerifier> = Arc::new(Verifier::new(Arc::clone(&cryptography))?);
    let rule = CertificateVerifier {
        // As in Go's `lib/pq`, `require` with a file of authorities verifies the same as
        // `verify-ca`.
        checks_issuer: trusted.is_some(),
        checks_name: mode == TlsMode::VerifyFull,
    };
    let verifier = RuledVerifier { chain: trusted.unwrap_or(fallback), rule };
    let builder = ClientConfig::builder_with_provider(cryptography)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match (&files.certificate, &files.key) {
        (Some(certificate), Some(key)) => {
            let key_error =
                |error| format!("{} contains no private key in PEM: {error}", key.display());
            let private = PrivateKeyDer::from_pem_slice(&read_tls_file(key)?).map_err(key_error)?;
            let identity = client_identity(read_certificates(certificate)?, private)?;
            builder.with_client_cert_resolver(identity)
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

/// Reads a file that the configuration may name. The size is limited, and reading does not block.
fn read_tls_file(path: &Path) -> Result<Vec<u8>, Cause> {
    let text = read_file(path, MAX_SMALL_FILE_LEN);
    text.map_err(|error| format!("{} cannot be read: {error}", path.display()).into())
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Cause> {
    let certificate_error =
        |error| format!("{} contains no certificates in PEM: {error}", path.display());
    let text = read_tls_file(path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.map_err(certificate_error)?;
    if certificates.is_empty() {
        return Err(format!("{} contains no certificates in PEM", path.display()).into());
    }
    Ok(certificates)
}

/// Verifies the certificate of a server as far as the mode requires it.
#[derive(Debug)]
struct CertificateVerifier {
    checks_issuer: bool,
    checks_name: bool,
}

impl CertificateRule for CertificateVerifier {
    fn verdict(
        &self,
        chain: &dyn ServerCertVerifier,
        shown: ShownCertificate<'_>,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        if !self.checks_issuer {
            return Ok(ServerCertVerified::assertion());
        }
        match shown.verify(chain) {
            // The chain is verified before the name, so with this error the issuer is trusted.
            Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if !self.checks_name =>
            {
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }
}
