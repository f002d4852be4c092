//! Examples in the documentation of public types: each type has one that compiles, or names the item
//! whose example shows it. `cargo test --doc` compiles and runs them.

use std::collections::BTreeSet;

use super::glossary::public_type;
use super::{File, assert_no_violations, sources};

/// The sources of the crates whose types other programs use.
const DOCUMENTED_CRATES: [&str; 3] = ["core/backend/src/", "core/operation/src/", "sdk/src/"];

/// A public type or function, with the lines of its documentation.
struct PublicItem<'t> {
    line: usize,
    name: &'t str,
    is_type: bool,
    docs: Vec<&'t str>,
}

/// The text of a line of documentation.
fn doc_text(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("///").map(str::trim)
}

/// The name of the public function that a line declares.
fn public_function(line: &str) -> Option<&str> {
    let (head, rest) = line.trim_start().strip_prefix("pub ")?.split_once("fn ")?;
    let is_head = head.split_whitespace().all(|word| matches!(word, "async" | "const"));
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    is_head.then_some(name)
}

/// The public types and functions of a file, without those of its tests.
fn public_items(file: &File) -> Vec<PublicItem<'_>> {
    let lines: Vec<_> = file.product_lines().collect();
    let mut items = Vec::new();
    for (index, &(line, text)) in lines.iter().enumerate() {
        let Some(name) = public_type(text).or_else(|| public_function(text)) else { continue };
        // Attributes, some of several lines, are between the documentation and the item.
        let is_attribute = |text: &&str| !text.trim().is_empty() && doc_text(text).is_none();
        let above = lines[..index].iter().rev().map(|(_, text)| *text).skip_while(is_attribute);
        let mut docs: Vec<&str> = above.map_while(doc_text).collect();
        docs.reverse();
        items.push(PublicItem { line, name, is_type: public_type(text).is_some(), docs });
    }
    items
}

/// Whether the documentation has an example that is compiled.
fn has_example(docs: &[&str]) -> bool {
    let mut openings = docs.iter().filter(|text| text.starts_with("```")).step_by(2);
    openings.any(|opening| matches!(&opening[3..], "" | "no_run"))
}

/// The item whose example the documentation names: the last part of its path.
fn item_with_example<'t>(docs: &[&'t str]) -> Option<&'t str> {
    let link = docs.iter().find_map(|text| text.strip_prefix("See [`"))?;
    let path = link.strip_suffix(" for an example.")?.split('`').next()?;
    path.rsplit("::").next()
}

#[test]
fn every_public_type_has_an_example_or_refers_to_one() {
    // The test kit of the SDK is a part of its product.
    let is_product = |file: &&File| !file.is_test() || file.path == "sdk/src/testing.rs";
    let mut violations = Vec::new();
    for directory in DOCUMENTED_CRATES {
        let files = sources().filter(|file| file.path.starts_with(directory)).filter(is_product);
        let items: Vec<_> = files
            .flat_map(|file| public_items(file).into_iter().map(move |item| (&file.path, item)))
            .collect();
        let with_example = items.iter().filter(|(_, item)| has_example(&item.docs));
        let with_example: BTreeSet<&str> = with_example.map(|(_, item)| item.name).collect();
        let (mut n_types, mut n_links) = (0, 0);
        for (path, item) in items.iter().filter(|(_, item)| item.is_type) {
            n_types += 1;
            if has_example(&item.docs) {
                continue;
            }
            n_links += 1;
            if !item_with_example(&item.docs).is_some_and(|name| with_example.contains(name)) {
                violations.push(format!("{path}:{}: {}", item.line, item.name));
            }
        }
        assert!(n_types > 30, "{directory}: {n_types} types were found");
        // A link is for types that are only used together.
        if n_links * 4 > n_types {
            violations
                .push(format!("{directory}: {n_links} of {n_types} types have no own example"));
        }
    }
    let rule = "a public type has an example, or a line `See [`Other`] for an example.`, as at most \
                a quarter of the types of a crate have";
    assert_no_violations(&violations, rule);
}

#[test]
fn an_example_is_found_above_attributes_and_only_if_it_is_compiled() {
    let text = "/// A.\n///\n/// ```\n/// a();\n/// ```\n#[must_use = \"\n    b\n\"]\npub struct A;\n\n\
                /// B.\n///\n/// ```text\n/// b\n/// ```\npub enum B {}\n\n\
                /// C.\n///\n/// See [`A::new`](crate::A) for an example.\npub trait C {}\n\n\
                /// D.\npub const fn d() {}\npub(crate) struct E;\n";
    let file = File { path: "a.rs".to_owned(), text: text.to_owned() };
    let items = public_items(&file);
    let names: Vec<_> = items
        .iter()
        .map(|item| (item.name, has_example(&item.docs), item_with_example(&item.docs)))
        .collect();
    let expected = [("A", true, None), ("B", false, None), ("C", false, Some("new"))];
    assert_eq!(names[..3], expected);
    assert_eq!(names[3..], [("d", false, None)]);
}
