//! The content of a help text, independent of its form. All of it comes from the parser's description, so
//! help texts, manual pages and the command reference cannot differ.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Commands of the primary workflow. They are listed first, as in Terraform.
const MAIN_COMMANDS: [&str; 5] = ["init", "validate", "plan", "apply", "destroy"];

/// Commands for provider authors.
const AUTHORING_COMMANDS: [&str; 1] = ["provider"];

/// The example of a command, as stored in the parser's description: the rest of the line after the command
/// name, and its effect.
pub(crate) fn example(arguments: &str, effect: &str) -> StyledStr {
    format!("{arguments}\n{effect}").into()
}

/// An example of a command.
pub(super) struct CommandExample {
    /// The rest of the line after the command name.
    pub(super) arguments: String,
    pub(super) effect: String,
}

impl CommandExample {
    /// The example of a command, if it has one.
    pub(super) fn from_command(command: &Command) -> Option<Self> {
        let text = command.get_after_help()?.to_string();
        let (arguments, effect) = text.split_once('\n')?;
        Some(Self { arguments: arguments.to_owned(), effect: effect.to_owned() })
    }
}

/// The page of a command.
pub(super) struct HelpPage {
    /// The full name of the command, including the program name.
    pub(super) name: String,
    pub(super) usage: String,
    /// The description of the command.
    pub(super) description: String,
    pub(super) sections: Vec<HelpSection>,
    pub(super) example: Option<CommandExample>,
    /// Whether the command has subcommands.
    pub(super) is_group: bool,
}

/// A section of arguments, options or commands.
pub(super) struct HelpSection {
    pub(super) title: String,
    /// Name and description of each.
    pub(super) rows: Vec<(String, String)>,
}

impl HelpPage {
    /// The page of a command. `name` is its full name.
    pub(super) fn of(command: &Command, name: &str) -> Self {
        let is_root = !name.contains(' ');
        let description = command.get_long_about().or_else(|| command.get_about());
        let mut sections = command_sections(command, is_root);
        let positional = command.get_positionals().filter(|arg| !arg.is_hide_set());
        let rows = positional.map(|arg| (value_name(arg), help_summary(arg.get_help()))).collect();
        sections.push(HelpSection { title: "Arguments".to_owned(), rows });
        sections
            .extend(option_sections(command, if is_root { "Global options" } else { "Options" }));
        sections.retain(|section| !section.rows.is_empty());
        Self {
            name: name.to_owned(),
            usage: usage_line(command, name),
            description: description.map_or_else(String::new, |description| {
                format!("{}.", description.to_string().trim_end_matches('.'))
            }),
            sections,
            example: CommandExample::from_command(command),
            is_group: command.has_subcommands(),
        }
    }

    /// The example as a line for a shell.
    pub(super) fn example_line(&self) -> Option<(String, &str)> {
        let CommandExample { arguments, effect } = self.example.as_ref()?;
        Some((format!("{} {arguments}", self.name).trim_end().to_owned(), effect))
    }
}

fn usage_line(command: &Command, name: &str) -> String {
    let is_root = !name.contains(' ');
    let mut usage = name.to_owned();
    if is_root {
        usage.push_str(" [global options]");
    }
    match (command.has_subcommands(), command.is_subcommand_required_set()) {
        (true, true) => usage.push_str(" COMMAND"),
        (true, false) => usage.push_str(" [COMMAND]"),
        (false, _) => {}
    }
    if !is_root {
        usage.push_str(" [options]");
    }
    for arg in command.get_positionals().filter(|arg| !arg.is_hide_set()) {
        usage.push_str(&match arg.is_required_set() {
            true => format!(" {}", value_name(arg)),
            false => format!(" [{}]", value_name(arg)),
        });
    }
    usage
}

