//! `formwork refresh`: brings the state up to date with the real objects, without asking.

use super::apply::ApplyPurpose;
use crate::args::{ApplyArgs, RefreshArgs};
use crate::env::Env;
use crate::exit::Exit;

/// Runs the command: makes a normal plan, stores the state that it starts from, and prints the outputs.
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
