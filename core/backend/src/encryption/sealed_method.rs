//! The method `sealed`: sensitive values of states are encrypted one by one to recipients, and other files
//! as a whole. A value that did not change keeps its ciphertext, so that two states can be compared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use formwork_core::state::file::sealed::{
    SealError, open_state_file, read_sealed_header, seal_state_file,
};
use sha2::{Digest as _, Sha256};

use super::age::{AgeError, AgeKeys};

/// The method `sealed`.
pub(super) struct SealedMethod {
    /// Its address, for messages.
    pub(super) address: String,
    pub(super) age: AgeKeys,
    /// The ciphertexts of the values that were read or written, by the hashes of the values. A
    /// hashed value includes its path.
    ciphertexts: Mutex<HashMap<[u8; 32], Vec<u8>>>,
}

/// A sealed state that was opened.
pub(super) struct OpenedState {
    pub(super) text: Vec<u8>,
    /// Whether the first method would write the same content. Otherwise the state has to be
    /// rewritten.
    pub(super) is_current: bool,
}

/// The reason why a sealed state cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SealedStateError {
    /// No method has an identity for a value.
    #[error("{reason}. The file is sealed to the recipients {}", .recipients.join(" and "))]
    NoIdentity {
        /// The methods with the reasons.
        reason: String,
        /// The recipients listed in the file.
        recipients: Vec<String>,
    },
    /// The state was changed.
    #[error("{0}")]
    Changed(String),
    /// A sensitive value is not sealed.
    #[error("{0}: the sensitive value is not encrypted")]
    Plain(String),
}

impl SealedMethod {
    pub(super) fn new(address: String, age: AgeKeys) -> Self {
        Self { address, age, ciphertexts: Mutex::default() }
    }

    /// Seals the content of a state.
    ///
    /// # Errors
    /// Returns an error if the content is not a state. The message has no final period.
    pub(super) fn seal_state(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        let recipients = self.age.recipients();
        let sealed = seal_state_file(text, &recipients, &mut |value| self.encrypt_value(value));
        sealed.map_err(|error| error.to_string())
    }

    /// Encrypts a value with its path, unless its ciphertext is known.
    ///
    /// # Errors
    /// Returns an error if the encryption fails. The message has no final period.
    pub(super) fn encrypt_value(&self, value: &[u8]) -> Result<Vec<u8>, String> {
        if let Some(cached) = self.cached_ciphertext(value) {
            return Ok(cached);
        }
        let sealed = self.age.encrypt(value)?;
        self.cache_ciphertext(value, &sealed);
        Ok(sealed)
    }

    fn cache_ciphertext(&self, value: &[u8], sealed: &[u8]) {
        let mut ciphertexts = self.ciphertexts.lock().unwrap_or_else(PoisonError::into_inner);
        ciphertexts.insert(Sha256::digest(value).into(), sealed.to_vec());
    }

    fn cached_ciphertext(&self, value: &[u8]) -> Option<Vec<u8>> {
        let ciphertexts = self.ciphertexts.lock().unwrap_or_else(PoisonError::into_inner);
        ciphertexts.get::<[u8; 32]>(&Sha256::digest(value).into()).cloned()
    }
}

/// The methods that may open a sealed state.
pub(super) struct SealedStateOpener<'m> {
    /// All methods, in the order of the configuration.
    pub(super) methods: Vec<&'m SealedMethod>,
    /// The method that writes.
    pub(super) writer: Option<&'m SealedMethod>,
    /// Whether sensitive values may be readable.
    pub(super) takes_plain: bool,
}

impl SealedStateOpener<'_> {
    /// Opens the content of a sealed state.
    ///
    /// # Errors
    /// Returns an error if no method opens it, or if it was changed.
    pub(super) fn open(&self, text: &[u8]) -> Result<OpenedState, SealedStateError> {
        let mut recipients =
            read_sealed_header(text).map(|header| header.recipients).unwrap_or_default();
        recipients.sort_unstable();
        let writer = self.writer.filter(|method| method.age.recipients() == recipients);
        let (mut is_current, mut missing) = (writer.is_some(), Vec::new());
        let opened = open_state_file(text, &mut |sealed| {
            let (method, value) = self.decrypt(sealed, &mut missing)?;
            match writer.filter(|writer| std::ptr::eq(*writer, method)) {
                Some(writer) => writer.cache_ciphertext(&value, sealed),
                None => is_current = false,
            }
            Ok(value)
        });
        let opened = opened.map_err(|error| match error {
            SealError::Value { place, .. } if !missing.is_empty() => {
                let reason = format!("{place}: {}", missing.join("; "));
                SealedStateError::NoIdentity { reason, recipients }
            }
            _ => SealedStateError::Changed(error.to_string()),
        })?;
        let is_current = is_current && opened.is_for_recipients;
        let Some(plain_value) = opened.plain.first() else {
            return Ok(OpenedState { text: opened.text, is_current });
        };
        if !self.takes_plain {
            return Err(SealedStateError::Plain(plain_value.clone()));
        }
        Ok(OpenedState { text: opened.text, is_current: false })
    }

    /// Decrypts a value. If no method has an identity for it, adds the reason of each method to
    /// `missing`.
    fn decrypt(
        &self,
        sealed: &[u8],
        missing: &mut Vec<String>,
    ) -> Result<(&SealedMethod, Vec<u8>), String> {
        let mut reasons = Vec::new();
        for method in &self.methods {
            match method.age.decrypt(sealed) {
                Ok(value) => return Ok((method, value)),
                Err(AgeError::NoIdentity(reason)) => {
                    reasons.push(format!("{}: {reason}", method.address));
                }
                Err(damaged @ AgeError::Damaged) => return Err(damaged.to_string()),
            }
        }
        missing.append(&mut reasons);
        Err("no identity decrypts it".to_owned())
    }
}
