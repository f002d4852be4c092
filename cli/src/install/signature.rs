//! Verification of the OpenPGP signature of the checksums of a provider release.

use std::fmt::{Display, Formatter};

use formwork_value::codec::hex;
use pgp::composed::{Deserializable as _, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{KeyFlags, Signature, SignatureType};
use pgp::types::{KeyDetails, Tag};
use time::OffsetDateTime;

/// The fingerprint of HashiCorp's release signing key, from its security page.
const HASHICORP_FINGERPRINT: &str = "c874011f0ab405110d02105534365d9472d7468f";

/// Maximum number of signatures and keys to check.
const MAX_PGP_PACKETS: usize = 64;

/// The evidence for the authenticity of a package, in Terraform's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageTrust {
    /// The source provides no checksum.
    Unauthenticated,
    /// The package matches the checksum of its source.
    VerifiedChecksum,
    /// HashiCorp has signed the checksums.
    HashiCorp,
    /// The key that the registry provides for the provider has signed the checksums.
    SelfSigned {
        /// The ID of the primary key.
        key_id: String,
    },
}

impl PackageTrust {
    /// Returns the ID of the key, unless it is HashiCorp's.
    pub(crate) fn key_id(&self) -> Option<&str> {
        match self {
            Self::SelfSigned { key_id } => Some(key_id),
            Self::Unauthenticated | Self::VerifiedChecksum | Self::HashiCorp => None,
        }
    }
}

impl Display for PackageTrust {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unauthenticated => "unauthenticated",
            Self::VerifiedChecksum => "verified checksum",
            Self::HashiCorp => "signed by HashiCorp",
            Self::SelfSigned { .. } => "self-signed",
        })
    }
}

/// The reason why a signature is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSignature {
    /// A key from the registry cannot be decoded.
    #[error("error decoding signing key: {0}")]
    Key(String),
    /// The signature is malformed, or does not match the document.
    #[error("error checking signature: {0}")]
    Signature(String),
    /// The signature was not created by any key from the registry.
    #[error("authentication signature from unknown issuer")]
    UnknownIssuer,
}

/// Verifies a detached signature of a document with the given ASCII-armored keys.
///
/// An expired key is accepted, as by Terraform, so that old releases stay valid. A revoked key, an expired
/// signature and an insecure hash algorithm are rejected.
///
/// # Errors
/// No key has created the signature, or the key or signature is not valid.
pub(crate) fn verify_signature(
    document: &[u8],
    signature: &[u8],
    keys: &[String],
    now: OffsetDateTime,
) -> Result<PackageTrust, BadSignature> {
    let unreadable = |error: pgp::errors::Error| BadSignature::Signature(error.to_string());
    let signatures: Vec<Signature> = DetachedSignature::from_bytes_many(signature)
        .map_err(unreadable)?
        .take(MAX_PGP_PACKETS)
        .map(|parsed| parsed.map(|parsed| parsed.signature).map_err(unreadable))
        .collect::<Result<_, _>>()?;
    if signatures.is_empty() {
        return Err(BadSignature::Signature("it contains no signature".to_owned()));
    }
    for text in keys {
        for key in parse_public_keys(text)? {
            for signature in &signatures {
                if let Some(signer) = SigningKey::find_issuer(&key, signature) {
                    signer
                        .check_signature(document, signature, now)
                        .map_err(|reason| BadSignature::Signature(reason.to_owned()))?;
                    return Ok(trust_of_key(&key));
                }
            }
        }
    }
    Err(BadSignature::UnknownIssuer)
}

fn parse_public_keys(text: &str) -> Result<Vec<SignedPublicKey>, BadSignature> {
    let unreadable = |error: pgp::errors::Error| BadSignature::Key(error.to_string());
    let (keys, _) = SignedPublicKey::from_string_many(text).map_err(unreadable)?;
    keys.take(MAX_PGP_PACKETS).map(|key| key.map_err(unreadable)).collect()
}

fn trust_of_key(key: &SignedPublicKey) -> PackageTrust {
    let fingerprint = hex::encode(key.primary_key.fingerprint().as_bytes());
    if fingerprint == HASHICORP_FINGERPRINT {
        return PackageTrust::HashiCorp;
    }
    // The ID of a version 4 key is the end of its fingerprint.
    let id = hex::encode(key.primary_key.legacy_key_id().as_ref());
    PackageTrust::SelfSigned { key_id: id.to_uppercase() }
}

