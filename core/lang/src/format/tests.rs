//! Strings before and after.

use expect_test::{Expect, expect};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use proptest::prelude::*;

use crate::syntax::lex::{TokenKind, lex};

/// Formats a string that can be parsed.
fn format(text: &str) -> String {
    let mut sources = Sources::new();
    let source = sources.add("a.tf", text);
    let mut diags = Diagnostics::new();
    let formatted = super::format_source(&mut diags, &sources, source);
    formatted.unwrap_or_else(|_| panic!("{text}\n{diags:?}"))
}

/// Checks the formatted result, and that formatting it again changes nothing.
fn check(text: &str, expected: &Expect) {
    let once = format(text);
    expected.assert_eq(&once);
    assert_eq!(format(&once), once);
}

#[test]
fn attribute_access_on_a_number_is_not_merged_into_it() {
    check(
        // Written together, `.e3` and `.1` would be read as a part of the number before them.
        "a=5 .e3\nb=x.0 .1\nc=x.0.each\nd=x.0 . e\n",
        &expect![[r#"
            a = 5. e3
            b = x.0. 1
            c = x.0.each
            d = x.0.e
        "#]],
    );
}

#[test]
fn operators_are_surrounded_by_spaces_and_brackets_and_names_are_not() {
    check(
        "a=-1+ - 2*( 3 -4)\nb=! x [ 0 ] . y&&f ( 1,2 , z ... )\nc=[ 1,2 ]\nd={a=1,b:2}\ne={ }\nf=a::b::c(1)\ng=[for x in[1]:x if x>=1]\nh=x?- 1:-2\ni=f()[0]\nj=x.*.y\nk=x[*].y\nl=a==-1\nm=(-1)\nn=x-1\no=x - -1\np=[for k,v in{}:v]\n",
        &expect![[r#"
            a = -1 + -2 * (3 - 4)
            b = !x[0].y && f(1, 2, z...)
            c = [1, 2]
            d = { a = 1, b : 2 }
            e = {}
            f = a::b::c(1)
            g = [for x in [1] : x if x >= 1]
            h = x ? -1 : -2
            i = f()[0]
            j = x.*.y
            k = x[*].y
            l = a == -1
            m = (-1)
            n = x-1
            o = x - -1
            p = [for k, v in {} : v]
        "#]],
    );
}

#[test]
fn equals_signs_and_comments_of_adjacent_lines_are_aligned() {
    check(
        "a=1\nlonger=2 # x\nb=33   // y\n\nc=1 /* not one */\nd = [\n1, # one\n22,\n 333, # three\n]\ne    =   1\nlocals { # l\n x=1 # m\n}\nunited_kingdom=\"🇬🇧\" # flag\né=\"e\u{301}\" # letter\n",
        &expect![[r#"
            a      = 1
            longer = 2  # x
            b      = 33 // y

            c = 1 /* not one */
            d = [
              1, # one
              22,
              333, # three
            ]
            e = 1
            locals { # l
              x = 1  # m
            }
            united_kingdom = "🇬🇧" # flag
            é              = "é" # letter
        "#]],
    );
}

#[test]
fn lines_are_indented_by_the_enclosing_brackets() {
    check(
        "a {\nb {\n# c\n}\n\n\n   \n}\nx = f([{\na = 1\n}, {\n b = [\n2\n]}])\ny = (1 +\n2)\nz = [[\n1\n],\n[\n2]]\n",
        &expect![[r#"
            a {
              b {
                # c
              }



            }
            x = f([{
              a = 1
              }, {
              b = [
                2
            ] }])
            y = (1 +
            2)
            z = [[
              1
              ],
              [
            2]]
        "#]],
    );
}

#[test]
fn string_content_is_preserved_and_interpolations_are_formatted() {
    check(
        "a = \" x  ${ a+b }  y ${  { a=1 } } %{  if x~}  1 %{ endif }\"\nb = <<-EOT\n    x   ${1+2}\n      ${  f ( {} ) }\n   EOT\nc=<<X\nX\nbb = f(<<X\n  a\nX\n,1)\n",
        &expect![[r#"
            a = " x  ${a + b}  y ${ { a = 1 } } %{if x~}  1 %{endif}"
            b = <<-EOT
                x   ${1 + 2}
                  ${f({})}
               EOT
            c = <<X
            X
            bb = f(<<X
              a
            X
            , 1)
        "#]],
    );
}

#[test]
fn labels_are_quoted_and_separated_by_single_spaces() {
    check(
        "resource a /* x */ b-c /* y */ { # z\n}\nx /* y */ \"é\\u00e9\\u200d\\n\\\"\" \"\" z{ }\ny \"a$$b$${c}%\"{\n}\n",
        &expect![[r#"
            resource "a" "b-c" /* y */ { # z
            }
            x "éé\u200d\n\"" "" "z" {}
            y "a$$b$${c}%" {
            }
        "#]],
    );
}

#[test]
fn a_string_that_is_one_interpolation_loses_its_quotes() {
    check(
        // Over several lines it needs parentheses: a line end would end the argument.
        "a = \"${x}\"\nb = \"${~ x ~}\"\nc = \"x${y}\"\nd = \"${f(\"${x}\")}\"\ne = [\"${x}\"]\nf = \"${\n x ?\n 1 : 2\n}\"\ng = \"${(\n x\n)}\"\nh = \"${x}${y}\"\ni { j = \"${x}\" }\n",
        &expect![[r#"
            a = x
            b = x
            c = "x${y}"
            d = f("${x}")
            e = ["${x}"]
            f = (x ?
            1 : 2)
            g = (
              x
            )
            h = "${x}${y}"
            i { j = x }
        "#]],
    );
}

#[test]
fn unquoted_interpolations_keep_their_meaning() {
    check(
        "d = a.0 . 1\na = \"${(x) +\n(y)}\"\nb = \"${ # c\nx }\"\nc = \"${x}\" + \"%{if x}y%{endif}\"\n",
        &expect![[r#"
            d = a.0. 1
            a = ((x) +
            (y))
            b = ( # c
            x)
            c = "${x}" + "%{if x}y%{endif}"
        "#]],
    );
}

#[test]
fn one_pair_of_quotes_is_removed_per_pass() {
    assert_eq!(format("a = \"${\"${x}\"}\"\n"), "a = \"${x}\"\n");
}

#[test]
fn legacy_variable_types_are_rewritten() {
    check(
        // As in Terraform, only the three names that were quoted before 0.12 lose their quotes.
        "variable a {\ntype=\"string\"\n}\nvariable a {\ntype=\"list\"\n}\nvariable a {\ntype=\"map\"\n}\nvariable a {\ntype=list\n}\nvariable a {\ntype=set\n}\nvariable a {\ntype=map\n}\nvariable a {\ntype=\"number\"\n}\nvariable a {\ntype=\"${string}\"\n}\nx {\nvariable a {\ntype=\"list\"\n}\ntype=\"${x}\"\n}\n",
        &expect![[r#"
            variable "a" {
              type = string
            }
            variable "a" {
              type = list(string)
            }
            variable "a" {
              type = map(string)
            }
            variable "a" {
              type = list(any)
            }
            variable "a" {
              type = set(any)
            }
            variable "a" {
              type = map(any)
            }
            variable "a" {
              type = "number"
            }
            variable "a" {
              type = "${string}"
            }
            x {
              variable "a" {
                type = "list"
              }
              type = x
            }
        "#]],
    );
}

#[test]
fn line_ends_and_the_end_of_the_file_are_preserved() {
    assert_eq!(format("\u{feff}a=1\r\nbb=2 # x\r\n\r\n"), "a  = 1\r\nbb = 2 # x\r\n\r\n");
    assert_eq!(format("a=1"), "a = 1");
    assert_eq!(format("a=\"${b}\""), "a = b");
    assert_eq!(format("a=1\n   "), "a = 1\n   ");
    assert_eq!(format("# c"), "# c");
    assert_eq!(format(""), "");
}

#[test]
fn invalid_syntax_is_not_formatted() {
    let mut sources = Sources::new();
    let source = sources.add("a.tf", "a=\n");
    let mut diags = Diagnostics::new();
    assert!(super::format_source(&mut diags, &sources, source).is_err());
    assert!(diags.has_errors());
}

/// An argument, block or comment out of parts that try every rule.
fn item() -> impl Strategy<Value = String> {
    let expr = prop_oneof![
        Just("1"),
        Just("x"),
        Just("- x"),
        Just("!x"),
        Just("\"s  ${ x }\""),
        Just("\"${ x }\""),
        Just("<<E\n  a ${ x }\nE\n"),
    ]
    .prop_map(str::to_owned)
    .prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("[ {a} ,\n# c\n{b}]")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{{a={a}\nbb ={b}\n}}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("( {a} -{b} )")),
            inner.clone().prop_map(|a| format!("f ( {a},x [0] ) . y")),
            inner.prop_map(|a| format!("\"${{ {a} }}\"")),
        ]
    });
    let argument = ("[a-z]{1,5}", expr, prop_oneof![Just(""), Just(" # c"), Just("/* c */")])
        .prop_map(|(name, expr, comment)| {
            // The name that ends a heredoc is the only content of its line.
            let comment = if expr.ends_with('\n') { "" } else { comment };
            format!("{name}= {expr}{comment}\n")
        });
    prop_oneof![
        4 => argument,
        1 => Just("\n".to_owned()),
        1 => Just("  # c\n".to_owned()),
    ]
    .prop_recursive(2, 8, 4, |inner| {
        prop::collection::vec(inner, 0..4)
            .prop_map(|items| format!("b  c{{ # d\n{}}}\n", unique(&items)))
    })
}

/// Items with names that are not used twice.
fn unique(items: &[String]) -> String {
    items.iter().enumerate().map(|(at, item)| number(item, at)).collect()
}

fn number(item: &str, at: usize) -> String {
    let is_argument = item.split_once('=').is_some_and(|(name, _)| !name.contains([' ', '#']));
    if is_argument { format!("a{at}{item}") } else { item.to_owned() }
}

/// The tokens of a source text, without line ends, quotes and parentheses.
fn words(text: &str) -> Vec<&str> {
    use TokenKind as T;
    // A string that is one interpolation loses its quotes, and may get parentheses instead.
    let may_go = |kind: T| {
        matches!(
            kind,
            T::Newline
                | T::OpenQuote
                | T::CloseQuote
                | T::OpenInterpolation
                | T::CloseSequence
                | T::OpenParen
                | T::CloseParen
        )
    };
    let tokens = lex(text).into_iter().filter(|token| !may_go(token.kind));
    tokens.map(|token| &text[token.start as usize..token.end as usize]).collect()
}

proptest! {
    #[test]
    fn nothing_is_lost_and_formatting_twice_is_formatting_once(
        items in prop::collection::vec(item(), 0..6),
    ) {
        let text = unique(&items);
        let mut once = format(&text);
        prop_assert_eq!(words(&once), words(&text));
        // Nested quotes are removed one pair at a time, as in Terraform.
        for _ in 0..4 {
            once = format(&once);
        }
        prop_assert_eq!(&format(&once), &once);
    }
}
