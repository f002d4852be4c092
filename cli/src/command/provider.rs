//! `formwork provider`: commands for provider development.

mod check;
mod check_inputs;
mod docs;
mod example;
mod package;
mod page;
mod scaffold;
mod signing;

use crate::args::ProviderCommand;
use crate::env::Env;
use crate::exit::Exit;

/// Runs the command.
pub(super) async fn run(command: ProviderCommand, env: &Env) -> Exit {
    match command {
        ProviderCommand::New(args) => scaffold::run(&args, env),
        ProviderCommand::Docs(args) => docs::run(&args, env).await,
        ProviderCommand::Package(args) => package::run(&args, env),
        ProviderCommand::Check(args) => check::run(&args, env).await,
        ProviderCommand::Replay(args) => check::replay_file(&args, env).await,
    }
}
