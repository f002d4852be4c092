//! Why a journal cannot be kept or read, by what is to be done about it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_value::Diagnostic;
use formwork_value::diag::Blame;

use crate::state::store::{NO_LOCKS, knows_no_locks, sentence};

/// Why something could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The machine did not do it.
    #[error("cannot {what} the journal {}: {source}", path.display())]
    Io {
        /// What was to be done.
        what: &'static str,
        /// The journal.
        path: PathBuf,
        /// Why not.
        source: Arc<io::Error>,
    },
    /// An earlier record could not be written, so nothing may be begun any more.
    #[error("an earlier failure has closed the journal {}", .0.display())]
    Broken(PathBuf),
    /// What stands in the journal makes no sense, though more follows.
    #[error("the journal {} is damaged at byte {offset}: {reason}", path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// Where.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
    /// A whole record says what this program cannot read.
    #[error("record {number} of the journal {} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The journal.
        path: PathBuf,
        /// Which record.
        number: u64,
        /// Why not.
        reason: String,
    },
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
    },
}

impl JournalError {
    pub(in crate::state) fn io(
        what: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source: Arc::new(source) }
    }

    /// Tells a reader whom it does not keep from anything.
    #[must_use]
    pub fn as_warning(&self) -> Diagnostic {
        let Diagnostic { summary, detail, .. } = self.diagnostic();
        Diagnostic::warning(summary, detail).blame(Blame::Environment)
    }

    /// Tells the reader what went wrong and what to do.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let (summary, remedy) = match self {
            Self::Io { what: "lock", source, .. } if knows_no_locks(source) => {
                ("Failed to lock the journal", NO_LOCKS)
            }
            Self::Io { what: "read" | "remove" | "lock", .. } => (
                "Failed to take over the journal",
                "It holds what an earlier run did. Correct the permissions and run the command \
                 again.",
            ),
            Self::Io { .. } | Self::Broken(_) => (
                "Failed to write the journal",
                "Without it a crash could forget real objects, so nothing more is started. Free \
                 space or correct the permissions of the folder, then run the command again.",
            ),
            Self::Damaged { .. } => (
                "Journal is damaged",
                "It holds what an earlier run did, and what stands behind the damage cannot be \
                 trusted. Compare the real objects with the state, then move the journal away to go \
                 on without it. Nothing was changed.",
            ),
            Self::Unreadable { .. } => (
                "Journal cannot be read",
                "It holds what an earlier run did, perhaps a run of another version of this program. \
                 Take it over with that version, or compare the real objects with the state and move \
                 the journal away to go on without it. It is kept as it is, and nothing was changed.",
            ),
            Self::NoBase { .. } => (
                "State is missing",
                "A run was cut off that had a state to begin with. Everything in it would be made a \
                 second time without it. Copy it back to its place, from a backup if need be; or, if \
                 nothing is left of what it held, move the journal away. Nothing was changed.",
            ),
            Self::OtherLineage { .. } => (
                "Journal belongs to another state",
                "Another state file was put here after a run was cut off. Put the earlier one back, \
                 or move the journal away to go on without it. Nothing was changed.",
            ),
        };
        Diagnostic::error(summary, format!("{}\n\n{remedy}", sentence(self)))
            .blame(Blame::Environment)
    }
}
