//! The commands, one per file. Each is a function of its arguments and the environment.

mod apply;
pub(crate) mod autocomplete;
mod backend;
mod config_errors;
mod console;
mod encryption;
mod explain;
mod fmt;
mod force_unlock;
mod from_module;
mod get;
mod graph;
mod help;
mod import;
mod init;
mod interrupt;
mod login;
mod metadata;
mod modules;
mod operation;
mod output;
pub(crate) mod parser;
mod plan;
mod planfile;
mod provider;
mod providers;
mod question;
mod recover;
mod refresh;
mod run_observer;
mod show;
mod state;
mod state_session;
mod store_wait;
mod taint;
mod test;
mod text_command;
mod validate;
mod variable_inputs;
mod version;
mod workspace;

use clap::Subcommand;
use formwork_core::state::ObjectStatus;
use formwork_value::Diagnostic;

use self::metadata::MetadataCommand;
use self::parser::Cli;

use crate::command_line::{InitArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view;

/// Command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prepare the working directory: set up the backend, and install modules and providers.
    #[command(after_help = example(
        "-upgrade",
        "Install the newest modules and providers that the constraints allow."
    ))]
    Init(InitArgs),
    Get(get::GetArgs),
    Validate(validate::ValidateArgs),
    Plan(plan::PlanArgs),
    /// Create or update infrastructure.
    #[command(after_help = example("tfplan", "Apply a saved plan."))]
    Apply(apply::ApplyArgs),
    /// Destroy all objects that this configuration manages.
    #[command(after_help = example(
        "-target=aws_instance.web",
        "Destroy one resource and the resources that depend on it."
    ))]
    Destroy(apply::ApplyArgs),
    Refresh(refresh::RefreshArgs),
    Show(show::ShowArgs),
    Output(output::OutputArgs),
    Console(console::ConsoleArgs),
    /// Inspect or change the state. Real objects are not affected.
    #[command(subcommand)]
    State(state::StateCommand),
    /// Mark an instance as tainted, so that the next apply replaces it.
    #[command(after_help = example("aws_instance.web", "Replace an instance in the next apply."))]
    Taint(taint::TaintArgs),
    /// Remove the tainted mark from an instance.
    #[command(after_help = example(
        "aws_instance.web",
        "Keep an instance that is marked for replacement."
    ))]
    Untaint(taint::TaintArgs),
    Test(test::TestArgs),
    /// List, create, select and delete workspaces.
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// The old name of `workspace`.
    #[command(subcommand, hide = true)]
    Env(workspace::WorkspaceCommand),
    ForceUnlock(force_unlock::ForceUnlockArgs),
    Import(import::ImportArgs),
    /// Settle the open operations of an interrupted run.
    #[command(subcommand)]
    Recover(recover::RecoverCommand),
    Fmt(fmt::FmtArgs),
    Graph(graph::GraphArgs),
    Providers(providers::ProvidersArgs),
    /// Obtain an API token of a host, and store it for later commands.
    #[command(after_help = example("app.example.com", "Obtain an API token of a registry and store it."))]
    Login(login::HostArgs),
    /// Remove the API token of a host that `login` stored.
    #[command(after_help = example("app.example.com", "Remove the stored token of a registry."))]
    Logout(login::HostArgs),
    Modules(modules::ModulesArgs),
    /// Print machine-readable descriptions of the language.
    #[command(subcommand)]
    Metadata(MetadataCommand),
    /// Create, check, document and package a provider.
    #[command(subcommand)]
    Provider(provider::ProviderCommand),
    Explain(explain::ExplainArgs),
    Version(version::VersionArgs),
    Help(help::HelpArgs),
}

/// Runs the command that the command line specifies.
pub(crate) async fn run(cli: Cli, env: &Env) -> Exit {
    formwork_backend::set_wait_reporter(store_wait::report_wait);
    if let Some(directory) = &cli.chdir
        && let Err(error) = std::env::set_current_dir(directory)
    {
        let detail = format!("The directory {} cannot be entered: {error}.", directory.display());
        view::print_diagnostic(&Diagnostic::error(messages::CHDIR_FAILED, detail));
        return Exit::Failed;
    }
    match cli.command {
        Command::Init(args) => init::run(&args, env).await,
        Command::Get(args) => get::run(&args, env),
        Command::Validate(args) => validate::run(&args, env).await,
        Command::Plan(args) => plan::run(&args, env).await,
        Command::Apply(args) => apply::run(&args, env, apply::ApplyPurpose::Apply).await,
        Command::Destroy(args) => apply::run(&args, env, apply::ApplyPurpose::Destroy).await,
        Command::Console(args) => console::run(&args, env).await,
        Command::Refresh(args) => refresh::run(&args, env).await,
        Command::Show(args) => show::run(&args, env).await,
        Command::Output(args) => output::run(&args, env).await,
        Command::State(command) => state::run(command, env).await,
        Command::Taint(args) => taint::run(&args, env, ObjectStatus::Tainted).await,
        Command::Untaint(args) => taint::run(&args, env, ObjectStatus::Ready).await,
        Command::Test(args) => test::run(&args, env).await,
        Command::Workspace(command) => workspace::run(command, env).await,
        Command::Env(command) => workspace::run_deprecated_env(command, env).await,
        Command::ForceUnlock(args) => force_unlock::run(&args, env).await,
        Command::Import(args) => import::run(&args, env).await,
        Command::Recover(command) => recover::run(command, env).await,
        Command::Fmt(args) => fmt::run(&args, env),
        Command::Graph(args) => graph::run(&args, env).await,
        Command::Metadata(MetadataCommand::Functions(args)) => metadata::print_functions(&args),
        Command::Providers(args) => providers::dispatch(args, env).await,
        Command::Login(args) => login::login(&args, env).await,
        Command::Logout(args) => login::logout(&args, env),
        Command::Provider(command) => provider::run(command, env).await,
        Command::Modules(args) => modules::run(&args, env),
        Command::Explain(args) => explain::run(&args, env),
        Command::Version(args) => version::run(&args, env),
        Command::Help(args) => help::run(&args, env),
    }
}
