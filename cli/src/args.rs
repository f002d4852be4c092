//! Command line arguments. The doc comments are the help texts.

mod adopt;
mod complete;
mod examples;
mod fmt;
mod help;
mod manual;
mod page;
mod provider;
mod providers;
mod reference;
mod shared;
mod state;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

pub(crate) use adopt::{
    FindingArgs, ImportArgs, RecoverAdoptArgs, RecoverCommand, RecoverDecideArgs, RecoverListArgs,
    RecoverReviewArgs,
};
pub(crate) use complete::{AUTOCOMPLETE, Names};
pub(crate) use fmt::FmtArgs;
pub(crate) use provider::{
    ProviderCheckArgs, ProviderCommand, ProviderDocsArgs, ProviderNewArgs, ProviderPackageArgs,
    ProviderReplayArgs,
};
pub(crate) use providers::{
    ProvidersArgs, ProvidersCommand, ProvidersLockArgs, ProvidersMirrorArgs, ProvidersSchemaArgs,
};
pub(crate) use reference::{
    HelpArgs, HelpFormat, candidates, command_reference, completed_folder, help_text, manual_page,
    manual_pages,
};
pub(crate) use shared::{
    Backup, InitArgs, LockArgs, OperationArgs, StateArgs, StatePlace, VariableArgs, VariableSource,
    ViewArgs, at_once,
};
pub(crate) use state::{
    ForceUnlockArgs, StateCommand, StateListArgs, StateLogArgs, StateMvArgs, StatePushArgs,
    StateReplaceProviderArgs, StateRmArgs, StateShowArgs, TaintArgs, WorkspaceCommand,
    WorkspaceDeleteArgs, WorkspaceNewArgs, WorkspaceSelectArgs,
};

use crate::env::Env;
use crate::exit::Exit;
use crate::normalize;
use crate::view::report::Report;
use crate::view::{self, Screen};

/// Plans and applies infrastructure that is described in the Terraform language, with the same
/// providers.
#[derive(Debug, Parser)]
#[command(name = "formwork", disable_version_flag = true, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Go to this folder before anything else.
    #[arg(long, value_name = "DIR", global = false)]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Prepare the folder: find and install the providers it needs.
    Init(InitArgs),
    /// Install the modules that the configuration calls.
    Get(GetArgs),
    /// Check whether the configuration is valid.
    Validate(ValidateArgs),
    /// Show what has to change.
    Plan(PlanArgs),
    /// Make the changes.
    Apply(ApplyArgs),
    /// Destroy everything that is managed here.
    Destroy(ApplyArgs),
    /// Bring the state up to date with the real objects.
    Refresh(RefreshArgs),
    /// Show a state or a saved plan.
    Show(ShowArgs),
    /// Show output values.
    Output(OutputArgs),
    /// Try expressions against the configuration and the state.
    Console(ConsoleArgs),
    /// Look at the state, or change it without touching the real objects.
    #[command(subcommand)]
    State(StateCommand),
    /// Mark an instance as not fully functional, so that the next apply replaces it.
    Taint(TaintArgs),
    /// Take back the mark that `taint` or a failed creation has left.
    Untaint(TaintArgs),
    /// List, make, select and delete workspaces.
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// The old name of `workspace`.
    #[command(subcommand, hide = true)]
    Env(WorkspaceCommand),
    /// Release a lock whose holder is gone.
    ForceUnlock(ForceUnlockArgs),
    /// Take an object that is there already into the state.
    Import(ImportArgs),
    /// Settle what an interrupted run left open.
    #[command(subcommand)]
    Recover(RecoverCommand),
    /// Give configuration files their usual layout.
    Fmt(FmtArgs),
    /// Print the graph of a plan, for Graphviz.
    Graph(GraphArgs),
    /// Show the providers that the configuration needs.
    Providers(ProvidersArgs),
    /// Obtain a token of a host, and keep it for later commands.
    Login(HostArgs),
    /// Remove the token of a host that `login` has kept.
    Logout(HostArgs),
    /// Show the modules that the configuration calls.
    Modules(ModulesArgs),
    /// Say what the language has, for programs.
    #[command(subcommand)]
    Metadata(MetadataCommand),
    /// Help to write a provider.
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// Show the version.
    Version(VersionArgs),
    /// Show the help text of a command.
    Help(HelpArgs),
}

