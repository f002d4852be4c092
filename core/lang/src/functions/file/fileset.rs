//! `fileset`: the files whose paths match a pattern. `*` and `?` match within a part of a path, `**` any
//! number of parts; `[a-z]` and `{a,b}` are also supported. Names that begin with a dot are not treated
//! specially.

use std::collections::BTreeSet;

use formwork_value::{Type, Value};

use super::path::clean_path;
use super::path_argument;
use crate::functions::{Args, Builtin, CallError, FileKind};

pub(super) fn file_set_builtin() -> Builtin {
    Builtin::new("fileset", file_set)
        .with_param("path", Type::String)
        .with_param("pattern", Type::String)
        .with_return_type(Type::set(Type::String))
        .described_as(
            "Returns the paths of the files below a directory that match a pattern.",
            [
                "The directory.",
                "The pattern: `*` matches any part of a name, `**` any directories, `{a,b}` either alternative.",
            ],
        )
        .with_example(r#"fileset(".", "*.txt")"#, "toset([\n  \"greeting.txt\",\n])")
}

fn file_set(args: &Args<'_>) -> Result<Value, CallError> {
    let base = clean_path(&path_argument(args)?);
    let pattern = clean_path(&format!("{base}/{}", args.text(1)?.as_str()));
    let mut parts: Vec<PatternSegment> = pattern
        .trim_start_matches('/')
        .split('/')
        .map(PatternSegment::parse)
        .collect::<Option<_>>()
        .ok_or_else(|| {
            CallError::new(format!(
                "{:?} is not a valid pattern: a bracket or brace is not closed",
                args.text(1).map_or("", |text| text.as_str())
            ))
        })?;
    // Several in a row mean no more than one, but would be tried in every combination.
    parts.dedup_by(|a, b| matches!((a, b), (PatternSegment::AnyDepth, PatternSegment::AnyDepth)));
    let mut search = GlobSearch { args, paths: BTreeSet::new() };
    let root = if pattern.starts_with('/') { "/" } else { "" };
    search.match_in_dir(root.to_owned(), &parts)?;
    let files = search.paths.iter().map(|path| Value::string(relative_path(path, &base))).collect();
    Ok(Value::set(Type::String, files))
}

/// Returns a path relative to `base`.
fn relative_path(path: &str, base: &str) -> String {
    let from: Vec<&str> = base.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let to: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(common).map(|_| "..");
    up.chain(to.iter().skip(common).copied()).collect::<Vec<_>>().join("/")
}

// `globset` is not used: Terraform's patterns are those of Go's `doublestar`, which differ in classes
// and escapes, and each entry of a directory counts towards the budget of the evaluation.
struct GlobSearch<'a> {
    args: &'a Args<'a>,
    paths: BTreeSet<String>,
}

impl GlobSearch<'_> {
    /// Searches for matches of `parts` in a directory, whose path is empty or ends with a slash.
    fn match_in_dir(
        &mut self,
        directory: String,
        parts: &[PatternSegment],
    ) -> Result<(), CallError> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        match part {
            // Looked up by name, because the directory may be large, or may not be readable by this
            // user.
            PatternSegment::Literal(name) => self.search_entry(&directory, name, rest),
            PatternSegment::Pattern(tokens) => {
                for (name, kind) in self.list_dir(&directory)? {
                    let chars: Vec<char> = name.chars().collect();
                    if pattern_matches(tokens, &chars) {
                        self.follow_match(format!("{directory}{name}"), kind, rest)?;
                    }
                }
                Ok(())
            }
            PatternSegment::AnyDepth => {
                // `**` also matches zero directories.
                if !rest.is_empty() {
                    self.match_in_dir(directory.clone(), rest)?;
                }
                for (name, kind) in self.list_dir(&directory)? {
                    let path = format!("{directory}{name}");
                    match kind {
                        FileKind::Directory => self.match_in_dir(format!("{path}/"), parts)?,
                        _ if rest.is_empty() => self.follow_match(path, kind, rest)?,
                        _ => {}
                    }
                }
                Ok(())
            }
        }
    }

    fn search_entry(
        &mut self,
        directory: &str,
        name: &str,
        rest: &[PatternSegment],
    ) -> Result<(), CallError> {
        let path = format!("{directory}{name}");
        // Unreadable paths match nothing.
        match self.args.ctx.host.files.file_kind(&path) {
            Ok(kind) => self.follow_match(path, kind, rest),
            Err(_) => Ok(()),
        }
    }

    fn follow_match(
        &mut self,
        path: String,
        kind: FileKind,
        rest: &[PatternSegment],
    ) -> Result<(), CallError> {
        match (rest, kind) {
            ([], FileKind::File) => {
                self.args.charge_bytes(path.len())?;
                self.paths.insert(path);
                Ok(())
            }
            ([_, ..], FileKind::Directory) => self.match_in_dir(format!("{path}/"), rest),
            _ => Ok(()),
        }
    }

    fn list_dir(&self, directory: &str) -> Result<Vec<(String, FileKind)>, CallError> {
        let path = if directory.is_empty() { "." } else { directory };
        // A directory that cannot be read has no matches, like a path that cannot be read.
        let entries = self.args.ctx.host.files.list_dir(path).unwrap_or_default();
        // Without this limit, cyclic links would never end.
        self.args.charge_elements(entries.len() + 1)?;
        Ok(entries)
    }
}

/// One part of a pattern, between two slashes.
enum PatternSegment {
    Literal(String),
    Pattern(Vec<PatternToken>),
    AnyDepth,
}

