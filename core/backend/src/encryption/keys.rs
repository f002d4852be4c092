//! Key providers: the keys with which a method encrypts and decrypts, and the metadata that enables a
//! later run to obtain the key of a file again.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::algorithms::{Pbkdf2Hash, derive_pbkdf2_key, random_bytes};
use super::encrypted_file::{Base64Bytes, KeyProviderMetadata};

/// Maximum iterations and bytes that metadata may request, because a file may come from anywhere.
const MAX_PBKDF2_ITERATIONS: u32 = 100_000_000;
const MAX_KEY_LENGTH: usize = 1024;

/// The keys of a method.
#[derive(Clone)]
pub(super) enum MethodKeys {
    /// The keys are in the configuration.
    Static(EncryptionAndDecryptionKeys),
    /// A key provider has the keys.
    Provided(Arc<KeyProvider>),
}

/// An encryption key and a decryption key.
#[derive(Clone, Default)]
pub(super) struct EncryptionAndDecryptionKeys {
    pub(super) encryption: Vec<u8>,
    pub(super) decryption: Option<Vec<u8>>,
}

/// A key provider.
pub(super) struct KeyProvider {
    /// Its address, for messages.
    pub(super) address: String,
    /// The key of its metadata.
    pub(super) metadata_key: String,
    pub(super) kind: KeyProviderKind,
    /// The keys by the metadata of the file to decrypt. Deriving a key is slow on purpose, and a run
    /// reads the same file several times.
    decryption_keys: Mutex<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

/// A type of key provider, with its arguments.
pub(super) enum KeyProviderKind {
    /// Derives keys from a passphrase or from other keys.
    Pbkdf2(Pbkdf2KeyProvider),
    /// Requests keys from a program or a service.
    Source(Box<dyn KeySource>),
}

/// A program or a service that provides keys.
pub(super) trait KeySource: Send + Sync {
    /// Generates an encryption key, and the metadata that enables a later run to obtain the
    /// decryption key.
    ///
    /// # Errors
    /// Returns an error if the source fails or refuses. The message has no final period.
    fn generate_data_key(&self) -> Result<(Vec<u8>, Vec<u8>), String>;

    /// Obtains the key to decrypt a file with this metadata. Returns `None` if the source has none.
    ///
    /// # Errors
    /// As [`KeySource::generate_data_key`].
    fn decrypt_data_key(&self, metadata: &[u8]) -> Result<Option<Vec<u8>>, String>;

    /// The length of keys in bytes, or `None` if the source determines it.
    fn key_length(&self) -> Option<usize>;
}

/// A key derived from a passphrase.
pub(super) struct Pbkdf2KeyProvider {
    pub(super) passphrase: MethodKeys,
    pub(super) key_length: usize,
    pub(super) iterations: NonZeroU32,
    pub(super) hash: Pbkdf2Hash,
    pub(super) salt_length: usize,
}

/// The reason why a key provider has no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address}: {reason}")]
pub(super) struct KeyError {
    /// The key provider.
    pub(super) address: String,
    /// The reason, without a final period.
    pub(super) reason: String,
}

/// The metadata of `pbkdf2`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pbkdf2Metadata {
    #[serde(default)]
    salt: Base64Bytes,
    #[serde(default)]
    iterations: i64,
    #[serde(default)]
    hash_function: String,
    #[serde(default)]
    key_length: i64,
}

impl MethodKeys {
    /// Returns the encryption key, and adds the metadata of its key providers.
    ///
    /// # Errors
    /// Returns an error if a key provider fails.
    pub(super) fn encryption_key(
        &self,
        metadata: &mut KeyProviderMetadata,
    ) -> Result<Vec<u8>, KeyError> {
        match self {
            Self::Static(pair) => Ok(pair.encryption.clone()),
            Self::Provided(provider) => provider.encryption_key(metadata),
        }
    }

    /// Returns the key to decrypt a file with this metadata, or `None` if the metadata has no entry
    /// for the key provider.
    ///
    /// # Errors
    /// Returns an error if a key provider fails.
    pub(super) fn decryption_key(
        &self,
        metadata: &KeyProviderMetadata,
    ) -> Result<Option<Vec<u8>>, KeyError> {
        match self {
            Self::Static(pair) => Ok(pair.decryption.clone()),
            Self::Provided(provider) => provider.decryption_key_from_metadata(metadata),
        }
    }

    /// The key providers that these keys come from, the nearest first.
    pub(super) fn key_providers(&self) -> Vec<&KeyProvider> {
        let mut providers = Vec::new();
        let mut keys = self;
        while let Self::Provided(provider) = keys {
            providers.push(&**provider);
            match &provider.kind {
                KeyProviderKind::Pbkdf2(pbkdf2) => keys = &pbkdf2.passphrase,
                KeyProviderKind::Source(_) => break,
            }
        }
        providers
    }
}

