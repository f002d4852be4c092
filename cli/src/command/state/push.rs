//! `formwork state push`: replaces the state with a state file.

use std::path::{Path, PathBuf};

use formwork_backend::encryption::is_encrypted;
use formwork_core::disk::{MAX_STATE_LEN, read_stdin, read_user_file};
use formwork_core::state::edit::check_push;
use formwork_core::state::file::StateFile;
use formwork_operation::StateSession;
use formwork_operation::journal_checks::{check_no_misplaced_journals, check_no_unfinished_run};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::encryption;
use super::super::text_command::run_text_command;
use super::StateEdit;
use super::edit::lock_and_read_state;
use crate::command_line::{LockArgs, StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::workspace::Workspace;

/// Replace the state with a state file.
#[derive(Debug, clap::Args)]
#[command(after_help = example("restored.tfstate", "Replace the state with a state file."))]
pub(crate) struct StatePushArgs {
    /// The state file to push; `-` for standard input.
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Push the state even if it has another lineage or a lower serial.
    #[arg(long)]
    pub(crate) force: bool,
    /// Accepted for compatibility. Has no effect.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
}

/// Runs the command.
pub(super) async fn run(args: &StatePushArgs, env: &Env) -> Exit {
    run_text_command(env, async |diags, workspace| {
        workspace.check_required_versions(diags)?;
        if !args.force && args.path != Path::new("-") {
            check_no_unfinished_run(diags, &args.path).await?;
        }
        let new = read_pushed_state(diags, workspace, &args.path)?;
        if !args.force && args.path != Path::new("-") {
            let cipher = workspace.state_cipher();
            check_no_misplaced_journals(diags, &args.path, &new, &cipher)?;
        }
        let editing = StateEdit {
            state_paths: StatePaths::default(),
            any_backend: false,
            lock: &args.lock,
            operation: "state-push",
            must_exist: false,
        };
        let mut locked = lock_and_read_state(diags, workspace, &editing).await?;
        let pushed = push_state(diags, args, &mut locked, new).await;
        locked.unlock(diags).await;
        pushed.map(|()| String::new())
    })
    .await
}

fn read_pushed_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    path: &Path,
) -> Result<StateFile, Reported> {
    let read = if path == Path::new("-") {
        read_stdin(MAX_STATE_LEN)
    } else {
        read_user_file(path, MAX_STATE_LEN)
    };
    let name = path.display();
    let failed = |diags: &mut Diagnostics, error: &dyn std::fmt::Display| {
        let summary =
            messages::ERROR_READING_SOURCE_STATE.with(&[&format_args!("{:?}", name.to_string())]);
        diags.error(Diagnostic::error(summary, format!("{error}. Nothing was changed.")))
    };
    let text = read.map_err(|error| failed(diags, &error))?;
    if is_encrypted(&text) {
        encryption::load_dir_encryption(diags, workspace, &[])?;
    }
    workspace.state_cipher().parse_user_named_state(&text).map_err(|error| failed(diags, &error))
}

async fn push_state(
    diags: &mut Diagnostics,
    args: &StatePushArgs,
    locked: &mut StateSession,
    mut new: StateFile,
) -> Result<(), Reported> {
    if locked.found && !args.force {
        check_push(&new, &locked.file).map_err(|error| {
            let detail = format!(
                "{error}. Nothing was changed. If the pushed state is the intended one, use -force; the stored state is then kept as a backup."
            );
            diags.error(Diagnostic::error(messages::STATE_PUSH_REFUSED, detail))
        })?;
    }
    locked.check_touches_no_unresolved(diags, |_| !args.force)?;
    match args.force {
        true => locked.warn_of_misplaced_journals(diags),
        false => locked.refuse_if_journals_are_misplaced(diags)?,
    }
    if locked.found {
        let stored = &locked.file;
        let is_same = new.has_same_content(stored);
        let is_current = (&new.lineage, new.serial) == (&stored.lineage, stored.serial);
        if is_same && is_current && !locked.has_unstored_recovery() {
            return Ok(());
        }
        // As in Terraform, the serial of the stored state is one higher than that of the pushed one.
        if !is_same || (!is_current && locked.store.counts_metadata_as_change()) {
            new.serial += 1;
        }
    }
    locked.overwrite_stored_state(diags, new).await
}
