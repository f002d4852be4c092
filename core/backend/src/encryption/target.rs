//! The methods for one kind of file: encrypts with the first one, and decrypts with any of them. The
//! values of a state that is sealed are those of `sealed.rs`.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use formwork_core::state::file::sealed::SEALED_VERSION;

use super::age::AgeError;
use super::algorithms::AesGcm;
use super::keys::{KeyError, Keys};
use super::sealed::{OpenError, OpeningMethods, SealedMethod};
use super::wrapper::{AGE_VERSION, Base64, Layout, Metadata, StateHeader, VERSION, Wrapper};

/// The methods for one kind of file.
pub(crate) struct Target {
    /// The name of the block, as messages have it.
    name: String,
    /// The one that encrypts, then the fallbacks.
    methods: Vec<Method>,
    /// The key of the first method. It is made once for each run: a new one for each file would take
    /// long, and could fail when results must be stored.
    sealing: OnceLock<Result<Sealing, EncryptError>>,
}

/// A method.
pub(super) enum Method {
    /// Leaves files as they are.
    Unencrypted,
    /// Encrypts with AES-GCM.
    AesGcm(AesGcmMethod),
    /// Encrypts the sensitive values of states, and other files as a whole, to recipients.
    Sealed(SealedMethod),
}

/// The method `aes_gcm`.
pub(super) struct AesGcmMethod {
    /// Its address, as messages name it.
    pub(super) address: String,
    pub(super) keys: Keys,
    pub(super) aad: Vec<u8>,
}

struct Sealing {
    key: AesGcm,
    metadata: Metadata,
}

/// A file that may have been decrypted.
#[derive(Debug)]
pub(crate) struct Opened<'t> {
    /// The text.
    pub(crate) text: Cow<'t, [u8]>,
    /// Whether the first method has encrypted it. Otherwise it has to be written again.
    pub(crate) is_current: bool,
}

/// Why a file cannot be encrypted.
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

