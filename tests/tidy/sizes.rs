//! A file is one idea. Clippy counts the lines of functions; files are counted here.

use super::{none, product};

/// More lines than this, tests not counted, are more than one idea.
const MOST_LINES: usize = 500;

#[test]
fn no_file_is_longer_than_one_idea() {
    let violations: Vec<_> = product()
        .map(|file| (file, file.product_lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect();
    none(&violations, "a file has at most 500 lines without its tests: split it by idea");
}
