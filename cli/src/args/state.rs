//! Arguments of the commands that look at the state or change it without touching real objects.

use std::path::PathBuf;

use clap::Subcommand;

use super::{Backup, LockArgs, StateArgs, StatePlace};
use crate::clock;

/// Work with the state.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// List the instances in the state.
    List(StateListArgs),
    /// List the writes of the state, with the objects that each has changed.
    Log(StateLogArgs),
    /// Move an instance, a resource or a module to another address.
    Mv(StateMvArgs),
    /// Print the state file.
    Pull,
    /// Put a state file in the place of the state.
    Push(StatePushArgs),
    /// Hand the resources of one provider to another.
    ReplaceProvider(StateReplaceProviderArgs),
    /// Forget instances without destroying the real objects.
    Rm(StateRmArgs),
    /// Show one instance in the state.
    Show(StateShowArgs),
}

/// Arguments of `state list`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateListArgs {
    /// Only instances of these modules, resources or instances.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
    /// Only instances whose `id` is this.
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Arguments of `state log`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateLogArgs {
    /// Print JSON, one line for each write.
    #[arg(long)]
    pub(crate) json: bool,
    /// The number of writes, the latest ones.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
}

/// Arguments of `state show`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateShowArgs {
    /// The instance.
    pub(crate) address: String,
    /// Show the instance as it was: after the write with this serial, or at this time (RFC 3339).
    #[arg(long, value_name = "SERIAL|TIME")]
    pub(crate) at: Option<String>,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Arguments of `state mv`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateMvArgs {
    /// Address of the object to move.
    pub(crate) source: String,
    /// Its address afterwards.
    pub(crate) destination: String,
    /// Say what would be moved, and move nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// File for a copy of the state that `-state-out` overwrites.
    #[arg(long, value_name = "FILE")]
    pub(crate) backup_out: Option<PathBuf>,
    /// Accepted for compatibility: there is no remote version to ignore.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `state rm`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateRmArgs {
    /// Instances, resources or modules to remove from the state.
    #[arg(value_name = "ADDRESS", required = true)]
    pub(crate) addresses: Vec<String>,
    /// Say what would be forgotten, and forget nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

/// Arguments of `state replace-provider`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateReplaceProviderArgs {
    /// The provider that has the resources.
    #[arg(value_name = "FROM_PROVIDER")]
    pub(crate) from: String,
    /// The provider that shall have them.
    #[arg(value_name = "TO_PROVIDER")]
    pub(crate) to: String,
    /// Do not ask before changing anything.
    #[arg(long)]
    pub(crate) auto_approve: bool,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

/// Options of the commands that edit the state in place.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "State options")]
pub(crate) struct EditArgs {
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// File for a copy of the state that is overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) backup: Option<PathBuf>,
    /// Accepted for compatibility: there is no remote version to ignore.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

impl EditArgs {
    /// Files of the state. It is always backed up, to a new file unless an option names one.
    pub(crate) fn place(&self) -> StatePlace {
        let seconds = clock::now().unix_timestamp();
        let backup = Backup::always(self.backup.as_ref(), seconds);
        StatePlace { state: self.state.clone(), out: None, backup }
    }
}

/// Arguments of `state push`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatePushArgs {
    /// The state file to put there; `-` for what is given on stdin.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Put it there even if it belongs to another lineage or is older.
    #[arg(long)]
    pub(crate) force: bool,
    /// Accepted for compatibility: there is no remote version to ignore.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Arguments of `taint` and `untaint`.
#[derive(Debug, clap::Args)]
pub(crate) struct TaintArgs {
    /// The instance.
    pub(crate) address: String,
    /// End well even if there is no such instance.
    #[arg(long)]
    pub(crate) allow_missing: bool,
    /// Accepted for compatibility: there is no remote version to ignore.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `force-unlock`.
#[derive(Debug, clap::Args)]
pub(crate) struct ForceUnlockArgs {
    /// The lock, as the message about it names it.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) id: String,
    /// Do not ask.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Work with workspaces.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// Delete a workspace.
    Delete(WorkspaceDeleteArgs),
    /// List the workspaces.
    List,
    /// Make a workspace and select it.
    New(WorkspaceNewArgs),
    /// Select another workspace.
    Select(WorkspaceSelectArgs),
    /// Show the name of the selected workspace.
    Show,
}

/// Arguments of `workspace new`.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkspaceNewArgs {
    /// The name.
    pub(crate) name: String,
    /// Begin with a copy of this state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Arguments of `workspace select`.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkspaceSelectArgs {
    /// The name.
    pub(crate) name: String,
    /// Make the workspace if there is none of that name.
    #[arg(long)]
    pub(crate) or_create: bool,
}

/// Arguments of `workspace delete`.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkspaceDeleteArgs {
    /// The name.
    pub(crate) name: String,
    /// Delete it even if its state holds resources, which are then no longer managed.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}
