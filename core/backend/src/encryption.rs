//! Encryption of states and saved plans, in the format that OpenTofu reads and writes or with the method
//! `sealed`: the ciphers that stores and saved plans apply to their bytes. Without a configuration they change
//! nothing.

#[cfg_attr(not(feature = "age"), path = "encryption/age_left_out.rs")]
mod age;
mod algorithms;
#[cfg(feature = "aws_kms")]
mod aws_kms;
mod encrypted_file;
mod external;
#[cfg(feature = "gcp_kms")]
mod gcp_kms;
mod keys;
#[cfg(feature = "openbao")]
mod openbao;
#[cfg(feature = "key-service")]
mod own_thread;
mod sealed_method;
#[cfg(feature = "pg")]
pub(crate) mod shared_state;
mod target;
mod target_builder;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use formwork_core::addr::ProviderAddr;
use formwork_core::eval::encryption::{EncryptionSettings, MethodSettings};
use formwork_core::state::file::sealed::{read_sealed_header, redact_state_file};
use formwork_core::state::file::{FileError, StateFile, StateFileHeader};
use formwork_core::state::intent_log::IntentLog;
use formwork_core::state::journal::RecordSeal;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use self::encrypted_file::{JsonLayout, StateHeader};
pub use self::encrypted_file::{is_encrypted, is_encrypted_state};
use self::sealed_method::SealedStateError;
use self::target::{DecryptError, EncryptionTarget};
use crate::arguments::BackendEnvironment;
use crate::messages;

/// The ciphers of a configuration.
///
/// ```
/// use formwork_backend::encryption::Encryption;
///
/// // No method is configured.
/// let encryption = Encryption::default();
/// assert!(!encryption.state.encrypts() && !encryption.plan.encrypts());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Encryption {
    /// For states.
    pub state: StateCipher,
    /// For saved plans.
    pub plan: PlanCipher,
    /// For states of other configurations.
    pub remotes: RemoteCiphers,
}

/// The ciphers for states of other configurations.
///
/// ```
/// use formwork_backend::encryption::RemoteCiphers;
///
/// let ciphers = RemoteCiphers::default();
/// assert!(!ciphers.cipher_for("data.terraform_remote_state.network").encrypts());
/// ```
#[derive(Clone, Debug, Default)]
pub struct RemoteCiphers {
    default: StateCipher,
    named: BTreeMap<String, StateCipher>,
}

/// Encrypts and decrypts states. The default cipher does not change them.
///
/// ```
/// use formwork_backend::encryption::StateCipher;
/// use formwork_core::state::file::StateFile;
///
/// let file = StateFile::new_empty();
/// let read = StateCipher::default().parse_state(&file.to_bytes()).unwrap();
/// assert_eq!(read.lineage, file.lineage);
/// ```
#[derive(Clone, Debug, Default)]
pub struct StateCipher(Option<Arc<EncryptionTarget>>, UndecryptableStateHandling);

/// Treatment of a state that the configured methods cannot open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum UndecryptableStateHandling {
    /// The state is refused.
    #[default]
    Strict,
    /// The state is accepted if it is not encrypted, because this program has just written it.
    AllowPlaintext,
    /// The state is read without its sealed values if no identity can decrypt them. Nothing is
    /// written.
    RedactUnopenable,
}

/// Encrypts and decrypts saved plans. The default cipher does not change them.
///
/// ```
/// use formwork_backend::encryption::PlanCipher;
///
/// let encrypted = PlanCipher::default().encrypt(b"a plan".to_vec());
/// assert_eq!(encrypted, Ok(b"a plan".to_vec()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct PlanCipher(Option<Arc<EncryptionTarget>>);

impl Encryption {
    /// Creates the ciphers of an evaluated configuration. `environment` has the directory and the variables
    /// that key providers use.
    ///
    /// # Errors
    /// Returns an error if a type or an argument of a key provider or method is invalid.
    pub fn new(
        diags: &mut Diagnostics,
        settings: &EncryptionSettings,
        environment: &BackendEnvironment,
    ) -> Result<Self, Reported> {
        let mut target = |name: &str, methods: &Option<Vec<MethodSettings>>| {
            let built_target = methods
                .as_ref()
                .map(|methods| target_builder::build_target(diags, name, environment, methods));
            built_target.transpose().map(|target| target.map(Arc::new))
        };
        let state = target("`state`", &settings.state);
        let plan = target("`plan`", &settings.plan);
        let default = target("`remote_state_data_sources`", &settings.remote_default);
        let named: Result<BTreeMap<String, StateCipher>, Reported> = settings
            .remotes
            .iter()
            .map(|(name, methods)| {
                let label = format!("`remote_state_data_source` {name:?}");
                let target = target_builder::build_target(diags, &label, environment, methods)?;
                Ok((name.clone(), StateCipher::from_target(Some(Arc::new(target)))))
            })
            .collect();
        Ok(Self {
            state: StateCipher::from_target(state?),
            plan: PlanCipher(plan?),
            remotes: RemoteCiphers { default: StateCipher::from_target(default?), named: named? },
        })
    }
}

