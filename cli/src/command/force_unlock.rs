//! `formwork force-unlock`: releases a lock whose holder is gone. The lock on a local state ends with
//! the process that holds it, so there it is refused.

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::text_command::{confirm, run_text_command};
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::workspace::Workspace;

/// Release a lock whose holder is gone.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "4f2c1a9e-8f3b-1c55-9d0e-2f6a7b8c9d0e",
    "Release the lock with this ID."
))]
pub(crate) struct ForceUnlockArgs {
    /// The lock, as the message about it names it.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) id: String,
    /// Do not ask.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ForceUnlockArgs, env: &Env) -> Exit {
    let mut is_cancelled = false;
    let exit = run_text_command(env, async |diags, workspace| {
        let backend = workspace.root_module(diags)?.settings.backend;
        let config = workspace.backend_config(diags, backend.as_ref()).await?;
        workspace.check_lock_file_readable(diags)?;
        if config.is_local() {
            return Err(report_wrong_lock_id(diags, args));
        }
        let state_paths = StatePaths::default();
        let mut state = workspace.open_state(diags, backend.as_ref(), &state_paths).await?;
        if !args.force && !confirm_unlock(diags, workspace, &state.store.location())? {
            is_cancelled = true;
            return Ok("force-unlock cancelled.\n".to_owned());
        }
        let unlocked = state.store.force_unlock(&args.id).await;
        unlocked.map_err(|error| diags.error(error.diagnostic()))?;
        Ok("Formwork state has been successfully unlocked!\n\nThe state has been unlocked, and Formwork commands should now be able to\nobtain a new lock on the remote state.\n".to_owned())
    })
    .await;
    if is_cancelled { Exit::Failed } else { exit }
}

/// Asks whether the lock is to be released.
fn confirm_unlock(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    location: &str,
) -> Result<bool, Reported> {
    if !workspace.env.input {
        let detail =
            "The lock is released without a question if -force is given. Nothing was changed.";
        return Err(diags.error(Diagnostic::error(messages::CANNOT_ASK_WHETHER_TO_UNLOCK, detail)));
    }
    confirm(
        diags,
        &format!(
            "Do you really want to force-unlock?\n  Formwork will remove the lock on the state {location}.\n  This will allow local Formwork commands to modify this state, even though it\n  may still be in use. Only 'yes' will be accepted to confirm."
        ),
    )
}

fn report_wrong_lock_id(diags: &mut Diagnostics, args: &ForceUnlockArgs) -> Reported {
    let detail = format!(
        "The lock {} can only be given back by the process that holds it, and ends with that process at the latest. If a command says that the state is locked, its message names who holds it: wait for that, or end it.",
        args.id
    );
    let summary = messages::LOCAL_STATE_UNLOCK;
    diags.error(Diagnostic::error(summary, detail))
}
