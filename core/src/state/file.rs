//! The state file, format version 4: reads and writes the same as Terraform, byte for byte where
//! that is visible. Files of version 3 are read, too. Converts only bytes; backends read and store them.

mod json;
mod layout;
mod read;
pub mod sealed;
#[cfg(test)]
mod tests;
mod version3;
mod write;

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, Message};
use sha2::{Digest as _, Sha256};

use super::{ObjectState, State};
use crate::addr::{DeposedKey, InstanceAddr, ProviderAddr, ProviderConfigAddr};
use crate::messages;

/// A state with the header of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct StateFile {
    /// The version of the program that wrote it; may be empty.
    pub terraform_version: String,
    /// Counts the changes of the content.
    pub serial: u64,
    /// Tells this state from all others; never changes.
    pub lineage: String,
    /// The content.
    pub state: State,
    /// The results of checks as compact JSON, unchanged since the file was read; `None` for none.
    pub check_results: Option<Bytes>,
}

/// Header of a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFileHeader {
    /// Counts the changes of the content.
    pub serial: u64,
    /// Tells this state from all others.
    pub lineage: String,
}

/// The reason why a file is not a usable state file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// There are no bytes at all.
    #[error("the file is empty")]
    Empty,
    /// The file is not JSON: truncated, or edited by hand.
    #[error("line {line}, column {column}: {reason}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// Reason of the error.
        reason: String,
    },
    /// The file is JSON, but has no format version.
    #[error("the file has no \"version\", which must be a whole number")]
    NoVersion,
    /// A later version of the format.
    #[error("the file has format version {0}; this program supports versions 3 and 4")]
    Newer(u64),
    /// An earlier version of the format.
    #[error("the file has format version {0}; this program supports versions 3 and 4")]
    Older(u64),
    /// The file is encrypted, and no encryption is configured.
    #[error("the file is encrypted, and no encryption is configured for it here")]
    Encrypted,
    /// The file cannot be decrypted, or is not encrypted although encryption is required.
    #[error("{reason}")]
    Undecryptable {
        /// The reason, with the key providers and methods that failed.
        reason: String,
        /// The next step, in whole sentences.
        remedy: &'static str,
    },
    /// Something in it cannot be.
    #[error("{}{detail}", line.map_or(String::new(), |line| format!("line {line}: ")))]
    Invalid {
        /// Kind of error, fit for the summary of a diagnostic.
        summary: &'static Message,
        /// Detail of the error; whole sentences.
        detail: String,
        /// Line, from 1, if known.
        line: Option<usize>,
    },
}

impl StateFile {
    /// An empty state with a new lineage.
    #[must_use]
    pub fn new_empty() -> Self {
        Self {
            terraform_version: crate::version::LANGUAGE_VERSION.to_string(),
            serial: 0,
            lineage: uuid::Uuid::new_v4().to_string(),
            state: State::default(),
            check_results: None,
        }
    }

    /// Reads a state file.
    ///
    /// # Errors
    /// When the file is empty, not JSON, of another format version, or contains invalid data.
    pub fn parse(text: &[u8]) -> Result<Self, FileError> {
        read::read_state_file(text)
    }

    /// The providers of all that is in a state file; the rest is only looked over.
    ///
    /// # Errors
    /// As [`StateFile::parse`].
    pub fn read_providers(text: &[u8]) -> Result<BTreeSet<ProviderAddr>, FileError> {
        read::read_providers(text)
    }

    /// Reads the header of a state file; the content is only looked over.
    ///
    /// # Errors
    /// As [`StateFile::parse`].
    pub fn read_header(text: &[u8]) -> Result<StateFileHeader, FileError> {
        read::read_header(text)
    }

    /// The attribute `id` of an object of an instance, if it is a string and not sensitive: the current
    /// object, otherwise the first deposed one.
    #[must_use]
    pub fn shown_object_id_of(&self, addr: &InstanceAddr) -> Option<String> {
        let instance = self.state.resources.get(&addr.resource_addr())?.instances.get(&addr.key)?;
        instance.current.as_ref().or_else(|| instance.deposed.values().next())?.shown_id()
    }

    /// The fingerprint of everything but the header.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        let mut hash = FingerprintWriter(Sha256::new());
        // Writing to a hash never fails.
        write::write_content(self, &mut hash).ok();
        hash.0.finalize().into()
    }

    /// Writes the state file: two spaces of indentation, everything sorted, a final newline.
    ///
    /// # Errors
    /// When writing to `to` fails.
    pub fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        write::write_file(self, to)
    }

    /// The state file as [`StateFile::write_to`] writes it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = Vec::new();
        // Writing into memory does not fail.
        self.write_to(&mut text).ok();
        text
    }

    /// Whether both have the same content, except for their headers.
    #[must_use]
    pub fn has_same_content(&self, other: &Self) -> bool {
        self.state == other.state && self.check_results == other.check_results
    }
}

