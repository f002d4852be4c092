//! Verification of a host key, or of a host certificate, against the configured key.

use std::borrow::Cow;

use russh::Preferred;
use russh::keys::PublicKeyOrCertificate;
use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{Algorithm, HashAlg, PublicKey};

/// The required key of a host, or the key of the certificate authority that signs host certificates.
#[derive(Clone, Debug)]
pub(super) struct HostKey(PublicKey);

impl HostKey {
    /// Parses a line in the format of OpenSSH public key files.
    ///
    /// # Errors
    /// The line is not a public key.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let key = PublicKey::from_openssh(text.trim()).map_err(|error| {
            format!("the host key cannot be parsed, expected the form `ssh-ed25519 AAAA…`: {error}")
        })?;
        Ok(Self(key))
    }

    /// Whether the key or certificate that the host `name` presents is valid for this key.
    pub(super) fn accepts(&self, presented: &PublicKeyOrCertificate, name: &str) -> bool {
        let Some(certificate) = presented.certificate() else {
            return presented.public_key().key_data() == self.0.key_data();
        };
        let principals = certificate.valid_principals();
        certificate.cert_type() == CertType::Host
            && (principals.is_empty() || principals.iter().any(|principal| principal == name))
            && certificate.validate([&self.0.fingerprint(HashAlg::Sha256)]).is_ok()
            || certificate.public_key() == self.0.key_data()
    }

    /// Key algorithms to request from a host, with those of this key first. Otherwise the host could
    /// present another of its keys, which would not match. If certificates are requested, a host
    /// presents a certificate before a plain key.
    pub(super) fn preferred_algorithms(&self, certificates: bool) -> Preferred {
        preferred_algorithms(std::slice::from_ref(&self.0), certificates)
    }
}

/// As [`HostKey::preferred_algorithms`], for a host that has one of several keys.
pub(super) fn preferred_algorithms(keys: &[PublicKey], certificates: bool) -> Preferred {
    let default_algorithms = Preferred::DEFAULT.key;
    let same = |algorithm: &Algorithm| {
        keys.iter().any(|key| match (key.algorithm(), algorithm) {
            (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
            (own_algorithm, algorithm) => own_algorithm == *algorithm,
        })
    };
    let mut key = default_algorithms.to_vec();
    // The sort is stable: the other algorithms keep their order.
    key.sort_by_key(|algorithm| !same(algorithm));
    let host_key_certificates =
        if certificates { default_algorithms } else { Cow::Borrowed(&[][..]) };
    Preferred { key: key.into(), host_key_certificates, ..Preferred::DEFAULT }
}
