//! Private keys of all algorithms: generates, reads and signs with them.

mod curve;
mod encode_key;
mod openssh;

pub(super) use curve::Curve;
pub(super) use encode_key::encode_pem;

use aws_lc_rs::encoding::{AsBigEndian as _, AsDer as _, Curve25519SeedBin};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use rsa::RsaPrivateKey;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs1v15::SigningKey;
use rsa::pkcs8::{DecodePrivateKey as _, PrivateKeyInfo};
use rsa::rand_core::OsRng;
use rsa::sha2::Sha256;
use rsa::signature::{SignatureEncoding as _, Signer as _};
use sec1::EcPrivateKey;
use x509_cert::der::asn1::{Null, OctetStringRef};
use x509_cert::der::oid::ObjectIdentifier;
use x509_cert::der::{Any, Decode as _};
use x509_cert::spki::AlgorithmIdentifierOwned;

use crate::decode_pem::{PemBlock, first_pem_block};

/// The reason why a key cannot be read or generated.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeyError {
    /// The text is none of the forms of a key.
    #[error("{0}")]
    Malformed(String),
    /// The kind of key is not supported.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// The key cannot be generated or used.
    #[error("{0}")]
    Crypto(String),
}

impl From<x509_cert::der::Error> for KeyError {
    fn from(error: x509_cert::der::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

const RSA_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const SHA256_WITH_RSA_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");

/// The sizes of RSA keys that can be generated. Smaller ones are not secure, larger ones take
/// minutes.
pub(super) const RSA_BITS_RANGE: std::ops::RangeInclusive<usize> = 1024..=16384;

/// Kind of key to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// RSA with the given number of bits.
    Rsa(usize),
    /// ECDSA on a curve.
    Ecdsa(Curve),
    /// Ed25519.
    Ed25519,
}

/// A private key.
pub(super) enum PrivateKey {
    Rsa(Box<RsaPrivateKey>),
    /// The curve, and the number that is the secret.
    Ecdsa(Curve, Vec<u8>),
    /// The seed and the public key.
    Ed25519([u8; 32], [u8; 32]),
}

impl PrivateKey {
    /// Generates a key. May take seconds.
    pub(super) fn generate(kind: KeyKind) -> Result<Self, KeyError> {
        match kind {
            KeyKind::Rsa(bits) => Ok(Self::Rsa(Box::new(generate_rsa(bits)?))),
            KeyKind::Ecdsa(curve) => Ok(Self::Ecdsa(curve, curve.generate_secret())),
            KeyKind::Ed25519 => {
                let pair = Ed25519KeyPair::generate().map_err(key_generation_error)?;
                let seed = pair.seed().map_err(key_generation_error)?;
                let seed: Curve25519SeedBin<'_> =
                    seed.as_be_bytes().map_err(key_generation_error)?;
                ed25519_key(seed.as_ref())
            }
        }
    }

    /// Reads the PEM forms: PKCS#1, SEC1 and PKCS#8.
    pub(super) fn from_pem(text: &str) -> Result<Self, KeyError> {
        let Some(PemBlock { label, content: der }) = first_pem_block(text) else {
            return Err(KeyError::Malformed(
                "failed to decode PEM block: there is none".to_owned(),
            ));
        };
        match label.as_str() {
            "RSA PRIVATE KEY" => {
                let key = RsaPrivateKey::from_pkcs1_der(&der);
                Ok(Self::Rsa(Box::new(
                    key.map_err(|error| KeyError::Malformed(error.to_string()))?,
                )))
            }
            "EC PRIVATE KEY" => {
                let key = EcPrivateKey::from_der(&der)?;
                let curve = key.parameters.and_then(|parameters| parameters.named_curve());
                let Some(curve) = curve else {
                    return Err(KeyError::Malformed("the key does not name its curve".to_owned()));
                };
                ecdsa_key(Curve::from_oid(curve)?, key.private_key)
            }
            "PRIVATE KEY" => key_from_pkcs8(&der),
            _ => Err(KeyError::Unsupported(format!("PEM with the label {label:?}"))),
        }
    }

    /// Reads the form of OpenSSH, which must not have a password.
    pub(super) fn from_openssh(text: &str) -> Result<Self, KeyError> {
        openssh::decode_private_key(text)
    }

    /// The name of its algorithm.
    pub(super) fn algorithm(&self) -> &'static str {
        match self {
            Self::Rsa(_) => "RSA",
            Self::Ecdsa(..) => "ECDSA",
            Self::Ed25519(..) => "ED25519",
        }
    }

