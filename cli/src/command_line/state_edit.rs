//! Options of the commands that edit the state in place.

use std::path::PathBuf;

use super::{BackupPath, LockArgs, StatePaths};
use crate::clock;

/// Options of the commands that edit the state in place.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "State options")]
pub(crate) struct EditArgs {
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// File for a backup of the state before it is overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) backup: Option<PathBuf>,
    /// Accepted for compatibility. Has no effect.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

impl EditArgs {
    /// Files of the state. The state is always backed up, to a new file unless an option specifies one.
    pub(crate) fn state_paths(&self) -> StatePaths {
        let seconds = clock::current_time().unix_timestamp();
        let backup = BackupPath::named_or_timestamped(self.backup.as_ref(), seconds);
        StatePaths { state: self.state.clone(), out: None, backup }
    }
}
