//! Duplicates: a block of product code occurs once.

use std::collections::HashMap;

use super::{assert_no_violations, product};

/// The maximum number of consecutive lines that two blocks may have in common.
const MAX_IDENTICAL_LINES: usize = 12;

/// A line that does something, with its number.
struct CodeLine<'t> {
    number: usize,
    text: &'t str,
}

/// A file with its lines that do something.
struct CodeFile<'t> {
    path: &'t str,
    lines: Vec<CodeLine<'t>>,
}

impl<'t> CodeFile<'t> {
    /// Leaves out blank lines, comments and imports: files about one thing import the same.
    fn new(path: &'t str, lines: impl Iterator<Item = (usize, &'t str)>) -> Self {
        let lines = lines.map(|(number, line)| CodeLine { number, text: line.trim() });
        let is_code = |line: &CodeLine<'_>| {
            !line.text.is_empty() && !line.text.starts_with("//") && !line.text.starts_with("use ")
        };
        Self { path, lines: lines.filter(is_code).collect() }
    }
}

/// The blocks of more than [`MAX_IDENTICAL_LINES`] lines that occur twice, each with both positions.
fn duplicated_blocks(files: &[CodeFile<'_>]) -> Vec<String> {
    // Numbers instead of lines, because each line is part of many blocks.
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let numbered: Vec<Vec<usize>> = files
        .iter()
        .map(|file| {
            let lines = file.lines.iter().map(|line| {
                let next = numbers.len();
                *numbers.entry(line.text).or_insert(next)
            });
            lines.collect()
        })
        .collect();
    let mut duplicates = Vec::new();
    let mut seen: HashMap<&[usize], (usize, usize)> = HashMap::new();
    for (file, lines) in numbered.iter().enumerate() {
        // The position of the block that the previous one was equal to: then this block continues it.
        let mut before = None;
        for (line, block) in lines.windows(MAX_IDENTICAL_LINES + 1).enumerate() {
            let Some(&(other_file, first_line)) = seen.get(block) else {
                seen.insert(block, (file, line));
                before = None;
                continue;
            };
            // A row of equal lines overlaps with itself, and is compared with its end.
            if other_file == file && line - first_line <= MAX_IDENTICAL_LINES {
                seen.insert(block, (file, line));
                before = None;
                continue;
            }
            if before != Some((other_file, first_line)) {
                let location = |file: usize, line: usize| {
                    let file: &CodeFile<'_> = &files[file];
                    format!("{}:{}", file.path, file.lines[line].number)
                };
                duplicates.push(format!(
                    "{} and {}",
                    location(other_file, first_line),
                    location(file, line)
                ));
            }
            before = Some((other_file, first_line + 1));
        }
    }
    duplicates
}

#[test]
fn no_block_of_product_code_is_duplicated() {
    let is_product = |path: &str| {
        !path.starts_with("tests/") && !path.contains("/fuzz/") && !path.contains("/benches/")
    };
    let files: Vec<CodeFile<'_>> = product()
        .filter(|file| is_product(&file.path))
        .map(|file| CodeFile::new(&file.path, file.product_lines()))
        .collect();
    let rule = "more than 12 lines in common are one function, or one default method of a trait";
    assert_no_violations(&duplicated_blocks(&files), rule);
}

#[test]
fn a_duplicate_is_found_at_any_indentation() {
    let lines = |count: usize, indent: &str| {
        (0..count).map(|n| format!("{indent}line {n};\n\n// {indent}\n")).collect::<String>()
    };
    let blocks = |count: usize| {
        let (left, right) = (lines(count, ""), format!("other();\n{}", lines(count, "    ")));
        let left = CodeFile::new("one.rs", (1..).zip(left.lines()));
        duplicated_blocks(&[left, CodeFile::new("other.rs", (1..).zip(right.lines()))])
    };
    assert_eq!(blocks(MAX_IDENTICAL_LINES), [""; 0]);
    assert_eq!(blocks(MAX_IDENTICAL_LINES + 1), ["one.rs:1 and other.rs:2"]);
    assert_eq!(blocks(MAX_IDENTICAL_LINES + 9), ["one.rs:1 and other.rs:2"]);
    // A table of equal lines is one block.
    let table = "0,\n".repeat(99);
    let table = CodeFile::new("table.rs", (1..).zip(table.lines()));
    assert_eq!(duplicated_blocks(&[table]), [""; 0]);
}