/// The subcommands of a command. Those of the program itself are in three groups.
fn command_sections(command: &Command, is_root: bool) -> Vec<HelpSection> {
    let groups: &[&str] = match is_root {
        true => &["Main commands", "All other commands", "Commands for provider authors"],
        false => &["Commands"],
    };
    let group_of = |name: &str| match name {
        _ if !is_root => 0,
        name if MAIN_COMMANDS.contains(&name) => 0,
        name if AUTHORING_COMMANDS.contains(&name) => 2,
        _ => 1,
    };
    let mut sections: Vec<HelpSection> = groups
        .iter()
        .map(|title| HelpSection { title: (*title).to_owned(), rows: Vec::new() })
        .collect();
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let row = (subcommand.get_name().to_owned(), help_summary(subcommand.get_about()));
        sections[group_of(subcommand.get_name())].rows.push(row);
    }
    if is_root && let Some(other_commands) = sections.get_mut(1) {
        other_commands.rows.sort();
    }
    sections
}

/// The options of a command, by heading. Options without a heading come first.
fn option_sections(command: &Command, title: &str) -> Vec<HelpSection> {
    let mut sections = vec![HelpSection { title: title.to_owned(), rows: Vec::new() }];
    let is_shown =
        |arg: &&Arg| arg.get_long().is_some() && arg.get_id() != "help" && !arg.is_hide_set();
    for arg in command.get_arguments().filter(is_shown) {
        let title = arg.get_help_heading().unwrap_or(title);
        let row = (
            flag_text(arg),
            format!("{}{}", help_summary(arg.get_help()), default_value_text(arg)),
        );
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.rows.push(row),
            None => sections.push(HelpSection { title: title.to_owned(), rows: vec![row] }),
        }
    }
    sections
}

fn help_summary(help: Option<&StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    if text.is_empty() { text } else { format!("{}.", text.trim_end_matches('.')) }
}

/// The default value of an option, for its help text. Switches have none: their help text describes the form
/// that changes the default.
fn default_value_text(arg: &Arg) -> String {
    match arg.get_default_values().first().map(|value| value.to_string_lossy()) {
        Some(default)
            if arg.get_action().takes_values() && default != "false" && default != "true" =>
        {
            format!(" Default: {default}.")
        }
        _ => String::new(),
    }
}

/// The name of an argument's value.
pub(super) fn value_name(arg: &Arg) -> String {
    let name = arg.get_value_names().and_then(|names| names.first());
    name.map_or_else(|| arg.get_id().as_str().to_uppercase(), ToString::to_string)
}

fn flag_text(arg: &Arg) -> String {
    let name = arg.get_long().unwrap_or_default();
    if !arg.get_action().takes_values() {
        return format!("-{name}");
    }
    match arg.get_default_values().first().map(|value| value.to_string_lossy()) {
        // A switch is shown in the form that changes its default.
        Some(default) if default == "true" => format!("-{name}=false"),
        Some(default) if default == "false" => format!("-{name}"),
        _ => format!("-{name}={}", value_name(arg)),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Command;

    use super::CommandExample;
    use crate::command::parser::parser_description;
    use crate::normalize::normalize_command_line;

    /// The names of all visible commands that can be run, each with its example.
    fn runnable(
        command: &Command,
        name: &str,
        commands: &mut Vec<(String, Option<CommandExample>)>,
    ) {
        if !command.is_subcommand_required_set() {
            commands.push((name.to_owned(), CommandExample::from_command(command)));
        }
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            runnable(subcommand, format!("{name} {}", subcommand.get_name()).trim(), commands);
        }
    }

    #[test]
    fn every_command_has_one_example_that_it_accepts() {
        let mut commands =
            vec![(String::new(), CommandExample::from_command(&parser_description()))];
        runnable(&parser_description(), "", &mut commands);
        assert!(commands.len() > 40);
        for (name, example) in commands {
            let Some(CommandExample { arguments, .. }) = example else {
                panic!("`formwork {name}` has no example");
            };
            let line = format!("formwork {name} {arguments}");
            let typed = line.split_whitespace().map(OsString::from).collect();
            let typed = normalize_command_line(&parser_description(), typed, &[].into()).unwrap();
            let parsed = parser_description().try_get_matches_from(typed);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
