//! Scripts of the lifecycle of a few objects: a file of steps, each of which starts with a comment
//! `#= VERB ARGUMENTS`. The text after it is the configuration from then on. A step without text
//! keeps the one of the step before. The text before the first step belongs to every configuration.
//!
//! - `apply FLAGS` plans and applies; `plan FLAGS` only plans
//! - `save FLAGS` plans and saves the plan; `use` applies it, at any later time
//! - `run COMMAND` runs any other command
//! - `text COMMAND` compares the changes and objects that a command prints
//! - `file NAME` writes its text to that file; `unlink NAME` removes it
//! - `world ID ATTRIBUTE=TEXT` changes or creates an object outside of both programs; `gone ID`
//!   removes it
//! - `fail CALL, CALL` lets these calls fail from then on, and no others; `CALL late` fails after its
//!   work is done
//! - `env NAME=VALUE` sets a variable from then on
//!
//! A word with spaces is enclosed in single quotes. A line `#< CALL, CALL` in an applying step
//! requires that each call ends before the next begins, in both programs. A line `#~ PATH: REASON`
//! declares that the results of the step differ at this path on purpose; `.` is the whole result.

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
    /// Calls in the required order.
    pub(super) orders: Vec<Vec<String>>,
    /// Paths at which the results differ on purpose, and the reasons.
    pub(super) expected_differences: Vec<(String, String)>,
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
        let position = format!("{group}/{name}:{}", index + 1);
        match (line.split_once(' '), steps.last_mut()) {
            (Some(("#=", header)), _) => steps.push(parse(header, index + 1, &position)),
            (Some(("#<", calls)), Some(step)) => {
                step.orders.push(calls.split(',').map(|call| call.trim().to_owned()).collect());
            }
            (Some(("#~", difference)), Some(step)) => {
                let (path, reason) =
                    difference.split_once(": ").unwrap_or_else(|| panic!("{position}: no reason"));
                step.expected_differences.push((path.to_owned(), reason.to_owned()));
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
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn parse(header: &str, line: usize, position: &str) -> Step {
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
        verb_name => panic!("{position}: unknown step {verb_name:?}"),
    };
    let (text, orders, expected_differences) = (String::new(), Vec::new(), Vec::new());
    Step { verb, args: words.collect(), text, orders, expected_differences, line }
}
