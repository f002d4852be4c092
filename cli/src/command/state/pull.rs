//! `formwork state pull`: prints the state file.

use formwork_core::version::LANGUAGE_VERSION;

use super::super::output::stored_state_file;
use super::super::text_command::run_data_command;
use crate::command_line::StatePaths;
use crate::env::Env;
use crate::exit::Exit;

/// Runs the command.
pub(super) async fn run(env: &Env) -> Exit {
    run_data_command(env, async |diags, workspace| {
        workspace.check_required_versions(diags)?;
        let Some(mut file) = stored_state_file(diags, workspace, &StatePaths::default()).await?
        else {
            return Ok(String::new());
        };
        file.terraform_version = LANGUAGE_VERSION.to_string();
        Ok(format!("{}\n", String::from_utf8_lossy(&file.to_bytes())))
    })
    .await
}
