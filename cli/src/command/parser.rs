//! The command-line parser. The doc comments of commands and arguments are the help texts.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

use super::Command;
use crate::command_line::{
    AUTOCOMPLETE_OPTIONS, ViewArgs, command_line_error, example, find_command, help_text,
};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::normalize;
use crate::view::operation_report::OperationReport;
use crate::view::{self, Screen};

/// Plans and applies infrastructure that is described in the Terraform language, with Terraform providers.
#[derive(Debug, Parser)]
#[command(name = "formwork", disable_version_flag = true, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = example(
    "plan",
    "Show the changes that the current configuration requires."
))]
pub(crate) struct Cli {
    /// Change to this directory before executing the command.
    #[arg(long, value_name = "DIR", global = false)]
    pub(crate) chdir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Whether to set up or to remove completion; `None` if neither was requested. As in Terraform, these options
/// take the position of a command.
pub(crate) fn autocomplete_request() -> Option<bool> {
    let argument = std::env::args_os().nth(1)?.into_string().ok()?;
    let index =
        AUTOCOMPLETE_OPTIONS.iter().position(|flag| argument.replacen("--", "-", 1) == **flag)?;
    Some(index == 0)
}

/// Reads the command line, including arguments from the environment. Prints help and errors.
pub(crate) fn parse_command_line(env: &Env) -> Result<Cli, ExitCode> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let mut command = parser_description();
    let arguments =
        normalize::normalize_command_line(&command, typed, &env.arguments).map_err(|name| {
            let problem = "a quote is not closed, or the value ends with a backslash";
            let detail = format!("The arguments in {name} cannot be read: {problem}.");
            view::print_fatal(messages::UNREADABLE_ENVIRONMENT_ARGUMENTS, detail)
        })?;
    let names: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let parsed =
        command.clone().try_get_matches_from(arguments).and_then(|m| Cli::from_arg_matches(&m));
    if parsed.is_ok() {
        // Arguments may contain secrets, so only the command name is logged.
        let (_, name) = find_command(&command, &names);
        tracing::info!(version = env!("CARGO_PKG_VERSION"), command = name, "program started");
    }
    parsed.map_err(|error| {
        command.build();
        let (command, name) = find_command(&command, &names);
        let screen = Screen::of(env);
        match error.kind() {
            ErrorKind::DisplayHelp => {
                view::print_out(&help_text(command, &name, screen.width));
                view::exit_code(Exit::Done)
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                view::print_err(&help_text(command, &name, screen.width));
                // The exit code of Terraform without a command.
                ExitCode::from(if name.contains(' ') { 1 } else { 127 })
            }
            _ => {
                let (summary, detail) = command_line_error(&error, &name);
                let diagnostic = Diagnostic::error(summary, detail);
                if is_json_output_requested(&name, &names) {
                    let mut diags = Diagnostics::new();
                    let _ = diags.error(diagnostic);
                    OperationReport::new(screen, true, false).report_failure(None, &diags);
                    return ExitCode::from(1);
                }
                view::print_err(&view::human::diagnostic::render_one_diagnostic(
                    &screen,
                    &Sources::new(),
                    &diagnostic,
                ));
                view::print_err(&format!("\nMore about this command:\n  {name} -help\n"));
                ExitCode::from(1)
            }
        }
    })
}

/// Whether the command prints a stream of JSON events: then command-line errors are part of the stream.
fn is_json_output_requested(command: &str, arguments: &[String]) -> bool {
    let has_one = ["init", "plan", "apply", "destroy", "refresh"]
        .iter()
        .any(|name| command.ends_with(&format!(" {name}")));
    has_one && arguments.iter().any(|argument| argument == "--json")
}

/// The parser's description of all commands. The last occurrence of an option takes effect, so that the
/// command line overrides options from the environment.
pub(crate) fn parser_description() -> clap::Command {
    fn let_last_option_win(command: clap::Command) -> clap::Command {
        command.args_override_self(true).mut_subcommands(let_last_option_win)
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
    let_last_option_win(cli)
}

/// The description after the parser has built it.
pub(crate) fn built_parser_description() -> clap::Command {
    let mut command = parser_description();
    command.build();
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_occurrence_of_an_option_takes_effect() {
        let arguments = [
            "formwork",
            "plan",
            "--out=a",
            "--json",
            "--json",
            "--out=b",
            "--target=x",
            "--target=y",
        ];
        let matches = parser_description().try_get_matches_from(arguments).unwrap();
        let Command::Plan(args) = Cli::from_arg_matches(&matches).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((args.out, args.json), (Some("b".into()), true));
        assert_eq!(args.operation.target, ["x", "y"]);
    }

    #[test]
    fn every_command_accepts_the_display_options() {
        for line in ["graph", "providers schema --json", "state pull", "version", "fmt"] {
            let line_with_options = format!("formwork {line} -no-color -compact-warnings");
            let line_with_options = line_with_options.split(' ').map(OsString::from).collect();
            let line_with_options = normalize::normalize_command_line(
                &parser_description(),
                line_with_options,
                &Default::default(),
            )
            .unwrap();
            let matches = parser_description().try_get_matches_from(line_with_options).unwrap();
            let view = Cli::from_arg_matches(&matches).unwrap().view;
            assert!(view.no_color && view.compact_warnings, "{line}");
        }
    }
}