/// Arguments of `get`.
#[derive(Debug, clap::Args)]
pub(crate) struct GetArgs {
    /// Reinstall everything, in the newest versions that the configuration allows.
    #[arg(long)]
    pub(crate) update: bool,
    /// The folder of tests, in which mistakes are looked for. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
}

/// Arguments of `login` and `logout`.
#[derive(Debug, clap::Args)]
pub(crate) struct HostArgs {
    /// The host; without one, app.terraform.io.
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
}

/// Arguments of `modules`.
#[derive(Debug, clap::Args)]
pub(crate) struct ModulesArgs {
    /// Lock the content of the installed modules: write their hashes to .formwork.modules.lock.json, which
    /// `init` and `get` compare from then on.
    #[arg(long)]
    pub(crate) lock: bool,
    /// Print them as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not look at files of tests, whose names end in .tftest.hcl or .tftest.json.
    #[arg(long)]
    pub(crate) no_tests: bool,
    /// The folder with files of tests, below that of the configuration. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Write the plan to this file, for `apply`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write blocks for imported resources that have none to this new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) generate_config_out: Option<PathBuf>,
    /// End with 2 when there is something to apply, and 0 only when there is not.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `apply` and `destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// A saved plan to apply.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<PathBuf>,
    /// Do not ask before changing anything.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", value_name = "BOOL")]
    pub(crate) auto_approve: bool,
    /// Apply a saved plan that another user or machine made.
    #[arg(long)]
    pub(crate) allow_foreign_plan: bool,
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Arguments of `refresh`.
#[derive(Debug, clap::Args)]
pub(crate) struct RefreshArgs {
    /// Print what happens as JSON, one event a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Queries about the language.
#[derive(Debug, Subcommand)]
pub(crate) enum MetadataCommand {
    /// Print the signatures of all functions.
    Functions(MetadataFunctionsArgs),
}

/// Arguments of `metadata functions`.
#[derive(Debug, clap::Args)]
pub(crate) struct MetadataFunctionsArgs {
    /// Print them as JSON; there is no other form.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `console`.
#[derive(Debug, clap::Args)]
pub(crate) struct ConsoleArgs {
    /// Make a plan, and evaluate against what it plans instead of the state.
    #[arg(long)]
    pub(crate) plan: bool,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// A saved plan or a state file; without one, the state of this folder.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `output`.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// The output to show; without one, all.
    pub(crate) name: Option<String>,
    /// Print the value as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a string, number or bool as bare text.
    #[arg(long)]
    pub(crate) raw: bool,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Arguments of `graph`.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// Graph to print: `plan`, `plan-destroy`, `plan-refresh-only` or `apply`; without it, resources alone.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Draw what applying this saved plan would do.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Accepted for compatibility: a cycle is an error that names each of its edges.
    #[arg(long)]
    pub(crate) draw_cycles: bool,
    /// Accepted for compatibility, and without effect.
    #[arg(long, value_name = "N", hide = true, allow_negative_numbers = true)]
    pub(crate) module_depth: Option<i64>,
    /// Accepted for compatibility, and without effect.
    #[arg(long, hide = true)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Arguments of `version`.
#[derive(Debug, clap::Args)]
pub(crate) struct VersionArgs {
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Ignored, as in Terraform.
    #[arg(hide = true)]
    rest: Vec<String>,
}

/// Whether completion is to be set up, or that is to be taken back; `None` if neither was asked for.
/// Terraform has these options in the place of a command.
pub(crate) fn autocomplete() -> Option<bool> {
    let word = std::env::args().nth(1)?;
    let at = AUTOCOMPLETE.iter().position(|flag| word.replacen("--", "-", 1) == **flag)?;
    Some(at == 0)
}

/// Reads the command line, after the arguments that the environment adds. Help and mistakes are
/// shown here.
pub(crate) fn parse(env: &Env) -> Result<Cli, ExitCode> {
    let given: Vec<OsString> = std::env::args_os().collect();
    let mut command = description();
    let words = normalize::normalize(&command, given, &env.arguments).map_err(|name| {
        let what = "a quote is not closed, or nothing follows a backslash";
        view::fatal(&format!("The arguments in {name} cannot be read: {what}."))
    })?;
    let names: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed =
        command.clone().try_get_matches_from(words).and_then(|m| Cli::from_arg_matches(&m));
    if parsed.is_ok() {
        // Arguments may hold secrets, so the log has only the name of the command.
        let (_, name) = help::named(&command, &names);
        tracing::info!(version = env!("CARGO_PKG_VERSION"), command = name, "program started");
    }
    parsed.map_err(|error| {
        command.build();
        let (command, name) = help::named(&command, &names);
        let screen = Screen::of(env);
        match error.kind() {
            ErrorKind::DisplayHelp => {
                view::out(&help::text(command, &name, screen.width));
                view::told_all(Exit::Done)
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                view::err(&help::text(command, &name, screen.width));
                // As in Terraform without a command.
                ExitCode::from(if name.contains(' ') { 1 } else { 127 })
            }
            _ => {
                let (summary, detail) = help::complaint(&error, &name);
                let diagnostic = Diagnostic::error(summary, detail);
                if is_stream(&name, &names) {
                    let mut diags = Diagnostics::new();
                    let _ = diags.error(diagnostic);
                    Report::new(screen, true, false).failed(None, &diags);
                    return ExitCode::from(1);
                }
                view::err(&view::human::diagnostic::one(&screen, &Sources::new(), &diagnostic));
                view::err(&format!("\nMore about this command:\n  {name} -help\n"));
                ExitCode::from(1)
            }
        }
    })
}

/// Whether a command was asked for the JSON of all that happens: then mistakes are part of it.
fn is_stream(command: &str, words: &[String]) -> bool {
    let has_one = ["init", "plan", "apply", "destroy", "refresh"]
        .iter()
        .any(|name| command.ends_with(&format!(" {name}")));
    has_one && words.iter().any(|word| word == "--json")
}

/// The parser's description of all commands. The last occurrence of an option counts, so that the
/// command line overrides options from the environment.
fn description() -> clap::Command {
    fn last_option_wins(command: clap::Command) -> clap::Command {
        command.args_override_self(true).mut_subcommands(last_option_wins)
    }
    // Options that `refresh` accepts without effect are not listed.
    let inert = |arg: clap::Arg| {
        let hidden =
            ["destroy", "refresh_only", "refresh", "replace"].contains(&arg.get_id().as_str());
        if hidden { arg.hide(true) } else { arg }
    };
    // The mode of `destroy` is fixed, and a saved plan is applied by `apply`.
    let contrary = |arg: clap::Arg| {
        let hidden = ["destroy", "refresh_only", "replace", "plan", "allow_foreign_plan"]
            .contains(&arg.get_id().as_str());
        if hidden { arg.hide(true) } else { arg }
    };
    let cli = Cli::command()
        .mut_subcommand("refresh", |refresh| refresh.mut_args(inert))
        .mut_subcommand("destroy", |destroy| destroy.mut_args(contrary));
    last_option_wins(cli)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_option_that_is_given_twice_the_later_counts() {
        let words = [
            "formwork",
            "plan",
            "--out=a",
            "--json",
            "--json",
            "--out=b",
            "--target=x",
            "--target=y",
        ];
        let matches = description().try_get_matches_from(words).unwrap();
        let Command::Plan(args) = Cli::from_arg_matches(&matches).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((args.out, args.json), (Some("b".into()), true));
        assert_eq!(args.operation.target, ["x", "y"]);
    }

    #[test]
    fn every_command_takes_the_flags_about_how_things_are_shown() {
        for line in ["graph", "providers schema --json", "state pull", "version", "fmt"] {
            let words = format!("formwork {line} -no-color -compact-warnings");
            let words = words.split(' ').map(OsString::from).collect();
            let words = normalize::normalize(&description(), words, &Default::default()).unwrap();
            let matches = description().try_get_matches_from(words).unwrap();
            let view = Cli::from_arg_matches(&matches).unwrap().view;
            assert!(view.no_color && view.compact_warnings, "{line}");
        }
    }
}
