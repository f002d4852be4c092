//! A file is one idea, and a function one purpose. Clippy limits the lines of a function without its
//! comments; files, long functions and comments are counted here.

use super::{File, assert_no_violations, product};

/// More lines than this, tests not counted, are more than one idea.
const MAX_LINES: usize = 500;

#[test]
fn no_file_is_longer_than_the_limit() {
    let violations: Vec<_> = product()
        .map(|file| (file, file.product_lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect();
    assert_no_violations(
        &violations,
        "a file has at most 500 lines without its tests: split it by idea",
    );
}

/// The maximum number of lines of code for embedding the engine.
const MAX_LINES_TO_EMBED: usize = 40;

#[test]
fn the_engine_is_embedded_in_forty_lines() {
    let path = "core/operation/examples/embed.rs";
    let example = product().find(|file| file.path == path).expect("the example is there");
    let lines = example.text.lines().map(str::trim);
    let n_lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    assert!(n_lines <= MAX_LINES_TO_EMBED, "{path} has {n_lines} lines of code");
}

/// A function with more lines than this, its head and its comments included, is long.
const LONG_FUNCTION: usize = 60;

/// A function in a file.
struct FunctionLines {
    /// The number of its first line.
    first: usize,
    /// The number of its lines, from `fn` to the closing bracket.
    count: usize,
}

/// Whether a line without its indentation begins a function.
fn begins_function(line: &str) -> bool {
    const QUALIFIERS: [&str; 5] = ["const", "async", "unsafe", "extern", "\"C\""];
    let Some((head, _)) = line.split_once("fn ") else { return false };
    let is_qualifier = |word: &str| word.starts_with("pub") || QUALIFIERS.contains(&word);
    (head.is_empty() || head.ends_with(' ')) && head.split_whitespace().all(is_qualifier)
}

/// The functions of a file, and declarations of more than one line.
fn functions(file: &File) -> Vec<FunctionLines> {
    let lines: Vec<_> = file.product_lines().collect();
    let mut functions = Vec::new();
    for (index, (first, line)) in lines.iter().enumerate() {
        let code = line.trim_start();
        if !begins_function(code) || code.ends_with(';') {
            continue;
        }
        let indentation = &line[..line.len() - code.len()];
        let (end, head_end) = (format!("{indentation}}}"), format!("{indentation})"));
        let ends = |line: &str| line == end || (line.starts_with(&head_end) && line.ends_with(';'));
        let n_more = match code.ends_with('}') {
            true => 0,
            false => lines[index..].iter().position(|&(_, line)| ends(line)).unwrap_or(0),
        };
        functions.push(FunctionLines { first: *first, count: n_more + 1 });
    }
    functions
}

#[test]
fn at_most_one_of_two_hundred_functions_is_long() {
    let mut n_functions = 0;
    let mut long = Vec::new();
    for file in product() {
        for FunctionLines { first, count } in functions(file) {
            n_functions += 1;
            if count > LONG_FUNCTION {
                long.push(format!("{}:{first}: {count} lines", file.path));
            }
        }
    }
    assert!(n_functions > 5_000, "{n_functions} functions were found");
    if long.len() * 200 >= n_functions {
        let rule = format!("fewer than {} functions have more than 60 lines", n_functions / 200);
        assert_no_violations(&long, &rule);
    }
}

#[test]
fn examples_do_not_count_as_lines_to_explain() {
    let text = "/// A.\n///\n/// ```\n/// a();\n/// ```\nfn a() {}\n";
    let file = File { path: "a.rs".to_owned(), text: text.to_owned() };
    assert_eq!(lines_without_examples(&file).collect::<Vec<_>>(), ["/// A.", "///", "fn a() {}"]);
}

#[test]
fn lines_of_functions_are_counted_with_their_signature() {
    let text = "impl A {\n    pub(crate) async fn a(\n        b: u8,\n    ) {\n        // c\n    }\n}\n\
                fn d() {}\n    fn e(\n        f: u8,\n    ) -> u8;\n// fn g() {\n";
    let file = File { path: "a.rs".to_owned(), text: text.to_owned() };
    let counts: Vec<_> =
        functions(&file).iter().map(|function| (function.first, function.count)).collect();
    assert_eq!(counts, [(2, 5), (8, 1), (9, 3)]);
}

/// The directories whose comments are counted, each for itself.
const EXPLAINED: [&str; 9] = [
    "core/src/",
    "core/backend/",
    "core/lang/",
    "core/operation/",
    "core/value/",
    "plugin-protocol/",
    "sdk/",
    "sdk/macros/",
    "sdk/testing/",
];

/// The lines of a file without the examples in its documentation: they show a use, and need no reasons.
fn lines_without_examples(file: &File) -> impl Iterator<Item = &str> {
    let mut is_example = false;
    file.product_lines().map(|(_, line)| line.trim_start()).filter(move |line| {
        let is_fence = line.starts_with("/// ```") || line.starts_with("//! ```");
        let is_inside = is_example || is_fence;
        is_example ^= is_fence;
        !is_inside
    })
}

#[test]
fn at_least_three_of_a_hundred_lines_are_reasons() {
    let mut violations = Vec::new();
    for directory in EXPLAINED {
        let lines = product()
            .filter(|file| file.path.starts_with(directory))
            .flat_map(lines_without_examples)
            .filter(|line| !line.is_empty());
        let (mut n_lines, mut n_reasons) = (0, 0);
        for line in lines {
            n_lines += 1;
            let is_doc = line.starts_with("///") || line.starts_with("//!");
            n_reasons += usize::from(line.starts_with("//") && !is_doc);
        }
        assert!(n_lines > 1_000, "{directory}: {n_lines} lines were found");
        if n_reasons * 100 < n_lines * 3 {
            violations.push(format!("{directory}: {n_reasons} of {n_lines} lines"));
        }
    }
    assert_no_violations(&violations, "three of a hundred lines are comments that give a reason");
}
