//! Completion candidates for a command line. Pure: options and commands come from the parser's description,
//! names of the working directory from a function.

use std::path::PathBuf;

use clap::{Arg, Command};

use super::help_page::value_name;

/// The kind of names that complete an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompletionNameKind {
    /// Addresses of resources, instances and modules.
    Addresses,
    /// Workspaces.
    Workspaces,
    /// Output values.
    Outputs,
    /// Input variables.
    Variables,
}

/// Options that are handled before the command line is parsed.
pub(crate) const AUTOCOMPLETE_OPTIONS: [&str; 2] =
    ["-install-autocomplete", "-uninstall-autocomplete"];

/// The candidates for the last word of a line, in order. Empty if file names are expected.
pub(crate) fn completion_candidates(
    root: &Command,
    line: &str,
    names: &mut dyn FnMut(CompletionNameKind) -> Vec<String>,
) -> Vec<String> {
    let mut words = split_words(line);
    let last = words.pop().unwrap_or_default();
    let context = CompletionContext::of(root, &words);
    let mut candidates = match (context.option, last.split_once('=')) {
        (Some(option), _) => argument_candidates(context.command_path(), option, names),
        (None, Some((flag, _))) if flag.starts_with('-') => {
            let option = context.find_option(flag);
            let values =
                option.map(|option| argument_candidates(context.command_path(), option, names));
            values.into_iter().flatten().map(|value| format!("{flag}={value}")).collect()
        }
        (None, _) if last.starts_with('-') => context.option_candidates(),
        (None, _) => context.candidates(names),
    };
    candidates.retain(|candidate| candidate.starts_with(&last));
    candidates.sort();
    candidates.dedup();
    candidates
}

/// The directory of the `-chdir` option in a line.
pub(crate) fn chdir_dir_of_line(line: &str) -> Option<PathBuf> {
    let words = split_words(line);
    let mut options = words.iter().skip(1).take_while(|word| word.starts_with('-'));
    let option = options.find_map(|word| word.trim_start_matches('-').strip_prefix("chdir="))?;
    Some(PathBuf::from(option))
}

/// Splits a line as a shell would. The last word is empty after a space. A quote may be open. Variable
/// assignments before the command are omitted.
fn split_words(line: &str) -> Vec<String> {
    let mut words = split_all_words(line);
    let sets = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_variable_name(name));
    let n_set = words.iter().take_while(|word| sets(word)).count();
    words.drain(..n_set);
    words
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn split_all_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let word = words.last_mut().expect("the list begins with a word and only grows");
        match (character, quote) {
            ('\\', None | Some('"')) => word.extend(characters.next()),
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(character),
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(String::new());
                }
            }
            (c, _) => word.push(c),
        }
    }
    words
}

/// The context of the last word in a line.
struct CompletionContext<'c> {
    root: &'c Command,
    command: &'c Command,
    /// The names of the command and its parent commands, without the program.
    names: Vec<&'c str>,
    /// The number of positional arguments before the word.
    n_arguments: usize,
    /// The option whose value is the last word.
    option: Option<&'c Arg>,
    /// The topic of `help`, as far as it is typed.
    topic: Option<&'c Command>,
}

impl<'c> CompletionContext<'c> {
    fn of(root: &'c Command, words: &[String]) -> Self {
        let (names, topic) = (Vec::new(), None);
        let mut context = Self { root, command: root, names, n_arguments: 0, option: None, topic };
        for word in words.iter().skip(1) {
            if context.option.take().is_some() {
                continue;
            }
            if word.starts_with('-') {
                let option = context.find_option(word).filter(|_| !word.contains('='));
                context.option = option.filter(|option| {
                    option.get_action().takes_values() && !option.is_require_equals_set()
                });
                continue;
            }
            match context.command.find_subcommand(word).filter(|_| context.n_arguments == 0) {
                Some(next) => {
                    context.command = next;
                    context.names.push(next.get_name());
                    context.topic = (context.names == ["help"]).then_some(root);
                }
                None => {
                    context.n_arguments += 1;
                    context.topic = context.topic.and_then(|topic| topic.find_subcommand(word));
                }
            }
        }
        context
    }

    fn command_path(&self) -> &[&'c str] {
        &self.names
    }

