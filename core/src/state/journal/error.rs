//! Errors of writing or reading a journal, by the step that resolves them. They name the journal's location
//! and a cause, for every kind of storage.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, Message, Severity, to_sentence};

use super::JournalCopyError;
use crate::disk::locks::{NO_LOCKS_REMEDY, is_lock_unsupported_error};
use crate::messages;

/// The error of a journal that could not be written or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// An operation on the storage of the journal failed.
    #[error("cannot {doing} the journal {location}: {cause}")]
    Failed {
        /// The step that failed.
        doing: &'static str,
        /// The journal.
        location: String,
        /// The cause.
        #[source]
        cause: Arc<dyn Error + Send + Sync>,
    },
    /// An earlier record could not be written, so nothing may be begun any more.
    #[error("an earlier failure has closed the journal {location}")]
    Broken {
        /// The journal.
        location: String,
    },
    /// The first record cannot be read, and no state exists.
    #[error("the beginning of the journal {location} cannot be read, and no state exists")]
    Headless {
        /// The journal.
        location: String,
    },
    /// A whole record has content that this program cannot read.
    #[error("record {number} of the journal {location} cannot be read: {reason}")]
    Unreadable {
        /// The journal.
        location: String,
        /// Number of the record.
        number: u64,
        /// The reason.
        reason: String,
    },
    /// A value cannot be encrypted or decrypted.
    #[error("the journal {location} cannot be used: {reason}")]
    Sealed {
        /// The journal.
        location: String,
        /// The reason, with the key providers and methods that failed.
        reason: String,
    },
    /// The copy in the shared store failed.
    #[error(transparent)]
    Copy(#[from] JournalCopyError),
    /// The journal is of another state.
    #[error("the journal {location} belongs to the state of lineage {theirs:?}, not {ours:?}")]
    OtherLineage {
        /// The journal.
        location: String,
        /// The lineage it names.
        theirs: String,
        /// The lineage of the stored state.
        ours: String,
        /// A line for each object in the journal.
        objects: Vec<String>,
    },
    /// The state with which an interrupted run began does not exist.
    #[error(
        "the journal {location} continues a state{} that does not exist",
        read_from.as_ref().map(|place| format!(" in {place}")).unwrap_or_default()
    )]
    NoBase {
        /// The journal.
        location: String,
        /// The location from which the state was read, if it is not the one that the run writes.
        read_from: Option<String>,
        /// A line for each object in the journal.
        objects: Vec<String>,
    },
}

/// The next step after a value could not be decrypted.
const JOURNAL_DECRYPTION_REMEDY: &str = "It contains the results of an interrupted run, encrypted like the state. Configure the encryption of that run, with the former method as a fallback if it has changed, then run the command again. Nothing was changed.";

