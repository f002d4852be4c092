//! Reads the lists of expressions in `lists/`. Knows nothing of their evaluation.
//!
//! A line is an expression; a line that begins with `|` continues the one before; blank lines and
//! lines that begin with `#` are ignored. From the line `#! strange arguments` on, each call represents
//! itself and the variants that `strange` generates.

use std::path::Path;

use super::strange;

/// The expressions of one file.
pub(crate) struct Group {
    /// The name of the file.
    pub(crate) name: String,
    pub(crate) expressions: Vec<String>,
}

/// Reads all lists in a directory, in the order of their names.
pub(crate) fn load(directory: &Path) -> Vec<Group> {
    let entries = std::fs::read_dir(directory).expect("the lists are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| Group {
            name: path.file_stem().expect("a file").to_string_lossy().into_owned(),
            expressions: read(path),
        })
        .collect()
}

/// Reads one list.
pub(crate) fn read(path: &Path) -> Vec<String> {
    parse(&std::fs::read_to_string(path).expect("a list is text"))
}

fn parse(text: &str) -> Vec<String> {
    let mut expressions: Vec<String> = Vec::new();
    let mut calls = None;
    for line in text.lines() {
        if line == "#! strange arguments" {
            calls = Some(expressions.len());
        } else if let Some(continuation) = line.strip_prefix('|') {
            let last = expressions.last_mut().expect("something goes on");
            last.push('\n');
            last.push_str(continuation);
        } else if !line.trim().is_empty() && !line.starts_with('#') {
            expressions.push(line.to_owned());
        }
    }
    let calls = expressions.split_off(calls.unwrap_or(expressions.len()));
    for call in calls {
        let variants = strange::arguments(&call);
        expressions.push(call);
        expressions.extend(variants);
    }
    expressions
}
