//! `formwork state push`: puts a state file in the place of the state.

use std::path::Path;

use formwork_backend::encryption::is_encrypted;
use formwork_core::disk::{MAX_STATE, read_named, read_stdin};
use formwork_core::state::edit::check_push;
use formwork_core::state::file::StateFile;
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::encryption;
use super::super::text_command::run_text_command;
use super::Editing;
use super::edit::open;
use crate::args::{StatePlace, StatePushArgs};
use crate::env::Env;
use crate::exit::Exit;
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &StatePushArgs, env: &Env) -> Exit {
    run_text_command(env, async |diags, workspace| {
        workspace.check_versions(diags)?;
        let new = read(diags, workspace, &args.path)?;
        let editing = Editing {
            place: StatePlace::default(),
            any_backend: false,
            lock: &args.lock,
            operation: "state-push",
            must_exist: false,
        };
        let mut locked = open(diags, workspace, &editing).await?;
        let pushed = push(diags, args, &mut locked, new).await;
        locked.close(diags).await;
        pushed.map(|()| String::new())
    })
    .await
}

fn read(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    path: &Path,
) -> Result<StateFile, Reported> {
    let read =
        if path == Path::new("-") { read_stdin(MAX_STATE) } else { read_named(path, MAX_STATE) };
    let name = path.display();
    let failed = |diags: &mut Diagnostics, error: &dyn std::fmt::Display| {
        let summary = format!("Error reading source state {:?}", name.to_string());
        diags.error(Diagnostic::error(summary, format!("{error}. Nothing was changed.")))
    };
    let text = read.map_err(|error| failed(diags, &error))?;
    if is_encrypted(&text) {
        encryption::of_folder(diags, workspace, &[])?;
    }
    workspace.state_cipher().read_named(&text).map_err(|error| failed(diags, &error))
}

async fn push(
    diags: &mut Diagnostics,
    args: &StatePushArgs,
    locked: &mut StateSession,
    mut new: StateFile,
) -> Result<(), Reported> {
    if locked.found && !args.force {
        check_push(&new, &locked.file).map_err(|error| {
            let detail = format!(
                "{error}. Nothing was changed. If the state to push is really the right one, use -force; the stored state is then kept as a backup."
            );
            diags.error(Diagnostic::error("Failed to write state", detail))
        })?;
    }
    locked.settled(diags, |_| !args.force)?;
    if locked.found {
        let stored = &locked.file;
        let is_same = new.has_content_of(stored);
        let is_current = (&new.lineage, new.serial) == (&stored.lineage, stored.serial);
        if is_same && is_current && !locked.has_taken_over() {
            return Ok(());
        }
        // As Terraform counts it: the stored state is one change further than the pushed one.
        if !is_same || (!is_current && locked.store.counts_metadata()) {
            new.serial += 1;
        }
    }
    locked.overwrite(diags, new).await
}