    /// Algorithm of signatures with it.
    pub(super) fn signature_algorithm(&self) -> AlgorithmIdentifierOwned {
        let (oid, parameters) = match self {
            Self::Rsa(_) => (SHA256_WITH_RSA_OID, Some(Any::from(Null))),
            Self::Ecdsa(curve, _) => (curve.signature_algorithm(), None),
            Self::Ed25519(..) => (ED25519_OID, None),
        };
        AlgorithmIdentifierOwned { oid, parameters }
    }

    /// Signs a message.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        match self {
            Self::Rsa(key) => {
                let signature = SigningKey::<Sha256>::new((**key).clone()).try_sign(message);
                Ok(signature.map_err(|error| KeyError::Crypto(error.to_string()))?.to_vec())
            }
            Self::Ecdsa(curve, secret) => curve.sign(secret, message),
            Self::Ed25519(seed, public) => {
                let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public);
                let pair = pair.map_err(|error| KeyError::Crypto(error.to_string()))?;
                Ok(pair.sign(message).as_ref().to_vec())
            }
        }
    }
}

/// Checks an attribute whose value is a private key.
pub(super) fn check_private_key_pem(pem: &impl AsRef<str>) -> Result<(), String> {
    let key = PrivateKey::from_pem(pem.as_ref());
    key.map(drop).map_err(|error| format!("must be a private key in PEM: {error}"))
}

fn key_from_pkcs8(der: &[u8]) -> Result<PrivateKey, KeyError> {
    let info = PrivateKeyInfo::from_der(der)?;
    match info.algorithm.oid {
        RSA_OID => {
            let key = RsaPrivateKey::from_pkcs8_der(der);
            let key = key.map_err(|error| KeyError::Malformed(error.to_string()))?;
            Ok(PrivateKey::Rsa(Box::new(key)))
        }
        EC_OID => {
            let curve = info.algorithm.parameters_oid();
            let curve = curve.map_err(|error| KeyError::Malformed(error.to_string()))?;
            ecdsa_key(
                Curve::from_oid(curve)?,
                EcPrivateKey::from_der(info.private_key)?.private_key,
            )
        }
        ED25519_OID => ed25519_key(OctetStringRef::from_der(info.private_key)?.as_bytes()),
        other => Err(KeyError::Unsupported(format!("a key of the algorithm {other}"))),
    }
}

fn ecdsa_key(curve: Curve, secret: &[u8]) -> Result<PrivateKey, KeyError> {
    let secret = curve.pad_secret(secret)?;
    // Also proves that the number is one of the curve's.
    curve.public_point(&secret)?;
    Ok(PrivateKey::Ecdsa(curve, secret))
}

fn ed25519_key(seed: &[u8]) -> Result<PrivateKey, KeyError> {
    let malformed = |_| KeyError::Malformed("the seed of an Ed25519 key has 32 bytes".to_owned());
    let seed: [u8; 32] = seed.try_into().map_err(malformed)?;
    let pair = Ed25519KeyPair::from_seed_unchecked(&seed);
    let pair = pair.map_err(|error| KeyError::Crypto(error.to_string()))?;
    Ok(PrivateKey::Ed25519(seed, pair.public_key().as_ref().try_into().map_err(malformed)?))
}

/// Generates an RSA key; with the faster library where it supports the size.
fn generate_rsa(bits: usize) -> Result<RsaPrivateKey, KeyError> {
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    let size = match bits {
        2048 => KeySize::Rsa2048,
        3072 => KeySize::Rsa3072,
        4096 => KeySize::Rsa4096,
        8192 => KeySize::Rsa8192,
        _ if RSA_BITS_RANGE.contains(&bits) => {
            let key = RsaPrivateKey::new(&mut OsRng, bits);
            return key.map_err(|error| KeyError::Crypto(error.to_string()));
        }
        _ => {
            let (min_bits, max_bits) = (RSA_BITS_RANGE.start(), RSA_BITS_RANGE.end());
            return Err(KeyError::Unsupported(format!(
                "an RSA key of {bits} bits (it may have {min_bits} to {max_bits})"
            )));
        }
    };
    let pair = KeyPair::generate(size).map_err(key_generation_error)?;
    let der = pair.as_der().map_err(key_generation_error)?;
    let key = RsaPrivateKey::from_pkcs8_der(der.as_ref());
    key.map_err(|error| KeyError::Crypto(error.to_string()))
}

fn key_generation_error(_: aws_lc_rs::error::Unspecified) -> KeyError {
    KeyError::Crypto("the key cannot be generated".to_owned())
}

#[cfg(test)]
mod tests;
