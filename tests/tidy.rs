//! Invariants of `ARCHITECTURE.md` that the compiler cannot keep: each is read off the source tree
//! or tried out. Other tests check the behaviour of the product.

mod cycles;
mod determinism;
mod docs;
mod duplicates;
mod examples;
mod glossary;
mod layers;
mod messages;
mod names;
mod parameters;
mod restricted_code;
mod sizes;
mod vertices;
mod wording;

use std::path::Path;
use std::sync::LazyLock;

/// A text file of the repository.
struct File {
    /// Path from the root of the repository, with `/` between names.
    path: String,
    text: String,
}

/// Every text file of the repository, in the order of their paths.
static TREE: LazyLock<Vec<File>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&root, "", &mut files).expect("the repository can be read");
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.len() > 100, "the tree was not found at {}", root.display());
    files
});

/// Files and directories that commands leave in a working directory. They do not belong to the
/// project.
const LEFT_BEHIND: [&str; 5] = [".git", "target", ".terraform", ".formwork-bench", "__pycache__"];

fn collect(directory: &Path, prefix: &str, files: &mut Vec<File>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if LEFT_BEHIND.contains(&name.as_str()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
    Ok(())
}

impl File {
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    fn is_generated(&self) -> bool {
        self.path.starts_with("plugin-protocol/src/wire/generated/")
    }

    /// Whether the whole file is compiled only for tests.
    fn is_test(&self) -> bool {
        let is_test =
            |part: &str| matches!(part, "tests" | "tests.rs" | "testing.rs" | "fixtures.rs");
        self.path.split('/').any(is_test)
    }

    /// The lines of the file, numbered from 1, up to its tests.
    fn product_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut inside_tests = false;
        let mut lines = self.text.lines().zip(1..).peekable();
        std::iter::from_fn(move || {
            let (line, number) = lines.next()?;
            let next = lines.peek().map_or("", |(next, _)| next);
            inside_tests |=
                line == "#[cfg(test)]" && next.starts_with("mod ") && next.ends_with('{');
            (!inside_tests).then_some((number, line))
        })
    }
}

/// The Rust files that people wrote.
fn sources() -> impl Iterator<Item = &'static File> {
    TREE.iter().filter(|file| file.path.ends_with(".rs") && !file.is_generated())
}

/// The Rust files that people wrote for the product, not for its tests.
fn product() -> impl Iterator<Item = &'static File> {
    sources().filter(|file| !file.is_test())
}

/// Whether there is a test of this name anywhere.
pub(crate) fn is_test_of_the_tree(name: &str) -> bool {
    sources().any(|file| file.text.contains(&format!("fn {name}(")))
}

/// Fails with all violations at once, so that one run shows them all.
fn assert_no_violations(violations: &[String], rule: &str) {
    assert!(violations.is_empty(), "{rule}:\n  {}", violations.join("\n  "));
}

/// The words of a line: names and numbers as Rust has them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
