//! What expressions evaluate to, in tables taken from the reference.

use std::fmt::Write as _;

use super::testing::show;

/// Compares every case of a table: `> expression`, then what is printed or `error: summary`, then an
/// empty line.
fn check(table: &str) {
    let mut wrong = String::new();
    let mut n_cases = 0;
    for case in table.split("\n> ") {
        let case = case.strip_prefix("> ").unwrap_or(case);
        let Some((expression, expected)) = case.split_once('\n') else { continue };
        n_cases += 1;
        let (expected, shown) = (expected.trim_end_matches('\n'), show(expression));
        if shown != expected {
            let _ =
                write!(wrong, "\n> {expression}\n--- expected\n{expected}\n--- found\n{shown}\n");
        }
    }
    assert!(n_cases > 10, "the table has cases");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each test is a table of the reference's answers.
macro_rules! tables {
    ($($name:ident: $file:literal,)*) => {
        $(#[test]
        fn $name() {
            check(include_str!($file));
        })*
    };
}

tables! {
    expressions_have_the_values_of_the_reference: "tables/expressions.txt",
    collections_are_treated_like_in_the_reference: "tables/collections.txt",
    encodings_and_numbers_agree_with_the_reference: "tables/encodings_and_numbers.txt",
    format_verbs_print_what_the_reference_prints: "tables/format.txt",
    patterns_match_what_they_match_in_the_reference: "tables/regex.txt",
    times_and_addresses_agree_with_the_reference: "tables/time_and_net.txt",
}
