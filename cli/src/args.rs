//! What can be said on the command line. The doc comments are the help texts.

mod shared;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use shared::{
    InitArgs, OperationArgs, StateArgs, VariableArgs, VariableSource, ViewArgs,
};

use crate::env::Env;
use crate::normalize;

/// Plans and applies infrastructure that is described in the Terraform language, with the same
/// providers.
#[derive(Debug, Parser)]
#[command(name = "formwork", disable_version_flag = true, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Go to this folder before anything else.
    #[arg(long, value_name = "DIR", global = false)]
    pub(crate) chdir: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prepare the folder: find and install the providers it needs.
    Init(InitArgs),
    /// Check whether the configuration is valid.
    Validate(ValidateArgs),
    /// Show what has to change.
    Plan(PlanArgs),
    /// Make the changes.
    Apply(ApplyArgs),
    /// Destroy everything that is managed here.
    Destroy(ApplyArgs),
    /// Bring the state up to date with the real objects.
    Refresh(RefreshArgs),
    /// Show a state or a saved plan.
    Show(ShowArgs),
    /// Show output values.
    Output(OutputArgs),
    /// Look at the state.
    #[command(subcommand)]
    State(StateCommand),
    /// Print the graph of a plan, for Graphviz.
    Graph(GraphArgs),
    /// Show the providers that the configuration needs.
    Providers(ProvidersArgs),
    /// Show the version.
    Version(VersionArgs),
}

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Accepted for compatibility: test files are not looked at.
    #[arg(long)]
    pub(crate) no_tests: bool,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Write the plan to this file, for `apply`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// End with 2 when there is something to apply, and 0 only when there is not.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Arguments of `apply` and `destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// A saved plan to apply.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<PathBuf>,
    /// Do not ask before changing anything.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", value_name = "BOOL")]
    pub(crate) auto_approve: bool,
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Arguments of `refresh`.
#[derive(Debug, clap::Args)]
pub(crate) struct RefreshArgs {
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// A saved plan or a state file; without one, the state of this folder.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Arguments of `output`.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// The output to show; without one, all.
    pub(crate) name: Option<String>,
    /// Print the value as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a string, number or bool as bare text.
    #[arg(long)]
    pub(crate) raw: bool,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// What to do with the state.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    /// List the instances in the state.
    List(StateListArgs),
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

/// Arguments of `state show`.
#[derive(Debug, clap::Args)]
pub(crate) struct StateShowArgs {
    /// The instance.
    pub(crate) address: String,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// Arguments of `graph`.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// Which graph: `plan`, `plan-destroy` or `plan-refresh-only`; without it, resources alone.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Arguments of `providers`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersArgs {
    /// More about providers.
    #[command(subcommand)]
    pub(crate) command: Option<ProvidersCommand>,
}

/// More about providers.
#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Print the schemas of all providers that the configuration needs.
    Schema(ProvidersSchemaArgs),
}

/// Arguments of `providers schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersSchemaArgs {
    /// Print them as JSON; there is no other form.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `version`.
#[derive(Debug, clap::Args)]
pub(crate) struct VersionArgs {
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the command line, after the arguments that the environment adds. Help and mistakes are
/// printed here.
pub(crate) fn parse(env: &Env) -> Result<Cli, ExitCode> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let command = Cli::command();
    let words = normalize::normalize(&command, given, &env.arguments);
    let parsed = command.try_get_matches_from(words).and_then(|m| Cli::from_arg_matches(&m));
    parsed.map_err(|error| {
        // Nothing can be done about a closed stdout or stderr.
        drop(error.print());
        if !error.use_stderr() {
            return ExitCode::SUCCESS;
        }
        match error.kind() {
            // As the reference does when it is called without anything.
            clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => ExitCode::from(127),
            _ => ExitCode::from(1),
        }
    })
}
