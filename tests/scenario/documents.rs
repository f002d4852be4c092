//! The documents, followed: every block of commands in them is run, in the directory that the page
//! describes, or is named here with the test that runs it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::Workdir;

/// The blocks that need more than a directory, by their first words.
const TESTED_ELSEWHERE: [(&str, &str); 7] = [
    ("cargo install", "it builds the program for minutes"),
    ("cargo test", "it is this run"),
    ("cargo xtask dist", "release"),
    ("sh install.sh", "release"),
    ("examples/quickstart/run", "it builds the program for minutes"),
    ("formwork -install-autocomplete", "the tests of completion in cli"),
    ("formwork provider check", "checked"),
];

/// A directory for pages that show no configuration.
const DIRECTORY: &str = r#"
terraform {
  required_providers {
    random = { source = "hashicorp/random" }
  }
}
module "names" {
  source = "./names"
}
output "name" {
  value = module.names.name
}
//- names/main.tf
resource "random_pet" "name" {
  length = 2
}
output "name" {
  value = random_pet.name.id
}
"#;

/// A fenced block of a page.
struct Block {
    language: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text = format!("{}{line}\n", block.text),
            (None, None) => {}
        }
    }
    blocks
}

/// The pages with blocks of commands. The command reference is written from examples, which are parsed
/// in a test of their own.
fn pages() -> Vec<(PathBuf, Vec<Block>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let directory = fs::read_dir(root.join("docs")).expect("the documents");
    let mut paths: Vec<PathBuf> = directory.map(|entry| entry.expect("an entry").path()).collect();
    paths.push(root.join("README.md"));
    paths.retain(|path| {
        path.extension().is_some_and(|it| it == "md") && !path.ends_with("commands.md")
    });
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a page");
        (path, blocks(&text))
    };
    paths.into_iter().map(read).collect()
}

/// Runs the commands of a block, each of which must succeed. Questions are answered with yes.
fn follow(workdir: &Workdir, page: &Path, commands: &str) {
    for line in commands.lines() {
        let command = line.split(" #").next().unwrap_or_default().trim();
        let Some(arguments) = command.strip_prefix("formwork ") else {
            panic!("{}: not a command of Formwork: {line}", page.display());
        };
        workdir.formwork(arguments).stdin("yes\n").succeed();
    }
}

#[test]
fn commands_of_the_documents_can_be_followed() {
    let mut used = [false; TESTED_ELSEWHERE.len()];
    let mut n_followed = 0;
    for (path, blocks) in pages() {
        let mut workdir: Option<Workdir> = None;
        let has_config = path.ends_with("getting-started.md");
        for block in blocks {
            let index =
                TESTED_ELSEWHERE.iter().position(|(words, _)| block.text.starts_with(words));
            match (block.language.as_str(), index) {
                ("hcl", _) if has_config => workdir = Some(Workdir::new(&block.text)),
                ("", Some(index)) => used[index] = true,
                ("", None) => {
                    let workdir = workdir.get_or_insert_with(|| prepared(&path));
                    follow(workdir, &path, &block.text);
                    n_followed += 1;
                }
                _ => {}
            }
        }
    }
    let unused = TESTED_ELSEWHERE.iter().zip(used).filter(|(_, used)| !used);
    let unused: Vec<_> = unused.map(|((words, _), _)| words).collect();
    assert!(unused.is_empty(), "no page has these: {unused:?}");
    assert!(n_followed > 5, "{n_followed} blocks were found");
}

/// A directory with an applied configuration.
fn prepared(page: &Path) -> Workdir {
    let workdir = Workdir::new(DIRECTORY);
    // A page for readers that begin shows `init` itself.
    if !page.ends_with("README.md") {
        workdir.formwork("init").succeed();
        workdir.formwork("apply -auto-approve").succeed();
    }
    workdir
}