/// The key that created a signature: the primary key, or a subkey with a valid binding signature.
struct SigningKey<'k> {
    key: &'k SignedPublicKey,
    subkey: Option<&'k SignedPublicSubKey>,
}

impl<'k> SigningKey<'k> {
    /// Finds the issuer of the signature among the primary key and its subkeys.
    fn find_issuer(key: &'k SignedPublicKey, signature: &Signature) -> Option<Self> {
        if is_issuer(&key.primary_key, signature) {
            return Some(Self { key, subkey: None });
        }
        let subkey = key.public_subkeys.iter().find(|subkey| is_issuer(&subkey.key, signature))?;
        Some(Self { key, subkey: Some(subkey) })
    }

    /// Checks the key, and the signature of the document.
    fn check_signature(
        &self,
        document: &[u8],
        signature: &Signature,
        now: OffsetDateTime,
    ) -> Result<(), &'static str> {
        let is_of_data =
            matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text));
        if !is_of_data {
            return Err("it is not a document signature");
        }
        if !signature.hash_alg().is_some_and(is_strong_hash) {
            return Err("it uses a hash algorithm that is not secure");
        }
        if has_expired(signature, now) {
            return Err("the signature has expired");
        }
        let primary = &self.key.primary_key;
        let revoked = &self.key.details.revocation_signatures;
        if revoked.iter().any(|revocation| revocation.verify_key(primary).is_ok()) {
            return Err("the signing key was revoked");
        }
        let verified = match self.subkey {
            None if !may_sign(self_signed_flags(self.key)?) => {
                return Err("the signing key is not meant for signatures");
            }
            None => signature.verify(primary, document),
            Some(subkey) => {
                check_subkey(self.key, subkey)?;
                signature.verify(&subkey.key, document)
            }
        };
        verified.map_err(|_| "the signature does not match the checksums")
    }
}

fn is_issuer(key: &impl KeyDetails, signature: &Signature) -> bool {
    let fingerprints = signature.issuer_fingerprint();
    if !fingerprints.is_empty() {
        return fingerprints.contains(&&key.fingerprint());
    }
    signature.issuer_key_id().contains(&&key.legacy_key_id())
}

fn is_strong_hash(algorithm: HashAlgorithm) -> bool {
    use HashAlgorithm::{Sha3_256, Sha3_512, Sha224, Sha256, Sha384, Sha512};
    matches!(algorithm, Sha224 | Sha256 | Sha384 | Sha512 | Sha3_256 | Sha3_512)
}

fn has_expired(signature: &Signature, now: OffsetDateTime) -> bool {
    let created = signature.created().map(|time| i64::from(time.as_secs()));
    let lasts = signature.signature_expiration_time().map(|time| i64::from(time.as_secs()));
    match (created, lasts) {
        (Some(created), Some(lasts)) if lasts > 0 => created + lasts < now.unix_timestamp(),
        (Some(_), _) => false,
        (None, _) => true,
    }
}

/// The uses of the primary key by its newest valid signature over itself.
fn self_signed_flags(key: &SignedPublicKey) -> Result<KeyFlags, &'static str> {
    let primary = &key.primary_key;
    let users = key.details.users.iter().flat_map(|user| {
        let by_key = |signature: &&Signature| {
            signature.verify_certification(primary, Tag::UserId, &user.id).is_ok()
        };
        user.signatures.iter().filter(by_key)
    });
    let direct = key.details.direct_signatures.iter();
    let direct = direct.filter(|signature| signature.verify_key(primary).is_ok());
    let revokes = |signature: &&Signature| signature.typ() == Some(SignatureType::CertRevocation);
    let newest = users
        .chain(direct)
        .filter(|signature| !revokes(signature))
        .max_by_key(|signature| signature.created());
    newest.map(Signature::key_flags).ok_or("the signing key has no valid signature over itself")
}

/// Whether the flags allow signatures. A key that states no use has every use.
fn may_sign(flags: KeyFlags) -> bool {
    flags.sign() || flags == KeyFlags::default()
}

