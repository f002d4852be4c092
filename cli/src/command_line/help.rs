//! Help texts and command-line errors in Terraform's form: flags with one dash, values after an equals sign.
//! The content comes from the parser's description.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use formwork_value::diag::Summary;

use super::help_page::{HelpPage, HelpSection};
use crate::messages;
use crate::view::human::wrap::wrap_text;

/// Commands of Terraform that are not supported yet.
const UNSUPPORTED_COMMANDS: [&str; 1] = ["query"];

/// The column where the descriptions of commands and flags begin.
const DESCRIPTION_COLUMN: usize = 24;

/// The command that the words name, with its full name.
pub(crate) fn find_command<'c>(root: &'c Command, words: &[String]) -> (&'c Command, String) {
    let mut command = root;
    let mut name = root.get_name().to_owned();
    for word in words.iter().skip(1).filter(|word| !word.starts_with('-')) {
        let Some(next) = command.find_subcommand(word) else { break };
        command = next;
        name.push_str(&format!(" {word}"));
    }
    (command, name)
}

/// The help text of a command.
pub(crate) fn help_text(command: &Command, name: &str, width: usize) -> String {
    let page = HelpPage::of(command, name);
    let mut text = format!("Usage: {}\n\n", page.usage);
    for line in wrap_text(&page.description, width - 2) {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
    for HelpSection { title, rows } in &page.sections {
        write_section(&mut text, title, rows, width);
    }
    if let Some((line, effect)) = page.example_line() {
        text.push_str("\nExample:\n");
        for part in wrap_text(effect, width - 2) {
            text.push_str(&format!("  {part}\n"));
        }
        text.push_str(&format!("\n    {line}\n"));
    }
    if page.is_group {
        text.push_str(&format!("\nMore about a command: {name} COMMAND -help\n"));
    }
    text
}

fn write_section(text: &mut String, title: &str, rows: &[(String, String)], width: usize) {
    text.push_str(&format!("\n{title}:\n"));
    for (name, description) in rows {
        let lines = wrap_text(description, width.saturating_sub(DESCRIPTION_COLUMN).max(20));
        let mut start = format!("  {name}");
        if start.chars().count() + 2 > DESCRIPTION_COLUMN {
            text.push_str(&format!("{start}\n"));
            start.clear();
        }
        for line in lines {
            text.push_str(format!("{start:<DESCRIPTION_COLUMN$}{line}").trim_end());
            text.push('\n');
            start.clear();
        }
    }
}

/// The summary and detail of a command-line error.
pub(crate) fn command_line_error(error: &clap::Error, name: &str) -> (Summary, String) {
    let flags = messages::FAILED_TO_PARSE_COMMAND_LINE_FLAGS;
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command_error(error, name),
        ErrorKind::UnknownArgument => unknown_argument_error(error, name),
        ErrorKind::MissingRequiredArgument => missing_argument_error(error, name),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals => {
            let argument = first_in_context(error, ContextKind::InvalidArg).unwrap_or_default();
            let option = option_as_typed(&argument);
            let value = first_in_context(error, ContextKind::InvalidValue).unwrap_or_default();
            let detail = match value.is_empty() {
                true => format!("The option {option} requires a value."),
                false => format!("The option {option} cannot be {value:?}."),
            };
            (flags.into(), detail)
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            (flags.into(), line.replace("--", "-"))
        }
    }
}

fn unknown_command_error(error: &clap::Error, name: &str) -> (Summary, String) {
    let command = first_in_context(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    let command = match name.split_once(' ') {
        Some((_, group)) => format!("{group} {command}"),
        None => command,
    };
    let detail = if UNSUPPORTED_COMMANDS.contains(&command.as_str()) {
        "Terraform has this command. Formwork does not support it yet.".to_owned()
    } else {
        let hint = suggestion_hint(error, ContextKind::SuggestedSubcommand);
        format!("The command does not exist.{hint}")
    };
    (messages::NO_SUCH_COMMAND.with(&[&format_args!("{command:?}")]), detail)
}

fn unknown_argument_error(error: &clap::Error, name: &str) -> (Summary, String) {
    let argument = first_in_context(error, ContextKind::InvalidArg).unwrap_or_default();
    if !argument.starts_with('-') {
        let detail = format!("`{name}` does not accept the argument {argument:?}.");
        return (messages::TOO_MANY_COMMAND_LINE_ARGUMENTS.into(), detail);
    }
    let mut hint = suggestion_hint(error, ContextKind::SuggestedArg);
    if name.ends_with(" import") {
        // Terraform accepts every argument after the address as it is.
        hint.push_str(" If the ID starts with a dash, write -- and a space before it.");
    }
    let option = option_as_typed(&argument);
    let detail = format!("The option {option} does not exist for this command.{hint}");
    (messages::FAILED_TO_PARSE_COMMAND_LINE_FLAGS.into(), detail)
}

fn missing_argument_error(error: &clap::Error, name: &str) -> (Summary, String) {
    let arguments = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(arguments)) => arguments.clone(),
        _ => first_in_context(error, ContextKind::InvalidArg).into_iter().collect(),
    };
    // The parser writes `--name <VALUE>`.
    let as_in_help = |argument: &String| {
        let argument = argument.replacen("--", "-", 1).replace(" <", "=");
        argument.trim_end_matches("...").replace(['<', '>'], "")
    };
    let arguments: Vec<String> = arguments.iter().map(as_in_help).collect();
    let detail = format!("`{name}` requires {}.", arguments.join(" and "));
    (messages::TOO_FEW_COMMAND_LINE_ARGUMENTS.into(), detail)
}

