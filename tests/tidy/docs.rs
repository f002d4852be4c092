//! What the documents say, held against the tree: files explain themselves, named files exist, named
//! tests exist, and commands name what there is.

use super::{File, TREE, none, sources};

/// The documents that describe the tree.
const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];

fn documents() -> impl Iterator<Item = &'static File> {
    TREE.iter().filter(|file| DOCUMENTS.contains(&file.path.as_str()))
}

fn exists(path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    TREE.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

#[test]
fn every_file_says_what_it_is_for() {
    let violations: Vec<_> = sources()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path.clone())
        .collect();
    none(&violations, "a file opens with //!: what it is for, and what it leaves to others");
}

#[test]
fn every_command_of_the_documents_names_what_there_is() {
    let mut violations = Vec::new();
    for document in documents() {
        for line in document.text.split("```").skip(1).step_by(2).flat_map(str::lines) {
            let mut previous = "";
            for word in line.split_whitespace() {
                let missing = match (previous, word.strip_prefix("./")) {
                    ("-p" | "--package", _) => !is_package(word),
                    (_, Some(path)) => !exists(path) && !path.starts_with("target/"),
                    _ => false,
                };
                if missing {
                    violations.push(format!("{}: {word} in `{}`", document.path, line.trim()));
                }
                previous = word;
            }
        }
    }
    none(&violations, "a document gives a command that names something that does not exist");
}

fn is_package(name: &str) -> bool {
    let line = format!("name = \"{name}\"");
    TREE.iter().any(|file| file.name() == "Cargo.toml" && file.text.lines().any(|l| l == line))
}
