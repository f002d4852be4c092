//! `formwork refresh`: updates the state to match the real objects, without approval.

use super::apply::{ApplyArgs, ApplyPurpose};
use crate::command_line::{OperationArgs, StateArgs, VariableArgs, example};
use crate::env::Env;
use crate::exit::Exit;

/// Update the state to match the real objects.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-target=aws_instance.web",
    "Update one resource in the state."
))]
pub(crate) struct RefreshArgs {
    /// Print events as JSON, one per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Runs the command: creates a normal plan, stores the refreshed prior state, and prints the outputs.
pub(super) async fn run(args: &RefreshArgs, env: &Env) -> Exit {
    let mut operation = args.operation.clone();
    // Terraform accepts these options, and ignores them.
    operation.refresh_only = false;
    operation.destroy = false;
    operation.replace.clear();
    let args = ApplyArgs {
        plan: None,
        allow_foreign_plan: false,
        auto_approve: true,
        json: args.json,
        operation,
        variables: args.variables.clone(),
        state: args.state.clone(),
    };
    super::apply::run(&args, env, ApplyPurpose::Refresh).await
}
