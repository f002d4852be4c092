//! A file is one idea. Clippy counts the lines of functions; files and comments are counted here.

use super::{File, none, product};

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

/// More lines of code than this, and embedding the engine is no small matter any more.
const MOST_LINES_TO_EMBED: usize = 40;

#[test]
fn the_engine_is_embedded_in_forty_lines() {
    let path = "core/operation/examples/embed.rs";
    let example = product().find(|file| file.path == path).expect("the example is there");
    let lines = example.text.lines().map(str::trim);
    let n_lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    assert!(n_lines <= MOST_LINES_TO_EMBED, "{path} has {n_lines} lines of code");
}

/// The folders whose comments are counted.
const EXPLAINED: [&str; 3] = ["core/", "plugin-protocol/", "sdk/"];

#[test]
fn three_of_a_hundred_lines_are_reasons() {
    let mut violations = Vec::new();
    for folder in EXPLAINED {
        let lines = product()
            .filter(|file| file.path.starts_with(folder))
            .flat_map(File::product_lines)
            .map(|(_, line)| line.trim_start())
            .filter(|line| !line.is_empty());
        let (mut n_lines, mut n_reasons) = (0, 0);
        for line in lines {
            n_lines += 1;
            let is_doc = line.starts_with("///") || line.starts_with("//!");
            n_reasons += usize::from(line.starts_with("//") && !is_doc);
        }
        assert!(n_lines > 1_000, "{folder}: {n_lines} lines were found");
        if n_reasons * 100 < n_lines * 3 {
            violations.push(format!("{folder}: {n_reasons} of {n_lines} lines"));
        }
    }
    none(&violations, "three of a hundred lines are comments that give a reason");
}