/// Why a file cannot be decrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecryptError {
    /// It is not encrypted.
    #[error(
        "the file is not encrypted, and the encryption of {0} has no fallback to a method of the type \"unencrypted\""
    )]
    NotEncrypted(String),
    /// It has a later form.
    #[error("the file has encryption version {0:?}; this program knows {VERSION:?}")]
    Version(String),
    /// A key provider failed.
    #[error("the key provider {0}")]
    Key(#[from] KeyError),
    /// No method decrypts it.
    #[error("no method decrypts the file: {}", .0.join("; "))]
    NoMethod(Vec<String>),
    /// It was changed.
    #[error("the encrypted file and its content have different values of {0}")]
    Header(&'static str),
    /// It is sealed, and is not opened.
    #[error("{0}")]
    Sealed(#[from] OpenError),
}

/// The next step of a user without an identity.
pub(super) const SET_IDENTITY: &str = "Set `identity_file` of the key provider, or the environment variable FORMWORK_AGE_IDENTITY_FILE, to the file with the identity of one of the recipients.";

/// The next step for a sealed file that was changed.
pub(super) const RESTORE: &str = "The file was changed by hand, or put together from two. Restore it from a copy. Nothing was changed.";

impl DecryptError {
    /// The next step, in whole sentences.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::NotEncrypted(_) => {
                "To encrypt an existing file, declare method \"unencrypted\" \"NAME\" {} and name it in a `fallback` block of the target until the file was written once. Nothing was changed."
            }
            Self::Version(_) => "Use a newer version of this program. Nothing was changed.",
            Self::Key(_) => "Correct the key provider or its arguments. Nothing was changed.",
            Self::NoMethod(_) => {
                "Check the passphrase or the keys. If they have changed, name a method with the former ones in a `fallback` block of the target. Nothing was changed."
            }
            Self::Sealed(OpenError::NoIdentity { .. }) => {
                "Set `identity_file` of the key provider, or the environment variable FORMWORK_AGE_IDENTITY_FILE, to the file with the identity of one of these recipients. If recipients or identities have changed, name a method with the former ones in a `fallback` block of the target. Nothing was changed."
            }
            Self::Sealed(OpenError::Plain(_)) => {
                "The file was changed by hand. Restore it from a copy. If the readable value is right, declare method \"unencrypted\" \"NAME\" {} and name it in a `fallback` block of the target until the file was written once. Nothing was changed."
            }
            Self::Header(_) | Self::Sealed(OpenError::Changed(_)) => RESTORE,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Keys and passphrases are below it.
        f.debug_struct("Target").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Target {
    pub(super) fn new(name: impl Into<String>, methods: Vec<Method>) -> Self {
        Self { name: name.into(), methods, sealing: OnceLock::new() }
    }

    /// Whether files are encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        matches!(self.methods.first(), Some(Method::AesGcm(_) | Method::Sealed(_)))
    }

    /// The method that seals states, if that is the one to write with.
    pub(super) fn sealed(&self) -> Option<&SealedMethod> {
        match self.methods.first() {
            Some(Method::Sealed(method)) => Some(method),
            _ => None,
        }
    }

    /// Makes the key to encrypt with, so that a later call cannot fail for want of it.
    ///
    /// # Errors
    /// When a key provider fails.
    pub(crate) fn prepare(&self) -> Result<(), EncryptError> {
        self.sealing().map(drop)
    }

    /// Checks that an identity of a sealed method decrypts what that method seals, if states are sealed.
    ///
    /// # Errors
    /// When there is none: the reasons of all methods, without a final period.
    pub(super) fn check_identity(&self) -> Result<(), String> {
        if self.sealed().is_none() {
            return Ok(());
        }
        let mut reasons = Vec::new();
        for method in self.sealed_methods().unwrap_or_default() {
            match method.age.check_identity() {
                Ok(()) => return Ok(()),
                Err(reason) => reasons.push(format!("{}: {reason}", method.address)),
            }
        }
        Err(reasons.join("; "))
    }

    fn sealing(&self) -> Result<Option<(&AesGcmMethod, &Sealing)>, EncryptError> {
        let Some(Method::AesGcm(method)) = self.methods.first() else { return Ok(None) };
        let made = self.sealing.get_or_init(|| {
            let mut metadata = Metadata::new();
            let key = method.keys.to_encrypt(&mut metadata)?;
            let length = key.len();
            let key = AesGcm::new(&key)
                .ok_or_else(|| EncryptError::KeyLength(method.wrong_length(length)))?;
            Ok(Sealing { key, metadata })
        });
        made.as_ref().map(|sealing| Some((method, sealing))).map_err(Clone::clone)
    }

    /// Encrypts a file. `header` is repeated where everybody can read it.
    ///
    /// # Errors
    /// When there is no key.
    pub(super) fn seal<'t>(
        &self,
        text: Cow<'t, [u8]>,
        header: StateHeader,
        layout: Layout,
    ) -> Result<Cow<'t, [u8]>, EncryptError> {
        if let Some(method) = self.sealed() {
            let wrapper = Wrapper {
                recipients: method.age.recipients(),
                encrypted_data: Base64(method.age.encrypt(&text).map_err(EncryptError::Sealed)?),
                encryption_version: AGE_VERSION.to_owned(),
                ..Wrapper::default()
            };
            return Ok(Cow::Owned(wrapper.to_text(layout)));
        }
        let Some((method, sealing)) = self.sealing()? else { return Ok(text) };
        let sealed = sealing.key.seal(&text, &method.aad);
        let wrapper = Wrapper {
            serial: header.serial,
            lineage: header.lineage,
            meta: sealing.metadata.clone(),
            encrypted_data: Base64(sealed.map_err(|_| EncryptError::NoRandomBytes)?),
            encryption_version: VERSION.to_owned(),
            ..Wrapper::default()
        };
        Ok(Cow::Owned(wrapper.to_text(layout)))
    }

    /// Decrypts a file.
    ///
    /// # Errors
    /// When no method decrypts it, or it is not encrypted and has to be.
    pub(crate) fn open<'t>(&self, text: &'t [u8]) -> Result<Opened<'t>, DecryptError> {
        let Some(wrapper) = Wrapper::parse(text) else {
            if !self.takes_plain() {
                return Err(DecryptError::NotEncrypted(self.name.clone()));
            }
            return Ok(Opened { text: Cow::Borrowed(text), is_current: !self.encrypts() });
        };
        match wrapper.encryption_version.as_str() {
            VERSION => self.open_wrapper(&wrapper),
            AGE_VERSION => self.open_age(wrapper),
            SEALED_VERSION => self.open_state(text),
            _ => Err(DecryptError::Version(wrapper.encryption_version)),
        }
    }

    /// Whether files may be unencrypted.
    fn takes_plain(&self) -> bool {
        self.methods.iter().any(|method| matches!(method, Method::Unencrypted))
    }

    fn open_wrapper(&self, wrapper: &Wrapper) -> Result<Opened<'static>, DecryptError> {
        let mut failures = Vec::new();
        for (at, method) in self.methods.iter().enumerate() {
            let Method::AesGcm(method) = method else { continue };
            match method.open(wrapper)? {
                Ok(plain) => {
                    let header = StateHeader::of(&plain);
                    if let Some(member) = wrapper.header().difference(&header) {
                        return Err(DecryptError::Header(member));
                    }
                    return Ok(Opened { text: Cow::Owned(plain), is_current: at == 0 });
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
            Method::Sealed(method) => Some(method),
            _ => None,
        });
        let methods: Vec<&SealedMethod> = sealed.collect();
        if methods.is_empty() {
            let reason = format!("the encryption of {} has no \"sealed\"", self.name);
            return Err(DecryptError::NoMethod(vec![reason]));
        }
        Ok(methods)
    }

    fn open_age(&self, wrapper: Wrapper) -> Result<Opened<'static>, DecryptError> {
        let mut reasons = Vec::new();
        for method in self.sealed_methods()? {
            match method.age.decrypt(&wrapper.encrypted_data.0) {
                Ok(plain) => {
                    let writes = self.sealed().is_some_and(|first| std::ptr::eq(first, method));
                    return Ok(Opened { text: Cow::Owned(plain), is_current: writes });
                }
                Err(AgeError::NoIdentity(reason)) => {
                    reasons.push(format!("{}: {reason}", method.address));
                }
                Err(damaged @ AgeError::Damaged) => {
                    return Err(OpenError::Changed(damaged.to_string()).into());
                }
            }
        }
        let (reason, recipients) = (reasons.join("; "), wrapper.recipients);
        Err(OpenError::NoIdentity { reason, recipients }.into())
    }

    fn open_state(&self, text: &[u8]) -> Result<Opened<'static>, DecryptError> {
        let methods = self.sealed_methods()?;
        let takes_plain = self.takes_plain();
        let opened = OpeningMethods { methods, writer: self.sealed(), takes_plain }.open(text)?;
        Ok(Opened { text: Cow::Owned(opened.text), is_current: opened.is_current })
    }
}

