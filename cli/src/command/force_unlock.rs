//! `formwork force-unlock`: releases a lock whose holder is no longer running. It is refused for a local
//! state, whose lock is released when the process that holds it ends.

use formwork_backend::{LockInfo, OpenState};
use formwork_core::state::operator::user_and_host;
use formwork_core::state::recover::{InterruptedRun, Recovery};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::text_command::{confirm, run_text_command};
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::{print_out, sanitize};
use crate::workspace::Workspace;

/// Release a lock whose holder is no longer running.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "4f2c1a9e-8f3b-1c55-9d0e-2f6a7b8c9d0e",
    "Release the lock with this ID."
))]
pub(crate) struct ForceUnlockArgs {
    /// The lock ID, from the message about the lock.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) id: String,
    /// Do not ask for confirmation.
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
        print_out(&leftovers_text(&mut state, &args.id).await);
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

/// Describes the open operations of the lock holder before the lock is released. Otherwise the objects that
/// it was creating could be forgotten.
async fn leftovers_text(state: &mut OpenState, id: &str) -> String {
    // Errors of these steps must not prevent the release of the lock: their results are only displayed.
    let holder = state.store.current_lock_holder().await.ok().flatten();
    let access = state.store.state_access();
    // An encrypted state cannot be read here, because this command has no keys.
    let recovered = match state.store.read().await {
        Ok(stored) => Some(state.intents.recover_runs(stored, access).await),
        Err(_) => None,
    };
    let text = match &recovered {
        Some(Ok(recovery)) if !recovery.is_empty() => describe_leftovers(recovery),
        Some(Err(error)) => {
            format!("The journals of interrupted runs cannot be read: {error}.\n\n")
        }
        _ => describe_journal_location(holder.as_ref().filter(|holder| holder.id == id)),
    };
    sanitize::sanitize_text(&text)
}

/// Describes the results and the open operations of interrupted runs.
fn describe_leftovers(recovery: &Recovery) -> String {
    let runs = recovery.runs.iter().map(InterruptedRun::describe_results);
    let open = recovery.unresolved.iter().filter(|operation| operation.decided.is_none());
    let open =
        open.map(|operation| operation.describe_operation("`formwork recover list` shows how"));
    let parts = runs.chain(open).map(|part| format!("{part}\n\n")).collect::<String>();
    format!("{parts}The next Formwork command recovers them. Terraform does not.\n\n")
}

/// Describes the location of the holder's journal if no open operations are recorded here.
fn describe_journal_location(holder: Option<&LockInfo>) -> String {
    let Some(holder) = holder else {
        return "No open operations of the lock holder are recorded here. If a Formwork run held the lock on another machine or in another directory, run the next command there: the journal of the run is there.\n\n".to_owned();
    };
    let host_of = |user: &str| user.rsplit_once('@').map_or("", |(_, host)| host).to_owned();
    let (host, own_host) = (host_of(&holder.who), host_of(&user_and_host()));
    let location = match host.as_str() {
        "" => "the directory in which it started",
        host if host == own_host => "another directory on this machine",
        host => host,
    };
    format!(
        "The lock is held by {}. No open operations of it are recorded here. If it is a Formwork run, its journal is in {location}: run the next command there to recover the run.\n\n",
        holder.describe_holder()
    )
}

/// Prompts for confirmation to release the lock.
fn confirm_unlock(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    location: &str,
) -> Result<bool, Reported> {
    if !workspace.env.input {
        let detail = "Use -force to release the lock without confirmation. Nothing was changed.";
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
        "The lock {} can be released only by the process that holds it, and is released when that process ends. If a command reports that the state is locked, its message names the holder: wait for that process, or terminate it.",
        args.id
    );
    let summary = messages::LOCAL_STATE_UNLOCK;
    diags.error(Diagnostic::error(summary, detail))
}

#[cfg(test)]
mod tests {
    use formwork_core::addr::{InstanceAddr, ProviderConfigAddr};
    use formwork_core::state::file::StateFile;
    use formwork_core::state::intent_log::{IntentLog as _, LocalIntentLog, StateAccess};
    use formwork_core::state::journal::{CallAction, Intent, RunHeader};
    use formwork_value::{Type, Value};

    use super::*;

    #[tokio::test]
    async fn open_operations_are_named_before_the_lock_is_broken() {
        let directory = tempfile::tempdir().unwrap();
        let intents = LocalIntentLog::in_dir(directory.path().join("journal"));
        let base = StateFile::new_empty();
        let header = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
        let journal = intents.begin_run(header).await.unwrap();
        let addr: InstanceAddr = "t.a".parse().unwrap();
        let provider: ProviderConfigAddr = "provider[\"example.com/acme/t\"]".parse().unwrap();
        let intent = Intent {
            addr: &addr,
            provider: &provider,
            deposed: None,
            deposes: None,
            action: CallAction::Create,
            prior: None,
            planned: &Value::Null(Type::Dynamic),
        };
        journal.announce_operation(intent).await.unwrap();
        drop(journal);
        let recovery = intents.recover_runs(None, StateAccess::Locked).await.unwrap();
        let text = describe_leftovers(&recovery);
        for part in ["A run (apply) that ", "t.a was being created", "The next Formwork command"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_machine_with_the_journal_is_named() {
        let lock_of = |holder: &str| LockInfo { who: holder.to_owned(), ..LockInfo::default() };
        let elsewhere = describe_journal_location(Some(&lock_of("ana@build-7")));
        assert!(elsewhere.contains("is in build-7: run the next command there"), "{elsewhere}");
        let location = describe_journal_location(Some(&lock_of(&user_and_host())));
        assert!(location.contains("another directory on this machine"), "{location}");
        assert!(describe_journal_location(None).contains("on another machine"));
    }
}
