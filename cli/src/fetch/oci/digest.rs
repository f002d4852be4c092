//! Digests of objects in OCI registries: `sha256:…` and `sha512:…`.

use std::fmt::{Display, Formatter};
use std::io::{self, Write};

use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256, Sha512};

use super::OciError;

/// The digest of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    algorithm: DigestAlgorithm,
    /// The digest as lowercase hexadecimal digits.
    digits: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigestAlgorithm {
    Sha256,
    Sha512,
}

impl Digest {
    /// Parses a digest.
    ///
    /// # Errors
    /// The digest is malformed, or its algorithm is not registered in the OCI specification.
    pub(crate) fn parse(text: &str) -> Result<Self, OciError> {
        let (algorithm, digits) = text.split_once(':').unwrap_or_default();
        let (algorithm, length) = match algorithm {
            "sha256" => (DigestAlgorithm::Sha256, 64),
            "sha512" => (DigestAlgorithm::Sha512, 128),
            _ => {
                return Err(OciError::Content(format!(
                    "{text:?} is not a supported digest; supported are \"sha256:…\" and \"sha512:…\""
                )));
            }
        };
        let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if digits.len() != length || !digits.bytes().all(is_digit) {
            return Err(OciError::Content(format!(
                "{text:?} is not a digest; write {length} lowercase hexadecimal digits after the algorithm"
            )));
        }
        Ok(Self { algorithm, digits: digits.to_owned() })
    }

    /// Returns the hexadecimal digits, if the algorithm is SHA-256.
    pub(crate) fn sha256_digits(&self) -> Option<&str> {
        (self.algorithm == DigestAlgorithm::Sha256).then_some(self.digits.as_str())
    }

    /// Whether this is the digest of the bytes.
    pub(super) fn matches_bytes(&self, bytes: &[u8]) -> bool {
        let mut hashing = self.hashing_writer(io::sink());
        hashing.update(bytes);
        hashing.has_digest(self)
    }

    /// Returns a writer that passes bytes to `to` and hashes them with the algorithm of this digest.
    pub(super) fn hashing_writer<W>(&self, to: W) -> HashingWriter<W> {
        let hasher = match self.algorithm {
            DigestAlgorithm::Sha256 => DigestHasher::Sha256(Sha256::new()),
            DigestAlgorithm::Sha512 => DigestHasher::Sha512(Sha512::new()),
        };
        HashingWriter { to, hasher }
    }
}

impl Display for Digest {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let algorithm = match self.algorithm {
            DigestAlgorithm::Sha256 => "sha256",
            DigestAlgorithm::Sha512 => "sha512",
        };
        write!(f, "{algorithm}:{}", self.digits)
    }
}

enum DigestHasher {
    Sha256(Sha256),
    Sha512(Sha512),
}

/// A writer that hashes the written bytes.
pub(super) struct HashingWriter<W> {
    to: W,
    hasher: DigestHasher,
}

impl<W> HashingWriter<W> {
    fn update(&mut self, bytes: &[u8]) {
        match &mut self.hasher {
            DigestHasher::Sha256(hasher) => hasher.update(bytes),
            DigestHasher::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// Whether the written bytes have this digest.
    pub(super) fn has_digest(self, digest: &Digest) -> bool {
        let digits = match self.hasher {
            DigestHasher::Sha256(hasher) => hex::encode(&hasher.finalize()),
            DigestHasher::Sha512(hasher) => hex::encode(&hasher.finalize()),
        };
        digits == digest.digits
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_compared_by_their_algorithm() {
        let empty = hex::encode(&Sha256::digest(b""));
        let digest = Digest::parse(&format!("sha256:{empty}")).unwrap();
        assert!(digest.matches_bytes(b"") && !digest.matches_bytes(b"x"));
        assert_eq!(digest.sha256_digits(), Some(empty.as_str()));
        let long = format!("sha512:{}", hex::encode(&Sha512::digest(b"x")));
        let digest = Digest::parse(&long).unwrap();
        assert!(
            digest.matches_bytes(b"x")
                && !digest.matches_bytes(b"")
                && digest.sha256_digits().is_none()
        );
        assert_eq!(digest.to_string(), long);
        let capital = empty.to_uppercase();
        for text in ["", "sha256", "sha256:", "md5:00", &empty, &format!("sha256:{capital}")] {
            assert!(Digest::parse(text).is_err(), "{text}");
        }
    }
}