impl RemoteCiphers {
    /// Returns the cipher for the state that a data source reads. `address` is that of the
    /// instance.
    #[must_use]
    pub fn cipher_for(&self, address: &str) -> &StateCipher {
        // Named as in OpenTofu: without the type, and without the first `module.`.
        let name = address.replacen("data.terraform_remote_state.", "", 1);
        let name = name.strip_prefix("module.").unwrap_or(&name);
        self.named.get(name).unwrap_or(&self.default)
    }
}

impl StateCipher {
    fn from_target(target: Option<Arc<EncryptionTarget>>) -> Self {
        Self(target, UndecryptableStateHandling::Strict)
    }

    /// Returns the same cipher for a command that only displays a state: without an identity, a sealed value
    /// is null and marked as sensitive. The cipher writes nothing.
    #[must_use]
    pub fn with_sealed_values_hidden(self) -> Self {
        Self(self.0, UndecryptableStateHandling::RedactUnopenable)
    }

    /// Checks that this user can read the values that a run seals. A fallback with an identity is sufficient,
    /// because the state may be in the process of being handed over to other recipients.
    ///
    /// # Errors
    /// Returns an error if no method has an identity.
    pub fn check_identity_decrypts(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(target) = &self.0 else { return Ok(()) };
        target.check_identity_decrypts().map_err(|reason| {
            let detail = format!(
                "{reason}. Later commands on this machine could not decrypt the values that this one would seal. {} Nothing was changed.",
                target::SET_IDENTITY_REMEDY
            );
            diags.error(Diagnostic::error(messages::NO_IDENTITY_FOR_SEALED_VALUES, detail))
        })
    }

    /// Returns the same cipher for a state that is not encrypted yet.
    pub(crate) fn allowing_plaintext(self) -> Self {
        Self(self.0, UndecryptableStateHandling::AllowPlaintext)
    }

    /// Whether states are stored unencrypted, because no encryption is configured.
    pub(crate) fn is_pass_through(&self) -> bool {
        self.0.is_none()
    }

    /// Whether states are encrypted.
    #[must_use]
    pub fn encrypts(&self) -> bool {
        self.0.as_ref().is_some_and(|target| target.encrypts())
    }

    /// Generates the key for encryption, so that no later call fails for lack of it.
    ///
    /// # Errors
    /// Returns an error if a key provider fails. The message has no final period.
    pub fn prepare_key(&self) -> Result<(), String> {
        self.0
            .as_ref()
            .map_or(Ok(()), |target| target.prepare_key())
            .map_err(|error| error.to_string())
    }

    /// Parses the content of a state file.
    ///
    /// # Errors
    /// Returns an error if the content cannot be decrypted, or is not a state.
    pub fn parse_state(&self, text: &[u8]) -> Result<StateFile, FileError> {
        self.parse_checking_current_form(text).map(|(file, _)| file)
    }

    /// Parses the content of a state file, and returns whether it is stored in the current form: a state
    /// that was read with a fallback is rewritten, even if nothing in it has changed.
    ///
    /// # Errors
    /// Returns an error if the content cannot be decrypted, or is not a state.
    pub(crate) fn parse_checking_current_form(
        &self,
        text: &[u8],
    ) -> Result<(StateFile, bool), FileError> {
        let (text, is_current) = self.decrypt(text)?;
        Ok((StateFile::parse(&text)?, is_current))
    }

    /// Parses the content of a state file that the user specified, whether encrypted or not.
    ///
    /// # Errors
    /// Returns an error if the content cannot be decrypted, or is not a state.
    pub fn parse_user_named_state(&self, text: &[u8]) -> Result<StateFile, FileError> {
        self.clone().allowing_plaintext().parse_state(text)
    }