enum PatternToken {
    Char(char),
    AnyChar,
    AnyText,
    Class { negated: bool, ranges: Vec<(char, char)> },
    Choice(Vec<Vec<Self>>),
}

impl PatternSegment {
    /// Reads a part; `None` if a bracket or brace is not closed.
    fn parse(text: &str) -> Option<Self> {
        if text == "**" {
            return Some(Self::AnyDepth);
        }
        if !text.contains(['*', '?', '[', '{', '\\', '}', ']']) {
            return Some(Self::Literal(text.to_owned()));
        }
        let chars: Vec<char> = text.chars().collect();
        parse_tokens(&chars).map(Self::Pattern)
    }
}

fn parse_tokens(mut chars: &[char]) -> Option<Vec<PatternToken>> {
    let mut list = Vec::new();
    while let [first, rest @ ..] = chars {
        chars = rest;
        list.push(match first {
            '*' => PatternToken::AnyText,
            '?' => PatternToken::AnyChar,
            '\\' => {
                let (escaped, rest) = chars.split_first()?;
                chars = rest;
                PatternToken::Char(*escaped)
            }
            '[' => {
                let (class, rest) = parse_char_class(chars)?;
                chars = rest;
                class
            }
            '{' => {
                // Choices are not nested, so the first brace closes this one.
                let end = chars.iter().position(|char| *char == '}')?;
                let choices = chars.get(..end)?.split(|char| *char == ',').map(parse_tokens);
                chars = chars.get(end + 1..)?;
                PatternToken::Choice(choices.collect::<Option<_>>()?)
            }
            char => PatternToken::Char(*char),
        });
    }
    Some(list)
}

/// Reads a character class after its opening bracket.
fn parse_char_class(chars: &[char]) -> Option<(PatternToken, &[char])> {
    let (negated, mut chars) = match chars {
        ['^' | '!', rest @ ..] => (true, rest),
        chars => (false, chars),
    };
    let mut ranges = Vec::new();
    loop {
        let (first, rest) = chars.split_first()?;
        chars = rest;
        let low = match first {
            // A bracket directly after the opening one is a member of the class.
            ']' if !ranges.is_empty() => {
                return Some((PatternToken::Class { negated, ranges }, chars));
            }
            '\\' => {
                let (escaped, rest) = chars.split_first()?;
                chars = rest;
                *escaped
            }
            char => *char,
        };
        match chars {
            ['-', high, rest @ ..] if *high != ']' => {
                ranges.push((low, *high));
                chars = rest;
            }
            _ => ranges.push((low, low)),
        }
    }
}

/// Whether a name matches. A `*` that must try another length goes back only to the last `*`, so
/// the time is the product of both lengths.
fn pattern_matches(tokens: &[PatternToken], name: &[char]) -> bool {
    let (mut t, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match (tokens.get(t), name.get(n)) {
            (None, None) => return true,
            (Some(PatternToken::AnyText), _) => {
                // Only the last `*` is tried again: longer matches of those before it would leave
                // less for the same rest.
                retry = Some((t + 1, n));
                t += 1;
                continue;
            }
            (Some(PatternToken::Choice(choices)), _) => {
                let rest = tokens.get(t + 1..).unwrap_or(&[]);
                let here = name.get(n..).unwrap_or(&[]);
                if choices.iter().any(|choice| choice_then_rest_match(choice, rest, here)) {
                    return true;
                }
                false
            }
            (Some(token), Some(char)) => token.matches_char(*char),
            _ => false,
        };
        if step {
            t += 1;
            n += 1;
            continue;
        }
        match retry {
            Some((token, from)) if from < name.len() => {
                retry = Some((token, from + 1));
                t = token;
                n = from + 1;
            }
            _ => return false,
        }
    }
}

/// Returns whether a name is a match of one choice followed by a match of the rest.
fn choice_then_rest_match(choice: &[PatternToken], rest: &[PatternToken], name: &[char]) -> bool {
    (0..=name.len()).any(|at| {
        let (first, second) = name.split_at(at);
        pattern_matches(choice, first) && pattern_matches(rest, second)
    })
}

impl PatternToken {
    fn matches_char(&self, char: char) -> bool {
        match self {
            Self::Char(literal) => *literal == char,
            Self::AnyChar => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&char)) != *negated
            }
            Self::AnyText | Self::Choice(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PatternSegment, pattern_matches, relative_path};

    fn check(pattern: &str, name: &str) -> Option<bool> {
        let name: Vec<char> = name.chars().collect();
        match PatternSegment::parse(pattern)? {
            PatternSegment::Literal(text) => Some(text.chars().eq(name)),
            PatternSegment::Pattern(tokens) => Some(pattern_matches(&tokens, &name)),
            PatternSegment::AnyDepth => Some(true),
        }
    }

    #[test]
    fn parts_match_names() {
        for (pattern, name, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("?.txt", "ab.txt", false),
            ("[a-c]x", "bx", true),
            ("[^a]x", "ax", false),
            ("{a,b*}.t", "bcd.t", true),
            ("{a,b*}.t", "c.t", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("**.t", "a.t", true),
        ] {
            assert_eq!(check(pattern, name), Some(expected), "{pattern} {name}");
        }
        assert_eq!(check("[", "a"), None);
        assert_eq!(check("{a", "a"), None);
    }

    #[test]
    fn paths_are_relative_to_the_first_argument() {
        assert_eq!(relative_path("f/sub/a", "f"), "sub/a");
        assert_eq!(relative_path("a", "."), "a");
        assert_eq!(relative_path("g/a", "f"), "../g/a");
        assert_eq!(relative_path("/f/a", "/f"), "a");
    }
}
