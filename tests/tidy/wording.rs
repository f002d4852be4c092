//! Wording of comments, documents and the changelog: standard terms, the noun or verb first.
//! `docs/glossary.md` lists the terms.

use std::collections::BTreeSet;

use super::{TREE, none, sources};

/// Openings of a sentence that postpone its noun.
const OPENINGS: [&str; 11] = [
    "What", "Who", "Whose", "Whoever", "Whatever", "Which", "Where", "How", "By what", "As much",
    "Whom",
];

/// Words that hide a standard term, and their replacements.
const WORDS: [(&str, &str); 6] = [
    ("the reference", "Terraform"),
    ("somebody", "the program, process or user that is meant"),
    ("nobody", "no program, process or user"),
    ("whoever", "the program, process or user that is meant"),
    ("anew", "again"),
    ("told", "printed, reported or named"),
];

/// Folders and files whose wording was revised. Everything else is still to come.
const REVISED: [&str; 25] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "cli/",
    "core/backend/",
    "core/fuzz/",
    "core/lang/",
    "core/operation/",
    "core/src/",
    "core/tests/",
    "core/value/",
    "docs/",
    "examples/",
    "plugin-protocol/",
    "providers/",
    "sdk/",
    "tests/benches/",
    "tests/crash/",
    "tests/foreign/",
    "tests/harness/",
    "tests/interop/",
    "tests/provider/",
    "tests/scenario/",
];

fn is_revised(path: &str) -> bool {
    REVISED.iter().any(|prefix| path.starts_with(prefix))
}

fn opens_badly(text: &str) -> bool {
    let text = text.trim_start_matches(['#', ' ']);
    OPENINGS.iter().any(|opening| {
        text.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// The private words in a string, outside of code.
fn private_words(text: &str) -> impl Iterator<Item = &'static str> {
    let text = text.split('`').step_by(2).collect::<String>().to_lowercase();
    let text: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let text = format!(" {text} ");
    WORDS.iter().filter(move |(word, _)| text.contains(&format!(" {word} "))).map(|(word, _)| *word)
}

/// The comment on a line, if all of the line is one: its marker and its text.
fn comment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let marker = ["//!", "///", "//"].into_iter().find(|marker| line.starts_with(marker))?;
    Some((marker, line[marker.len()..].trim()))
}

#[test]
fn doc_comments_begin_with_the_noun_or_the_verb() {
    let mut violations = Vec::new();
    for file in sources().filter(|file| is_revised(&file.path)) {
        let mut previous = None;
        for (line, number) in file.text.lines().zip(1..) {
            let found = comment(line);
            if let Some((marker @ ("//!" | "///"), text)) = found
                && previous
                    .is_none_or(|(before, text): (&str, &str)| before != marker || text.is_empty())
                && opens_badly(text)
            {
                violations.push(format!("{}:{number}: {text}", file.path));
            }
            previous = found;
        }
    }
    none(&violations, "a doc comment begins with the noun or the verb (docs/glossary.md)");
}

#[test]
fn headings_begin_with_the_noun_or_the_verb() {
    let mut violations = Vec::new();
    for file in TREE.iter().filter(|file| file.path.ends_with(".md") && is_revised(&file.path)) {
        for (line, number) in file.text.lines().zip(1..) {
            if line.starts_with('#') && opens_badly(line) {
                violations.push(format!("{}:{number}: {line}", file.path));
            }
        }
    }
    none(&violations, "a heading begins with the noun or the verb (docs/glossary.md)");
}

#[test]
fn comments_and_documents_use_standard_words() {
    let mut violations = Vec::new();
    for file in TREE.iter().filter(|file| is_revised(&file.path) && !file.is_generated()) {
        let is_document = file.path.ends_with(".md");
        if !is_document && !file.path.ends_with(".rs") {
            continue;
        }
        for (line, number) in file.text.lines().zip(1..) {
            let text = if is_document { Some(line) } else { comment(line).map(|(_, text)| text) };
            for word in text.into_iter().flat_map(private_words) {
                violations.push(format!("{}:{number}: {word}", file.path));
            }
        }
    }
    none(&violations, "comments and documents use standard words (WORDS in this file)");
}

#[test]
fn changelog_lines_are_short() {
    const LONGEST: usize = 160;
    let changelog = TREE.iter().find(|file| file.path == "CHANGELOG.md").expect("a changelog");
    let violations: Vec<_> = changelog
        .text
        .lines()
        .zip(1..)
        .filter(|(line, _)| is_revised("CHANGELOG.md") && line.chars().count() > LONGEST)
        .map(|(line, number)| format!("{number}: {} characters", line.chars().count()))
        .collect();
    none(&violations, "a line of the changelog has at most 160 characters");
}

#[test]
fn bad_openings_and_private_words_are_found() {
    assert!(opens_badly("What a session needs.") && opens_badly("## How to build"));
    assert!(!opens_badly("Whole objects.") && !opens_badly("Whether it is set."));
    assert_eq!(
        private_words("As the reference has it, `told` or not").collect::<Vec<_>>(),
        ["the reference"]
    );
    assert_eq!(private_words("Nobody is asked anew").collect::<Vec<_>>(), ["nobody", "anew"]);
}

/// Crates whose strings are messages for users.
const SPEAKING: [&str; 4] = ["cli/", "core/", "plugin-protocol/src/", "providers/"];

/// The strings on a line of code, or their part on it. `goes_on`: a string of the line before is continued.
fn strings(line: &str, goes_on: bool) -> impl Iterator<Item = &str> {
    line.split('"').skip(usize::from(!goes_on)).step_by(2)
}

/// The words of a string that are written like the name of a type of two words, `LikeThis`.
fn names_of_types(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '{');
    words.filter(|word| {
        let mut capitals = word.char_indices().filter(|(_, c)| c.is_uppercase());
        capitals.next().is_some_and(|(at, _)| at == 0)
            && capitals.next().is_some_and(|(at, _)| at > 1)
    })
}

#[test]
fn messages_name_no_type_of_the_code() {
    let code = || sources().filter(|file| SPEAKING.iter().any(|root| file.path.starts_with(root)));
    let declared = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        words.find(|word| matches!(*word, "struct" | "enum" | "trait"))?;
        words.next().map(str::to_owned)
    };
    let types: BTreeSet<String> =
        code().flat_map(|file| file.text.lines().filter_map(declared)).collect();
    let mut violations = Vec::new();
    for file in code().filter(|file| !file.path.contains("test") && !file.path.contains("fuzz")) {
        let mut goes_on = false;
        for (line, number) in file.text.lines().zip(1..) {
            let is_code = comment(line).is_none() && !line.contains("reason = ");
            for text in strings(line, goes_on).filter(|text| is_code && text.contains(' ')) {
                let found = names_of_types(text).filter(|word| types.contains(*word));
                violations.extend(found.map(|word| format!("{}:{number}: {word}", file.path)));
            }
            goes_on = is_code && line.ends_with('\\');
        }
    }
    none(&violations, "a message uses words, not the name of a type");
}
