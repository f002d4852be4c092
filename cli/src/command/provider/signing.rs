//! OpenPGP signatures of the checksums of a release, with the publisher's key.

use pgp::composed::{ArmorOptions, Deserializable as _, DetachedSignature, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize as _;
use pgp::types::{Password, SigningKey};
use rsa::rand_core::OsRng;
use time::OffsetDateTime;

use crate::install::signature;

/// Signs a document with an ASCII-armored secret key. The signature is verified as `init` does.
///
/// # Errors
/// Returns a message if the key cannot be read or used, or the signature would not be accepted.
pub(super) fn sign_with_secret_key(
    document: &[u8],
    key: &str,
    passphrase: &str,
    now: OffsetDateTime,
) -> Result<Vec<u8>, String> {
    let (key, _) = SignedSecretKey::from_string(key)
        .map_err(|error| format!("it is not an ASCII-armored secret key: {error}"))?;
    let password = Password::from(passphrase);
    let public = key.to_public_key().to_armored_string(ArmorOptions::default());
    let public = [public.map_err(|error| error.to_string())?];
    let mut first_reason = String::new();
    // Tries the primary key and the subkeys that may sign, and uses the first signature that is accepted.
    let subkeys = key
        .secret_subkeys
        .iter()
        .map(|subkey| detached_signature(&subkey.key, &password, document));
    for signed in
        std::iter::once(detached_signature(&key.primary_key, &password, document)).chain(subkeys)
    {
        let checked = signed.and_then(|signed| {
            let trust = signature::verify_signature(document, &signed, &public, now);
            trust.map(|_| signed).map_err(|error| error.to_string())
        });
        match checked {
            Ok(signed) => return Ok(signed),
            Err(reason) if first_reason.is_empty() => first_reason = reason,
            Err(_) => {}
        }
    }
    Err(first_reason)
}

/// A detached signature in binary form.
fn detached_signature(
    key: &impl SigningKey,
    password: &Password,
    document: &[u8],
) -> Result<Vec<u8>, String> {
    let hash = HashAlgorithm::Sha256;
    DetachedSignature::sign_binary_data(OsRng, key, password, hash, document)
        .and_then(|signed| signed.to_bytes())
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use pgp::composed::{KeyType, SecretKeyParamsBuilder, SubkeyParamsBuilder};

    use super::*;

    fn key(may_sign: bool, subkey_may_sign: bool, passphrase: Option<&str>) -> String {
        let mut subkey = SubkeyParamsBuilder::default();
        subkey.key_type(KeyType::Ed25519Legacy).can_sign(subkey_may_sign);
        let mut params = SecretKeyParamsBuilder::default();
        params
            .key_type(KeyType::Ed25519Legacy)
            .can_certify(true)
            .can_sign(may_sign)
            .passphrase(passphrase.map(str::to_owned))
            .primary_user_id("Acme <acme@example.com>".to_owned());
        subkey.passphrase(passphrase.map(str::to_owned));
        params.subkey(subkey.build().unwrap());
        let key = params.build().unwrap().generate(OsRng).unwrap();
        key.to_armored_string(ArmorOptions::default()).unwrap()
    }

    fn signed(key: &str, passphrase: &str) -> Result<Vec<u8>, String> {
        sign_with_secret_key(b"sums", key, passphrase, crate::clock::current_time())
    }

    #[test]
    fn a_key_signs_with_its_primary_key_or_a_signing_subkey() {
        signed(&key(true, false, None), "").unwrap();
        signed(&key(false, true, None), "").unwrap();
        let reason = signed(&key(false, false, None), "").unwrap_err();
        assert!(reason.contains("not meant for signatures"), "{reason}");
    }

    #[test]
    fn a_locked_key_needs_its_passphrase() {
        let key = key(true, false, Some("secret"));
        signed(&key, "secret").unwrap();
        assert!(signed(&key, "other").is_err());
        assert!(signed("no key", "").unwrap_err().contains("secret key"));
    }
}
