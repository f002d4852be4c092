//! `formwork provider`: commands for provider development.

mod check;
mod check_inputs;
mod docs;
mod example;
mod page;
mod scaffold;

use crate::args::ProviderCommand;
use crate::env::Env;
use crate::exit::Exit;

/// Runs the command.
pub(super) async fn run(command: ProviderCommand, env: &Env) -> Exit {
    match command {
        ProviderCommand::New(args) => scaffold::run(&args, env),
        ProviderCommand::Docs(args) => docs::run(&args, env).await,
        ProviderCommand::Check(args) => check::run(&args, env).await,
        ProviderCommand::Replay(args) => check::replay_file(&args, env).await,
    }
}
