//! Encrypted states that several runs write concurrently, and that have a history. A part of a sealed state is
//! a state file with one object or output: it is sealed as in the whole state, and opened like a state.

use formwork_core::state::file::StateFile;
use formwork_core::state::file::sealed::{StateSecrets, seal_part_of_state};

use super::StateCipher;
use super::sealed_method::SealedMethod;
use super::target::EncryptionMethod;

/// Seals the parts of one state.
pub(crate) struct PartSealer<'c> {
    method: &'c SealedMethod,
    secrets: StateSecrets,
}

impl StateCipher {
    /// Whether states are encrypted as a whole, so that their addresses are not readable.
    pub(crate) fn hides_addresses(&self) -> bool {
        self.encrypts() && self.sealed_method().is_none()
    }

    /// The reason, as a sentence, why only one run at a time may write a state. `None` if several may.
    pub(crate) fn exclusive_write_reason(&self) -> Option<&'static str> {
        let methods: &[EncryptionMethod] = match &self.0 {
            Some(target) => &target.methods,
            None => &[],
        };
        match methods {
            [] | [EncryptionMethod::Unencrypted, ..] | [EncryptionMethod::Sealed(_)] => None,
            [EncryptionMethod::AesGcm(_), ..] => Some(
                "The state is encrypted as a whole, so applies to it run one at a time: claims would show its addresses.",
            ),
            // A run without the first method could not read the state any more.
            [EncryptionMethod::Sealed(_), ..] => Some(
                "The encryption of the state has a fallback, so applies to it run one at a time: a write may change the form of the state.",
            ),
        }
    }

    /// Returns the sealer for parts of a state, or `None` if no values are sealed.
    ///
    /// # Errors
    /// Returns an error if the state cannot be searched for secrets. The message has no final
    /// period.
    pub(crate) fn part_sealer(&self, state: &StateFile) -> Result<Option<PartSealer<'_>>, String> {
        let Some(method) = self.sealed_method() else { return Ok(None) };
        let secrets = StateSecrets::read(&state.to_bytes()).map_err(|error| error.to_string())?;
        Ok(Some(PartSealer { method, secrets }))
    }

    fn sealed_method(&self) -> Option<&SealedMethod> {
        self.0.as_ref().and_then(|target| target.sealed_method())
    }
}

impl PartSealer<'_> {
    /// Seals a part, which has the lineage of the whole state.
    ///
    /// # Errors
    /// Returns an error if a value cannot be encrypted. The message has no final period.
    pub(crate) fn seal(&self, part: &StateFile) -> Result<Vec<u8>, String> {
        let (text, recipients) = (part.to_bytes(), self.method.age.recipients());
        let sealed = seal_part_of_state(&text, &self.secrets, &recipients, &mut |value| {
            self.method.encrypt_value(value)
        });
        sealed.map_err(|error| error.to_string())
    }
}
