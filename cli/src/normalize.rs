//! Converts Terraform's flags, `-name`, `-name=value`, `-name value`, to the form of the parser. Pure: the
//! set of flags comes from the parser's description.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::builder::ValueParser;
use clap::{ArgAction, Command};

/// Rewrites the words of a command line. `extra` are arguments from the environment, by command. The empty
/// command applies to all.
///
/// # Errors
/// Returns the name of the environment variable whose value cannot be split into words, for example because a
/// quote is not closed.
pub(crate) fn normalize_command_line(
    root: &Command,
    words: Vec<OsString>,
    extra: &BTreeMap<String, String>,
) -> Result<Vec<OsString>, String> {
    let mut words = words.into_iter();
    let mut result: Vec<OsString> = words.next().into_iter().collect();
    let mut rest: Vec<OsString> = words.collect();
    // Flags before the command are options of the program. Everything after it belongs to the command.
    let mut command = root;
    let mut path = Vec::new();
    let mut index = 0;
    while index < rest.len() {
        let Some(word) = rest[index].to_str() else {
            index = rewrite_word(root, command, &mut rest, index);
            continue;
        };
        if let Some(name) = version_flag(word).filter(|_| path.is_empty()) {
            rest[index] = name.into();
            continue;
        }
        if word.starts_with('-') && word.len() > 1 {
            if path.is_empty() || command.has_subcommands() {
                index = rewrite_word(root, command, &mut rest, index);
                continue;
            }
            break;
        }
        let Some(next) = command.find_subcommand(word) else { break };
        command = next;
        path.push(word.to_owned());
        index += 1;
        if !command.has_subcommands() {
            break;
        }
    }
    let tail = rest.split_off(index);
    result.extend(rest);
    // These arguments are merged with those before the command: a later one overrides an earlier one at any
    // position.
    let mut index = result.len();
    result.extend(environment_arguments(extra, &path)?);
    result.extend(tail);
    while index < result.len() {
        if result[index] == "--" {
            break;
        }
        index = rewrite_word(root, command, &mut result, index);
    }
    Ok(result)
}

/// `-version` and `-v` before any command are the command `version`.
fn version_flag(word: &str) -> Option<&'static str> {
    matches!(word, "-v" | "-version" | "--version").then_some("version")
}

fn environment_arguments(
    extra: &BTreeMap<String, String>,
    path: &[String],
) -> Result<Vec<OsString>, String> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let extra_arguments = |name: &str| match extra.get(name).map(|text| split_arguments(text)) {
        Some(None) if name.is_empty() => Err("TF_CLI_ARGS".to_owned()),
        Some(None) => Err(format!("TF_CLI_ARGS_{name}")),
        extra_arguments => Ok(extra_arguments.flatten().unwrap_or_default()),
    };
    // The name of an environment variable cannot contain the dashes of a command name.
    let name = path.join("_").replace('-', "_");
    let mut arguments = extra_arguments(&name)?;
    arguments.extend(extra_arguments("")?);
    Ok(arguments.into_iter().map(OsString::from).collect())
}

/// Splits text into words as a shell would: quotes group, a backslash takes the next character as it is.
/// Returns `None` if a quote is not closed, or the string ends with a backslash.
fn split_arguments(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', Some('"') | None) => word.get_or_insert_default().push(characters.next()?),
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Rewrites the word at `at`, an option of the command or of the program, and joins it with the next word if
/// that is its value. Returns the index of the next word to rewrite.
fn rewrite_word(
    root: &Command,
    command: &Command,
    words: &mut Vec<OsString>,
    index: usize,
) -> usize {
    let Some(word) = words[index].to_str().map(str::to_owned) else {
        // The value is not Unicode, so the name is not checked. With two dashes, the parser treats it as one
        // option.
        let bytes = words[index].as_encoded_bytes();
        if bytes.starts_with(b"-") && !bytes.starts_with(b"--") {
            let mut word = OsString::from("-");
            word.push(&words[index]);
            words[index] = word;
        }
        return index + 1;
    };
    let Some(bare) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else {
        return index + 1;
    };
    if bare.is_empty() || bare.starts_with(|c: char| c.is_ascii_digit()) {
        return index + 1;
    }
    let (name, value) = match bare.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (bare, None),
    };
    if name == "h" || name == "help" {
        words[index] = "--help".into();
        return index + 1;
    }
    let mut flags =
        command.get_arguments().chain(root.get_arguments().filter(|a| a.is_global_set()));
    let flag = flags.find(|arg| arg.get_long() == Some(name));
    let Some(flag) = flag else {
        // With two dashes, the parser reports one unknown flag instead of several short ones.
        words[index] = format!("--{bare}").into();
        return index + 1;
    };
    let takes_value = flag.get_action().takes_values() && !flag.is_require_equals_set();
    let is_switch = !flag.get_action().takes_values();
    let truth = value.filter(|_| is_switch || flag.is_require_equals_set()).and_then(parse_boolean);
    // As in Terraform, an empty file name is treated as a missing option: scripts pass empty variables.
    let may_be_empty = matches!(flag.get_action(), ArgAction::Set)
        && flag.get_value_parser().type_id() == ValueParser::path_buf().type_id()
        && name != "chdir";
    words[index] = match (value, truth) {
        (Some(""), _) if may_be_empty => {
            words.remove(index);
            return index;
        }
        (None, _) if may_be_empty && words.get(index + 1).is_some_and(|next| next.is_empty()) => {
            words.drain(index..index + 2);
            return index;
        }
        // A plain switch may be given as `-json=true`.
        (_, Some(true)) if is_switch => format!("--{name}"),
        // Earlier values are overridden.
        (_, Some(false)) if is_switch => {
            let rest = words.split_off(index + 1);
            words.truncate(index);
            let switch = format!("--{name}");
            words.retain(|word| *word != *switch);
            let index = words.len();
            words.extend(rest);
            return index;
        }
        (_, Some(truth)) => format!("--{name}={truth}"),
        (Some(value), None) => format!("--{name}={value}"),
        (None, None) if takes_value && index + 1 < words.len() => {
            let mut joined = OsString::from(format!("--{name}="));
            joined.push(words.remove(index + 1));
            words[index] = joined;
            return index + 1;
        }
        (None, None) => format!("--{name}"),
    }
    .into();
    index + 1
}

