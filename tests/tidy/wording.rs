//! Wording of comments, documents, messages and the changelog: standard terms, the noun or verb first.
//! `docs/glossary.md` lists the terms.

use std::collections::BTreeSet;

use super::{File, TREE, assert_no_violations, product, sources};

/// Openings of a sentence that postpone its noun.
const OPENINGS: [&str; 11] = [
    "What", "Who", "Whose", "Whoever", "Whatever", "Which", "Where", "How", "By", "As much", "Whom",
];

/// Words that hide a standard term, and their replacements.
const WORDS: [(&str, &str); 9] = [
    ("the reference", "Terraform"),
    ("somebody", "the program, process or user that is meant"),
    ("nobody", "no program, process or user"),
    ("whoever", "the program, process or user that is meant"),
    ("anew", "again"),
    ("told", "printed, reported or named"),
    ("those who", "callers, users, providers: the name of the role"),
    ("one who", "the name of the role"),
    ("of who", "of the user, caller or provider"),
];

fn has_bad_opening(text: &str) -> bool {
    let text = text.trim_start_matches(['#', ' ']);
    // An adverb, which postpones nothing.
    if text.starts_with("By default") {
        return false;
    }
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
    let protocols = TREE.iter().filter(|file| file.path.ends_with(".proto"));
    for file in sources().chain(protocols) {
        let mut previous = None;
        // Comments of the protocol become the documentation of the generated code.
        let is_protocol = file.path.ends_with(".proto");
        for (line, number) in file.text.lines().zip(1..) {
            let current = comment(line);
            if let Some((marker, text)) = current
                && (is_protocol || matches!(marker, "//!" | "///"))
                && previous
                    .is_none_or(|(before, text): (&str, &str)| before != marker || text.is_empty())
                && has_bad_opening(text)
            {
                violations.push(format!("{}:{number}: {text}", file.path));
            }
            previous = current;
        }
    }
    assert_no_violations(
        &violations,
        "a doc comment begins with the noun or the verb (docs/glossary.md)",
    );
}

#[test]
fn headings_begin_with_the_noun_or_the_verb() {
    let mut violations = Vec::new();
    for file in TREE.iter().filter(|file| file.path.ends_with(".md")) {
        for (line, number) in file.text.lines().zip(1..) {
            if line.starts_with('#') && has_bad_opening(line) {
                violations.push(format!("{}:{number}: {line}", file.path));
            }
        }
    }
    assert_no_violations(
        &violations,
        "a heading begins with the noun or the verb (docs/glossary.md)",
    );
}

/// The text of a line that people read: all of a document, and the comments of anything else.
fn readable_text<'t>(file: &File, line: &'t str) -> Option<&'t str> {
    match file.path.rsplit('.').next()? {
        // In settings, the reasons of lints are strings, which are printed with the lint.
        "md" | "toml" => Some(line),
        "rs" | "proto" => comment(line).map(|(_, text)| text),
        "tf" | "txt" => line.trim_start().strip_prefix('#'),
        _ => None,
    }
}

#[test]
fn comments_and_documents_use_standard_words() {
    let mut violations = Vec::new();
    for file in TREE.iter().filter(|file| !file.is_generated()) {
        for (line, number) in file.text.lines().zip(1..) {
            for word in readable_text(file, line).into_iter().flat_map(private_words) {
                violations.push(format!("{}:{number}: {word}", file.path));
            }
        }
    }
    assert_no_violations(
        &violations,
        "comments and documents use standard words (WORDS in this file)",
    );
}

#[test]
fn changelog_lines_are_short_and_have_one_topic() {
    const LONGEST: usize = 160;
    let changelog = TREE.iter().find(|file| file.path == "CHANGELOG.md").expect("a changelog");
    let mut violations = Vec::new();
    for (line, number) in changelog.text.lines().zip(1..) {
        let length = line.chars().count();
        if length > LONGEST {
            violations.push(format!("{number}: {length} characters"));
        }
        if line.contains(';') {
            violations.push(format!("{number}: a semicolon: two ideas are two lines"));
        }
    }
    assert_no_violations(
        &violations,
        "a line of the changelog has at most 160 characters and one idea",
    );
}

