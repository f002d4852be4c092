//! The key provider `age` in a build without it. No keys exist, so none of this is ever called: a block
//! that uses the provider is refused.

/// Public keys and identities. This build has none.
pub(super) enum AgeKeys {}

/// The reason why a file cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(dead_code, reason = "without keys, nothing is decrypted")]
pub(super) enum AgeError {
    /// The file was encrypted to other recipients.
    #[error("{0}")]
    NoIdentity(String),
    /// The file is not in the age format, or was changed.
    #[error("the encrypted bytes were changed or truncated")]
    Damaged,
}

impl AgeKeys {
    /// The public keys.
    pub(super) fn recipients(&self) -> Vec<String> {
        match *self {}
    }

    /// Encrypts to all recipients.
    pub(super) fn encrypt(&self, _plain: &[u8]) -> Result<Vec<u8>, String> {
        match *self {}
    }

    /// Decrypts the output of [`AgeKeys::encrypt`].
    pub(super) fn decrypt(&self, _sealed: &[u8]) -> Result<Vec<u8>, AgeError> {
        match *self {}
    }

    /// Checks that an identity decrypts the data for the recipients.
    pub(super) fn check_identity_decrypts(&self) -> Result<(), String> {
        match *self {}
    }
}