    /// Decrypts the content of a state file, and returns whether it is stored in the current form.
    /// Empty content means that the state was never written.
    ///
    /// # Errors
    /// Returns an error if the content cannot be decrypted.
    pub fn decrypt<'t>(&self, text: &'t [u8]) -> Result<(Cow<'t, [u8]>, bool), FileError> {
        let Some(target) = self.0.as_ref().filter(|_| !text.trim_ascii().is_empty()) else {
            return Ok((Cow::Borrowed(text), true));
        };
        if self.1 == UndecryptableStateHandling::AllowPlaintext && !is_encrypted(text) {
            return Ok((Cow::Borrowed(text), false));
        }
        match target.decrypt(text) {
            Ok(opened) => Ok((opened.text, opened.is_current)),
            Err(DecryptError::Sealed(SealedStateError::NoIdentity { .. }))
                if self.1 == UndecryptableStateHandling::RedactUnopenable
                    && read_sealed_header(text).is_some() =>
            {
                let redacted =
                    redact_state_file(text).map_err(|error| FileError::Undecryptable {
                        reason: error.to_string(),
                        remedy: target::RESTORE_REMEDY,
                    })?;
                Ok((Cow::Owned(redacted), true))
            }
            Err(error) => Err(decryption_file_error(&error)),
        }
    }

    /// Reads the header of a state file. It is readable in a sealed state.
    ///
    /// # Errors
    /// Returns an error if the content cannot be decrypted, or is not a state.
    pub fn parse_state_header(&self, text: &[u8]) -> Result<StateFileHeader, FileError> {
        if self.0.is_some() && read_sealed_header(text).is_some() {
            let StateHeader { serial, lineage } = StateHeader::from_state(text);
            let (serial, lineage) = (serial.unwrap_or_default(), lineage.unwrap_or_default());
            return Ok(StateFileHeader { serial, lineage });
        }
        let (text, _) = self.decrypt(text)?;
        StateFile::read_header(&text)
    }

    /// Reads the providers of the objects in a state file. They are readable in a sealed state.
    ///
    /// # Errors
    /// Returns an error if the content cannot be decrypted, or is not a state.
    pub fn read_providers(&self, text: &[u8]) -> Result<BTreeSet<ProviderAddr>, FileError> {
        if self.0.is_some() && read_sealed_header(text).is_some() {
            return StateFile::read_providers(text);
        }
        let (text, _) = self.decrypt(text)?;
        StateFile::read_providers(&text)
    }

    /// Returns the content of a state for a backend, encrypted if that is configured.
    ///
    /// # Errors
    /// Returns an error if a key provider fails.
    pub fn serialize_state(&self, file: &StateFile) -> io::Result<Vec<u8>> {
        self.encrypt(file.to_bytes(), JsonLayout::Compact)
    }

    /// Writes a state to a local file, encrypted if that is configured.
    ///
    /// # Errors
    /// Returns an error if a key provider fails, or if writing to `to` fails.
    pub fn write_state_to(&self, file: &StateFile, to: &mut dyn io::Write) -> io::Result<()> {
        if self.encrypts() {
            to.write_all(&self.encrypt_file_text(file.to_bytes())?)
        } else {
            file.write_to(to)
        }
    }

    /// Encrypts the content of a state for a local file, unless it is already encrypted or empty. A sealed
    /// state whose form has changed is sealed again, because it may have readable values.
    ///
    /// # Errors
    /// Returns an error if a key provider fails, or if a sealed state cannot be opened.
    pub fn encrypt_file_text(&self, mut text: Vec<u8>) -> io::Result<Vec<u8>> {
        self.check_may_write()?;
        if self.encrypts() && read_sealed_header(&text).is_some() {
            let (opened, is_current) = self.decrypt(&text).map_err(io::Error::other)?;
            if is_current {
                return Ok(text);
            }
            text = opened.into_owned();
        }
        let seals = self.0.as_ref().is_some_and(|target| target.sealed_method().is_some());
        if !seals || text.trim_ascii().is_empty() || is_encrypted(&text) {
            return self.encrypt(text, JsonLayout::Indented);
        }
        // The values are searched in the format of this program.
        let file = StateFile::parse(&text).map_err(io::Error::other)?;
        self.encrypt(file.to_bytes(), JsonLayout::Indented)
    }

    fn check_may_write(&self) -> io::Result<()> {
        match self.1 {
            UndecryptableStateHandling::RedactUnopenable => {
                Err(io::Error::other("the state may have been read without its sealed values"))
            }
            UndecryptableStateHandling::Strict | UndecryptableStateHandling::AllowPlaintext => {
                Ok(())
            }
        }
    }

    fn encrypt(&self, text: Vec<u8>, layout: JsonLayout) -> io::Result<Vec<u8>> {
        self.check_may_write()?;
        let is_done = !self.encrypts() || text.trim_ascii().is_empty() || is_encrypted(&text);
        let Some(target) = self.0.as_ref().filter(|_| !is_done) else { return Ok(text) };
        if let Some(method) = target.sealed_method() {
            return method.seal_state(&text).map_err(io::Error::other);
        }
        let header = StateHeader::from_state(&text);
        let sealed = target.encrypt(Cow::Owned(text), header, layout).map_err(io::Error::other)?;
        Ok(sealed.into_owned())
    }
}