/// Returns the first string that the parser attached to an error.
fn first_in_context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    }
}

/// Returns the name of an option without its value, with one dash.
fn option_as_typed(argument: &str) -> String {
    let option = argument.split([' ', '=', '[']).next().unwrap_or_default();
    // The parser defines every option with two dashes.
    if option.starts_with("--") { option.replacen("--", "-", 1) } else { option.to_owned() }
}

/// Returns a question about the most similar name, or an empty string if there is none.
fn suggestion_hint(error: &clap::Error, kind: ContextKind) -> String {
    // The last of several suggestions is the nearest.
    let nearest = match error.get(kind) {
        Some(ContextValue::Strings(names)) => names.last().cloned(),
        _ => first_in_context(error, kind),
    };
    nearest.map_or_else(String::new, |name| format!(" Did you mean {}?", option_as_typed(&name)))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::command::parser::parser_description;

    fn check(line: &str, expected: &Expect) {
        let words = line.split(' ').map(std::ffi::OsString::from).collect();
        let words =
            crate::normalize::normalize_command_line(&parser_description(), words, &[].into())
                .unwrap();
        let names: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut root = parser_description();
        root.build();
        let (command, name) = find_command(&root, &names);
        let error = parser_description().try_get_matches_from(words).unwrap_err();
        if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        {
            let (summary, detail) = command_line_error(&error, &name);
            expected.assert_eq(&format!("{summary}: {detail}"));
        } else {
            expected.assert_eq(&help_text(command, &name, 78));
        }
    }

    #[test]
    fn errors_quote_the_typed_words() {
        check(
            "formwork plan -bogus",
            &expect![
                "Failed to parse command-line flags: The option -bogus does not exist for this command."
            ],
        );
        check(
            "formwork plan -ou=x",
            &expect![
                "Failed to parse command-line flags: The option -ou does not exist for this command. Did you mean -out?"
            ],
        );
        check(
            "formwork provider package",
            &expect![
                "Too few command line arguments: `formwork provider package` requires -version=VERSION and PROGRAM."
            ],
        );
        check(
            "formwork plam",
            &expect![[
                r#"Formwork has no command named "plam": The command does not exist. Did you mean plan?"#
            ]],
        );
        check(
            "formwork workspace selct",
            &expect![[
                r#"Formwork has no command named "workspace selct": The command does not exist. Did you mean select?"#
            ]],
        );
        check(
            "formwork query",
            &expect![[
                r#"Formwork has no command named "query": Terraform has this command. Formwork does not support it yet."#
            ]],
        );
        check(
            "formwork state mv",
            &expect![
                "Too few command line arguments: `formwork state mv` requires SOURCE and DESTINATION."
            ],
        );
        check(
            "formwork plan x y",
            &expect![[
                r#"Too many command line arguments: `formwork plan` does not accept the argument "x"."#
            ]],
        );
        check(
            "formwork state show",
            &expect!["Too few command line arguments: `formwork state show` requires ADDRESS."],
        );
        check(
            "formwork plan -parallelism=many",
            &expect![[
                r#"Failed to parse command-line flags: The option -parallelism cannot be "many"."#
            ]],
        );
        check(
            "formwork plan -refresh=maybe",
            &expect![[
                r#"Failed to parse command-line flags: The option -refresh cannot be "maybe"."#
            ]],
        );
        check(
            "formwork plan -out",
            &expect!["Failed to parse command-line flags: The option -out requires a value."],
        );
    }

    #[test]
    fn help_shows_flags_with_one_dash() {
        check(
            "formwork show -help",
            &expect![[r#"
                Usage: formwork show [options] [FILE]

                  Show a state or a saved plan.

                Arguments:
                  FILE                  A saved plan or a state file. Default: the current
                                        state.

                Options:
                  -json                 Print it as JSON.

                Display options:
                  -no-color             Show no colour.
                  -compact-warnings     Show each warning as one line, if there is no error.

                Example:
                  Print a saved plan as JSON.

                    formwork show -json tfplan
            "#]],
        );
        check(
            "formwork state",
            &expect![[r#"
                Usage: formwork state COMMAND [options]

                  Inspect or change the state. Real objects are not affected.

                Commands:
                  list                  List the instances in the state.
                  log                   List the writes of the state, with the objects that
                                        each write changed.
                  mv                    Move an instance, a resource or a module to another
                                        address.
                  pull                  Print the state file.
                  push                  Replace the state with a state file.
                  replace-provider      Replace the provider of resources in the state.
                  rm                    Remove instances from the state without destroying the
                                        real objects.
                  show                  Show one instance in the state.

                Display options:
                  -no-color             Show no colour.
                  -compact-warnings     Show each warning as one line, if there is no error.

                More about a command: formwork state COMMAND -help
            "#]],
        );
    }
}