#[test]
fn bad_openings_and_private_words_are_found() {
    assert!(has_bad_opening("What a session needs.") && has_bad_opening("## How to build"));
    assert!(has_bad_opening("By `count`.") && !has_bad_opening("By default, nothing."));
    assert!(!has_bad_opening("Whole objects.") && !has_bad_opening("Whether it is set."));
    assert_eq!(
        private_words("As the reference has it, `told` or not").collect::<Vec<_>>(),
        ["the reference"]
    );
    assert_eq!(private_words("Nobody is asked anew").collect::<Vec<_>>(), ["nobody", "anew"]);
}

/// Crates whose strings are messages for users, in the words of the product.
const FILES_WITH_MESSAGES: [&str; 4] = ["cli/", "core/", "plugin-protocol/src/", "providers/"];

/// A string of the product, or its part on one line.
struct MessagePart {
    file: &'static File,
    line: usize,
    text: &'static str,
}

/// The strings of more than one word.
fn message_parts() -> Vec<MessagePart> {
    let mut parts = Vec::new();
    for file in product().filter(|file| !file.path.contains("fuzz")) {
        let mut goes_on = false;
        for (line, text) in file.product_lines() {
            // The reasons of exceptions are for readers of the code.
            let is_code = comment(text).is_none() && !text.contains("reason = ");
            let texts = strings(text, goes_on).filter(|text| is_code && text.contains(' '));
            parts.extend(texts.map(|text| MessagePart { file, line, text }));
            goes_on = is_code && text.ends_with('\\');
        }
    }
    parts
}

/// The strings on a line of code, or their part on it. `goes_on`: a string of the line before is
/// continued.
fn strings(line: &str, goes_on: bool) -> impl Iterator<Item = &str> {
    line.split('"').skip(usize::from(!goes_on)).step_by(2)
}

/// A format string without its placeholders, which are names of the code.
fn without_placeholders(text: &str) -> String {
    text.split('{').map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest)).collect()
}

/// The words of a string that are written like the name of a type of two words, `LikeThis`.
fn names_of_types(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '{');
    words.filter(|word| {
        let mut capitals = word.char_indices().filter(|(_, c)| c.is_uppercase());
        capitals.next().is_some_and(|(position, _)| position == 0)
            && capitals.next().is_some_and(|(position, _)| position > 1)
    })
}

#[test]
fn messages_name_no_type_of_the_code() {
    let has_messages =
        |file: &File| FILES_WITH_MESSAGES.iter().any(|root| file.path.starts_with(root));
    let declared = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        words.find(|word| matches!(*word, "struct" | "enum" | "trait"))?;
        words.next().map(str::to_owned)
    };
    let code = sources().filter(|file| has_messages(file));
    let types: BTreeSet<String> =
        code.flat_map(|file| file.text.lines().filter_map(declared)).collect();
    let mut violations = Vec::new();
    for MessagePart { file, line, text } in message_parts() {
        if has_messages(file) {
            let type_names = names_of_types(text).filter(|word| types.contains(*word));
            violations.extend(type_names.map(|word| format!("{}:{line}: {word}", file.path)));
        }
    }
    assert_no_violations(&violations, "a message uses words, not the name of a type");
}

#[test]
fn messages_use_standard_words() {
    let parts = message_parts();
    assert!(parts.len() > 5_000, "only {} strings were found", parts.len());
    let mut violations = Vec::new();
    for MessagePart { file, line, text } in parts {
        let text = without_placeholders(text);
        violations.extend(private_words(&text).map(|word| format!("{}:{line}: {word}", file.path)));
    }
    assert_no_violations(&violations, "a message uses standard words (WORDS in this file)");
}

#[test]
fn placeholders_do_not_count_as_words_of_a_message() {
    assert_eq!(without_placeholders("{told}: it is {} here {at:?}"), ": it is  here ");
    assert_eq!(private_words("It is told twice").collect::<Vec<_>>(), ["told"]);
}
