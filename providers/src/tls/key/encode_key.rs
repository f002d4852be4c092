//! Encodings of keys: PEM, PKCS#8, and together with the forms of OpenSSH. Every text ends with a
//! line feed, as the public provider's do.

use rsa::pkcs1::{EncodeRsaPrivateKey as _, EncodeRsaPublicKey as _};
use rsa::pkcs8::{EncodePrivateKey as _, PrivateKeyInfo};
use sec1::{EcParameters, EcPrivateKey};
use x509_cert::der::asn1::{AnyRef, BitString, Null, OctetStringRef};
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{Any, Encode as _, pem};
use x509_cert::spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

use super::{Curve, EC_OID, ED25519_OID, KeyError, PrivateKey, RSA_OID, openssh};
use crate::digest::{sha1, to_hex};

/// The public half of a key in all its forms. A key that OpenSSH has no form for has empty strings
/// there.
pub(in crate::tls) struct PublicKeyForms {
    /// The SHA-1 digest of the key in DER.
    pub(in crate::tls) id: String,
    pub(in crate::tls) pem: String,
    pub(in crate::tls) openssh: String,
    pub(in crate::tls) fingerprint_md5: String,
    pub(in crate::tls) fingerprint_sha256: String,
}

impl PrivateKey {
    /// The usual PEM form: PKCS#1 for RSA, SEC1 for ECDSA, PKCS#8 for Ed25519.
    pub(in crate::tls) fn to_pem(&self) -> Result<String, KeyError> {
        match self {
            Self::Rsa(key) => {
                let text = key.to_pkcs1_pem(LineEnding::LF);
                Ok(text.map_err(|error| KeyError::Crypto(error.to_string()))?.to_string())
            }
            Self::Ecdsa(curve, secret) => {
                let parameters = Some(EcParameters::NamedCurve(curve.oid()));
                encode_pem("EC PRIVATE KEY", &encode_sec1(*curve, secret, parameters)?)
            }
            Self::Ed25519(..) => self.to_pkcs8(),
        }
    }

    /// The form PKCS#8.
    pub(in crate::tls) fn to_pkcs8(&self) -> Result<String, KeyError> {
        let (algorithm, curve, secret) = match self {
            Self::Rsa(key) => {
                let text = key.to_pkcs8_pem(LineEnding::LF);
                return Ok(text.map_err(|error| KeyError::Crypto(error.to_string()))?.to_string());
            }
            Self::Ecdsa(curve, secret) => {
                (EC_OID, Some(curve.oid()), encode_sec1(*curve, secret, None)?)
            }
            Self::Ed25519(seed, _) => (ED25519_OID, None, OctetStringRef::new(seed)?.to_der()?),
        };
        let parameters = curve.as_ref().map(AnyRef::from);
        let info = PrivateKeyInfo::new(AlgorithmIdentifier { oid: algorithm, parameters }, &secret);
        encode_pem("PRIVATE KEY", &info.to_der()?)
    }

    /// The form of OpenSSH; empty if there is none for this key.
    pub(in crate::tls) fn to_openssh(&self) -> Result<String, KeyError> {
        Ok(openssh::encode_private_key(self)?.unwrap_or_default())
    }

    /// The public key as certificates have it.
    pub(in crate::tls) fn public_key_info(&self) -> Result<SubjectPublicKeyInfoOwned, KeyError> {
        let (oid, parameters, bytes) = match self {
            Self::Rsa(key) => {
                let public = key.to_public_key().to_pkcs1_der();
                let public = public.map_err(|error| KeyError::Crypto(error.to_string()))?;
                (RSA_OID, Some(Any::from(Null)), public.as_bytes().to_vec())
            }
            Self::Ecdsa(curve, secret) => {
                (EC_OID, Some(Any::from(&curve.oid())), curve.public_point(secret)?)
            }
            Self::Ed25519(_, public) => (ED25519_OID, None, public.to_vec()),
        };
        Ok(SubjectPublicKeyInfoOwned {
            algorithm: AlgorithmIdentifierOwned { oid, parameters },
            subject_public_key: BitString::from_bytes(&bytes)?,
        })
    }

    /// The public key in all its forms.
    pub(in crate::tls) fn public_forms(&self) -> Result<PublicKeyForms, KeyError> {
        let der = self.public_key_info()?.to_der()?;
        let mut forms = PublicKeyForms {
            id: to_hex(&sha1(&der)),
            pem: encode_pem("PUBLIC KEY", &der)?,
            openssh: String::new(),
            fingerprint_md5: String::new(),
            fingerprint_sha256: String::new(),
        };
        if let Some(public) = openssh::encode_public_key(self)? {
            forms.openssh = public.line;
            forms.fingerprint_md5 = public.fingerprint_md5;
            forms.fingerprint_sha256 = public.fingerprint_sha256;
        }
        Ok(forms)
    }
}

fn encode_sec1(
    curve: Curve,
    secret: &[u8],
    parameters: Option<EcParameters>,
) -> Result<Vec<u8>, KeyError> {
    let point = curve.public_point(secret)?;
    let key = EcPrivateKey { private_key: secret, parameters, public_key: Some(&point) };
    Ok(key.to_der()?)
}

/// PEM with lines of 64 characters.
pub(in crate::tls) fn encode_pem(label: &'static str, der: &[u8]) -> Result<String, KeyError> {
    let text = pem::encode_string(label, LineEnding::LF, der);
    text.map_err(|error| KeyError::Crypto(error.to_string()))
}
