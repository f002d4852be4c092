//! Private keys in PEM form: Base64 between two lines with the kind of the key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Parts of a private key that decryption needs, as big-endian bytes.
pub(super) struct RsaPrivateKey {
    pub(super) modulus: Vec<u8>,
    pub(super) exponent: Vec<u8>,
}

/// The object identifier of RSA keys.
const RSA_ALGORITHM_ID: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const DAMAGED_KEY_REASON: &str = "the key is damaged";

impl RsaPrivateKey {
    /// Reads the first key of a string.
    pub(super) fn from_pem(text: &str) -> Result<Self, &'static str> {
        let (kind, body) = split_pem(text).ok_or("it contains no private key")?;
        // Legacy PEM has a header before the Base64 if it is encrypted.
        if body.contains("ENCRYPTED") {
            return Err("the key is protected by a passphrase");
        }
        let letters: String = body.chars().filter(|char| !char.is_whitespace()).collect();
        let bytes = STANDARD.decode(letters).map_err(|_| DAMAGED_KEY_REASON)?;
        match kind {
            "RSA PRIVATE KEY" => read_pkcs1(&bytes).ok_or(DAMAGED_KEY_REASON),
            "PRIVATE KEY" => read_pkcs8(&bytes),
            "OPENSSH PRIVATE KEY" => read_openssh(&bytes),
            "ENCRYPTED PRIVATE KEY" => Err("the key is protected by a passphrase"),
            _ => Err("it is not an RSA private key"),
        }
    }
}

/// The kind of a key, and the text between its first and its last line.
fn split_pem(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (kind, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once("-----END ")?;
    Some((kind, body))
}

/// A list of a version, the modulus, the public and the private exponent, and more.
fn read_pkcs1(bytes: &[u8]) -> Option<RsaPrivateKey> {
    let (list, _) = read_asn1_element(bytes, 0x30)?;
    let (_version, rest) = read_asn1_element(list, 0x02)?;
    let (modulus, rest) = read_asn1_element(rest, 0x02)?;
    let (_public, rest) = read_asn1_element(rest, 0x02)?;
    let (exponent, _) = read_asn1_element(rest, 0x02)?;
    Some(RsaPrivateKey { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
}

/// A list of a version, the kind of key, and the key itself as bytes.
fn read_pkcs8(bytes: &[u8]) -> Result<RsaPrivateKey, &'static str> {
    let parts = || {
        let (list, _) = read_asn1_element(bytes, 0x30)?;
        let (_version, rest) = read_asn1_element(list, 0x02)?;
        let (kind, rest) = read_asn1_element(rest, 0x30)?;
        let (kind, _) = read_asn1_element(kind, 0x06)?;
        let (key, _) = read_asn1_element(rest, 0x04)?;
        Some((kind, key))
    };
    let (kind, key) = parts().ok_or(DAMAGED_KEY_REASON)?;
    if kind != RSA_ALGORITHM_ID {
        return Err("it is not an RSA private key");
    }
    read_pkcs1(key).ok_or(DAMAGED_KEY_REASON)
}

/// Returns the content of an element with this tag, and the bytes after it.
fn read_asn1_element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let [actual_tag, length, rest @ ..] = bytes else { return None };
    if *actual_tag != tag {
        return None;
    }
    let (length, rest) = match *length {
        short @ 0..0x80 => (usize::from(short), rest),
        long => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (read_big_endian_length(digits)?, rest)
        }
    };
    rest.split_at_checked(length)
}

fn read_big_endian_length(digits: &[u8]) -> Option<usize> {
    // A length of more digits is larger than any file and would overflow.
    let small = digits.len() <= 4;
    small.then(|| digits.iter().fold(0, |number, digit| number << 8 | usize::from(*digit)))
}

/// The form of OpenSSH: strings with their lengths before them.
fn read_openssh(bytes: &[u8]) -> Result<RsaPrivateKey, &'static str> {
    let rest = bytes.strip_prefix(b"openssh-key-v1\0").ok_or(DAMAGED_KEY_REASON)?;
    let (cipher, rest) = read_ssh_string(rest).ok_or(DAMAGED_KEY_REASON)?;
    if cipher != b"none" {
        return Err("the key is protected by a passphrase");
    }
    let private = || {
        let (_derivation, rest) = read_ssh_string(rest)?;
        let (_options, rest) = read_ssh_string(rest)?;
        // Four bytes count the keys, and a file has one.
        let (_public, rest) = read_ssh_string(rest.get(4..)?)?;
        let (private, _) = read_ssh_string(rest)?;
        // Two equal numbers show that the decryption succeeded.
        read_ssh_string(private.get(8..)?)
    };
    let (kind, rest) = private().ok_or(DAMAGED_KEY_REASON)?;
    if kind != b"ssh-rsa" {
        return Err("it is not an RSA private key");
    }
    let numbers = || {
        let (modulus, rest) = read_ssh_string(rest)?;
        let (_public, rest) = read_ssh_string(rest)?;
        let (exponent, _) = read_ssh_string(rest)?;
        Some(RsaPrivateKey { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
    };
    numbers().ok_or(DAMAGED_KEY_REASON)
}

fn read_ssh_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_at_checked(4)?;
    rest.split_at_checked(read_big_endian_length(length)?)
}
