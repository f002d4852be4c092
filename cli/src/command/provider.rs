//! `formwork provider`: commands for provider development.

mod check;
mod check_examples;
mod check_inputs;
mod docs;
mod package;
mod page;
mod scaffold;
mod signing;

use clap::Subcommand;

use crate::env::Env;
use crate::exit::Exit;

/// Tools for provider authors.
#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    New(scaffold::ProviderNewArgs),
    Docs(docs::ProviderDocsArgs),
    Check(Box<check::ProviderCheckArgs>),
    Package(package::ProviderPackageArgs),
    Replay(check::ProviderReplayArgs),
}

/// Runs the command.
pub(super) async fn run(command: ProviderCommand, env: &Env) -> Exit {
    match command {
        ProviderCommand::New(args) => scaffold::run(&args, env),
        ProviderCommand::Docs(args) => docs::run(&args, env).await,
        ProviderCommand::Package(args) => package::run(&args, env),
        ProviderCommand::Check(args) => check::run(&args, env).await,
        ProviderCommand::Replay(args) => check::run_replay(&args, env).await,
    }
}
