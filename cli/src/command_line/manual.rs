//! The pages of commands as manual pages and as the command reference in Markdown.

use clap::Command;

use super::help_page::HelpPage;

/// The version in the manual pages.
const MANUAL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Visits the visible commands below a command, each after the one above it, with their full names.
pub(super) fn visit_commands<'c>(
    command: &'c Command,
    name: &str,
    visit: &mut dyn FnMut(&'c Command, &str),
) {
    visit(command, name);
    for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        visit_commands(one, &format!("{name} {}", one.get_name()), visit);
    }
}

/// The manual page of a command: its file name and its text in the format of `man`.
pub(super) fn man_page(command: &Command, name: &str) -> (String, String) {
    let page = HelpPage::of(command, name);
    let title = name.replace(' ', "-");
    let mut text = format!(
        ".TH \"{}\" 1 \"\" \"Formwork {MANUAL_VERSION}\"\n",
        escape_roff(&title.to_uppercase())
    );
    let line = page.about.split(". ").next().unwrap_or_default().trim_end_matches('.');
    text.push_str(&format!(".SH NAME\n{} \\- {}\n", escape_roff(&title), escape_roff(line)));
    text.push_str(&format!(".SH SYNOPSIS\n.B {}\n", escape_roff(&page.usage)));
    text.push_str(&format!(".SH DESCRIPTION\n{}\n", escape_roff(&page.about)));
    for section in &page.sections {
        text.push_str(&format!(".SH {}\n", escape_roff(&section.title.to_uppercase())));
        for (name, about) in &section.rows {
            text.push_str(&format!(".TP\n.B {}\n{}\n", escape_roff(name), escape_roff(about)));
        }
    }
    if let Some((line, effect)) = page.example_line() {
        text.push_str(&format!(
            ".SH EXAMPLE\n{}\n.PP\n.B {}\n",
            escape_roff(effect),
            escape_roff(&line)
        ));
    }
    if page.is_group {
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        let names =
            below.map(|one| format!("{}(1)", escape_roff(&format!("{title}-{}", one.get_name()))));
        text.push_str(&format!(".SH SEE ALSO\n{}\n", names.collect::<Vec<_>>().join(", ")));
    }
    (format!("{title}.1"), text)
}

/// Text that `man` shows as it is.
fn escape_roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    text.lines()
        .map(|line| match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}"),
            false => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The command reference.
pub(super) fn command_reference_markdown(root: &Command) -> String {
    let mut text = "# Commands\n\nWritten by `formwork help -format=markdown`; a test compares it with the program. Options are given as `-name`, `-name=value` or `-name value`.\n".to_owned();
    visit_commands(root, root.get_name(), &mut |command, name| {
        let page = HelpPage::of(command, name);
        text.push_str(&format!("\n## {name}\n\n{}\n", escape_markdown(&page.about)));
        text.push_str(&format!("\n```text\n{}\n```\n", page.usage));
        for section in &page.sections {
            text.push_str(&format!("\n**{}**\n\n", section.title));
            for (name, about) in &section.rows {
                text.push_str(&format!("- `{name}`: {}\n", escape_markdown(about)));
            }
        }
        if let Some((line, effect)) = page.example_line() {
            text.push_str(&format!("\n**Example**: {effect}\n\n```\n{line}\n```\n"));
        }
    });
    text
}

