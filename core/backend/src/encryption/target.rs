//! The methods for one kind of file. The first one encrypts, and all of them decrypt. `sealed.rs`
//! handles the values of sealed states.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use formwork_core::state::file::sealed::SEALED_VERSION;

use super::age::AgeError;
use super::algorithms::AesGcmKey;
use super::encrypted_file::{
    AGE_WRAPPER_VERSION, Base64Bytes, EncryptedFile, JsonLayout, KeyProviderMetadata,
    OPENTOFU_WRAPPER_VERSION, StateHeader,
};
use super::keys::{KeyError, MethodKeys};
use super::sealed_method::{SealedMethod, SealedStateError, SealedStateOpener};

/// The methods for one kind of file.
pub(crate) struct EncryptionTarget {
    /// The name of the block, for messages.
    name: String,
    /// The method that encrypts, followed by the fallbacks.
    pub(super) methods: Vec<EncryptionMethod>,
    /// The key of the first method. It is created once for each run: a new key for each file would
    /// be slow, and could fail when results must be stored.
    sealing: OnceLock<Result<EncryptionKeyAndMetadata, EncryptError>>,
}

/// A method.
pub(super) enum EncryptionMethod {
    /// Does not change files.
    Unencrypted,
    /// Encrypts with AES-GCM.
    AesGcm(AesGcmMethod),
    /// Encrypts the sensitive values of states, and other files as a whole, to recipients.
    Sealed(SealedMethod),
}

/// The method `aes_gcm`.
pub(super) struct AesGcmMethod {
    /// Its address, for messages.
    pub(super) address: String,
    pub(super) keys: MethodKeys,
    pub(super) aad: Vec<u8>,
}

struct EncryptionKeyAndMetadata {
    key: AesGcmKey,
    metadata: KeyProviderMetadata,
}

/// A file, decrypted if it was encrypted.
#[derive(Debug)]
pub(crate) struct DecryptedFile<'t> {
    /// The content.
    pub(crate) text: Cow<'t, [u8]>,
    /// Whether the first method has encrypted it. Otherwise it has to be rewritten.
    pub(crate) is_current: bool,
}

/// The reason why a file cannot be encrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EncryptError {
    /// A key provider failed.
    #[error("the key provider {0}")]
    Key(#[from] KeyError),
    /// A key has the wrong length.
    #[error("{0}")]
    KeyLength(String),
    /// The system has no random bytes.
    #[error("the system has no random bytes")]
    NoRandomBytes,
    /// A state cannot be sealed, or no file can.
    #[error("{0}")]
    Sealed(String),
}

/// The reason why a file cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecryptError {
    /// The file is not encrypted.
    #[error(
        "the file is not encrypted, and the encryption of {0} has no fallback to a method of the type \"unencrypted\""
    )]
    NotEncrypted(String),
    /// The file is encrypted, and a part of it cannot be read.
    #[error("the encrypted file is damaged: {0}")]
    Damaged(String),
    /// The file has a later format version.
    #[error(
        "the file has encryption version {0:?}; this program supports {OPENTOFU_WRAPPER_VERSION:?}"
    )]
    Version(String),
    /// A key provider failed.
    #[error("the key provider {0}")]
    Key(#[from] KeyError),
    /// No method decrypts it.
    #[error("no method decrypts the file: {}", .0.join("; "))]
    NoMethod(Vec<String>),
    /// The file was changed.
    #[error("the encrypted file and its content have different values of {0}")]
    Header(&'static str),
    /// The file is sealed, and cannot be opened.
    #[error("{0}")]
    Sealed(#[from] SealedStateError),
}

/// The remedy for a user without an identity.
pub(super) const SET_IDENTITY_REMEDY: &str = "Set `identity_file` of the key provider, or the environment variable FORMWORK_AGE_IDENTITY_FILE, to the file with the identity of one of the recipients.";

/// The remedy for a sealed file that was changed.
pub(super) const RESTORE_REMEDY: &str = "The file was edited by hand, or combined from two files. Restore it from a copy. Nothing was changed.";

impl DecryptError {
    /// The remedy, in whole sentences.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::NotEncrypted(_) => {
                "To encrypt an existing file, declare method \"unencrypted\" \"NAME\" {} and use it in a `fallback` block of the target until the file was written once. Nothing was changed."
            }
            Self::Version(_) => "Use a newer version of this program. Nothing was changed.",
            Self::Key(_) => "Correct the key provider or its arguments. Nothing was changed.",
            Self::NoMethod(_) => {
                "Check the passphrase or the keys. If they have changed, use a method with the former ones in a `fallback` block of the target. Nothing was changed."
            }
            Self::Sealed(SealedStateError::NoIdentity { .. }) => {
                "Set `identity_file` of the key provider, or the environment variable FORMWORK_AGE_IDENTITY_FILE, to the file with the identity of one of these recipients. If recipients or identities have changed, use a method with the former ones in a `fallback` block of the target. Nothing was changed."
            }
            Self::Sealed(SealedStateError::Plain(_)) => {
                "The file was edited by hand. Restore it from a copy. If the readable value is correct, declare method \"unencrypted\" \"NAME\" {} and use it in a `fallback` block of the target until the file was written once. Nothing was changed."
            }
            Self::Damaged(_) | Self::Header(_) | Self::Sealed(SealedStateError::Changed(_)) => {
                RESTORE_REMEDY
            }
        }
    }
}