impl JournalError {
    /// The error of a step on a journal in a file.
    pub fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let location = path.display().to_string();
        // Shared, because all tasks that wait for one request to the disk get its error.
        move |error| Self::Failed { doing, location, cause: Arc::new(error) }
    }

    /// The error as a warning, for a command that does not depend on the journal.
    #[must_use]
    pub fn to_warning(&self) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..self.diagnostic() }
    }

    /// Describes the error and the step to take.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (summary, remedy) = match self {
            Self::Failed { doing: "lock", cause, .. }
                if cause.downcast_ref::<io::Error>().is_some_and(is_lock_unsupported_error) =>
            {
                (messages::FAILED_TO_LOCK_JOURNAL, NO_LOCKS_REMEDY.to_owned())
            }
            Self::Failed { doing: "read" | "rename" | "remove" | "lock", .. } => (
                messages::FAILED_TO_TAKE_OVER_JOURNAL,
                "It contains the results of an earlier run. Correct the permissions and run the \
                 command again."
                    .to_owned(),
            ),
            Self::Failed { .. } | Self::Broken { .. } => (
                messages::FAILED_TO_WRITE_JOURNAL,
                "Without the journal, a crash could lose track of real objects, so no further \
                 operation is started. Free space or correct the permissions of the directory, \
                 then run the command again."
                    .to_owned(),
            ),
            Self::Sealed { .. } => (messages::FAILED_TO_DECRYPT_JOURNAL, JOURNAL_DECRYPTION_REMEDY.to_owned()),
            Self::Copy(error) => error.summary_and_remedy(),
            Self::Unreadable { .. } => (
                messages::JOURNAL_CANNOT_BE_READ,
                "It contains the results of an earlier run, perhaps of another version of this program. \
                 Run the command again with that version. Without the journal, the objects of that \
                 run are created a second time: to discard it, move it away and import each of them. \
                 Nothing was changed."
                    .to_owned(),
            ),
            Self::Headless { location } => (
                messages::STATE_IS_MISSING,
                format!(
                    "An interrupted run wrote the journal, and its first record is lost. Without the \
                     state, all of its objects would be created a second time. Restore the state to \
                     its location, if necessary from a backup. Only if none of its objects exist any more, \
                     delete {location} and run the command again. Nothing was changed."
                ),
            ),
            Self::NoBase { location, objects, .. } => (
                messages::STATE_IS_MISSING,
                format!(
                    "An interrupted run began with a state. Without that state, all of its objects \
                     would be created a second time. Restore it to its location, if necessary from a \
                     backup. Only if none of its objects exist any more, move {location} away and \
                     run the command again. Nothing was changed.{}",
                    format_list("The journal contains the results of the run", objects)
                ),
            ),
            Self::OtherLineage { location, objects, .. } => (
                messages::JOURNAL_BELONGS_TO_ANOTHER_STATE,
                format!(
                    "The state file was replaced by another one after a run was interrupted. Restore the \
                     earlier one. To continue with this one instead, move {location} away and import the \
                     objects of the run, or they are created a second time. Nothing was changed.{}",
                    format_list("The journal contains the results of the run", objects)
                ),
            ),
        };
        Diagnostic::error(summary, format!("{}\n\n{remedy}", to_sentence(self)))
            .blamed_on(Blame::Environment)
    }
}

impl JournalCopyError {
    fn summary_and_remedy(&self) -> (&'static Message, String) {
        match self {
            Self::Failed { doing: "read", .. } => (
                messages::FAILED_TO_TAKE_OVER_JOURNAL,
                "It contains the results of earlier runs, possibly on another machine. Check the network, the \
                 credentials and the permissions, then run the command again. Nothing was changed."
                    .to_owned(),
            ),
            Self::Failed { .. } => (
                messages::FAILED_TO_WRITE_JOURNAL,
                "Without it, real objects could be forgotten if this machine is lost, so no further \
                 operation is started. The journal on this machine contains all results so far. \
                 Check the network, then run the command again here to take over these results."
                    .to_owned(),
            ),
            Self::TakenOver { .. } => (
                messages::ANOTHER_PROCESS_HAS_TAKEN_OVER_THIS_RUN,
                "It held the lock of the state, so this run must have lost it. No further operation is \
                 started. The journal on this machine contains the results since then, and the next \
                 command on this machine adds them to the state."
                    .to_owned(),
            ),
            Self::MayGoOn { wait, .. } => (
                messages::ANOTHER_RUN_MAY_BE_GOING_ON,
                format!(
                    "The `backend` block has no lock that would show whether it is. Wait until the run \
                     has ended. If it was interrupted, run the command again in {} seconds to take \
                     over the results in the journal. With a lock in the block (use_lockfile = true \
                     of s3, lock_address of http), runs exclude each other. Nothing was changed.",
                    wait.as_secs() + 1
                ),
            ),
        }
    }
}

/// A list with a title, after a blank line; empty if it has no lines.
fn format_list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n\n{title}:\n  {}", lines.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_location_that_is_not_a_file_and_its_cause() {
        let cause: Box<dyn Error + Send + Sync> = "no route to the host".into();
        let location = "1 of the table of runs".to_owned();
        let error = JournalError::Failed { doing: "write", location, cause: cause.into() };
        let detail = error.diagnostic().detail;
        let named = "write the journal 1 of the table of runs: no route to the host";
        assert!(detail.contains(named), "{detail}");
        assert!(error.source().is_some_and(|cause| cause.to_string().contains("no route")));
    }
}