impl AesGcmMethod {
    /// Describes a key of the wrong length.
    pub(super) fn wrong_length(&self, length: usize) -> String {
        format!(
            "{} needs a key of 16, 24 or 32 bytes, and gets one of {length} bytes",
            self.address
        )
    }

    /// Decrypts a file; why it does not, if it does not.
    fn open(&self, wrapper: &Wrapper) -> Result<Result<Vec<u8>, String>, KeyError> {
        let providers = self.keys.providers();
        let Some(key) = self.keys.to_decrypt(&wrapper.meta)? else {
            let missing = providers.iter().find(|it| !wrapper.meta.contains_key(&it.metadata_key));
            let found: Vec<&str> = wrapper.meta.keys().map(String::as_str).collect();
            return Ok(Err(match missing {
                Some(missing) => format!(
                    "the file has no metadata {:?} of {}, but {}",
                    missing.metadata_key,
                    missing.address,
                    if found.is_empty() { "none".to_owned() } else { found.join(" and ") }
                ),
                None => "there is no key to decrypt with".to_owned(),
            }));
        };
        let Some(aes) = AesGcm::new(&key) else { return Ok(Err(self.wrong_length(key.len()))) };
        Ok(aes.open(&wrapper.encrypted_data.0, &self.aad).ok_or_else(|| {
            let of = providers.first().map_or("the keys", |provider| provider.address.as_str());
            format!("the key of {of} is not the one that the file was encrypted with, or the file was changed")
        }))
    }
}
