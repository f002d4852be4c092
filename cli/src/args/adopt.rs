//! Arguments of the commands that bring an existing object into the state.

use std::path::PathBuf;

use clap::{ArgAction, Subcommand};

use super::{StateArgs, VariableArgs, shared};

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The instance that the object is to belong to.
    #[arg(value_name = "ADDR")]
    pub(crate) address: String,
    /// ID by which the provider finds the object.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The folder of the configuration; the working folder unless given.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) finding: FindingArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Search for an object.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FindingArgs {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    /// Whether to ask for what is missing.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) input: bool,
    /// Number of operations that run at once; 0 selects the default.
    #[arg(long, value_name = "N", default_value = shared::DEFAULT_AT_ONCE, allow_negative_numbers = true)]
    pub(crate) parallelism: i64,
    /// Accepted for compatibility: there is no remote version to ignore.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
}

/// Settle the operations of an interrupted run.
#[derive(Debug, Subcommand)]
pub(crate) enum RecoverCommand {
    /// List the operations whose outcome is unknown.
    List(RecoverListArgs),
    /// Take an object into the state that an interrupted operation made.
    Adopt(RecoverAdoptArgs),
    /// Say that an operation is settled: the object is not there, or is not ours any more.
    Forget(RecoverDecideArgs),
    /// Say that an operation did nothing: the next apply does it again.
    Retry(RecoverDecideArgs),
    /// Decide about all open operations, one question each.
    Review(RecoverReviewArgs),
}

/// Arguments of `recover list`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverListArgs {
    /// Print them as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `recover adopt`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverAdoptArgs {
    /// The instance that was being created, or a pattern such as `module.a.*` for several.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: Option<String>,
    /// ID by which the provider finds the object. Not needed where the answer of the provider is known.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Adopt all objects of open operations whose id is known.
    #[arg(long, conflicts_with = "address")]
    pub(crate) all: bool,
    /// Adopt an object that differs from the plan.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) finding: FindingArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `recover forget` and `recover retry`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverDecideArgs {
    /// The instances, or patterns such as `module.a.*`.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
    /// Decide about all open operations.
    #[arg(long, conflicts_with = "addresses")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `recover review`.
#[derive(Debug, clap::Args)]
pub(crate) struct RecoverReviewArgs {
    #[command(flatten)]
    pub(crate) finding: FindingArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}
