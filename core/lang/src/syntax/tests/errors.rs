//! Several errors in one file: each is reported, and the rest is still read.

use expect_test::{Expect, expect};

use super::{expression, parse, template};

/// Checks the position, source text and summary of every error in a file.
fn check(text: &str, expected: &Expect) {
    let lines: String = parse(text).1.iter().map(|error| format!("{error}\n")).collect();
    expected.assert_eq(&lines);
}

#[test]
fn independent_errors_are_all_reported() {
    check(
        r#"locals {
  a = 1 +
  b = [1 2]
  c = "abc
  d = f(1,
    2 3)
  e = { x = 1 y = 2 }
  f = 1
}

output "x" {
  value = 'x'
  other = "${a b}"
}

resource "a" "b"
{
  x = 1 2
}
"#,
        &expect![[r#"
            2:10 "\n" Invalid expression
            3:10 "2" Missing item separator
            4:11 "\n" Invalid multi-line string
            6:7 "3" Missing argument separator
            7:15 "y" Missing attribute separator
            12:11 "'" Invalid character
            13:16 "b" Extra characters after interpolation expression
            16:17 "\n" Invalid block definition
            18:9 "2" Missing newline after argument
        "#]],
    );
}

#[test]
fn valid_parts_of_an_invalid_file_are_kept() {
    let (body, errors) =
        parse("a = 1 2\nb {\n  c = [\n  d = 2\n}\ne = 3\nf { g = 1, h = 2 }\ni = 4\n");
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert_eq!(
        crate::syntax::print_tree::print_body(&body),
        "a = INVALID\ne = 3\ni = 4\nb\n  c = INVALID\nf\n"
    );
}

#[test]
fn a_bracket_that_is_never_closed_ends_with_its_block() {
    check(
        "a {\n  x = [1, 2\n  y = (3\n}\nb {\n  z = 1 1\n}\n",
        &expect![[r#"
            3:3 "y" Missing item separator
            6:9 "1" Missing newline after argument
        "#]],
    );
}

#[test]
fn a_missing_brace_is_reported_once_and_at_the_brace() {
    check(
        "a {\n  b {\n    c = 1\n  d {\n  }\n}\n",
        &expect![[r#"
            1:3 "{" Unclosed configuration block
        "#]],
    );
}

#[test]
fn an_unclosed_string_before_a_brace_is_the_only_error() {
    check(
        "a \"x\" { b = \"abc }",
        &expect![[r#"
            1:19 "" Unterminated template string
        "#]],
    );
}

#[test]
fn a_missing_quote_invalidates_one_line() {
    check(
        "a = \"x\nb = \"y\"\nc = \"z\n\nd {\n  e = 1 1\n}\n",
        &expect![[r#"
            1:7 "\n" Invalid multi-line string
            3:7 "\n" Invalid multi-line string
            6:9 "1" Missing newline after argument
        "#]],
    );
}

#[test]
fn a_duplicate_argument_refers_to_the_first() {
    let mut sources = formwork_value::diag::Sources::new();
    let mut diags = formwork_value::Diagnostics::new();
    let id = sources.add("a.tf", "\n\na = 1\nb = 2\na = 3\n");
    let body = crate::syntax::parse_file(&mut diags, &sources, id);
    assert_eq!(body.attributes.len(), 2);
    let detail = &diags.iter().next().unwrap().detail;
    expect![[
        r#"The argument "a" was already set at a.tf:3,1-2. Each argument may be set only once."#
    ]]
    .assert_eq(detail);
}

#[test]
fn single_expressions_and_templates_must_have_no_trailing_content() {
    let errors = expression("1 2").unwrap_err();
    expect![[r#"1:3 "2" Extra characters after expression"#]].assert_eq(&errors.join("; "));
    let errors = expression("").unwrap_err();
    expect![[r#"1:1 "" Missing expression"#]].assert_eq(&errors.join("; "));
    let errors = template("a ${ b").unwrap_err();
    expect![[r#"1:3 "${" Unclosed template interpolation sequence"#]].assert_eq(&errors.join("; "));
    let errors = template("%{ if a }\n").unwrap_err();
    expect![[r#"1:1 "%{ if a }" Unexpected end of template"#]].assert_eq(&errors.join("; "));
}

#[test]
fn invalid_utf8_is_reported_at_its_position() {
    let mut sources = formwork_value::diag::Sources::new();
    let mut diags = formwork_value::Diagnostics::new();
    let id = crate::syntax::add_source(
        &mut diags,
        &mut sources,
        "a.tf",
        b"a = 1\nb = \"\xff\"\n".to_vec(),
    );
    let diag = diags.iter().next().unwrap();
    assert_eq!(diag.summary, "Invalid character encoding");
    assert_eq!(sources.start_position(diag.subject.unwrap()).line, 2);
    assert_eq!(sources.line_text(id, 2), "b = \"\u{fffd}\"");
}
