//! Keys in the forms of OpenSSH. Private keys with a password are not read.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use md5::{Digest as _, Md5};
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, RsaPrivateKey};
use sha2::Sha256;

use super::{Curve, KeyError, PrivateKey, ecdsa_key, ed25519_key, encode_pem};
use crate::decode_pem::first_pem_block;
use crate::digest::sha1;

/// Magic bytes of a private key.
const PRIVATE_KEY_MAGIC: &[u8] = b"openssh-key-v1\0";
/// Unencrypted private keys fill blocks of this many bytes.
const PADDING_BLOCK_LEN: usize = 8;

/// A public key, and the output of `ssh-keygen -l` for it.
pub(super) struct OpensshPublicKey {
    pub(super) line: String,
    pub(super) fingerprint_md5: String,
    pub(super) fingerprint_sha256: String,
}

/// The public half of a key; `None` if OpenSSH has no such keys.
pub(super) fn encode_public_key(key: &PrivateKey) -> Result<Option<OpensshPublicKey>, KeyError> {
    let Some((kind, blob)) = openssh_public_blob(key)? else { return Ok(None) };
    // With a colon after each byte, so not as one string.
    let md5: Vec<_> = Md5::digest(&blob).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(OpensshPublicKey {
        line: format!("{kind} {}\n", STANDARD.encode(&blob)),
        fingerprint_md5: md5.join(":"),
        fingerprint_sha256: format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&blob))),
    }))
}

/// A private key; `None` if OpenSSH has no such keys.
pub(super) fn encode_private_key(key: &PrivateKey) -> Result<Option<String>, KeyError> {
    let Some((kind, blob)) = openssh_public_blob(key)? else { return Ok(None) };
    let mut secret = PartWriter::default();
    // The same number twice shows who decrypts the rest that the password was right.
    let check = &sha1(&blob)[..4];
    secret.0.extend([check, check].concat());
    secret.put_part(kind.as_bytes());
    match key {
        PrivateKey::Rsa(key) => {
            let [p, q] = key.primes() else {
                return Err(KeyError::Unsupported("an RSA key of more than two primes".to_owned()));
            };
            let inverse = key.crt_coefficient();
            let inverse =
                inverse.ok_or_else(|| KeyError::Crypto("p is not a number mod q".to_owned()))?;
            for number in [key.n(), key.e(), key.d(), &inverse, p, q] {
                secret.put_number(&number.to_bytes_be());
            }
        }
        PrivateKey::Ecdsa(curve, number) => {
            secret.put_part(curve.openssh_name().unwrap_or_default().as_bytes());
            secret.put_part(&curve.public_point(number)?);
            secret.put_number(number);
        }
        PrivateKey::Ed25519(seed, public) => {
            secret.put_part(public);
            secret.put_part(&[*seed, *public].concat());
        }
    }
    secret.put_part(b"");
    let missing = secret.0.len().next_multiple_of(PADDING_BLOCK_LEN) - secret.0.len();
    secret.0.extend((1..).take(missing));
    let mut writer = PartWriter(PRIVATE_KEY_MAGIC.to_vec());
    for word in ["none", "none", ""] {
        writer.put_part(word.as_bytes());
    }
    writer.0.extend(1_u32.to_be_bytes());
    writer.put_part(&blob);
    writer.put_part(&secret.0);
    encode_pem("OPENSSH PRIVATE KEY", &writer.0).map(Some)
}

/// Reads a private key.
pub(super) fn decode_private_key(text: &str) -> Result<PrivateKey, KeyError> {
    let malformed = || KeyError::Malformed("failed to parse openssh private key".to_owned());
    let block = first_pem_block(text).filter(|block| block.label == "OPENSSH PRIVATE KEY");
    let block = block.ok_or_else(malformed)?;
    let mut reader =
        PartReader(block.content.strip_prefix(PRIVATE_KEY_MAGIC).ok_or_else(malformed)?);
    let cipher = reader.take_part().ok_or_else(malformed)?;
    if cipher != b"none" {
        return Err(KeyError::Unsupported("a key with a password".to_owned()));
    }
    reader.skip_to_secret_part().and_then(decode_secret_part).ok_or_else(malformed)?
}

/// The key in the form that a password would protect.
fn decode_secret_part(mut reader: PartReader<'_>) -> Option<Result<PrivateKey, KeyError>> {
    match reader.take_part()? {
        b"ssh-rsa" => {
            let mut number = || reader.take_part().map(BigUint::from_bytes_be);
            let (n, e, d, _, p, q) =
                (number()?, number()?, number()?, number()?, number()?, number()?);
            let key = RsaPrivateKey::from_components(n, e, d, vec![p, q]);
            let key = key.map_err(|error| KeyError::Malformed(error.to_string()));
            Some(key.map(|key| PrivateKey::Rsa(Box::new(key))))
        }
        b"ssh-ed25519" => {
            reader.take_part()?;
            Some(ed25519_key(reader.take_part()?.get(..32)?))
        }
        _ => {
            let name = reader.take_part()?;
            let public_part = |curve: &Curve| {
                curve.openssh_name().is_some_and(|public_part| public_part.as_bytes() == name)
            };
            let curve = Curve::ALL.into_iter().find(public_part)?;
            reader.take_part()?;
            Some(ecdsa_key(curve, reader.take_part()?))
        }
    }
}

/// The kind of a key and its public half.
fn openssh_public_blob(key: &PrivateKey) -> Result<Option<(String, Vec<u8>)>, KeyError> {
    let mut blob = PartWriter::default();
    let kind = match key {
        PrivateKey::Rsa(_) => "ssh-rsa".to_owned(),
        PrivateKey::Ed25519(..) => "ssh-ed25519".to_owned(),
        PrivateKey::Ecdsa(curve, _) => match curve.openssh_name() {
            Some(name) => format!("ecdsa-sha2-{name}"),
            None => return Ok(None),
        },
    };
    blob.put_part(kind.as_bytes());
    match key {
        PrivateKey::Rsa(key) => {
            blob.put_number(&key.e().to_bytes_be());
            blob.put_number(&key.n().to_bytes_be());
        }
        PrivateKey::Ecdsa(curve, number) => {
            blob.put_part(curve.openssh_name().unwrap_or_default().as_bytes());
            blob.put_part(&curve.public_point(number)?);
        }
        PrivateKey::Ed25519(_, public) => blob.put_part(public),
    }
    Ok(Some((kind, blob.0)))
}

/// Parts, each after its length.
#[derive(Default)]
struct PartWriter(Vec<u8>);

impl PartWriter {
    fn put_part(&mut self, part: &[u8]) {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        self.0.extend(length.to_be_bytes());
        self.0.extend(part);
    }

    /// A number that is not negative: no zeros in front, unless it would look negative.
    fn put_number(&mut self, bytes: &[u8]) {
        let n_zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let digits = &bytes[n_zeros..];
        match digits.first() {
            Some(first) if first & 0x80 != 0 => self.put_part(&[&[0], digits].concat()),
            _ => self.put_part(digits),
        }
    }
}

/// The same from the other side.
struct PartReader<'b>(&'b [u8]);

impl<'b> PartReader<'b> {
    fn take_part(&mut self) -> Option<&'b [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (part, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }

    /// Part after the name of the cipher: use of the password, number of keys, public key, and then
    /// the encrypted part, which begins with a number twice.
    fn skip_to_secret_part(mut self) -> Option<Self> {
        self.take_part()?;
        self.take_part()?;
        self.0 = self.0.get(4..)?;
        self.take_part()?;
        Some(Self(self.take_part()?.get(8..)?))
    }
}
