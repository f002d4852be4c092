//! Encryption algorithms: AES in Galois/Counter Mode, and key derivation from passphrases with
//! PBKDF2.

use std::num::NonZeroU32;

use aws_lc_rs::aead::{
    AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey,
};
use aws_lc_rs::{pbkdf2, rand};

/// The system has no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random bytes")]
pub(crate) struct NoRandomBytes;

/// Returns random bytes.
///
/// # Errors
/// Returns an error if the system has none.
pub(crate) fn random_bytes(length: usize) -> Result<Vec<u8>, NoRandomBytes> {
    let mut bytes = vec![0; length];
    rand::fill(&mut bytes).map_err(|_| NoRandomBytes)?;
    Ok(bytes)
}

/// A hash function of PBKDF2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pbkdf2Hash {
    Sha256,
    Sha512,
}

impl Pbkdf2Hash {
    /// Returns the function with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    /// The name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }
}

/// Derives a key from a passphrase (PBKDF2, RFC 8018 section 5.2, with HMAC).
pub(crate) fn derive_pbkdf2_key(
    hash: Pbkdf2Hash,
    iterations: NonZeroU32,
    passphrase: &[u8],
    salt: &[u8],
    length: usize,
) -> Vec<u8> {
    let algorithm = match hash {
        Pbkdf2Hash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        Pbkdf2Hash::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
    };
    let mut key = vec![0; length];
    pbkdf2::derive(algorithm, iterations, salt, passphrase, &mut key);
    key
}

/// An AES-GCM key.
pub(crate) struct AesGcmKey(LessSafeKey);

impl AesGcmKey {
    /// The valid key lengths, in bytes.
    pub(crate) const KEY_LENGTHS: [usize; 3] = [16, 24, 32];

    /// Creates a key, or returns `None` if its length is invalid.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            24 => &AES_192_GCM,
            32 => &AES_256_GCM,
            _ => return None,
        };
        Some(Self(LessSafeKey::new(UnboundKey::new(algorithm, key).ok()?)))
    }

    /// Encrypts with a random nonce. Returns the nonce, the ciphertext and the tag.
    ///
    /// # Errors
    /// Returns an error if the system has no random bytes.
    pub(crate) fn encrypt(&self, plain: &[u8], aad: &[u8]) -> Result<Vec<u8>, NoRandomBytes> {
        let nonce = random_bytes(NONCE_LEN)?.try_into().map_err(|_| NoRandomBytes)?;
        self.encrypt_with_nonce(nonce, plain, aad).ok_or(NoRandomBytes)
    }

    /// Encrypts with a nonce. Returns `None` if the data is longer than the mode allows.
    fn encrypt_with_nonce(
        &self,
        nonce: [u8; NONCE_LEN],
        plain: &[u8],
        aad: &[u8],
    ) -> Option<Vec<u8>> {
        let mut sealed = Vec::with_capacity(NONCE_LEN + plain.len() + 16);
        sealed.extend_from_slice(&nonce);
        let mut text = plain.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(unique, Aad::from(aad), &mut text).ok()?;
        sealed.append(&mut text);
        Some(sealed)
    }

    /// Decrypts the output of [`AesGcmKey::encrypt`]. Returns `None` if the key is wrong, or if a
    /// byte has changed.
    pub(crate) fn decrypt(&self, sealed: &[u8], aad: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = text.to_vec();
        let length = self.0.open_in_place(nonce, Aad::from(aad), &mut text).ok()?.len();
        text.truncate(length);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_from_hex(hexadecimal: &str) -> Vec<u8> {
        let digits = hexadecimal.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.map(|pair| byte(pair).unwrap()).collect()
    }

    /// The vectors of SHA-256 are from RFC 7914, section 11. Those of SHA-512 are the ones that
    /// PBKDF2 libraries share, for the inputs of RFC 6070.
    #[test]
    fn keys_are_derived_as_published() {
        let check = |hash, passphrase: &str, salt: &str, iterations, expected: &str| {
            let expected = bytes_from_hex(expected);
            let iterations = NonZeroU32::new(iterations).unwrap();
            let key = derive_pbkdf2_key(
                hash,
                iterations,
                passphrase.as_bytes(),
                salt.as_bytes(),
                expected.len(),
            );
            assert_eq!(key, expected, "{passphrase} {iterations}");
        };
        let expected = "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783";
        check(Pbkdf2Hash::Sha256, "passwd", "salt", 1, expected);
        let expected = "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d";
        check(Pbkdf2Hash::Sha256, "Password", "NaCl", 80_000, expected);
        let expected = "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce";
        check(Pbkdf2Hash::Sha512, "password", "salt", 1, expected);
        let expected = "e1d9c16aa681708a45f5c7c4e215ceb66e011a2e9f0040713f18aefdb866d53cf76cab2868a39b9f7840edce4fef5a82be67335c77a6068e04112754f27ccf4e";
        check(Pbkdf2Hash::Sha512, "password", "salt", 2, expected);
        let expected = "d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5143f30602641b3d55cd335988cb36b84376060ecd532e039b742a239434af2d5";
        check(Pbkdf2Hash::Sha512, "password", "salt", 4096, expected);
    }

    /// Test cases 4, 10 and 16 of the GCM specification: 128, 192 and 256 bits.
    #[test]
    fn test_vectors_are_encrypted_as_published() {
        let plain = bytes_from_hex(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        );
        let aad = bytes_from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let nonce: [u8; NONCE_LEN] = bytes_from_hex("cafebabefacedbaddecaf888").try_into().unwrap();
        let key =
            bytes_from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
        for (length, ciphertext, tag) in [
            (
                16,
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
                "5bc94fbc3221a5db94fae95ae7121a47",
            ),
            (
                24,
                "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
                "2519498e80f1478f37ba55bd6d27618c",
            ),
            (
                32,
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
                "76fc6ece0f4e1768cddf8853bb2d551b",
            ),
        ] {
            let key = AesGcmKey::new(&key[..length]).unwrap();
            let sealed = key.encrypt_with_nonce(nonce, &plain, &aad).unwrap();
            let expected = [&nonce[..], &bytes_from_hex(ciphertext), &bytes_from_hex(tag)].concat();
            assert_eq!(sealed, expected, "{length}");
            assert_eq!(key.decrypt(&sealed, &aad).as_ref(), Some(&plain));
            assert_eq!(key.decrypt(&sealed, b"other"), None);
            for index in [0, NONCE_LEN, sealed.len() - 1] {
                let mut changed = sealed.clone();
                changed[index] ^= 1;
                assert_eq!(key.decrypt(&changed, &aad), None, "{index}");
            }
        }
        assert!(AesGcmKey::new(&key[..20]).is_none());
    }

    #[test]
    fn each_encryption_has_its_own_nonce() {
        let key = AesGcmKey::new(&[7; 32]).unwrap();
        let [first, second] = [(); 2].map(|()| key.encrypt(b"text", b"").unwrap());
        assert_ne!(first[..NONCE_LEN], second[..NONCE_LEN]);
        assert_eq!(key.decrypt(&first, b"").unwrap(), key.decrypt(&second, b"").unwrap());
        assert_eq!(key.decrypt(b"short", b""), None);
    }
}
