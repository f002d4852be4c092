//! Plugins whose RSA key is shorter than 2048 bits: real ones exist (the Python package `tf` uses
//! 1024), and TLS libraries reject them.
//!
//! For a certificate from the pipe of our own child a short key is safe, because it cannot be
//! factored during the lifetime of the process. Elsewhere it would be unsafe, so only the pinned
//! connection uses this.

use aws_lc_rs::signature::{
    RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
    UnparsedPublicKey, VerificationAlgorithm,
};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, alg_id};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error, PeerMisbehaved, SignatureScheme};

/// The signatures that can be checked with a short key.
pub(super) const WEAK_RSA_SIGNATURE_SCHEMES: [SignatureScheme; 2] =
    [SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::RSA_PKCS1_SHA512];

// The modulus of a 2048-bit key takes 256 bytes; the shortest exponent and the DER around both 36.
const MIN_STRONG_KEY_DER_LEN: usize = 256 + 36;

/// Returns whether the certificate has an RSA key that the standard verification refuses as too short.
pub(super) fn has_weak_rsa_key(certificate: &CertificateDer<'_>) -> bool {
    ParsedCertificate::try_from(certificate).is_ok_and(|parsed| {
        let key = parsed.subject_public_key_info();
        // A search instead of a parser for DER: RSA keys have the identifier, others hardly by
        // chance.
        let is_rsa =
            key.windows(alg_id::RSA_ENCRYPTION.len()).any(|w| *w == *alg_id::RSA_ENCRYPTION);
        is_rsa && key.len() < MIN_STRONG_KEY_DER_LEN
    })
}

/// Checks a TLS 1.2 handshake signature made with a key of 1024 bits or more.
pub(super) fn verify_weak_rsa_signature(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    scheme: SignatureScheme,
    signature: &[u8],
) -> Result<HandshakeSignatureValid, Error> {
    let algorithm: &'static dyn VerificationAlgorithm = match scheme {
        SignatureScheme::RSA_PKCS1_SHA256 => &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY,
        SignatureScheme::RSA_PKCS1_SHA512 => &RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY,
        _ => return Err(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme.into()),
    };
    let parsed = ParsedCertificate::try_from(certificate)?;
    UnparsedPublicKey::new(algorithm, parsed.subject_public_key_info())
        .verify(message, signature)
        .map(|()| HandshakeSignatureValid::assertion())
        .map_err(|_| CertificateError::BadSignature.into())
}
