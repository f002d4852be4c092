//! Public keys and identities: X25519 keys of age, and Ed25519 keys of SSH.

use std::str::FromStr as _;

use age::{ssh, x25519};

/// The first words of an SSH key that is supported.
const SSH_ED25519_PREFIX: &str = "ssh-ed25519";

/// The first line of a private key of SSH, and the last one.
const PEM_MARKERS: (&str, &str) =
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----");

/// A key to encrypt to.
pub(super) enum PublicKey {
    X25519(x25519::Recipient),
    Ed25519(ssh::Recipient),
}

/// A key that decrypts.
pub(super) enum Identity {
    X25519(x25519::Identity),
    Ed25519(ssh::Identity),
}

impl PublicKey {
    /// Reads a recipient.
    ///
    /// # Errors
    /// When it is none, or of a type that is not supported. The text has no final period.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if trimmed.starts_with("ssh-rsa ") {
            // The only implementation of RSA for this format decrypts in a time that depends on the key.
            return Err(format!(
                "{} in \"recipients\" is an RSA key, which is not supported: take an Ed25519 key, as ssh-keygen -t ed25519 makes it, or a key of age-keygen",
                shorten_key(trimmed)
            ));
        }
        let found = match trimmed.starts_with(SSH_ED25519_PREFIX) {
            true => ssh::Recipient::from_str(trimmed).ok().map(Self::Ed25519),
            false => x25519::Recipient::from_str(trimmed).ok().map(Self::X25519),
        };
        found.ok_or_else(|| {
            // The secret key may have been taken for the public one.
            let is_secret = ["SECRET", "PRIVATE"].iter().any(|word| text.contains(word));
            let shown = if is_secret { "a value".to_owned() } else { format!("{text:?}") };
            format!(
                "{shown} in \"recipients\" is no public key of age or SSH: one begins with \"age1\", as age-keygen prints it, or with \"{SSH_ED25519_PREFIX}\", as in a file id_ed25519.pub"
            )
        })
    }

    pub(super) fn as_recipient(&self) -> &dyn age::Recipient {
        match self {
            Self::X25519(key) => key,
            Self::Ed25519(key) => key,
        }
    }

    /// The key as text, without a comment.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::X25519(key) => key.to_string(),
            Self::Ed25519(key) => key.to_string(),
        }
    }
}

impl Identity {
    pub(super) fn as_identity(&self) -> &dyn age::Identity {
        match self {
            Self::X25519(key) => key,
            Self::Ed25519(key) => key,
        }
    }
}

/// Reads identities: keys of age, one a line, and private keys of SSH, between comments and empty lines. No
/// message shows a line.
///
/// # Errors
/// When a line is no identity, or there is none. The text has no final period.
pub(super) fn parse_identities(text: &str) -> Result<Vec<Identity>, String> {
    let mut identities = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == PEM_MARKERS.0 {
            let mut key = format!("{line}\n");
            for (_, line) in lines.by_ref() {
                key = format!("{key}{}\n", line.trim());
                if line.trim() == PEM_MARKERS.1 {
                    break;
                }
            }
            let read = parse_ssh_identity(&key);
            identities
                .push(read.map_err(|reason| format!("the key in line {}: {reason}", at + 1))?);
            continue;
        }
        let identity = x25519::Identity::from_str(line).map_err(|_| {
            format!(
                "line {} is no identity: one begins with \"AGE-SECRET-KEY-1\", as age-keygen prints it, and is not encrypted, or is an OpenSSH private key",
                at + 1
            )
        })?;
        identities.push(Identity::X25519(identity));
    }
    if identities.is_empty() {
        return Err("it has no identity".to_owned());
    }
    Ok(identities)
}

fn parse_ssh_identity(key: &str) -> Result<Identity, String> {
    let read = ssh::Identity::from_buffer(key.as_bytes(), None)
        .map_err(|_| "it is no private key of SSH".to_owned())?;
    if matches!(read, ssh::Identity::Encrypted(_) | ssh::Identity::Unsupported(_)) {
        return Err("it is encrypted, or of a type that is not supported: only unencrypted Ed25519 keys are".to_owned());
    }
    match ssh::Recipient::try_from(read.clone()) {
        Ok(ssh::Recipient::SshEd25519(..)) => Ok(Identity::Ed25519(read)),
        _ => Err("it is an RSA key, and only Ed25519 keys are supported".to_owned()),
    }
}

/// The first characters of a long key.
fn shorten_key(text: &str) -> String {
    let first: String = text.chars().take(24).collect();
    format!("\"{first}...\"")
}