/// Text without characters that mean something in Markdown, except for quoted code.
fn escape_markdown(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => part.replace('<', "\\<").replace('*', "\\*").replace('_', "\\_"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use expect_test::{expect, expect_file};

    use super::*;
    use crate::command::parser::parser_description;
    use crate::command_line::help::find_command;

    #[test]
    fn a_manual_page_has_what_the_help_text_has() {
        let mut root = parser_description();
        root.build();
        let words = ["formwork", "show"].map(str::to_owned);
        let (command, name) = find_command(&root, &words);
        let (file, text) = man_page(command, &name);
        assert_eq!(file, "formwork-show.1");
        expect![[r#"
            .TH "FORMWORK\-SHOW" 1 "" "Formwork 0.1.0"
            .SH NAME
            formwork\-show \- Show a state or a saved plan
            .SH SYNOPSIS
            .B formwork show [options] [FILE]
            .SH DESCRIPTION
            Show a state or a saved plan.
            .SH ARGUMENTS
            .TP
            .B FILE
            A saved plan or a state file. Default: the current state.
            .SH OPTIONS
            .TP
            .B \-json
            Print it as JSON.
            .SH DISPLAY OPTIONS
            .TP
            .B \-no\-color
            Show no colour.
            .TP
            .B \-compact\-warnings
            Show each warning as one line, if there is no error.
            .SH EXAMPLE
            Print a saved plan as JSON.
            .PP
            .B formwork show \-json tfplan
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn the_command_reference_is_what_the_parser_knows() {
        expect_file!["../../../docs/commands.md"].assert_eq(
            &crate::command_line::command_reference(
                &crate::command::parser::built_parser_description(),
            ),
        );
    }

    /// The names of all commands without subcommands, as `state mv`.
    fn command_names(command: &Command, parents: &str) -> Vec<String> {
        let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        visible
            .flat_map(|sub| {
                let name = format!("{parents}{}", sub.get_name());
                let mut names = command_names(sub, &format!("{name} "));
                // `providers` has subcommands, and is a command as well.
                if names.is_empty() || !sub.is_subcommand_required_set() {
                    names.push(name);
                }
                names
            })
            .collect()
    }

    #[test]
    fn the_readme_and_the_threat_model_list_each_command() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = std::fs::read_to_string(root.join("docs/threat-model.md")).unwrap();
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let listed: Vec<&str> = rows
            .filter_map(|row| row.split('|').nth(1))
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .collect();
        let names = command_names(&parser_description(), "");
        assert!(names.contains(&"state mv".to_owned()) && names.len() > 40, "{names:?}");
        let missing: Vec<_> = names.iter().filter(|it| !listed.contains(&it.as_str())).collect();
        assert!(missing.is_empty(), "the table in docs/threat-model.md lacks {missing:?}");
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        let is_in_readme = |name: &&String| readme.contains(&format!("`{name}`"));
        let missing: Vec<_> =
            names.iter().filter(|it| !it.contains(' ') && !is_in_readme(it)).collect();
        assert!(missing.is_empty(), "README.md lacks {missing:?}");
        let is_command = |it: &&str| it.starts_with('-') || names.iter().any(|name| name == it);
        let unknown: Vec<_> = listed.iter().filter(|it| !is_command(it)).collect();
        assert!(unknown.is_empty(), "{unknown:?} are no commands");
    }

    /// The lines of code blocks that call the program, each with the document it is in.
    fn called() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let pages = std::fs::read_dir(root.join("docs")).unwrap().map(|page| page.unwrap().path());
        let mut lines = Vec::new();
        for page in pages.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name))) {
            let name = page.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            for line in text.split("```").skip(1).step_by(2).flat_map(str::lines) {
                if line.trim_start().starts_with("formwork ") {
                    lines.push((name.clone(), line.trim().to_owned()));
                }
            }
        }
        lines
    }

    /// The reason why a line of a document is no command that the program accepts.
    fn refusal(line: &str) -> Option<String> {
        // Usage lines, which name options and arguments.
        if line.contains('[') || line.ends_with(" COMMAND") {
            return None;
        }
        // Remarks, and words for the shell, are no words of the command.
        let words =
            line.split_whitespace().take_while(|word| !["#", "|", ">", "&&"].contains(word));
        let words: Vec<OsString> = words.map(OsString::from).collect();
        if words.get(1).is_some_and(|word| {
            crate::command_line::AUTOCOMPLETE_OPTIONS.iter().any(|flag| word == flag)
        }) {
            return None;
        }
        let words = match crate::normalize::normalize_command_line(
            &parser_description(),
            words,
            &[].into(),
        ) {
            Ok(words) => words,
            Err(variable) => return Some(variable),
        };
        let error = parser_description().try_get_matches_from(words).err()?;
        error.use_stderr().then(|| error.to_string())
    }

    #[test]
    fn every_command_of_the_documents_is_one_that_the_program_accepts() {
        let called = called();
        assert!(called.len() > 60, "{called:?}");
        let refused: Vec<String> = called
            .into_iter()
            .filter_map(|(page, line)| Some(format!("{page}: {line}: {}", refusal(&line)?)))
            .collect();
        assert!(refused.is_empty(), "{}", refused.join("\n"));
        assert!(refusal("formwork plan -bogus").is_some() && refusal("formwork plam").is_some());
    }

    #[test]
    fn lines_that_man_would_take_for_requests_are_shown() {
        assert_eq!(escape_roff(".a\n'b -c \\d"), "\\&.a\n\\&'b \\-c \\ed");
    }
}
