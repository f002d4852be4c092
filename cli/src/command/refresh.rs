//! `formwork refresh`: brings the state up to date with the real objects, without asking.

use super::apply::Purpose;
use crate::args::{ApplyArgs, RefreshArgs};
use crate::env::Env;
use crate::exit::Exit;

/// Runs the command: `apply -refresh-only -auto-approve`, but tells only the outputs.
pub(super) async fn run(args: &RefreshArgs, env: &Env) -> Exit {
    let mut operation = args.operation.clone();
    operation.refresh_only = true;
    // The reference takes these, and does the same without a word.
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
    super::apply::run(&args, env, Purpose::Refresh).await
}
