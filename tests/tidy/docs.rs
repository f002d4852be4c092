//! Statements of the documents, compared with the tree: files explain themselves, named files and
//! named tests exist, and commands name existing things.

use super::{File, TREE, assert_no_violations, sources};

/// The documents that describe the tree.
const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];

fn documents() -> impl Iterator<Item = &'static File> {
    TREE.iter().filter(|file| DOCUMENTS.contains(&file.path.as_str()))
}

/// The pieces of a document between single backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let outside_blocks = text.split("```").step_by(2);
    outside_blocks.flat_map(|text| text.split('`').skip(1).step_by(2))
}

fn exists(path: &str) -> bool {
    let directory = format!("{}/", path.trim_end_matches('/'));
    TREE.iter().any(|file| file.path == path || file.path.starts_with(&directory))
}

#[test]
fn every_file_begins_with_its_purpose() {
    let violations: Vec<_> = sources()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path.clone())
        .collect();
    assert_no_violations(
        &violations,
        "a file opens with //!: what it is for, and what it leaves to others",
    );
}

#[test]
fn no_file_has_markers_of_an_unresolved_merge() {
    let is_marker = |line: &str| {
        let side = line.split(' ').next().unwrap_or_default();
        ["<", ">"].iter().any(|character| side == character.repeat(7))
    };
    let violations: Vec<_> = TREE
        .iter()
        .filter(|file| file.text.lines().any(is_marker))
        .map(|file| file.path.clone())
        .collect();
    assert_no_violations(&violations, "a merge is resolved before it is committed");
}

#[test]
fn every_operation_of_the_library_has_an_example() {
    let (mut n_found, mut violations) = (0, Vec::new());
    for file in sources().filter(|file| file.path.starts_with("core/operation/src/")) {
        // The block of documentation above the line, and whether it has an example.
        let (mut is_operation, mut has_example) = (false, false);
        for (line, number) in file.text.lines().zip(1..) {
            match line.trim() {
                _ if line.starts_with("impl") => is_operation = line.contains(" Operation<"),
                text if text.starts_with("/// ```") => has_example = true,
                text if text.starts_with("///") || text.starts_with("#[") => {}
                text if is_operation && text.starts_with("pub async fn ") => {
                    n_found += 1;
                    if !std::mem::take(&mut has_example) {
                        violations.push(format!("{}:{number}: {text}", file.path));
                    }
                }
                _ => has_example = false,
            }
        }
    }
    assert!(n_found > 6, "{n_found} operations were found");
    assert_no_violations(
        &violations,
        "an operation has an example that compiles in its documentation",
    );
}

/// The directory that a paragraph is about, if it opens with one in bold; names in it start there.
fn dir_of(paragraph: &str) -> Option<&str> {
    let (directory, _) = paragraph.trim_start().strip_prefix("**`")?.split_once("`**")?;
    Some(directory)
}

#[test]
fn every_file_the_documents_name_exists() {
    let mut n_named = 0;
    let mut violations = Vec::new();
    for document in documents() {
        for paragraph in document.text.split("\n\n") {
            let directory = dir_of(paragraph);
            for name in quoted(paragraph) {
                let path = match directory {
                    Some(directory) if name != directory && !exists(name) => {
                        format!("{directory}/{name}")
                    }
                    _ => name.to_owned(),
                };
                let is_name = |c: char| c.is_alphanumeric() || "._-/".contains(c);
                let top = path.split('/').next().unwrap_or_default();
                let is_path = path.contains('/') && path.chars().all(is_name) && exists(top);
                let is_file = name.contains('/') || name.ends_with(".rs");
                if !is_path || !is_file {
                    continue;
                }
                n_named += 1;
                if !exists(&path) {
                    violations.push(format!("{}: {path}", document.path));
                }
            }
        }
    }
    assert_no_violations(&violations, "a document names a file that does not exist");
    assert!(n_named > 100, "ARCHITECTURE.md maps the tree; only {n_named} paths were found");
}

/// The number of cells in a row of a table.
fn n_cells(row: &str) -> usize {
    // A bar in code or behind a backslash ends no cell.
    let outside_of_code = row.split('`').step_by(2).collect::<String>();
    outside_of_code.replace("\\|", "").matches('|').count()
}

#[test]
fn every_table_row_has_as_many_cells_as_its_header() {
    let mut n_rows = 0;
    let mut violations = Vec::new();
    for file in documents() {
        let mut head: Option<usize> = None;
        let mut is_code = false;
        for (line, number) in file.text.lines().zip(1..) {
            is_code ^= line.starts_with("```");
            if is_code || !line.starts_with('|') {
                head = None;
                continue;
            }
            n_rows += 1;
            if n_cells(line) != *head.get_or_insert_with(|| n_cells(line)) {
                violations.push(format!("{}:{number}", file.path));
            }
        }
    }
    assert!(n_rows > 100, "{n_rows} rows were found");
    assert_no_violations(&violations, "a row has as many cells as the head of its table");
}