impl fmt::Debug for EncryptionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys and passphrases are inside it.
        f.debug_struct("Target").field("name", &self.name).finish_non_exhaustive()
    }
}

impl EncryptionTarget {
    pub(super) fn new(name: impl Into<String>, methods: Vec<EncryptionMethod>) -> Self {
        Self { name: name.into(), methods, sealing: OnceLock::new() }
    }

    /// Whether files are encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        matches!(
            self.methods.first(),
            Some(EncryptionMethod::AesGcm(_) | EncryptionMethod::Sealed(_))
        )
    }

    /// The method that seals states, if the first method does.
    pub(super) fn sealed_method(&self) -> Option<&SealedMethod> {
        match self.methods.first() {
            Some(EncryptionMethod::Sealed(method)) => Some(method),
            _ => None,
        }
    }

    /// Generates the encryption key, so that a later call cannot fail for lack of it.
    ///
    /// # Errors
    /// Returns an error if a key provider fails.
    pub(crate) fn prepare_key(&self) -> Result<(), EncryptError> {
        self.encryption_key_and_metadata().map(drop)
    }

    /// Checks that an identity of a sealed method decrypts the values of that method, if states are sealed.
    ///
    /// # Errors
    /// Returns an error if no identity does, with the reasons of all methods and without a final
    /// period.
    pub(super) fn check_identity_decrypts(&self) -> Result<(), String> {
        if self.sealed_method().is_none() {
            return Ok(());
        }
        let mut reasons = Vec::new();
        for method in self.sealed_methods().unwrap_or_default() {
            match method.age.check_identity_decrypts() {
                Ok(()) => return Ok(()),
                Err(reason) => reasons.push(format!("{}: {reason}", method.address)),
            }
        }
        Err(reasons.join("; "))
    }

    fn encryption_key_and_metadata(
        &self,
    ) -> Result<Option<(&AesGcmMethod, &EncryptionKeyAndMetadata)>, EncryptError> {
        let Some(EncryptionMethod::AesGcm(method)) = self.methods.first() else { return Ok(None) };
        let key_and_metadata = self.sealing.get_or_init(|| {
            let mut metadata = KeyProviderMetadata::new();
            let key = method.keys.encryption_key(&mut metadata)?;
            let length = key.len();
            let key = AesGcmKey::new(&key)
                .ok_or_else(|| EncryptError::KeyLength(method.describe_wrong_key_length(length)))?;
            Ok(EncryptionKeyAndMetadata { key, metadata })
        });
        key_and_metadata.as_ref().map(|sealing| Some((method, sealing))).map_err(Clone::clone)
    }

    /// Encrypts a file. `header` is repeated as plain text.
    ///
    /// # Errors
    /// Returns an error if there is no key.
    pub(super) fn encrypt<'t>(
        &self,
        text: Cow<'t, [u8]>,
        header: StateHeader,
        layout: JsonLayout,
    ) -> Result<Cow<'t, [u8]>, EncryptError> {
        if let Some(method) = self.sealed_method() {
            let wrapper = EncryptedFile {
                recipients: method.age.recipients(),
                encrypted_data: Base64Bytes(
                    method.age.encrypt(&text).map_err(EncryptError::Sealed)?,
                ),
                encryption_version: AGE_WRAPPER_VERSION.to_owned(),
                ..EncryptedFile::default()
            };
            return Ok(Cow::Owned(wrapper.to_text(layout)));
        }
        let Some((method, sealing)) = self.encryption_key_and_metadata()? else { return Ok(text) };
        let sealed = sealing.key.encrypt(&text, &method.aad);
        let wrapper = EncryptedFile {
            serial: header.serial,
            lineage: header.lineage,
            meta: sealing.metadata.clone(),
            encrypted_data: Base64Bytes(sealed.map_err(|_| EncryptError::NoRandomBytes)?),
            encryption_version: OPENTOFU_WRAPPER_VERSION.to_owned(),
            ..EncryptedFile::default()
        };
        Ok(Cow::Owned(wrapper.to_text(layout)))
    }

    /// Decrypts a file.
    ///
    /// # Errors
    /// Returns an error if no method decrypts it, or if it is not encrypted although it has to be.
    pub(crate) fn decrypt<'t>(&self, text: &'t [u8]) -> Result<DecryptedFile<'t>, DecryptError> {
        let Some(wrapper) = EncryptedFile::parse(text) else {
            if !self.allows_plaintext() {
                return Err(DecryptError::NotEncrypted(self.name.clone()));
            }
            return Ok(DecryptedFile { text: Cow::Borrowed(text), is_current: !self.encrypts() });
        };
        let wrapper = wrapper.map_err(|error| DecryptError::Damaged(error.to_string()))?;
        match wrapper.encryption_version.as_str() {
            OPENTOFU_WRAPPER_VERSION => self.decrypt_wrapper(&wrapper),
            AGE_WRAPPER_VERSION => self.decrypt_age(wrapper),
            SEALED_VERSION => self.open_sealed_state(text),
            _ => Err(DecryptError::Version(wrapper.encryption_version)),
        }
    }

    /// Whether files may be unencrypted.
    fn allows_plaintext(&self) -> bool {
        self.methods.iter().any(|method| matches!(method, EncryptionMethod::Unencrypted))
    }

    fn decrypt_wrapper(
        &self,
        wrapper: &EncryptedFile,
    ) -> Result<DecryptedFile<'static>, DecryptError> {
        let mut failures = Vec::new();
        for (index, method) in self.methods.iter().enumerate() {
            let EncryptionMethod::AesGcm(method) = method else { continue };
            match method.decrypt(wrapper)? {
                Ok(plain) => {
                    let header = StateHeader::from_state(&plain);
                    if let Some(member) = wrapper.header().first_differing_member(&header) {
                        return Err(DecryptError::Header(member));
                    }
                    return Ok(DecryptedFile { text: Cow::Owned(plain), is_current: index == 0 });
                }
                Err(reason) => failures.push(format!("{}: {reason}", method.address)),
            }
        }
        if failures.is_empty() {
            failures.push(format!("the encryption of {} has no \"aes_gcm\"", self.name));
        }
        Err(DecryptError::NoMethod(failures))
    }

    /// The methods that open sealed files.
    fn sealed_methods(&self) -> Result<Vec<&SealedMethod>, DecryptError> {
        let sealed = self.methods.iter().filter_map(|method| match method {
            EncryptionMethod::Sealed(method) => Some(method),
            _ => None,
        });
        let methods: Vec<&SealedMethod> = sealed.collect();
        if methods.is_empty() {
            let reason = format!("the encryption of {} has no \"sealed\"", self.name);
            return Err(DecryptError::NoMethod(vec![reason]));
        }
        Ok(methods)
    }

    fn decrypt_age(&self, wrapper: EncryptedFile) -> Result<DecryptedFile<'static>, DecryptError> {
        let mut reasons = Vec::new();
        for method in self.sealed_methods()? {
            match method.age.decrypt(&wrapper.encrypted_data.0) {
                Ok(plain) => {
                    let is_writer =
                        self.sealed_method().is_some_and(|first| std::ptr::eq(first, method));
                    return Ok(DecryptedFile { text: Cow::Owned(plain), is_current: is_writer });
                }
                Err(AgeError::NoIdentity(reason)) => {
                    reasons.push(format!("{}: {reason}", method.address));
                }
                Err(damaged @ AgeError::Damaged) => {
                    return Err(SealedStateError::Changed(damaged.to_string()).into());
                }
            }
        }
        let (reason, recipients) = (reasons.join("; "), wrapper.recipients);
        Err(SealedStateError::NoIdentity { reason, recipients }.into())
    }

    fn open_sealed_state(&self, text: &[u8]) -> Result<DecryptedFile<'static>, DecryptError> {
        let methods = self.sealed_methods()?;
        let takes_plain = self.allows_plaintext();
        let opened =
            SealedStateOpener { methods, writer: self.sealed_method(), takes_plain }.open(text)?;
        Ok(DecryptedFile { text: Cow::Owned(opened.text), is_current: opened.is_current })
    }
}