/// Keeps only the fingerprint of the bytes written to it.
struct FingerprintWriter(Sha256);

impl io::Write for FingerprintWriter {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.update(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An object with its address, deposed key and provider configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectEntry {
    /// The instance.
    pub addr: InstanceAddr,
    /// Set if the object is deposed.
    pub deposed: Option<DeposedKey>,
    /// The provider configuration that owns the resource.
    pub provider: ProviderConfigAddr,
    /// The object.
    pub object: Arc<ObjectState>,
}

/// Writes one object as the file does, but on one line.
#[must_use]
pub fn write_object_entry(
    addr: &InstanceAddr,
    deposed: Option<&DeposedKey>,
    provider: &ProviderConfigAddr,
    object: &ObjectState,
) -> Vec<u8> {
    let object = Arc::new(object.clone());
    write::write_entry_as_resource(&ObjectEntry {
        addr: addr.clone(),
        deposed: deposed.cloned(),
        provider: provider.clone(),
        object,
    })
}

/// Reads the output of [`write_object_entry`].
///
/// # Errors
/// When the string is not such an entry.
pub fn read_object_entry(text: &str) -> Result<ObjectEntry, FileError> {
    read::read_object_entry(text)
}

impl FileError {
    /// Describes the error in the file of that name, and the step to take.
    #[must_use]
    pub fn diagnostic(&self, name: &str) -> Diagnostic {
        let (summary, remedy) = self.summary_and_remedy();
        self.diagnostic_with_remedy(name, summary, remedy)
    }

    /// Describes the error in a state on a server, which has no local file and no backup.
    #[must_use]
    pub fn remote_state_diagnostic(&self, location: &str) -> Diagnostic {
        let (summary, remedy) = self.summary_and_remedy();
        let remedy = match self {
            Self::Empty | Self::NotJson { .. } | Self::NoVersion | Self::Invalid { .. } => {
                DAMAGED_REMOTE_STATE_REMEDY
            }
            Self::Newer(_) | Self::Older(_) | Self::Encrypted | Self::Undecryptable { .. } => {
                remedy
            }
        };
        self.diagnostic_with_remedy(location, summary, remedy)
    }

    fn diagnostic_with_remedy(
        &self,
        name: &str,
        summary: &'static Message,
        remedy: &str,
    ) -> Diagnostic {
        // Some details are whole sentences and end with a period already.
        Diagnostic::error(summary, format!("{name}: {self}.\n\n{remedy}").replace("..\n", ".\n"))
            .blamed_on(Blame::Environment)
    }

    fn summary_and_remedy(&self) -> (&'static Message, &'static str) {
        match self {
            Self::Empty => (
                messages::STATE_FILE_IS_EMPTY,
                "A state file never becomes empty by itself: it was truncated. Restore it from its \
                 backup, or delete it if it never contained any objects.",
            ),
            Self::NotJson { .. } => (
                messages::STATE_FILE_IS_DAMAGED,
                "The file was truncated or edited by hand. Restore it from its backup. Nothing was \
                 changed.",
            ),
            Self::NoVersion => (
                messages::NO_STATE_FILE_FORMAT,
                "This is probably not a state file. Nothing was changed.",
            ),
            Self::Newer(_) => (
                messages::NEWER_STATE_FILE_FORMAT,
                "It was written by a newer program. Use that program, or a newer version of this \
                 one. Nothing was changed.",
            ),
            Self::Older(_) => (
                messages::OLDER_STATE_FILE_FORMAT,
                "Formats before version 3 are not supported. Terraform 0.15.4 and later convert them to \
                 version 4: with \"terraform state replace-provider registry.terraform.io/-/NAME NAMESPACE/NAME\" \
                 for each of its providers, then with \"terraform apply -refresh-only\". Nothing was \
                 changed.",
            ),
            Self::Encrypted => (
                messages::STATE_FILE_IS_ENCRYPTED,
                "Configure it with the `encryption` block in a `terraform` block or with the \
                 environment variable TF_ENCRYPTION, as it was when the file was written. Nothing was \
                 changed.",
            ),
            Self::Undecryptable { remedy, .. } => {
                (messages::STATE_FILE_CANNOT_BE_DECRYPTED, *remedy)
            }
            Self::Invalid { summary, .. } => {
                (*summary, "Correct the file or restore it from its backup. Nothing was changed.")
            }
        }
    }
}

/// The next step for a state on a server that cannot be read.
const DAMAGED_REMOTE_STATE_REMEDY: &str = "The stored document was truncated, or another program wrote it. Nothing was changed. With the tools of the server, restore an earlier version of it, or replace it with a copy of the state: errored.tfstate in the directory of a run that could not store its state, or a state that was pulled. Then run any command in the directory of the latest run, which takes over the results in the journal of that run.";
