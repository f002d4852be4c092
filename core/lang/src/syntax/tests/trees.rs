//! The shape of what is read from expressions.

use expect_test::{Expect, expect};

use super::{expression, parse};
use crate::syntax::print_tree;

fn check(text: &str, expected: &str) {
    let tree = expression(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    assert_eq!(print_tree::print_expr(&tree), expected, "{text}");
}

fn check_file(text: &str, expected: &Expect) {
    let (body, errors) = parse(text);
    assert!(errors.is_empty(), "{errors:?}");
    expected.assert_eq(&print_tree::print_body(&body));
}

#[test]
fn operators_bind_by_strength_and_group_to_the_left() {
    check("1 + 2 * 3", "(Add 1 (Multiply 2 3))");
    check("1 - 2 - 3", "(Subtract (Subtract 1 2) 3)");
    check("a || b && c == d", "(Or a (And b (Equal c d)))");
    check("a == b != c", "(NotEqual (Equal a b) c)");
    check("1 < 2 == 3 >= 4", "(Equal (Less 1 2) (GreaterOrEqual 3 4))");
    check("8 / 4 % 3", "(Modulo (Divide 8 4) 3)");
    check("-a.b + 1", "(Add (Negate (. a b)) 1)");
    check("!!a", "(Not (Not a))");
    check("- -1", "(Negate (Negate 1))");
    check("a ? b : c ? d : e", "(? a b (? c d e))");
    check("a ? b ? c : d : e", "(? a (? b c d) e)");
    check("(1 + 2) * 3", "(Multiply (parens (Add 1 2)) 3)");
    check("a-1 - 1", "(Subtract a-1 1)");
}

#[test]
fn steps_follow_any_term() {
    check("a.b.c", "(. (. a b) c)");
    check("a[0][\"k\"].b", "(. ([] ([] a 0) \"k\") b)");
    check("a.0.b.10", "([] (. ([] a 0) b) 10)");
    check("f(x).y", "(. (f x) y)");
    check("[1][0]", "([] (tuple 1) 0)");
    check("{a=1}.a", "(. (object \"a\"=1) a)");
    check("(a).b", "(. (parens a) b)");
    check("\"x\".y", "(. \"x\" y)");
    check("a [ 0 ] . b", "(. ([] a 0) b)");
}

#[test]
fn a_full_splat_applies_all_following_steps() {
    check("a[*].b[0].c", "(splat a .b [0] .c)");
    check("a[*].b[*].c", "(splat a .b (splat .c))");
    check("a[*].b.*.c[1]", "(splat a .b (splat .c) [1])");
    check("a[*]", "(splat a)");
}

#[test]
fn an_attribute_splat_ends_at_a_bracket() {
    check("a.*.b.c[0].d", "(. ([] (splat a .b .c) 0) d)");
    check("a.*", "(splat a)");
    check("a.*.0.b", "(splat a [0] .b)");
    check("a.*.b[*].c", "(splat (splat a .b) .c)");
}

#[test]
fn calls_and_collections() {
    check("f()", "(f)");
    check("f(1, 2,)", "(f 1 2)");
    check("f(a...)", "(f a ...)");
    check("core::max(1)", "(core::max 1)");
    check("provider::x::f(\n1,\n2\n)", "(provider::x::f 1 2)");
    check("[]", "(tuple)");
    check("[1, [2], ]", "(tuple 1 (tuple 2))");
    check("{}", "(object)");
    check("{a = 1, \"b\" : 2, (c) = 3\n d = 4}", "(object \"a\"=1 \"b\":2 (parens c):3 \"d\"=4)");
    check("{true = 1, null = 2, if = 3, 1 = 4}", "(object \"true\"=1 \"null\"=2 \"if\"=3 1:4)");
    check("{a[b] = 1, f(x) = 2}", "(object ([] a b):1 (f x):2)");
    check("{a = 1, a = 2}", "(object \"a\"=1 \"a\"=2)");
    check("null", "null");
    // A name that begins like `for` does not make this an expression with `for`.
    check("{ form = 1 }", "(object \"form\"=1)");
}

#[test]
fn for_expressions() {
    check("[for a in b : a]", "(for a b a)");
    check("[for k, v in b : v if k]", "(for k v b v if=k)");
    check("{for k, v in b : k => v...}", "(for k v b key=k v group)");
    check("{\nfor\nk\n, v in b : k => v... if v\n}", "(for k v b key=k v group if=v)");
    // HCL reserves no words: even `in` is a name where a name is allowed.
    check("[for in in in : in]", "(for in in in)");
}

#[test]
fn line_ends_are_ignored_inside_brackets() {
    check("(a\n+\nb)", "(parens (Add a b))");
    check("[\n1\n,\n2\n]", "(tuple 1 2)");
    check("a[\n0\n]", "([] a 0)");
    check("f(\n# comment\n1 // more\n)", "(f 1)");
    check("{\n\n a = 1 # c\n\n b = /* in */ 2\n}", "(object \"a\"=1 \"b\"=2)");
    check("[{\na = 1\nb = 2\n}]", "(tuple (object \"a\"=1 \"b\"=2))");
    check("(-\n1)", "(parens (Negate 1))");
}

#[test]
fn names_may_hold_dashes_and_any_letters() {
    check("grün-1.été", "(. grün-1 été)");
    check("_a", "_a");
    check("名前", "名前");
}

#[test]
fn bodies_hold_arguments_and_blocks() {
    check_file(
        "a = 1\nb \"x\" y {\n  c = 2\n\n  d {}\n}\ne { f = 3 }\n# end",
        &expect![[r#"
            a = 1
            b "x" "y"
              c = 2
              d
            e
              f = 3
        "#]],
    );
}

#[test]
fn a_byte_order_mark_and_dos_line_ends_are_accepted() {
    check_file(
        "\u{feff}a = 1\r\nb {\r\n}\r\n",
        &expect![[r"
            a = 1
            b
        "]],
    );
}

#[test]
fn spans_cover_their_source_text() {
    let text = "resource \"a\" b {\n  x = [1, f(2)...]\n  y = a.b[c].d[*].e + 1\n}\n";
    let text = text.replace("...]", "]");
    let (body, errors) = parse(&text);
    assert!(errors.is_empty(), "{errors:?}");
    let block = &body.blocks[0];
    assert_eq!(&text[block.header.range()], "resource \"a\" b");
    assert_eq!(&text[block.labels[0].span.range()], "\"a\"");
    assert_eq!(&text[block.span.range()], text.trim_end());
    assert_eq!(&text[block.body.attributes[0].span.range()], "x = [1, f(2)]");
    assert_eq!(&text[block.body.attributes[1].expr.span.range()], "a.b[c].d[*].e + 1");
    assert_eq!(&text[body.span.range()], text);
}