impl AesGcmMethod {
    /// Describes a key of the wrong length.
    pub(super) fn describe_wrong_key_length(&self, length: usize) -> String {
        format!(
            "{} requires a key of 16, 24 or 32 bytes, but the key has {length} bytes",
            self.address
        )
    }

    /// Decrypts a file, or returns the reason why it cannot.
    fn decrypt(&self, wrapper: &EncryptedFile) -> Result<Result<Vec<u8>, String>, KeyError> {
        let providers = self.keys.key_providers();
        let Some(key) = self.keys.decryption_key(&wrapper.meta)? else {
            let missing = providers
                .iter()
                .find(|candidate| !wrapper.meta.contains_key(&candidate.metadata_key));
            let metadata_keys: Vec<&str> = wrapper.meta.keys().map(String::as_str).collect();
            return Ok(Err(match missing {
                Some(missing) => format!(
                    "the file has no metadata {:?} of {}, but {}",
                    missing.metadata_key,
                    missing.address,
                    if metadata_keys.is_empty() {
                        "none".to_owned()
                    } else {
                        metadata_keys.join(" and ")
                    }
                ),
                None => "there is no key to decrypt with".to_owned(),
            }));
        };
        let Some(aes) = AesGcmKey::new(&key) else {
            return Ok(Err(self.describe_wrong_key_length(key.len())));
        };
        Ok(aes.decrypt(&wrapper.encrypted_data.0, &self.aad).ok_or_else(|| {
            let provider_name = providers.first().map_or("the keys", |provider| provider.address.as_str());
            format!("the key of {provider_name} is not the one that the file was encrypted with, or the file was changed")
        }))
    }
}
