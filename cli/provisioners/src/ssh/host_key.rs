//! Whether a machine is the one that was meant: the key it has, or who vouches for it.

use std::borrow::Cow;

use russh::Preferred;
use russh::keys::PublicKeyOrCertificate;
use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{Algorithm, HashAlg, PublicKey};

/// The key a machine must have, or the key of an authority that vouches for machines.
#[derive(Clone, Debug)]
pub(super) struct HostKey(PublicKey);

impl HostKey {
    /// Reads a line as it stands in files of public keys.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let key = PublicKey::from_openssh(text.trim()).map_err(|error| {
            format!(
                "the host key cannot be read, it is not of the form `ssh-ed25519 AAAA…`: {error}"
            )
        })?;
        Ok(Self(key))
    }

    /// Whether the key that a machine of this name shows is right.
    pub(super) fn accepts(&self, shown: &PublicKeyOrCertificate, name: &str) -> bool {
        let Some(certificate) = shown.certificate() else {
            return shown.public_key().key_data() == self.0.key_data();
        };
        let principals = certificate.valid_principals();
        certificate.cert_type() == CertType::Host
            && (principals.is_empty() || principals.iter().any(|principal| principal == name))
            && certificate.validate([&self.0.fingerprint(HashAlg::Sha256)]).is_ok()
            || certificate.public_key() == self.0.key_data()
    }

    /// Key algorithms to request from a machine: those of this key first. Otherwise the machine
    /// would show another of its keys, and seem to be another machine. A machine that is asked for
    /// certificates shows one of those before any bare key.
    pub(super) fn preferred_algorithms(&self, certificates: bool) -> Preferred {
        preferred_algorithms(std::slice::from_ref(&self.0), certificates)
    }
}

/// As [`HostKey::preferred_algorithms`], for a machine that has one of several keys.
pub(super) fn preferred_algorithms(keys: &[PublicKey], certificates: bool) -> Preferred {
    let usual = Preferred::DEFAULT.key;
    let same = |other: &Algorithm| {
        keys.iter().any(|key| match (key.algorithm(), other) {
            (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
            (mine, other) => mine == *other,
        })
    };
    let mut key = usual.to_vec();
    // Sorting is stable: the others keep their order.
    key.sort_by_key(|algorithm| !same(algorithm));
    let host_key_certificates = if certificates { usual } else { Cow::Borrowed(&[][..]) };
    Preferred { key: key.into(), host_key_certificates, ..Preferred::DEFAULT }
}
