//! `formwork state`: inspects or changes the state without affecting real objects. The engine's `state::edit`
//! defines the changes; this module handles the lock, the backup and the messages.

mod edit;
mod list;
mod log;
mod mv;
mod pull;
mod push;
mod replace_provider;
mod rm;
mod show;

use std::fmt::Display;

use clap::Subcommand;
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

pub(super) use edit::{EditOutcome, StateEdit, edit_state};
pub(super) use show::{ProvidedObject, render_object};

use super::output::stored_state_file;
use crate::command_line::{StatePaths, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::workspace::Workspace;

/// Work with the state.
#[derive(Debug, Subcommand)]
pub(crate) enum StateCommand {
    List(list::StateListArgs),
    Log(log::StateLogArgs),
    Mv(mv::StateMvArgs),
    /// Print the state file.
    #[command(after_help = example("", "Print the state, from any backend."))]
    Pull,
    Push(push::StatePushArgs),
    ReplaceProvider(replace_provider::StateReplaceProviderArgs),
    Rm(rm::StateRmArgs),
    Show(show::StateShowArgs),
}

/// Runs the command.
pub(super) async fn run(command: StateCommand, env: &Env) -> Exit {
    match command {
        StateCommand::List(args) => list::run(&args, env).await,
        StateCommand::Log(args) => log::run(&args, env).await,
        StateCommand::Mv(args) => mv::run(&args, env).await,
        StateCommand::Pull => pull::run(env).await,
        StateCommand::Push(args) => push::run(&args, env).await,
        StateCommand::ReplaceProvider(args) => replace_provider::run(&args, env).await,
        StateCommand::Rm(args) => rm::run(&args, env).await,
        StateCommand::Show(args) => show::run(&args, env).await,
    }
}

/// Reads the state without a lock. The state must exist.
async fn read_existing_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    state_paths: &StatePaths,
) -> Result<State, Reported> {
    match stored_state_file(diags, workspace, state_paths).await? {
        Some(file) => Ok(file.state),
        None => Err(report_no_state(diags)),
    }
}

fn report_no_state(diags: &mut Diagnostics) -> Reported {
    diags.error(Diagnostic::error(
        messages::NO_STATE_FILE,
        "State management commands require a state file. Run this command in a directory where Formwork has been run or use the -state flag to point the command to a specific state location.",
    ))
}

/// Reports that a string is not an address.
pub(super) fn report_bad_address(
    diags: &mut Diagnostics,
    text: &str,
    error: &dyn Display,
) -> Reported {
    let detail = format!("{text:?} is not an address: {error}");
    diags.error(Diagnostic::error(messages::ERROR_PARSING_INSTANCE_ADDRESS, detail))
}