impl RecordSeal for StateCipher {
    fn seal_value(&self, value: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let Some(target) = self.0.as_ref().filter(|target| target.encrypts()) else {
            return Ok(None);
        };
        let header = StateHeader::default();
        let sealed = target.encrypt(Cow::Borrowed(value), header, JsonLayout::Compact);
        sealed.map(|sealed| Some(sealed.into_owned())).map_err(|error| error.to_string())
    }

    fn open_value(&self, sealed: &[u8]) -> Result<Vec<u8>, String> {
        let target = self.0.as_ref().ok_or("no encryption is configured for it")?;
        let opened = target.decrypt(sealed).map_err(|error| error.to_string())?;
        Ok(opened.text.into_owned())
    }

    fn check_unsealed_allowed(&self) -> Result<(), String> {
        let Some(target) = &self.0 else { return Ok(()) };
        target.decrypt(b"").map(drop).map_err(|error| error.to_string())
    }
}

/// Applies a cipher to the values in the journals of runs.
#[must_use]
pub fn encrypt_intent_log(
    mut intents: Arc<dyn IntentLog>,
    cipher: &StateCipher,
) -> Arc<dyn IntentLog> {
    if cipher.0.is_some() {
        let own_intents =
            Arc::get_mut(&mut intents).expect("a backend makes intents for each caller");
        own_intents.set_seal(Arc::new(cipher.clone()));
    }
    intents
}

impl PlanCipher {
    /// Whether plans are encrypted.
    #[must_use]
    pub fn encrypts(&self) -> bool {
        self.0.as_ref().is_some_and(|target| target.encrypts())
    }

    /// Encrypts a plan, if that is configured.
    ///
    /// # Errors
    /// Returns an error if a key provider fails. The message has no final period.
    pub fn encrypt(&self, plan: Vec<u8>) -> Result<Vec<u8>, String> {
        let Some(target) = &self.0 else { return Ok(plan) };
        let sealed = target.encrypt(Cow::Owned(plan), StateHeader::default(), JsonLayout::Compact);
        sealed.map(Cow::into_owned).map_err(|error| error.to_string())
    }

    /// Checks that an unencrypted plan may be used. `name` is that of the file.
    ///
    /// # Errors
    /// Returns an error if the plan has to be encrypted.
    pub fn check_plaintext_allowed(&self, name: &str) -> Result<(), Box<Diagnostic>> {
        self.decrypt(name, b"").map(drop)
    }

    /// Decrypts a plan. `name` is that of the file.
    ///
    /// # Errors
    /// Returns an error if the plan cannot be decrypted, or is not encrypted although it has to be.
    pub fn decrypt<'t>(
        &self,
        name: &str,
        plan: &'t [u8],
    ) -> Result<Cow<'t, [u8]>, Box<Diagnostic>> {
        let Some(target) = &self.0 else {
            if is_encrypted(plan) {
                let detail = format!("{name}: {NO_ENCRYPTION_CONFIGURED}");
                return Err(Box::new(Diagnostic::error(messages::PLAN_FILE_IS_ENCRYPTED, detail)));
            }
            return Ok(Cow::Borrowed(plan));
        };
        let opened = target.decrypt(plan).map_err(|error| {
            let detail = format!("{name}: {error}.\n\n{}", error.remedy());
            Box::new(Diagnostic::error(messages::PLAN_FILE_CANNOT_BE_DECRYPTED, detail))
        });
        opened.map(|opened| opened.text)
    }
}

/// The problem of an encrypted file if no encryption is configured.
const NO_ENCRYPTION_CONFIGURED: &str = "the file is encrypted, but no encryption is configured for it. Configure it with the `encryption` block in a `terraform` block or with the environment variable TF_ENCRYPTION, as it was configured when the file was written. Nothing was changed.";

fn decryption_file_error(error: &DecryptError) -> FileError {
    FileError::Undecryptable { reason: error.to_string(), remedy: error.remedy() }
}
