//! Depth and size: an error where there is too much, never a crash.

use proptest::prelude::*;

use super::{expression, parse, template};
use crate::refs;
use crate::syntax::MAX_DEPTH;
use crate::syntax::lex::{TokenKind, lex, lex_template};

const DEEP: usize = 1_200;

fn nested(open: &str, inner: &str, close: &str, n: usize) -> String {
    open.repeat(n) + inner + &close.repeat(n)
}

fn shapes(n: usize) -> Vec<(&'static str, String)> {
    vec![
        ("parentheses", nested("(", "1", ")", n)),
        ("tuples", nested("[", "1", "]", n)),
        ("objects", nested("{a=", "1", "}", n)),
        ("calls", nested("f(", "1", ")", n)),
        ("indexes", nested("a[", "1", "]", n)),
        ("negations", nested("-", "1", "", n)),
        ("nots", nested("!", "a", "", n)),
        ("conditionals", nested("a ? b : ", "1", "", n)),
        ("for", nested("[for a in b : ", "1", "]", n)),
        ("templates", nested("\"${", "1", "}\"", n)),
        ("directives", format!("\"{}\"", nested("%{if a}", "x", "%{endif}", n))),
        ("sums", nested("1+", "1", "", n)),
        ("attributes", nested("", "a", ".b", n)),
        ("splats", nested("", "a", "[*]", n)),
        ("mixed", nested("(1+[", "1", "][0])", n / 4)),
    ]
}

/// Does something in a thread whose stack is small.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_thousand_levels_are_parsed_searched_copied_and_dropped_on_any_thread() {
    on_a_small_stack(|| {
        for (name, text) in shapes(DEEP) {
            let tree = expression(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            drop(refs::traversals_of_expr(&tree));
            drop(tree.clone());
        }
        let chain = format!("x = 1{}\n", "+1".repeat(DEEP));
        let (body, errors) = parse(&nested("a {\n", &chain, "}\n", DEEP));
        assert_eq!(errors, Vec::<String>::new());
        drop(refs::traversals_of_body(&body));
        drop(body.clone());
    });
}

#[test]
fn more_levels_than_the_limit_are_one_error() {
    for (name, text) in shapes(200_000) {
        let errors = expression(&text).expect_err(name);
        assert_eq!(errors.len(), 1, "{name}: {errors:?}");
        assert!(errors[0].ends_with("Too many nested levels"), "{name}: {errors:?}");
    }
    let (_, errors) = parse(&nested("a {\n", "x = 1\n", "}\n", 100_000));
    assert_eq!(errors.len(), 1, "{errors:?}");
    let (_, errors) = parse(&nested("a {\n", "x = 1\n", "", 100_000));
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn levels_of_different_kinds_add_up() {
    let chain = "+1".repeat(MAX_DEPTH / 2);
    let text = format!("(({}{chain}){chain}){chain}", "1");
    assert!(expression(&text).is_err());
}

#[test]
fn large_flat_documents_take_linear_time() {
    let items: String =
        (0..50_000).map(|at| format!("  k{at} = {{ a = \"${{v{at}}}\" }}\n")).collect();
    let (body, errors) = parse(&format!("x = {{\n{items}}}\n{items}"));
    assert!(errors.is_empty());
    assert_eq!(refs::traversals_of_body(&body).len(), 100_000);
    let (_, errors) = parse(&"x = 1\n".repeat(100_000));
    assert!(errors.len() <= 100);
    drop(parse(&format!("x = {}{}", "(".repeat(200_000), "]".repeat(200_000))));
    // Each opens something that is never closed: a search for the end that begins again at each one
    // would take quadratic time.
    for junk in ["/*", "<<A", "\"\n", "@", "{", "}", "x = [\n", "\"${", "<<A\n", "a \"b", "%{"] {
        drop(parse(&junk.repeat(100_000)));
        drop(expression(&junk.repeat(100_000)));
        drop(template(&junk.repeat(100_000)));
    }
}

/// Pieces that mean something, so that random rows of them get far into the parser.
const PIECES: &[&str] = &[
    "a",
    "b1",
    "for",
    "in",
    "if",
    "else",
    "endif",
    "endfor",
    "null",
    "true",
    "0",
    "1.5",
    "1e9",
    " ",
    "\n",
    "\r\n",
    "\t",
    "=",
    "==",
    "=>",
    "!",
    "!=",
    "<",
    "<<",
    "<<E\n",
    "<<-E\n",
    "E\n",
    ">",
    "&&",
    "||",
    "+",
    "-",
    "*",
    "/",
    "%",
    "?",
    ":",
    "::",
    ",",
    ".",
    "...",
    "..",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "${",
    "${~",
    "%{",
    "%{~",
    "~}",
    "\"",
    "\\",
    "\\u12",
    "$${",
    "%%{",
    "$",
    "#c\n",
    "//c\n",
    "/*c*/",
    "/*",
    "é",
    "\u{301}",
    "\u{feff}",
    "\u{0}",
    "'",
    "`",
    ";",
    "@",
    "dynamic \"x\" {\n",
    "x = ",
];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2_000)
    })]

    #[test]
    fn no_text_makes_anything_panic(picks in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        let (body, errors) = parse(&text);
        drop(refs::traversals_of_body(&body));
        drop((expression(&text), template(&text)));
        // Every dropped part was reported.
        if body.attributes.is_empty() && body.blocks.is_empty() && errors.is_empty() {
            let blank = [TokenKind::Newline, TokenKind::Comment, TokenKind::EndOfText];
            prop_assert!(lex(&text).iter().all(|token| blank.contains(&token.kind)));
        }
    }

    #[test]
    fn tokens_and_the_spaces_between_them_are_the_text(text in "(?s).{0,60}") {
        for tokens in [lex(&text), lex_template(&text)] {
            let mut at = 0;
            for token in tokens {
                let gap = &text[at as usize..token.start as usize];
                let blank = gap.chars().all(|char| [' ', '\t', '\u{feff}'].contains(&char));
                prop_assert!(blank);
                at = token.end;
            }
            prop_assert_eq!(at as usize, text.len());
        }
    }
}
