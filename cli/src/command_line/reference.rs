//! Help texts, manual pages and the command reference, all generated from the parser's description.

use clap::Command;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{help, manual};
use crate::messages;

/// The help text of a command, for a terminal of this width.
///
/// # Errors
/// Returns an error if the command does not exist.
pub(crate) fn command_help(
    diags: &mut Diagnostics,
    root: &Command,
    words: &[String],
    width: usize,
) -> Result<String, Reported> {
    let (command, name) = find_command(diags, root, words)?;
    Ok(help::help_text(command, &name, width))
}

/// The manual page of a command, with its file name.
///
/// # Errors
/// Returns an error if the command does not exist.
pub(crate) fn manual_page(
    diags: &mut Diagnostics,
    root: &Command,
    words: &[String],
) -> Result<(String, String), Reported> {
    let (command, name) = find_command(diags, root, words)?;
    Ok(manual::man_page(command, &name))
}

/// The manual pages of a command and of all commands below it.
///
/// # Errors
/// Returns an error if the command does not exist.
pub(crate) fn manual_pages(
    diags: &mut Diagnostics,
    root: &Command,
    words: &[String],
) -> Result<Vec<(String, String)>, Reported> {
    let (command, name) = find_command(diags, root, words)?;
    let mut pages = Vec::new();
    manual::visit_commands(command, &name, &mut |command, name| {
        pages.push(manual::man_page(command, name));
    });
    Ok(pages)
}

/// The command reference, in Markdown.
pub(crate) fn command_reference(root: &Command) -> String {
    manual::command_reference_markdown(root)
}

/// Finds the command that the words name, with its full name.
fn find_command<'c>(
    diags: &mut Diagnostics,
    root: &'c Command,
    words: &[String],
) -> Result<(&'c Command, String), Reported> {
    let line: Vec<String> =
        std::iter::once(root.get_name().to_owned()).chain(words.iter().cloned()).collect();
    let (command, name) = help::find_command(root, &line);
    if name.split(' ').count() == line.len() {
        return Ok((command, name));
    }
    let command_name = words.join(" ");
    let detail = if command.has_subcommands() {
        format!("`{name} -help` lists the commands.")
    } else {
        format!("`{name}` does not have subcommands. `{name} -help` describes it.")
    };
    Err(diags.error(Diagnostic::error(
        messages::NO_SUCH_COMMAND.with(&[&format_args!("{command_name:?}")]),
        detail,
    )))
}
