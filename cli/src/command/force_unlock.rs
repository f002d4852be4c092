//! `formwork force-unlock`: gives back a lock that nobody holds any more. There is never one: the lock
//! on a local state ends with the process that holds it.

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::told::told;
use crate::args::ForceUnlockArgs;
use crate::env::Env;
use crate::exit::Exit;

/// Runs the command.
pub(super) async fn run(args: &ForceUnlockArgs, env: &Env) -> Exit {
    told(env, async |diags, workspace| {
        let backend = workspace.backend(diags)?;
        // A backend we cannot work with is the better thing to complain about.
        workspace.workspaces(diags, backend.as_ref())?;
        Err(refuse(diags, args))
    })
    .await
}

fn refuse(diags: &mut Diagnostics, args: &ForceUnlockArgs) -> Reported {
    let detail = format!(
        "The lock {} can only be given back by the process that holds it, and ends with that process at the latest. If a command says that the state is locked, its message names who holds it: wait for that, or end it.",
        args.id
    );
    let summary = "Local state cannot be unlocked by another process";
    diags.error(Diagnostic::error(summary, detail))
}
