//! Scripts of the life of a few objects: a file of steps, each of which starts with a comment
//! `#= VERB ARGUMENTS`. The text after it is the configuration from then on. A step without text
//! keeps the one of the step before. The text before the first step belongs to every configuration.
//!
//! - `apply FLAGS` plans and applies; `plan FLAGS` only plans
//! - `save FLAGS` plans and keeps the plan; `use` applies it, at whatever time
//! - `run COMMAND` does anything else
//! - `text COMMAND` compares what a command prints of changes and objects
//! - `file NAME` writes its text to that file; `unlink NAME` removes it
//! - `world ID ATTRIBUTE=TEXT` changes or makes an object outside of both programs; `gone ID`
//!   removes it
//! - `fail CALL, CALL` has these calls fail from then on, and no others; `CALL late` fails when it
//!   is done
//! - `env NAME=VALUE` holds from then on
//!
//! A word with spaces in it stands in single quotes. A line `#< CALL, CALL` in an applying step
//! says that each call ends before the next begins, in both programs; a line `#~ WHERE: REASON`,
//! that the results of the step differ there, and should: `.` is everywhere.

use std::path::{Path, PathBuf};

/// One file.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) group: String,
    pub(super) name: String,
    /// The whole text.
    pub(super) text: String,
    pub(super) common: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) verb: Verb,
    pub(super) args: Vec<String>,
    pub(super) text: String,
    /// Calls in the order in which they have to come.
    pub(super) orders: Vec<Vec<String>>,
    /// Places in which the results differ, and the reasons.
    pub(super) kept: Vec<(String, String)>,
    pub(super) line: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Verb {
    Apply,
    Plan,
    Save,
    Use,
    Run,
    Text,
    File,
    Unlink,
    World,
    Gone,
    Fail,
    Env,
}

impl Script {
    pub(super) fn calls_modules(&self) -> bool {
        self.steps.iter().any(|step| step.text.contains("module \""))
    }
}

impl Step {
    /// The text after the verb.
    pub(super) fn rest(&self) -> String {
        self.args.join(" ")
    }
}

/// Reads every script below a directory, in order of groups and names.
pub(super) fn load(root: &Path) -> Vec<Script> {
    sorted(root).iter().flat_map(|group| sorted(group)).map(|path| read(&path)).collect()
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Script {
    let word = |text: Option<&std::ffi::OsStr>| text.unwrap().to_string_lossy().into_owned();
    let name = word(path.file_stem());
    let group = word(path.parent().unwrap().file_name());
    let text = std::fs::read_to_string(path).unwrap();
    let (mut common, mut steps) = (String::new(), Vec::<Step>::new());
    for (index, line) in text.lines().enumerate() {
        let at = format!("{group}/{name}:{}", index + 1);
        match (line.split_once(' '), steps.last_mut()) {
            (Some(("#=", header)), _) => steps.push(parse(header, index + 1, &at)),
            (Some(("#<", calls)), Some(step)) => {
                step.orders.push(calls.split(',').map(|call| call.trim().to_owned()).collect());
            }
            (Some(("#~", kept)), Some(step)) => {
                let (place, why) =
                    kept.split_once(": ").unwrap_or_else(|| panic!("{at}: no reason"));
                step.kept.push((place.to_owned(), why.to_owned()));
            }
            (_, Some(step)) => step.text.extend([line, "\n"]),
            (_, None) => common.extend([line, "\n"]),
        }
    }
    assert!(!steps.is_empty(), "{group}/{name}: no step");
    Script { group, name, text, common, steps }
}

/// The words of a header. A string between single quotes is one word.
fn words(header: &str) -> Vec<String> {
    let parts = header.split('\'').enumerate();
    let words = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn parse(header: &str, line: usize, at: &str) -> Step {
    let mut words = words(header).into_iter();
    let verb = match words.next().as_deref() {
        Some("apply") => Verb::Apply,
        Some("plan") => Verb::Plan,
        Some("save") => Verb::Save,
        Some("use") => Verb::Use,
        Some("run") => Verb::Run,
        Some("text") => Verb::Text,
        Some("file") => Verb::File,
        Some("unlink") => Verb::Unlink,
        Some("world") => Verb::World,
        Some("gone") => Verb::Gone,
        Some("fail") => Verb::Fail,
        Some("env") => Verb::Env,
        other => panic!("{at}: unknown step {other:?}"),
    };
    let (text, orders, kept) = (String::new(), Vec::new(), Vec::new());
    Step { verb, args: words.collect(), text, orders, kept, line }
}