impl KeyProvider {
    pub(super) fn new(address: String, metadata_key: String, kind: KeyProviderKind) -> Self {
        Self { address, metadata_key, kind, decryption_keys: Mutex::default() }
    }

    fn key_error(&self) -> impl Fn(String) -> KeyError + '_ {
        |reason| KeyError { address: self.address.clone(), reason }
    }

    fn encryption_key(&self, metadata: &mut KeyProviderMetadata) -> Result<Vec<u8>, KeyError> {
        let (key, provider_metadata) = match &self.kind {
            KeyProviderKind::Pbkdf2(pbkdf2) => {
                let salt = random_bytes(pbkdf2.salt_length);
                let salt = salt.map_err(|error| self.key_error()(error.to_string()))?;
                let passphrase = pbkdf2.passphrase.encryption_key(metadata)?;
                let (hash, iterations) = (pbkdf2.hash, pbkdf2.iterations);
                let key =
                    derive_pbkdf2_key(hash, iterations, &passphrase, &salt, pbkdf2.key_length);
                let provider_metadata = Pbkdf2Metadata {
                    salt: Base64Bytes(salt),
                    iterations: iterations.get().into(),
                    hash_function: hash.name().to_owned(),
                    key_length: i64::try_from(pbkdf2.key_length).unwrap_or(i64::MAX),
                };
                (key, serde_json::to_vec(&provider_metadata).unwrap_or_default())
            }
            KeyProviderKind::Source(source) => {
                source.generate_data_key().map_err(self.key_error())?
            }
        };
        metadata.insert(self.metadata_key.clone(), Base64Bytes(provider_metadata));
        Ok(key)
    }

    fn decryption_key_from_metadata(
        &self,
        metadata: &KeyProviderMetadata,
    ) -> Result<Option<Vec<u8>>, KeyError> {
        // Derived keys depend on the metadata of all chained key providers.
        let cache_key = serde_json::to_vec(metadata).unwrap_or_default();
        let cached = self
            .decryption_keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&cache_key)
            .cloned();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let key = self.decryption_key(metadata)?;
        self.decryption_keys
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(cache_key, key.clone());
        Ok(key)
    }

    fn decryption_key(&self, metadata: &KeyProviderMetadata) -> Result<Option<Vec<u8>>, KeyError> {
        let Some(Base64Bytes(provider_metadata)) = metadata.get(&self.metadata_key) else {
            return Ok(None);
        };
        match &self.kind {
            KeyProviderKind::Pbkdf2(pbkdf2) => {
                let parsed: Pbkdf2Metadata =
                    serde_json::from_slice(provider_metadata).map_err(|error| {
                        self.key_error()(format!("its metadata is damaged: {error}"))
                    })?;
                let Some((hash, iterations, length)) =
                    parsed.pbkdf2_parameters().map_err(self.key_error())?
                else {
                    return Ok(None);
                };
                let passphrase = pbkdf2.passphrase.decryption_key(metadata)?;
                let Some(passphrase) = passphrase else { return Ok(None) };
                Ok(Some(derive_pbkdf2_key(hash, iterations, &passphrase, &parsed.salt.0, length)))
            }
            KeyProviderKind::Source(source) => {
                source.decrypt_data_key(provider_metadata).map_err(self.key_error())
            }
        }
    }
}

impl Pbkdf2Metadata {
    /// The hash function, iterations and key length, or `None` if one of them is missing.
    fn pbkdf2_parameters(&self) -> Result<Option<(Pbkdf2Hash, NonZeroU32, usize)>, String> {
        let is_missing = self.salt.0.is_empty()
            || self.iterations == 0
            || self.hash_function.is_empty()
            || self.key_length == 0;
        if is_missing {
            return Ok(None);
        }
        let hash = Pbkdf2Hash::from_name(&self.hash_function).ok_or_else(|| {
            format!("its metadata has the unknown hash function {:?}", self.hash_function)
        })?;
        let iterations = u32::try_from(self.iterations).ok().and_then(NonZeroU32::new);
        let iterations =
            iterations.filter(|count| count.get() <= MAX_PBKDF2_ITERATIONS).ok_or_else(|| {
                format!("its metadata has an impossible number of iterations, {}", self.iterations)
            })?;
        let length =
            usize::try_from(self.key_length).ok().filter(|length| *length <= MAX_KEY_LENGTH);
        let length = length.ok_or_else(|| {
            format!("its metadata has an impossible key length, {}", self.key_length)
        })?;
        Ok(Some((hash, iterations, length)))
    }
}
