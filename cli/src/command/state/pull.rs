//! `formwork state pull`: prints the state file.

use formwork_core::state::file::StateFile;
use formwork_core::version::LANGUAGE_VERSION;
use formwork_value::{Diagnostics, Reported};

use super::super::output::stored_state_file;
use super::super::text_command::run_data_command;
use crate::command_line::StatePaths;
use crate::env::Env;
use crate::exit::Exit;
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(env: &Env) -> Exit {
    run_data_command(env, async |diags, workspace| {
        workspace.check_required_versions(diags)?;
        let file = match stored_state_file(diags, workspace, &StatePaths::default()).await? {
            Some(file) => Some(file),
            None => empty_remote_state(diags, workspace).await?,
        };
        let Some(mut file) = file else { return Ok(String::new()) };
        file.terraform_version = LANGUAGE_VERSION.to_string();
        Ok(format!("{}\n", String::from_utf8_lossy(&file.to_bytes())))
    })
    .await
}

/// Returns the state to print if none exists: Terraform prints nothing for a missing file, and an empty state
/// without a lineage for every other backend.
async fn empty_remote_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<Option<StateFile>, Reported> {
    let backend = workspace.root_module(diags)?.settings.backend;
    let is_local = workspace.backend_config(diags, backend.as_ref()).await?.is_local();
    Ok((!is_local).then(|| StateFile { lineage: String::new(), ..StateFile::new_empty() }))
}
