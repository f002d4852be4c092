//! `formwork state rm`: removes instances from the state without destroying the real objects.

use std::collections::BTreeSet;

use formwork_core::addr::{InstanceAddr, Target};
use formwork_core::state::edit::{matching_instances, remove_instance};
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::text_command::run_text_command;
use super::{EditOutcome, StateEdit, edit_state, report_bad_address};
use crate::command_line::{EditArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;

/// Remove instances from the state without destroying the real objects.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "aws_instance.web",
    "Remove a resource from the state without destroying its object."
))]
pub(crate) struct StateRmArgs {
    /// Instances, resources or modules to remove from the state.
    #[arg(value_name = "ADDRESS", required = true)]
    pub(crate) addresses: Vec<String>,
    /// List the objects that would be removed. Change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) edit: EditArgs,
}

/// Runs the command.
pub(super) async fn run(args: &StateRmArgs, env: &Env) -> Exit {
    run_text_command(env, async |diags, workspace| {
        workspace.check_required_versions(diags)?;
        let mut targets: Vec<Target> = Vec::new();
        for text in &args.addresses {
            targets.push(text.parse().map_err(|error| report_bad_address(diags, text, &error))?);
        }
        let editing = StateEdit {
            state_paths: args.edit.state_paths(),
            any_backend: true,
            lock: &args.edit.lock,
            operation: "state-rm",
            must_exist: true,
        };
        edit_state(diags, workspace, editing, |diags, locked| {
            remove_from_state(diags, args, locked, &targets)
        })
        .await
    })
    .await
}

fn remove_from_state(
    diags: &mut Diagnostics,
    args: &StateRmArgs,
    locked: &mut StateSession,
    targets: &[Target],
) -> Result<EditOutcome, Reported> {
    let state = &mut locked.file.state;
    let mut names_seen = BTreeSet::new();
    let instances: Vec<InstanceAddr> = targets
        .iter()
        .flat_map(|target| matching_instances(state, target))
        .filter(|addr| names_seen.insert(addr.clone()))
        .collect();
    if args.dry_run {
        let text: String = instances.iter().map(|addr| format!("Would remove {addr}\n")).collect();
        let no_removal_text = || "Would have removed nothing.\n".to_owned();
        return Ok(EditOutcome::Unchanged(if text.is_empty() { no_removal_text() } else { text }));
    }
    if instances.is_empty() {
        return Err(diags.error(Diagnostic::error(
            messages::INVALID_RM_TARGET,
            "No matching objects found. To view the available instances, use \"formwork state list\". Please modify the address to reference a specific instance.",
        )));
    }
    instances.iter().for_each(|addr| remove_instance(state, addr));
    locked.check_touches_no_unresolved(diags, |addr| {
        targets.iter().any(|target| target.contains(addr))
    })?;
    let mut text: String = instances.iter().map(|addr| format!("Removed {addr}\n")).collect();
    text.push_str(&format!("Successfully removed {} resource instance(s).\n", instances.len()));
    Ok(EditOutcome::Store(text))
}
