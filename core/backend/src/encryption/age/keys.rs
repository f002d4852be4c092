//! Public keys and identities: X25519 keys of age, and Ed25519 keys of SSH.

use std::str::FromStr as _;

use age::{ssh, x25519};

/// The first word of a supported SSH public key.
const SSH_ED25519_PREFIX: &str = "ssh-ed25519";

/// The first and last line of an SSH private key.
const PEM_MARKERS: (&str, &str) =
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----");

/// A public key, to which data is encrypted.
pub(super) enum PublicKey {
    X25519(x25519::Recipient),
    Ed25519(ssh::Recipient),
}

/// A private key, which decrypts.
pub(super) enum Identity {
    X25519(x25519::Identity),
    Ed25519(ssh::Identity),
}

impl PublicKey {
    /// Reads a recipient.
    ///
    /// # Errors
    /// Returns an error if the string is not a recipient, or is of an unsupported type. The message
    /// has no final period.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if trimmed.starts_with("ssh-rsa ") {
            // The only RSA implementation for this format decrypts in a time that depends on the key.
            return Err(format!(
                "{} in \"recipients\" is an RSA key, which is not supported: use an Ed25519 key, as created by ssh-keygen -t ed25519, or a key created by age-keygen",
                shorten_key(trimmed)
            ));
        }
        let key = match trimmed.starts_with(SSH_ED25519_PREFIX) {
            true => ssh::Recipient::from_str(trimmed).ok().map(Self::Ed25519),
            false => x25519::Recipient::from_str(trimmed).ok().map(Self::X25519),
        };
        key.ok_or_else(|| {
            // The user may have mistaken the secret key for the public one.
            let is_secret = ["SECRET", "PRIVATE"].iter().any(|word| text.contains(word));
            let shown = if is_secret { "a value".to_owned() } else { format!("{text:?}") };
            format!(
                "{shown} in \"recipients\" is not an age or SSH public key. A public key begins with \"age1\", as printed by age-keygen, or with \"{SSH_ED25519_PREFIX}\", as in a file id_ed25519.pub"
            )
        })
    }

    pub(super) fn as_recipient(&self) -> &dyn age::Recipient {
        match self {
            Self::X25519(key) => key,
            Self::Ed25519(key) => key,
        }
    }

    /// The key as a string, without a comment.
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

/// Reads identities: age keys, one per line, and SSH private keys, between comments and empty lines. No
/// message shows a line.
///
/// # Errors
/// Returns an error if a line is not an identity, or if there is none. The message has no final
/// period.
pub(super) fn parse_identities(text: &str) -> Result<Vec<Identity>, String> {
    let mut identities = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
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
            let ssh_identity = parse_ssh_identity(&key);
            identities.push(
                ssh_identity
                    .map_err(|reason| format!("the key in line {}: {reason}", index + 1))?,
            );
            continue;
        }
        let identity = x25519::Identity::from_str(line).map_err(|_| {
            format!(
                "line {} is not an identity. An identity begins with \"AGE-SECRET-KEY-1\", as printed by age-keygen, and is not encrypted, or is an OpenSSH private key",
                index + 1
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
    let identity = ssh::Identity::from_buffer(key.as_bytes(), None)
        .map_err(|_| "it is not an SSH private key".to_owned())?;
    if matches!(identity, ssh::Identity::Encrypted(_) | ssh::Identity::Unsupported(_)) {
        return Err("it is encrypted or of an unsupported type: only unencrypted Ed25519 keys are supported".to_owned());
    }
    match ssh::Recipient::try_from(identity.clone()) {
        Ok(ssh::Recipient::SshEd25519(..)) => Ok(Identity::Ed25519(identity)),
        _ => Err("it is an RSA key, and only Ed25519 keys are supported".to_owned()),
    }
}

/// The first characters of a long key.
fn shorten_key(text: &str) -> String {
    let first: String = text.chars().take(24).collect();
    format!("\"{first}...\"")
}
