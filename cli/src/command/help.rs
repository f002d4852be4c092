//! `formwork help`: prints help texts, manual pages and the command reference.

use std::path::{Path, PathBuf};

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::parser::built_parser_description;
use crate::command_line::{self, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{Screen, print_data, print_out};

/// Show the help text of a command.
#[derive(Debug, clap::Args)]
#[command(after_help = example("plan", "Show the options of `plan`."))]
pub(crate) struct HelpArgs {
    /// The command. Default: list all commands.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Output format: `text`, `man` for a manual page, or `markdown` for the command reference.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) format: HelpFormat,
    /// With -format=man, directory for the pages of the command and its subcommands.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Format of a help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HelpFormat {
    Text,
    Man,
    Markdown,
}

/// Runs the command.
pub(super) fn run(args: &HelpArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let result = match (args.format, &args.out) {
        (HelpFormat::Man, Some(directory)) => write_manual_pages(&mut diags, args, directory),
        (_, Some(_)) => {
            let detail = "-out names a directory for manual pages. It requires -format=man.";
            Err(diags.error(Diagnostic::error(messages::INVALID_COMBINATION_OF_OPTIONS, detail)))
        }
        (HelpFormat::Text, None) => {
            let width = Screen::of(env).width;
            command_line::command_help(
                &mut diags,
                &built_parser_description(),
                &args.command,
                width,
            )
            .map(|text| print_out(&text))
        }
        (HelpFormat::Man, None) => {
            command_line::manual_page(&mut diags, &built_parser_description(), &args.command)
                .map(|(_, text)| print_data(&text))
        }
        (HelpFormat::Markdown, None) => {
            print_data(&command_line::command_reference(&built_parser_description()));
            Ok(())
        }
    };
    match result {
        Ok(()) => Exit::Done,
        Err(Reported { .. }) => {
            let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
            report.report_diagnostics(&Sources::new(), &diags);
            Exit::Failed
        }
    }
}

/// Writes the manual pages of a command and its subcommands.
fn write_manual_pages(
    diags: &mut Diagnostics,
    args: &HelpArgs,
    directory: &Path,
) -> Result<(), Reported> {
    let pages = command_line::manual_pages(diags, &built_parser_description(), &args.command)?;
    let written = std::fs::create_dir_all(directory).and_then(|()| {
        pages.iter().try_for_each(|(name, text)| std::fs::write(directory.join(name), text))
    });
    written.map_err(|error| {
        let detail = format!("The pages cannot be written to {}: {error}.", directory.display());
        diags.error(Diagnostic::error(messages::UNABLE_TO_WRITE_MANUAL_PAGES, detail))
    })
}
