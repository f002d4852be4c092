//! The curves of ECDSA keys. Code that depends on a curve's arithmetic is here, with numbers and
//! points as bytes; the rest of the code sees no types of particular curves.

use rsa::rand_core::OsRng;
use rsa::sha2::{Digest as _, Sha256, Sha384, Sha512};
use rsa::signature::hazmat::PrehashSigner as _;
use x509_cert::der::oid::ObjectIdentifier;

use super::KeyError;

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tls) enum Curve {
    P224,
    P256,
    P384,
    P521,
}

impl Curve {
    /// All of them.
    pub(in crate::tls) const ALL: [Self; 4] = [Self::P224, Self::P256, Self::P384, Self::P521];

    /// The name in configurations.
    pub(in crate::tls) fn name(self) -> &'static str {
        match self {
            Self::P224 => "P224",
            Self::P256 => "P256",
            Self::P384 => "P384",
            Self::P521 => "P521",
        }
    }

    /// The curve of this identifier.
    pub(super) fn from_oid(oid: ObjectIdentifier) -> Result<Self, KeyError> {
        let curve = Self::ALL.into_iter().find(|curve| curve.oid() == oid);
        curve.ok_or_else(|| KeyError::Unsupported(format!("the curve {oid}")))
    }

    /// The name in OpenSSH, which does not support all.
    pub(super) fn openssh_name(self) -> Option<&'static str> {
        match self {
            Self::P224 => None,
            Self::P256 => Some("nistp256"),
            Self::P384 => Some("nistp384"),
            Self::P521 => Some("nistp521"),
        }
    }

    /// The object identifier in key files.
    pub(super) fn oid(self) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(match self {
            Self::P224 => "1.3.132.0.33",
            Self::P256 => "1.2.840.10045.3.1.7",
            Self::P384 => "1.3.132.0.34",
            Self::P521 => "1.3.132.0.35",
        })
    }

    /// The identifier of its signatures.
    pub(super) fn signature_algorithm(self) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(match self {
            Self::P224 | Self::P256 => "1.2.840.10045.4.3.2",
            Self::P384 => "1.2.840.10045.4.3.3",
            Self::P521 => "1.2.840.10045.4.3.4",
        })
    }

    /// A new secret number.
    pub(super) fn generate_secret(self) -> Vec<u8> {
        match self {
            Self::P224 => p224::SecretKey::random(&mut OsRng).to_bytes().to_vec(),
            Self::P256 => p256::SecretKey::random(&mut OsRng).to_bytes().to_vec(),
            Self::P384 => p384::SecretKey::random(&mut OsRng).to_bytes().to_vec(),
            Self::P521 => p521::SecretKey::random(&mut OsRng).to_bytes().to_vec(),
        }
    }

    /// A secret number with as many bytes as the curve's numbers have: other programs leave out leading
    /// zeros, or add some.
    pub(super) fn pad_secret(self, secret: &[u8]) -> Result<Vec<u8>, KeyError> {
        let length: usize = match self {
            Self::P224 => 28,
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        };
        let n_zeros = secret.iter().take_while(|byte| **byte == 0).count();
        let digits = &secret[n_zeros..];
        let Some(missing) = length.checked_sub(digits.len()) else {
            return Err(self.invalid_secret_error());
        };
        Ok([vec![0; missing].as_slice(), digits].concat())
    }

    /// The public point, not compressed.
    pub(super) fn public_point(self, secret: &[u8]) -> Result<Vec<u8>, KeyError> {
        let point = match self {
            Self::P224 => {
                p224::SecretKey::from_slice(secret).map(|key| key.public_key().to_sec1_bytes())
            }
            Self::P256 => {
                p256::SecretKey::from_slice(secret).map(|key| key.public_key().to_sec1_bytes())
            }
            Self::P384 => {
                p384::SecretKey::from_slice(secret).map(|key| key.public_key().to_sec1_bytes())
            }
            Self::P521 => {
                p521::SecretKey::from_slice(secret).map(|key| key.public_key().to_sec1_bytes())
            }
        };
        Ok(point.map_err(|_| self.invalid_secret_error())?.into_vec())
    }

    /// Signs a message; the digest is the one that goes with the curve.
    pub(super) fn sign(self, secret: &[u8], message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = match self {
            Self::P224 => p224::ecdsa::SigningKey::from_slice(secret)
                .and_then(|key| key.sign_prehash(&Sha256::digest(message)))
                .map(|signature: p224::ecdsa::Signature| signature.to_der().as_bytes().to_vec()),
            Self::P256 => p256::ecdsa::SigningKey::from_slice(secret)
                .and_then(|key| key.sign_prehash(&Sha256::digest(message)))
                .map(|signature: p256::ecdsa::Signature| signature.to_der().as_bytes().to_vec()),
            Self::P384 => p384::ecdsa::SigningKey::from_slice(secret)
                .and_then(|key| key.sign_prehash(&Sha384::digest(message)))
                .map(|signature: p384::ecdsa::Signature| signature.to_der().as_bytes().to_vec()),
            Self::P521 => p521::ecdsa::SigningKey::from_slice(secret)
                .and_then(|key| key.sign_prehash(&Sha512::digest(message)))
                .map(|signature: p521::ecdsa::Signature| signature.to_der().as_bytes().to_vec()),
        };
        signature.map_err(|error| KeyError::Crypto(error.to_string()))
    }

    fn invalid_secret_error(self) -> KeyError {
        KeyError::Malformed(format!("the secret is not a number of the curve {}", self.name()))
    }
}
