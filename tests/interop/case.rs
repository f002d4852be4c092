//! Fixtures of several steps in one file: each step starts with a comment `#= VERB ARGUMENTS`,
//! and what follows is the configuration from then on.
//!
//! Verbs: `plan` and `apply` (with any further flags), `validate`, and `file NAME`, which writes
//! what follows to a file of that name instead, `env NAME=VALUE`, which holds from then on, and
//! `shown`, which compares what people and programs get to see of the state. A step with no text of its
//! own keeps the configuration of the one before. A fixture with `required_providers` may use the
//! providers of this workspace, `formwork/test` among them.

use std::path::{Path, PathBuf};

/// One fixture.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// One thing to do, with the text that comes with it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) verb: Verb,
    pub(crate) args: Vec<String>,
    pub(crate) text: String,
    /// The line of its header, for messages.
    pub(crate) line: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Validate,
    Plan,
    Apply,
    File,
    Env,
    Shown,
}

impl Case {
    /// Whether it calls modules, which have to be installed.
    pub(crate) fn calls_modules(&self) -> bool {
        self.steps.iter().any(|step| calls(&step.text))
    }

    /// Whether it needs providers that are programs: those of this workspace are installed for it.
    pub(crate) fn has_providers(&self) -> bool {
        self.steps.iter().any(|step| step.text.contains("required_providers"))
    }
}

/// Whether a string calls a module.
fn calls(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("module \""))
}

/// Reads all fixtures of a group, in the order of their names.
pub(crate) fn load_group(group: &str) -> Vec<Case> {
    load_dir(&Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/plans").join(group))
}

/// Reads all fixtures of a directory, in the order of their names.
pub(crate) fn load_dir(dir: &Path) -> Vec<Case> {
    let entries =
        std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tf"));
    paths.sort();
    paths.iter().map(|path| load(path)).collect()
}

fn load(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut steps: Vec<Step> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(header) = line.strip_prefix("#= ") {
            steps.push(parse_header(header, &name, index + 1));
        } else if let Some(step) = steps.last_mut() {
            step.text.push_str(line);
            step.text.push('\n');
        }
    }
    assert!(!steps.is_empty(), "{name}: no step");
    Case { name, steps }
}

fn parse_header(header: &str, name: &str, line: usize) -> Step {
    let mut words = header.split_whitespace().map(str::to_owned);
    let verb = match words.next().as_deref() {
        Some("validate") => Verb::Validate,
        Some("plan") => Verb::Plan,
        Some("apply") => Verb::Apply,
        Some("file") => Verb::File,
        Some("env") => Verb::Env,
        Some("shown") => Verb::Shown,
        unknown => panic!("{name}:{line}: unknown step {unknown:?}"),
    };
    Step { verb, args: words.collect(), text: String::new(), line }
}
