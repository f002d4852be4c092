//! `formwork state list`: lists the instances in the state.

use std::path::PathBuf;

use formwork_core::addr::{InstanceAddr, Target};
use formwork_core::state::State;
use formwork_core::state::edit::require_matching_instances;
use formwork_value::{Diagnostics, Reported};

use super::super::encryption;
use super::super::text_command::run_text_command;
use super::{read_existing_state, report_bad_address};
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;

/// List the instances in the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example("module.network", "List the instances of a module."))]
pub(crate) struct StateListArgs {
    /// List only these modules, resources or instances.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
    /// List only instances with this `id`.
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Runs the command.
pub(super) async fn run(args: &StateListArgs, env: &Env) -> Exit {
    run_text_command(env, async |diags, workspace| {
        let mut targets: Vec<Target> = Vec::new();
        for text in &args.addresses {
            targets.push(text.parse().map_err(|error| report_bad_address(diags, text, &error))?);
        }
        encryption::set_up_encryption_without_sealed(diags, workspace)?;
        let state_paths = StatePaths::from_state_path(args.state.as_ref());
        let state = read_existing_state(diags, workspace, &state_paths).await?;
        let instances = select_instances(diags, &state, &targets)?;
        let selected = instances.iter().filter(|addr| {
            args.id.as_ref().filter(|id| !id.is_empty()).is_none_or(|id| {
                let object = state.current_object(addr);
                object.is_some_and(|object| object.attributes.id_attribute().as_ref() == Some(id))
            })
        });
        Ok(selected.map(|addr| format!("{addr}\n")).collect())
    })
    .await
}

/// The instances of the targets, in their order; all instances without targets.
fn select_instances(
    diags: &mut Diagnostics,
    state: &State,
    targets: &[Target],
) -> Result<Vec<InstanceAddr>, Reported> {
    let mut selected = Vec::new();
    for target in targets {
        selected.extend(require_matching_instances(diags, state, target)?);
    }
    if targets.is_empty() {
        for (resource, instances) in &state.resources {
            selected
                .extend(instances.instances.keys().map(|key| resource.instance_addr(key.clone())));
        }
    }
    Ok(selected)
}
