//! `formwork state mv`: moves an instance, a resource or a module to another address, optionally in another
//! state file.

use std::path::{Path, PathBuf};

use formwork_core::addr::Target;
use formwork_core::disk::is_same_file;
use formwork_core::state::edit::{StateMove, StatesOfMove, plan_moves, put_objects, take_objects};
use formwork_operation::StateSession;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::super::text_command::run_text_command;
use super::edit::lock_and_read_state;
use super::{EditOutcome, StateEdit, edit_state, report_bad_address, report_no_state};
use crate::clock;
use crate::command_line::{BackupPath, StateArgs, StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::workspace::Workspace;

/// Move an instance, a resource or a module to another address.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "aws_instance.web aws_instance.app",
    "Rename a resource in the state."
))]
pub(crate) struct StateMvArgs {
    /// Current address.
    pub(crate) source: String,
    /// New address.
    pub(crate) destination: String,
    /// List the moves. Change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// File for a backup of the state that `-state-out` overwrites.
    #[arg(long, value_name = "FILE")]
    pub(crate) backup_out: Option<PathBuf>,
    /// Accepted for compatibility. Has no effect.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Runs the command.
pub(super) async fn run(args: &StateMvArgs, env: &Env) -> Exit {
    run_text_command(env, async |diags, workspace| {
        workspace.check_required_versions(diags)?;
        let mut parse = |text: &String| -> Result<Target, Reported> {
            text.parse().map_err(|error| report_bad_address(diags, text, &error))
        };
        let (from, to) = (parse(&args.source), parse(&args.destination));
        let addrs = MoveAddrs { from: &from?, to: &to? };
        check_backup_options(diags, workspace, args).await?;
        match destination_file(diags, workspace, args).await? {
            Some(out) => move_between_states(diags, workspace, args, addrs, out).await,
            None => {
                edit_state(diags, workspace, source_edit_options(args), |diags, locked| {
                    move_within_state(diags, args, locked, addrs)
                })
                .await
            }
        }
    })
    .await
}

/// Rejects backup options unless the corresponding state is a local file.
async fn check_backup_options(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &StateMvArgs,
) -> Result<(), Reported> {
    let is_file =
        |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str() != "-");
    let backups = [("-backup", &args.state.backup), ("-backup-out", &args.backup_out)];
    let options: Vec<&str> =
        backups.into_iter().filter(|(_, path)| is_file(path)).map(|(option, _)| option).collect();
    if options.is_empty() || args.state.state.is_some() {
        return Ok(());
    }
    let backend = workspace.root_module(diags)?.settings.backend;
    if workspace.backend_config(diags, backend.as_ref()).await?.is_local() {
        return Ok(());
    }
    let summary = messages::INVALID_BACKUP_OPTIONS.with(&[&options.join(", ")]);
    let detail = "Command line options -backup and -backup-out are legacy options that operate on a local state file only. You must specify a local state file with the -state option or switch to the local backend.";
    Err(diags.error(Diagnostic::error(summary, detail)))
}

/// The destination file, if it differs from the source file: a file cannot be locked twice. Neither state may
/// be the backup file of the other.
async fn destination_file<'a>(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &'a StateMvArgs,
) -> Result<Option<&'a Path>, Reported> {
    let Some(out) = args.state.state_out.as_deref() else { return Ok(None) };
    let source = match &args.state.state {
        Some(path) => Some(path.clone()),
        None => {
            let backend = workspace.root_module(diags)?.settings.backend;
            let config = workspace.backend_config(diags, backend.as_ref()).await?;
            let files = config.local_state_files(&workspace.root);
            files.map(|files| files.state_paths(&workspace.name()).state)
        }
    };
    if source.as_ref().is_some_and(|source| is_same_file(source, out)) {
        return Ok(None);
    }
    let names = |backup: &Option<PathBuf>, state: &Path| {
        backup.as_ref().is_some_and(|backup| is_same_file(backup, state))
    };
    let (option, file_kind) = if names(&args.state.backup, out) {
        ("-backup", "that receives the objects")
    } else if source.is_some_and(|source| names(&args.backup_out, &source)) {
        ("-backup-out", "that the objects are moved from")
    } else {
        return Ok(Some(out));
    };
    let detail = format!(
        "The file of {option} is the state {file_kind}. A backup of the other state would overwrite it. Specify another file. Nothing was changed."
    );
    let summary = messages::INVALID_BACKUP_OPTIONS.with(&[&option]);
    Err(diags.error(Diagnostic::error(summary, detail)))
}

