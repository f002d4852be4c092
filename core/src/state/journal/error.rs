//! Errors of keeping or reading a journal, by the step that resolves them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, Severity, to_sentence};

use super::JournalCopyError;
use crate::disk::locks::{NO_LOCKS_REMEDY, is_lock_unsupported_error};
use crate::messages;

/// Why something could not be kept.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// The machine did not do it.
    #[error("cannot {what} the journal {}: {source}", path.display())]
    Io {
        /// The step that failed.
        what: &'static str,
        /// The journal.
        path: PathBuf,
        /// Why not.
        source: Arc<io::Error>,
    },
    /// An earlier record could not be written, so nothing may be begun any more.
    #[error("an earlier failure has closed the journal {}", .0.display())]
    Broken(PathBuf),
    /// The first record cannot be read, and there is no state.
    #[error("the beginning of the journal {} cannot be read, and there is no state", .0.display())]
    Headless(PathBuf),
    /// A whole record has content that this program cannot read.
    #[error("record {number} of the journal {} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The journal.
        path: PathBuf,
        /// Number of the record.
        number: u64,
        /// Why not.
        reason: String,
    },
    /// A value cannot be encrypted or decrypted.
    #[error("the journal {} cannot be used: {reason}", path.display())]
    Sealed {
        /// The journal.
        path: PathBuf,
        /// The reason, with the key providers and methods that failed.
        reason: String,
    },
    /// The copy in the shared place failed.
    #[error(transparent)]
    Copy(#[from] JournalCopyError),
    /// The journal is of another state.
    #[error(
        "the journal {} belongs to the state of lineage {theirs:?}, not {ours:?}",
        path.display()
    )]
    OtherLineage {
        /// The journal.
        path: PathBuf,
        /// The lineage it names.
        theirs: String,
        /// The lineage of the state that is there.
        ours: String,
        /// A line for each object in the journal.
        objects: Vec<String>,
    },
    /// The state is not there that a run which was cut off began with.
    #[error(
        "the journal {} goes on from a state{}, and there is none",
        path.display(),
        read_from.as_ref().map(|file| format!(" in {}", file.display())).unwrap_or_default()
    )]
    NoBase {
        /// The journal.
        path: PathBuf,
        /// The file from which it was read, if it is not the one that the run writes.
        read_from: Option<PathBuf>,
        /// A line for each object in the journal.
        objects: Vec<String>,
    },
}

/// The next step after a value could not be decrypted.
const JOURNAL_DECRYPTION_REMEDY: &str = "It holds the results of an interrupted run, encrypted as the state. Configure the encryption of that run, with the former method as a fallback if it has changed, then run the command again. Nothing was changed.";

impl JournalError {
    pub(in crate::state) fn io_error(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source: Arc::new(source) }
    }

    /// Tells a reader whom it does not keep from anything.
    #[must_use]
    pub fn to_warning(&self) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..self.diagnostic() }
    }

    /// Describes the error and the step to take.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (summary, remedy) = match self {
            Self::Io { what: "lock", source, .. } if is_lock_unsupported_error(source) => {
                (messages::FAILED_TO_LOCK_JOURNAL, NO_LOCKS_REMEDY.to_owned())
            }
            Self::Io { what: "read" | "rename" | "remove" | "lock", .. } => (
                messages::FAILED_TO_TAKE_OVER_JOURNAL,
                "It holds what an earlier run did. Correct the permissions and run the command \
                 again."
                    .to_owned(),
            ),
            Self::Io { .. } | Self::Broken(_) => (
                messages::FAILED_TO_WRITE_JOURNAL,
                "Without it a crash could forget real objects, so nothing more is started. Free \
                 space or correct the permissions of the folder, then run the command again."
                    .to_owned(),
            ),
            Self::Sealed { .. } => (messages::FAILED_TO_DECRYPT_JOURNAL, JOURNAL_DECRYPTION_REMEDY.to_owned()),
            Self::Copy(JournalCopyError::Failed { doing: "read", .. }) => (
                messages::FAILED_TO_TAKE_OVER_JOURNAL,
                "It holds what earlier runs did, be it on another machine. Check the network, the \
                 credentials and the permissions, then run the command again. Nothing was changed."
                    .to_owned(),
            ),
            Self::Copy(JournalCopyError::Failed { .. }) => (
                messages::FAILED_TO_WRITE_JOURNAL,
                "Without it the loss of this machine could forget real objects, so nothing more is \
                 started. The journal on this machine has everything done until now. Check the \
                 network, then run the command again here: it takes over what the journal holds."
                    .to_owned(),
            ),
            Self::Copy(JournalCopyError::TakenOver { .. }) => (
                messages::ANOTHER_PROCESS_HAS_TAKEN_OVER_THIS_RUN,
                "It held the lock of the state, so this run must have lost it. Nothing more is \
                 started. The journal on this machine has what was done since, and the next \
                 command on this machine adds it."
                    .to_owned(),
            ),
            Self::Unreadable { .. } => (
                messages::JOURNAL_CANNOT_BE_READ,
                "It holds what an earlier run did, perhaps a run of another version of this program. \
                 Take it over with that version. Without it, the objects of that run are created a \
                 second time: import each of them after the journal was moved away. Nothing was \
                 changed."
                    .to_owned(),
            ),
            Self::Headless(path) => (
                messages::STATE_IS_MISSING,
                format!(
                    "An interrupted run wrote the journal, and what it began with is lost. Everything \
                     in the state would be created a second time without it. Copy the state back to \
                     its place, from a backup if need be. Only if none of its objects exist any more, \
                     remove {} and run the command again. Nothing was changed.",
                    path.display()
                ),
            ),
            Self::NoBase { path, objects, .. } => (
                messages::STATE_IS_MISSING,
                format!(
                    "A run was cut off that had a state to begin with. Everything in it would be \
                     created a second time without it. Copy it back to its place, from a backup if \
                     need be. Only if none of its objects exist any more, move {} away and run the \
                     command again. Nothing was changed.{}",
                    path.display(),
                    format_list("The journal has the results of the run", objects)
                ),
            ),
            Self::OtherLineage { path, objects, .. } => (
                messages::JOURNAL_BELONGS_TO_ANOTHER_STATE,
                format!(
                    "Another state file was put here after a run was cut off. Put the earlier one \
                     back. To go on with this one instead, move {} away and import the objects of the \
                     run, or they are created a second time. Nothing was changed.{}",
                    path.display(),
                    format_list("The journal has the results of the run", objects)
                ),
            ),
        };
        Diagnostic::error(summary, format!("{}\n\n{remedy}", to_sentence(self)))
            .blamed_on(Blame::Environment)
    }
}

/// A list with a title, behind a blank line; nothing if it has no lines.
fn format_list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n\n{title}:\n  {}", lines.join("\n  "))
}
