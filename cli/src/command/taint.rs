//! `formwork taint` and `formwork untaint`: mark an instance as tainted, or remove the mark.

use formwork_core::addr::{InstanceAddr, ResourceMode};
use formwork_core::state::ObjectStatus;
use formwork_core::state::edit::set_object_status;
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::state::{EditOutcome, StateEdit, edit_state, report_bad_address};
use super::text_command::run_text_command;
use crate::command_line::StateArgs;
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;

/// Arguments of `taint` and `untaint`.
#[derive(Debug, clap::Args)]
pub(crate) struct TaintArgs {
    /// Address of the instance.
    pub(crate) address: String,
    /// Succeed even if the instance does not exist.
    #[arg(long)]
    pub(crate) allow_missing: bool,
    /// Accepted for compatibility. Has no effect.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Runs the command.
pub(super) async fn run(args: &TaintArgs, env: &Env, status: ObjectStatus) -> Exit {
    run_text_command(env, async |diags, workspace| {
        // As in Terraform, `untaint` does not require a readable configuration.
        if status == ObjectStatus::Tainted {
            workspace.check_required_versions(diags)?;
        }
        let addr: InstanceAddr = args
            .address
            .parse()
            .map_err(|error| report_bad_address(diags, &args.address, &error))?;
        if status == ObjectStatus::Tainted && addr.resource.mode() != ResourceMode::Managed {
            let summary = messages::RESOURCE_INSTANCE_CANNOT_BE_TAINTED.with(&[&addr]);
            let detail =
                "Only a managed resource can be replaced. A data source is read in every run.";
            return Err(diags.error(Diagnostic::error(summary, detail)));
        }
        let editing = StateEdit {
            state_paths: args.state.state_paths(),
            any_backend: false,
            lock: &args.state.lock,
            operation: if status == ObjectStatus::Tainted { "taint" } else { "untaint" },
            must_exist: false,
        };
        edit_state(diags, workspace, editing, |diags, locked| {
            mark_instance(diags, locked, &addr, status, args.allow_missing)
        })
        .await
    })
    .await
}

fn mark_instance(
    diags: &mut Diagnostics,
    locked: &mut StateSession,
    addr: &InstanceAddr,
    status: ObjectStatus,
    allow_missing: bool,
) -> Result<EditOutcome, Reported> {
    let state = &mut locked.file.state;
    if allow_missing && state.instance_mut(addr).is_none() {
        let detail = format!(
            "Resource instance {addr} was not found, but this is not an error because -allow-missing was set."
        );
        diags.warn(Diagnostic::warning(messages::NO_SUCH_RESOURCE_INSTANCE, detail));
        return Ok(EditOutcome::Unchanged(String::new()));
    }
    set_object_status(diags, state, addr, status)?;
    locked.check_touches_no_unresolved(diags, |unresolved| unresolved == addr)?;
    Ok(EditOutcome::Store(match status {
        ObjectStatus::Tainted => format!("Resource instance {addr} has been marked as tainted.\n"),
        ObjectStatus::Ready => {
            format!("Resource instance {addr} has been successfully untainted.\n")
        }
    }))
}