/// The source state. It is always backed up.
fn source_edit_options(args: &StateMvArgs) -> StateEdit<'_> {
    let state_paths = StatePaths {
        state: args.state.state.clone(),
        out: None,
        backup: BackupPath::named_or_timestamped(
            args.state.backup.as_ref(),
            clock::current_time().unix_timestamp(),
        ),
    };
    StateEdit {
        state_paths,
        any_backend: true,
        lock: &args.state.lock,
        operation: "state-mv",
        must_exist: true,
    }
}

/// Addresses of the objects to move, before and after.
#[derive(Clone, Copy)]
struct MoveAddrs<'a> {
    from: &'a Target,
    to: &'a Target,
}

fn move_within_state(
    diags: &mut Diagnostics,
    args: &StateMvArgs,
    locked: &mut StateSession,
    addrs: MoveAddrs<'_>,
) -> Result<EditOutcome, Reported> {
    let state = &mut locked.file.state;
    let MoveAddrs { from, to } = addrs;
    let states = StatesOfMove { source: state, destination: state };
    let moves = plan_moves(diags, states, from, to)?;
    if args.dry_run {
        return Ok(EditOutcome::Unchanged(would_move_text(&moves)));
    }
    let moved = take_objects(state, &moves);
    put_objects(state, moved);
    locked.check_touches_no_unresolved(diags, |addr| {
        moves.iter().any(|instance_move| instance_move.involves_instance(addr))
    })?;
    Ok(EditOutcome::Store(moved_text(&moves)))
}

/// Moves objects from the current state to another one.
async fn move_between_states(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &StateMvArgs,
    addrs: MoveAddrs<'_>,
    out: &Path,
) -> Result<String, Reported> {
    let from = source_edit_options(args);
    let state_paths = StatePaths {
        state: Some(out.to_owned()),
        out: None,
        backup: BackupPath::named_or_timestamped(
            args.backup_out.as_ref(),
            clock::current_time().unix_timestamp(),
        ),
    };
    let to = StateEdit { state_paths, must_exist: false, ..source_edit_options(args) };
    let mut source = lock_and_read_state(diags, workspace, &from).await?;
    let mut destination = match lock_and_read_state(diags, workspace, &to).await {
        Ok(destination) => destination,
        Err(reported) => {
            source.unlock(diags).await;
            return Err(reported);
        }
    };
    let text = if source.found {
        let states = StatePair { source: &mut source, destination: &mut destination };
        transfer_instances(diags, args, states, addrs).await
    } else {
        Err(report_no_state(diags))
    };
    destination.unlock(diags).await;
    source.unlock(diags).await;
    text
}

/// Two states between which objects are moved.
struct StatePair<'a> {
    source: &'a mut StateSession,
    destination: &'a mut StateSession,
}

async fn transfer_instances(
    diags: &mut Diagnostics,
    args: &StateMvArgs,
    states: StatePair<'_>,
    addrs: MoveAddrs<'_>,
) -> Result<String, Reported> {
    let StatePair { source, destination } = states;
    let MoveAddrs { from, to } = addrs;
    let states = StatesOfMove { source: &source.file.state, destination: &destination.file.state };
    let moves = plan_moves(diags, states, from, to)?;
    if args.dry_run {
        return Ok(would_move_text(&moves));
    }
    let touches =
        |addr: &_| moves.iter().any(|instance_move| instance_move.involves_instance(addr));
    source.check_touches_no_unresolved(diags, touches)?;
    destination.check_touches_no_unresolved(diags, touches)?;
    source.refuse_if_journals_are_misplaced(diags)?;
    destination.refuse_if_journals_are_misplaced(diags)?;
    let moved = take_objects(&mut source.file.state, &moves);
    put_objects(&mut destination.file.state, moved);
    // The destination is written first: if the program is interrupted between the two writes, the objects are
    // in both states rather than in neither.
    destination.write_state_and_archive_journals(diags).await?;
    source.write_state_and_archive_journals(diags).await?;
    Ok(moved_text(&moves))
}

fn would_move_text(moves: &[StateMove]) -> String {
    moves.iter().map(|instance_move| format!("Would move {instance_move}\n")).collect()
}

fn moved_text(moves: &[StateMove]) -> String {
    let lines: String =
        moves.iter().map(|instance_move| format!("Move {instance_move}\n")).collect();
    format!("{lines}Successfully moved {} object(s).\n", moves.len())
}