    /// All options of the command that are not hidden.
    fn visible_options(&self) -> impl Iterator<Item = &'c Arg> {
        let global = self.root.get_arguments().filter(|arg| arg.is_global_set());
        self.command.get_arguments().chain(global).filter(|arg| !arg.is_hide_set())
    }

    fn find_option(&self, flag: &str) -> Option<&'c Arg> {
        let name = flag.trim_start_matches('-');
        self.visible_options().find(|arg| arg.get_long() == Some(name))
    }

    fn option_candidates(&self) -> Vec<String> {
        let mut options: Vec<String> = self
            .visible_options()
            .filter_map(|arg| {
                let name = arg.get_long()?;
                let equals = arg.get_action().takes_values() && arg.is_require_equals_set();
                let is_on = arg.get_default_values().first().is_some_and(|value| value == "true");
                Some(if equals && is_on { format!("-{name}=false") } else { format!("-{name}") })
            })
            .collect();
        options.push("-help".to_owned());
        if self.names.is_empty() {
            options.extend(AUTOCOMPLETE_OPTIONS.map(str::to_owned));
            options.push("-version".to_owned());
        }
        options
    }

    /// The subcommands, or the values of the next argument.
    fn candidates(&self, names: &mut dyn FnMut(CompletionNameKind) -> Vec<String>) -> Vec<String> {
        let command = match self.n_arguments {
            0 => Some(self.topic.unwrap_or(self.command)),
            _ => self.topic,
        };
        let subcommands = command.into_iter().flat_map(Command::get_subcommands);
        let subcommands = subcommands.filter(|subcommand| !subcommand.is_hide_set());
        let mut candidates_of_command: Vec<String> =
            subcommands.map(|subcommand| subcommand.get_name().to_owned()).collect();
        let mut positional = self.command.get_positionals();
        let several = |arg: &&Arg| arg.get_num_args().is_some_and(|n| n.max_values() > 1);
        let next = positional.nth(self.n_arguments);
        let next = next.or_else(|| self.command.get_positionals().last().filter(several));
        if let Some(arg) = next {
            candidates_of_command.extend(argument_candidates(self.command_path(), arg, names));
        }
        candidates_of_command
    }
}

/// The known values of an argument.
fn argument_candidates(
    command: &[&str],
    arg: &Arg,
    names: &mut dyn FnMut(CompletionNameKind) -> Vec<String>,
) -> Vec<String> {
    if arg.is_require_equals_set() && arg.get_value_names().is_some_and(|it| it[0] == "BOOL") {
        return vec!["false".to_owned(), "true".to_owned()];
    }
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        return possible.iter().map(|value| value.get_name().to_owned()).collect();
    }
    match (command, &*value_name(arg)) {
        (_, "ADDRESS" | "ADDR" | "SOURCE") if command != ["init"] => {
            names(CompletionNameKind::Addresses)
        }
        (["workspace", "select" | "delete"], _) if arg.is_positional() => {
            names(CompletionNameKind::Workspaces)
        }
        (["output"], "NAME") => names(CompletionNameKind::Outputs),
        (_, "NAME=VALUE") => names(CompletionNameKind::Variables)
            .into_iter()
            .map(|name| format!("{name}="))
            .collect(),
        (["graph"], "TYPE") => {
            ["plan", "plan-destroy", "plan-refresh-only", "apply"].map(str::to_owned).into()
        }
        (["init"], "MODE") => vec!["readonly".to_owned()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::parser::parser_description;

    fn check(line: &str, expected: &[&str]) {
        let mut root = parser_description();
        root.build();
        let candidates = completion_candidates(&root, line, &mut |names| {
            let names: &[&str] = match names {
                CompletionNameKind::Addresses => &["null_resource.a", "module.m"],
                CompletionNameKind::Workspaces => &["default", "staging"],
                CompletionNameKind::Outputs => &["address"],
                CompletionNameKind::Variables => &["region"],
            };
            names.iter().map(ToString::to_string).collect()
        });
        assert_eq!(candidates, expected, "{line}");
    }

    #[test]
    fn commands_are_completed_by_their_beginning() {
        check("formwork val", &["validate"]);
        check("formwork workspace s", &["select", "show"]);
        check("formwork -chdir=x state m", &["mv"]);
        check("formwork -chdir x state m", &["mv"]);
        check("formwork nothing ", &[]);
        check("formwork help val", &["validate"]);
        check("formwork help -format=man workspace s", &["select", "show"]);
        check("formwork help validate ", &[]);
        check("TF_VAR_a=b TF_LOG= formwork val", &["validate"]);
    }

    #[test]
    fn options_are_those_of_the_command_and_of_the_program() {
        check("formwork plan -ref", &["-refresh-only", "-refresh=false"]);
        check("formwork plan -no", &["-no-color"]);
        check("formwork -inst", &["-install-autocomplete"]);
        check("formwork plan -inst", &[]);
        // Accepted without effect, so not suggested.
        check("formwork refresh -repl", &[]);
    }

    #[test]
    fn names_are_completed_from_the_working_directory() {
        check("formwork state rm ", &["module.m", "null_resource.a"]);
        check("formwork state rm x mod", &["module.m"]);
        check("formwork plan -target null", &["null_resource.a"]);
        check("formwork plan -target=null", &["-target=null_resource.a"]);
        check("formwork plan -target 'null", &["null_resource.a"]);
        check("formwork workspace select st", &["staging"]);
        check("formwork workspace new st", &[]);
        check("formwork output ", &["address"]);
        check("formwork plan -var reg", &["region="]);
        check("formwork plan -out ", &[]);
    }

    #[test]
    fn names_are_completed_from_the_directory_of_chdir() {
        for (line, expected) in [
            ("formwork -chdir=a/b state rm ", Some("a/b")),
            ("formwork -no-color -chdir='a b' state rm ", Some("a b")),
            ("formwork state rm -chdir=a ", None),
            ("formwork state rm ", None),
        ] {
            assert_eq!(chdir_dir_of_line(line), expected.map(PathBuf::from), "{line}");
        }
    }

    #[test]
    fn switches_have_two_values() {
        check("formwork plan -refresh=", &["-refresh=false", "-refresh=true"]);
        check("formwork help -format=m", &["-format=man", "-format=markdown"]);
    }
}
