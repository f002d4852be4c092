//! Digests of content, as several providers show them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

/// The digests of some content, as attributes have them.
pub(crate) struct Digests {
    pub(crate) md5: String,
    pub(crate) sha1: String,
    pub(crate) sha256: String,
    pub(crate) base64sha256: String,
    pub(crate) sha512: String,
    pub(crate) base64sha512: String,
}

impl Digests {
    /// The digests of `content`.
    pub(crate) fn of(content: &[u8]) -> Self {
        let sha256 = Sha256::digest(content);
        let sha512 = Sha512::digest(content);
        Self {
            md5: to_hex(&Md5::digest(content)),
            sha1: to_hex(&sha1(content)),
            sha256: to_hex(&sha256),
            base64sha256: STANDARD.encode(sha256),
            sha512: to_hex(&sha512),
            base64sha512: STANDARD.encode(sha512),
        }
    }
}

/// The SHA-1 digest. For names only, not for security.
pub(crate) fn sha1(content: &[u8]) -> [u8; 20] {
    Sha1::digest(content).into()
}

/// Bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    // A provider depends only on the SDK, which has no such function; the crate `hex` would save
    // this line.
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