#[test]
fn every_test_that_keeps_an_invariant_exists() {
    let architecture = documents().find(|file| file.path == "ARCHITECTURE.md").unwrap();
    let mut n_tests = 0;
    let mut violations = Vec::new();
    for name in quoted(&architecture.text) {
        let Some((file, test)) = name.split_once("::") else { continue };
        if !file.ends_with(".rs") {
            continue;
        }
        n_tests += 1;
        let test_file = TREE.iter().find(|candidate| candidate.path == file);
        if !test_file.is_some_and(|test_file| test_file.text.contains(&format!("fn {test}("))) {
            violations.push(name.to_owned());
        }
    }
    assert_no_violations(&violations, "ARCHITECTURE.md names a test that does not exist");
    assert!(n_tests > 20, "the table of invariants names their tests; only {n_tests} were found");
}

#[test]
fn every_command_in_the_documents_uses_existing_files_and_tests() {
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
    assert_no_violations(
        &violations,
        "a document gives a command that names something that does not exist",
    );
}

fn is_package(name: &str) -> bool {
    let line = format!("name = \"{name}\"");
    TREE.iter().any(|file| file.name() == "Cargo.toml" && file.text.lines().any(|l| l == line))
}

#[test]
fn every_package_has_a_reason() {
    let manifest = TREE.iter().find(|file| file.path == "Cargo.toml").expect("the workspace's");
    let dependencies = manifest.text.split("[workspace.dependencies]").nth(1).unwrap_or_default();
    let dependencies = dependencies.split("\n[").next().unwrap_or_default().lines();
    let packages: Vec<&str> = dependencies
        .filter(|line| !line.contains("path = "))
        .filter_map(|line| Some(line.split_once(" = ")?.0))
        .collect();
    assert!(packages.len() > 40, "{packages:?}");
    let architecture = TREE.iter().find(|file| file.path == "ARCHITECTURE.md").expect("the map");
    let table = architecture.text.split("## Packages").nth(1).unwrap_or_default();
    let rows = table.split("\n## ").next().unwrap_or_default().lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let (names, _, reason) = (cells.next()?, cells.next()?, cells.next()?);
        (!reason.is_empty()).then_some(names)
    });
    let is_part_of_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let named: Vec<String> = rows
        .flat_map(|row| {
            let words = row.split(|c| !is_part_of_name(c)).map(str::to_owned);
            words.collect::<Vec<_>>()
        })
        .collect();
    let violations: Vec<_> = packages
        .into_iter()
        .filter(|package| !named.iter().any(|name| name == package))
        .map(str::to_owned)
        .collect();
    assert_no_violations(
        &violations,
        "a package has a line in ARCHITECTURE.md: what it is used for, and why it",
    );
}

#[test]
fn the_summary_of_the_book_lists_every_page_once() {
    let summary = TREE.iter().find(|file| file.path == "docs/SUMMARY.md").expect("the summary");
    let links = summary.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut listed: Vec<&str> = links.collect();
    listed.sort_unstable();
    let pages = TREE.iter().filter_map(|file| file.path.strip_prefix("docs/"));
    let is_page = |name: &&str| name.ends_with(".md") && *name != "SUMMARY.md";
    let pages: Vec<&str> = pages.filter(is_page).collect();
    assert_eq!(listed, pages);
}

/// Targets of the links of a document, outside of code.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let outside_code = text.split("```").step_by(2).flat_map(|text| text.split('`').step_by(2));
    outside_code.flat_map(|text| {
        text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
    })
}

/// The anchors of a document, as mdBook and code hosts derive them from its headings.
fn anchors(text: &str) -> Vec<String> {
    let outside_blocks = text.split("```").step_by(2).flat_map(str::lines);
    let headings = outside_blocks.filter_map(|line| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len()).then(|| title.strip_prefix(' ')).flatten()
    });
    let is_kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    let anchor = |title: &str| title.trim().to_lowercase().chars().filter(is_kept).collect();
    headings.map(anchor).map(|anchor: String| anchor.replace(' ', "-")).collect()
}

/// The path from the root that a link of a document leads to.
fn resolve(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => (),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_of_a_document_leads_to_a_page_and_a_heading() {
    let mut n_links = 0;
    let mut violations = Vec::new();
    for document in TREE.iter().filter(|file| file.path.ends_with(".md")) {
        for link in links(&document.text).filter(|link| !link.contains("://")) {
            n_links += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = match path {
                "" => document.path.clone(),
                path => resolve(&document.path, path),
            };
            let page = TREE.iter().find(|file| file.path == path);
            let has_anchor =
                |page: &File| anchors(&page.text).iter().any(|heading| heading == anchor);
            // A page of the book cannot link to a file outside of it.
            let leaves_book = document.path.starts_with("docs/") && !path.starts_with("docs/");
            if leaves_book || !page.is_some_and(|page| anchor.is_empty() || has_anchor(page)) {
                violations.push(format!("{}: {link}", document.path));
            }
        }
    }
    assert_no_violations(&violations, "a link leads to no page, to no heading, or out of the book");
    assert!(n_links > 60, "only {n_links} links were found");
}