/// Parses a boolean as Terraform does.
pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command::parser::Cli;

    fn check(line: &str, expected: &str) {
        check_with(line, &[], expected);
    }

    fn check_with(line: &str, extra: &[(&str, &str)], expected: &str) {
        let words = line.split(' ').map(OsString::from).collect();
        let extra = extra.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let words = normalize_command_line(&Cli::command(), words, &extra).unwrap();
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn one_dash_is_equivalent_to_two() {
        check("formwork plan -out=p -json", "formwork plan --out=p --json");
        check("formwork plan --out p", "formwork plan --out=p");
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_not_unicode_is_not_changed() {
        use std::os::unix::ffi::OsStringExt as _;

        let words = |line: [&[u8]; 6]| line.map(|word| OsString::from_vec(word.to_vec())).to_vec();
        let given =
            words([b"formwork", b"-chdir=m\xe9", b"plan", b"-out=p\xe9", b"--out=\xe9", b"\xe9"]);
        let expected =
            words([b"formwork", b"--chdir=m\xe9", b"plan", b"--out=p\xe9", b"--out=\xe9", b"\xe9"]);
        let read = normalize_command_line(&Cli::command(), given, &BTreeMap::new());
        assert_eq!(read.unwrap(), expected);
    }

    #[test]
    fn the_word_after_a_flag_is_its_value_even_if_it_looks_like_a_flag() {
        check("formwork plan -var -target=weird", "formwork plan --var=-target=weird");
        check("formwork plan --var -x=1", "formwork plan --var=-x=1");
    }

    #[test]
    fn a_switch_that_is_turned_off_later_is_off() {
        check("formwork plan -json -json=false -out p", "formwork plan --out=p");
        check("formwork plan -json -json=false -json", "formwork plan --json");
        check_with("formwork plan -json=false", &[("plan", "-json")], "formwork plan");
        check("formwork -no-color plan -no-color=false", "formwork plan");
        check("formwork -no-color=false plan -no-color", "formwork plan --no-color");
    }

    #[test]
    fn unterminated_words_of_the_environment_are_refused() {
        for text in ["-var 'a=2", "-var \"a=2", "-var a\\"] {
            for (name, variable) in [("", "TF_CLI_ARGS"), ("plan", "TF_CLI_ARGS_plan")] {
                let words = vec!["formwork".into(), "plan".into()];
                let extra = [(name.to_owned(), text.to_owned())].into();
                let error = normalize_command_line(&Cli::command(), words, &extra).unwrap_err();
                assert_eq!(error, variable, "{text}");
            }
        }
    }

    #[test]
    fn a_switch_takes_a_value_only_after_an_equals_sign() {
        check("formwork plan -refresh=false x", "formwork plan --refresh=false x");
        check("formwork apply -auto-approve plan", "formwork apply --auto-approve plan");
        check("formwork plan -json=false", "formwork plan");
    }

    #[test]
    fn an_empty_file_name_is_treated_as_a_missing_option() {
        check("formwork plan -out= -json", "formwork plan --json");
        check("formwork plan -out  -json", "formwork plan --json");
        check("formwork plan -state= -var=", "formwork plan --var=");
    }

    #[test]
    fn booleans_are_parsed_in_every_notation() {
        for (line, expected) in [
            ("plan -input=0 -refresh=F", "plan --input=false --refresh=false"),
            ("plan -lock=False -input=T", "plan --lock=false --input=true"),
            ("plan -json=TRUE -destroy=True", "plan --json --destroy"),
            ("plan -json=f -destroy=FALSE x", "plan x"),
            ("apply -auto-approve=t", "apply --auto-approve"),
            ("plan -input=no", "plan --input=no"),
            ("plan -out=1 -target=T", "plan --out=1 --target=T"),
        ] {
            check(&format!("formwork {line}"), &format!("formwork {expected}"));
        }
    }

    #[test]
    fn flags_before_the_command_belong_to_the_program() {
        check("formwork -chdir=a plan", "formwork --chdir=a plan");
        check("formwork -chdir a state list -id x", "formwork --chdir=a state list --id=x");
        check("formwork -version", "formwork version");
        check("formwork plan -help", "formwork plan --help");
    }

    #[test]
    fn an_unknown_flag_is_not_split() {
        check("formwork plan -nope", "formwork plan --nope");
    }

    #[test]
    fn the_environment_adds_arguments_before_those_given() {
        let extra = [("plan", "-var 'a=b c'"), ("", "-no-color"), ("state_list", "-id x")];
        check_with("formwork plan -json", &extra, "formwork plan --var=a=b c --no-color --json");
        check_with("formwork state list", &extra, "formwork state list --id=x --no-color");
        let extra = [("state_replace_provider", "-auto-approve"), ("force_unlock", "-force")];
        check_with(
            "formwork state replace-provider a b",
            &extra,
            "formwork state replace-provider --auto-approve a b",
        );
        check_with("formwork force-unlock x", &extra, "formwork force-unlock --force x");
    }
}
