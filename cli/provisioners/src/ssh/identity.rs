//! Private keys and their certificates.

use std::sync::Arc;

use russh::keys::{Certificate, Error, PrivateKey, decode_secret_key};

/// A private key and its certificate, for public key authentication.
#[derive(Clone, Debug)]
pub(super) struct LoginIdentity {
    pub(super) key: Arc<PrivateKey>,
    pub(super) certificate: Option<Certificate>,
}

impl LoginIdentity {
    /// Parses the contents of a private key file and of a certificate file.
    ///
    /// # Errors
    /// The key or the certificate is invalid, or they do not belong together. The message contains
    /// no part of the key.
    pub(super) fn parse(key: &str, certificate: Option<&str>) -> Result<Self, String> {
        let key = parse_private_key(key)?;
        let certificate = match certificate {
            Some(text) => Some(parse_certificate(&key, text)?),
            None => None,
        };
        Ok(Self { key: Arc::new(key), certificate })
    }
}

fn parse_private_key(text: &str) -> Result<PrivateKey, String> {
    let text = text.trim();
    if !text.contains("-----BEGIN ") {
        return Err("Failed to read ssh private key: no key found".to_owned());
    }
    if text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err("Failed to read ssh private key: password protected keys are\nnot supported. Please decrypt the key prior to use.".to_owned());
    }
    let encrypted = text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----");
    match decode_secret_key(text, None) {
        Ok(key) => Ok(key),
        Err(Error::KeyIsEncrypted) => Err(encrypted_key_message()),
        Err(_) if encrypted => Err(encrypted_key_message()),
        Err(error) => Err(format!("Failed to parse ssh private key: {error}")),
    }
}

fn encrypted_key_message() -> String {
    "Failed to parse ssh private key: ssh: this private key is passphrase protected. Remove the passphrase (`ssh-keygen -p`), or add the key to an SSH agent.".to_owned()
}

fn parse_certificate(key: &PrivateKey, text: &str) -> Result<Certificate, String> {
    let certificate = Certificate::from_openssh(text.trim())
        .map_err(|error| format!("failed to parse certificate: {error}"))?;
    if certificate.public_key() != key.public_key().key_data() {
        return Err(
            "failed to create cert signer: the certificate does not belong to the key in `private_key`"
                .to_owned(),
        );
    }
    Ok(certificate)
}