/// Checks that the primary key has bound the subkey for signatures, that the subkey agrees, and that the
/// binding was not revoked.
fn check_subkey(key: &SignedPublicKey, subkey: &SignedPublicSubKey) -> Result<(), &'static str> {
    let primary = &key.primary_key;
    let valid =
        |signature: &&Signature| signature.verify_subkey_binding(primary, &subkey.key).is_ok();
    let valid: Vec<_> = subkey.signatures.iter().filter(valid).collect();
    if valid.iter().any(|signature| signature.typ() == Some(SignatureType::SubkeyRevocation)) {
        return Err("the signing subkey was revoked");
    }
    let bindings =
        valid.iter().filter(|signature| signature.typ() == Some(SignatureType::SubkeyBinding));
    let newest = bindings.max_by_key(|signature| signature.created());
    let newest = newest.ok_or("the signing subkey is not bound to its primary key")?;
    if !newest.key_flags().sign() {
        return Err("the signing subkey is not meant for signatures");
    }
    let back = newest.embedded_signature();
    let agrees = |back: &Signature| back.verify_primary_key_binding(&subkey.key, primary).is_ok();
    if back.is_some_and(agrees) {
        Ok(())
    } else {
        Err("the signing subkey does not confirm its primary key")
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    /// A list of checksums, keys and signatures over it as GnuPG makes them.
    const DOCUMENT: &[u8] = include_bytes!("signature/fixtures/SHA256SUMS");
    const PLAIN: &str = include_str!("signature/fixtures/plain.asc");
    const SUBKEY: &str = include_str!("signature/fixtures/subkey.asc");
    const REVOKED: &str = include_str!("signature/fixtures/revoked.asc");
    const SHORT: &str = include_str!("signature/fixtures/short.asc");
    const BY_PLAIN: &[u8] = include_bytes!("signature/fixtures/plain.sig");
    const BY_PLAIN_WITH_SHA1: &[u8] = include_bytes!("signature/fixtures/sha1.sig");
    const BY_SUBKEY: &[u8] = include_bytes!("signature/fixtures/subkey.sig");
    const BY_SHORT: &[u8] = include_bytes!("signature/fixtures/short.sig");
    const EXPIRES: &[u8] = include_bytes!("signature/fixtures/expires.sig");

    fn check(document: &[u8], signature: &[u8], keys: &[&str]) -> Result<PackageTrust, String> {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let now = datetime!(2027-06-01 00:00 UTC);
        verify_signature(document, signature, &keys, now).map_err(|error| error.to_string())
    }

    #[test]
    fn a_signature_names_its_primary_key() {
        let by = |id: &str| Ok(PackageTrust::SelfSigned { key_id: id.to_owned() });
        assert_eq!(check(DOCUMENT, BY_PLAIN, &[SUBKEY, PLAIN]), by("CA5E8DF15470B477"));
        assert_eq!(check(DOCUMENT, BY_SUBKEY, &[PLAIN, SUBKEY]), by("63BBEE1722B1C7B7"));
        // Several keys in one text.
        let expected_text = format!("{PLAIN}\n");
        assert_eq!(check(DOCUMENT, BY_PLAIN, &[&expected_text]), by("CA5E8DF15470B477"));
        // The key has expired, the signature has not.
        assert!(check(DOCUMENT, BY_SHORT, &[SHORT]).is_ok());
    }

    #[test]
    fn invalid_signatures_are_refused() {
        let mut cut = PLAIN.to_owned();
        cut.truncate(PLAIN.len() / 2);
        let mut changed = BY_PLAIN.to_vec();
        *changed.last_mut().unwrap() ^= 1;
        for (document, signature, keys, expected_message) in [
            (&b"other"[..], BY_PLAIN, &[PLAIN][..], "does not match the checksums"),
            (DOCUMENT, &changed[..], &[PLAIN], "does not match the checksums"),
            (DOCUMENT, BY_PLAIN, &[SUBKEY], "unknown issuer"),
            (DOCUMENT, BY_PLAIN, &[], "unknown issuer"),
            (DOCUMENT, BY_PLAIN, &[REVOKED], "the signing key was revoked"),
            (DOCUMENT, BY_PLAIN_WITH_SHA1, &[PLAIN], "not secure"),
            (DOCUMENT, EXPIRES, &[SHORT], "the signature has expired"),
            (DOCUMENT, b"", &[PLAIN], "error checking signature"),
            (DOCUMENT, b"hello", &[PLAIN], "error checking signature"),
            (DOCUMENT, BY_PLAIN, &["hello"], "error decoding signing key"),
            (DOCUMENT, BY_PLAIN, &[&cut], "error decoding signing key"),
        ] {
            let error = check(document, signature, keys).unwrap_err();
            assert!(error.contains(expected_message), "{expected_message}: {error}");
        }
    }
}
