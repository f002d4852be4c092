//! Help texts, manual pages, the command reference and candidates for completion, all from the
//! description of the command line.

use std::path::PathBuf;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{Names, complete, description, help, manual};

/// Arguments of `help`.
#[derive(Debug, clap::Args)]
pub(crate) struct HelpArgs {
    /// The command; without one, the list of all commands.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Form of the text: `text`, `man` for a manual page, or `markdown` for the command reference.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text")]
    pub(crate) format: HelpFormat,
    /// With -format=man, a folder for the pages of the command and of all commands below it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Form of a help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HelpFormat {
    Text,
    Man,
    Markdown,
}

/// The candidates for the last word of a line, as a shell asks for them.
pub(crate) fn candidates(line: &str, names: &mut dyn FnMut(Names) -> Vec<String>) -> Vec<String> {
    complete::candidates(&described(), line, names)
}

/// The folder that the line of a shell goes to first.
pub(crate) fn completed_folder(line: &str) -> Option<PathBuf> {
    complete::folder(line)
}

/// The help text of a command, for a terminal of this width.
///
/// # Errors
/// When there is no such command.
pub(crate) fn help_text(
    diags: &mut Diagnostics,
    words: &[String],
    width: usize,
) -> Result<String, Reported> {
    let root = described();
    let (command, name) = wanted(diags, &root, words)?;
    Ok(help::text(command, &name, width))
}

/// The manual page of a command, with its file name.
///
/// # Errors
/// When there is no such command.
pub(crate) fn manual_page(
    diags: &mut Diagnostics,
    words: &[String],
) -> Result<(String, String), Reported> {
    let root = described();
    let (command, name) = wanted(diags, &root, words)?;
    Ok(manual::man(command, &name))
}

/// The manual pages of a command and of all commands below it.
///
/// # Errors
/// When there is no such command.
pub(crate) fn manual_pages(
    diags: &mut Diagnostics,
    words: &[String],
) -> Result<Vec<(String, String)>, Reported> {
    let root = described();
    let (command, name) = wanted(diags, &root, words)?;
    let mut pages = Vec::new();
    manual::walk(command, &name, &mut |command, name| pages.push(manual::man(command, name)));
    Ok(pages)
}

/// The command reference, in Markdown.
pub(crate) fn command_reference() -> String {
    manual::markdown(&described())
}

/// The description with all that the parser adds to it.
fn described() -> clap::Command {
    let mut command = description();
    command.build();
    command
}

/// The command of these words, with its full name.
fn wanted<'c>(
    diags: &mut Diagnostics,
    root: &'c clap::Command,
    words: &[String],
) -> Result<(&'c clap::Command, String), Reported> {
    let line: Vec<String> =
        std::iter::once(root.get_name().to_owned()).chain(words.iter().cloned()).collect();
    let (command, name) = help::named(root, &line);
    if name.split(' ').count() == line.len() {
        return Ok((command, name));
    }
    let given = words.join(" ");
    let detail = format!("`{name} -help` lists the commands.");
    Err(diags.error(Diagnostic::error(format!("Formwork has no command named {given:?}"), detail)))
}
