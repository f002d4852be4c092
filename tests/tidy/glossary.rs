//! The glossary, compared with the names of public types: a word that is not plain is explained.

use std::collections::BTreeSet;

use super::{File, TREE, assert_no_violations, product};

/// The sources of the crates whose types other programs use.
const PUBLIC_SOURCES: [&str; 4] =
    ["core/operation/src/", "core/backend/src/", "plugin-protocol/src/", "sdk/src/"];

/// Words with their common meaning, and abbreviations of CONTRIBUTING.md.
const PLAIN_WORDS: [&str; 68] = [
    "adopted",
    "adoption",
    "assembly",
    "attr",
    "cache",
    "capabilities",
    "choose",
    "def",
    "deferred",
    "definition",
    "detached",
    "end",
    "env",
    "executable",
    "ext",
    "failure",
    "field",
    "flattened",
    "foreign",
    "generate",
    "generated",
    "given",
    "if",
    "ignored",
    "imported",
    "info",
    "invoke",
    "leftover",
    "listed",
    "loaded",
    "loggable",
    "meta",
    "metadata",
    "modify",
    "nested",
    "options",
    "outcome",
    "pending",
    "point",
    "progress",
    "prompt",
    "proxy",
    "reader",
    "reason",
    "recorded",
    "recorder",
    "ref",
    "reply",
    "requirement",
    "ruled",
    "save",
    "search",
    "selected",
    "selection",
    "settings",
    "setup",
    "shown",
    "sizes",
    "sorted",
    "stamp",
    "status",
    "switch",
    "timeouts",
    "tree",
    "unencodable",
    "unresolved",
    "validate",
    "verifier",
];

/// The words of a name in capitals `LikeThis`, in lower case. Single letters are left out.
fn words_of_type(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for letter in name.chars() {
        if letter.is_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        words.last_mut().expect("one was added").extend(letter.to_lowercase());
    }
    words.retain(|word| word.len() > 1);
    words
}

/// The name of the public type that a line declares.
pub(super) fn public_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let kinds = ["pub struct ", "pub enum ", "pub trait "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

#[test]
fn the_glossary_contains_the_words_of_public_types() {
    let glossary = TREE.iter().find(|file| file.path == "docs/glossary.md").expect("a glossary");
    let text = glossary.text.to_lowercase();
    let terms: BTreeSet<&str> =
        text.split(|c: char| !c.is_alphanumeric()).chain(PLAIN_WORDS).collect();
    let is_known = |word: &str| {
        let plural = format!("{word}s");
        [word, plural.as_str(), word.strip_suffix('s').unwrap_or(word)]
            .iter()
            .any(|spelling| terms.contains(spelling))
    };
    let is_public = |file: &&File| {
        PUBLIC_SOURCES.iter().any(|directory| file.path.starts_with(directory))
            && !file.path.contains("fuzz")
    };
    let mut n_types = 0;
    let mut violations = Vec::new();
    for file in product().filter(is_public) {
        for (number, line) in file.product_lines() {
            let Some(name) = public_type(line) else { continue };
            n_types += 1;
            let unknown = words_of_type(name).into_iter().filter(|word| !is_known(word));
            violations
                .extend(unknown.map(|word| format!("{}:{number}: {word} of {name}", file.path)));
        }
    }
    assert!(n_types > 200, "only {n_types} types were found");
    assert_no_violations(
        &violations,
        "a word of a public type is in docs/glossary.md, or is plain (PLAIN_WORDS)",
    );
}

#[test]
fn names_of_types_are_split_at_their_capitals() {
    assert_eq!(public_type("    pub struct StateLock<'a> {"), Some("StateLock"));
    assert_eq!(public_type("pub(crate) struct StateLock {"), None);
    assert_eq!(words_of_type("S3StateLock"), ["s3", "state", "lock"]);
}
