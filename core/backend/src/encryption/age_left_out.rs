//! The key provider `age` in a build without it. There are no keys, so none of this is ever called: a block
//! that needs them is refused.

/// Public keys and identities, of which there are none.
pub(super) enum AgeKeys {}

/// Why a file is not decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(dead_code, reason = "without keys, nothing is decrypted")]
pub(super) enum AgeError {
    /// It was encrypted to others.
    #[error("{0}")]
    NoIdentity(String),
    /// It is not in the age format, or was changed.
    #[error("the encrypted bytes were changed or cut off")]
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
