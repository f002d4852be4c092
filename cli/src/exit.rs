//! Exit codes of commands.

use std::process::ExitCode;

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done,
    /// The command failed.
    Failed,
    /// `plan -detailed-exitcode`: the plan has changes.
    HasChanges,
    /// `provider check`: the provider could not be checked.
    CannotCheck,
    /// `fmt`: something cannot be formatted.
    CannotFormat,
    /// `fmt -check`: something is not formatted.
    NotFormatted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::HasChanges | Exit::CannotFormat | Exit::CannotCheck => Self::from(2),
            Exit::NotFormatted => Self::from(3),
        }
    }
}
