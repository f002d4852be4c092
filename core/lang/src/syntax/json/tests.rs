//! Files in JSON, and what is made of them.

use expect_test::{Expect, expect};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Type};

use crate::content::{BodySchema, into_just_attributes, read_content};
use crate::refs::{as_traversal, traversals_of_body};
use crate::syntax::print_tree::print_expr;
use crate::syntax::{Body, parse_json};
use crate::testing::SourceText;
use crate::type_expr;

const SCHEMA: BodySchema = BodySchema {
    attributes: &[("value", true), ("list", false)],
    blocks: &[("plain", &[]), ("named", &["type", "name"]), ("dynamic", &["type"])],
};

fn parse(text: &str) -> (Body, SourceText) {
    let mut sources = Sources::new();
    let id = sources.add("a.tf.json", text);
    let mut diags = Diagnostics::new();
    let body = parse_json(&mut diags, &sources, id);
    (body, SourceText { sources, diags })
}

/// The content of a JSON text, read by a schema, and its problems.
fn check(text: &str, expected: &Expect) {
    let (body, mut text) = parse(text);
    let content = read_content(&mut text.diags, &body, &SCHEMA);
    let mut out = String::new();
    for (name, attr) in &content.attributes {
        out += &format!("{name} = {}\n", print_expr(&attr.expr));
    }
    for block in &content.blocks {
        let labels: Vec<&str> = block.labels.iter().map(|label| label.name.as_str()).collect();
        let inner = block.body.attributes.iter().chain(&block.body.undecided);
        let inner: Vec<&str> = inner.map(|attr| attr.name.name.as_str()).collect();
        let blocks: Vec<&str> = block.body.blocks.iter().map(|b| b.kind.name.as_str()).collect();
        out += &format!("{} {labels:?} {inner:?} {blocks:?}\n", block.kind.name);
    }
    expected.assert_eq(&(out + &text.problems()));
}

#[test]
fn members_are_read_as_the_schema_expects() {
    check(
        r#"{"//": "${", "value": "a${x}", "list": [1, "b"], "plain": [{"a": 1}, {}], "named": {"t": {"n": {"b": 1}, "m": [{"c": 1}]}}}"#,
        &expect![[r#"
            list = (tuple 1 (json "b"))
            value = (json (template "a" ${x}))
            plain [] ["a"] []
            plain [] [] []
            named ["t", "n"] ["b"] []
            named ["t", "m"] ["c"] []
        "#]],
    );
    check(
        r#"[{"value": 1}, {"plain": null}, {"named": [{"t": {"n": {}}}, {"u": [{"n": {}}]}]}]"#,
        &expect![[r#"
            value = 1
            named ["t", "n"] [] []
            named ["u", "n"] [] []
        "#]],
    );
}

#[test]
fn the_parts_of_a_dynamic_block_are_read() {
    check(
        r#"{"value": 1, "dynamic": {"plain": {"for_each": [1], "iterator": "i", "content": {"x": "${i.value}"}}}}"#,
        &expect![[r#"
            value = 1
            dynamic ["plain"] ["for_each", "iterator"] ["content"]
        "#]],
    );
}

#[test]
fn mismatched_members_are_reported_at_their_position() {
    check(
        r#"{"valeu": 1, "plain": 1, "named": {"t": "x", "u": {}, "v": {"n": [1]}}, "list": 1, "list": 2}"#,
        &expect![[r#"
            list = 1
            1:23 "1" Incorrect JSON value type
                Expected an object, or an array of objects, each of which is a block.
            1:41 "\"x\"" Incorrect JSON value type
                Expected an object, or an array of objects, whose property names are labels of the block.
            1:41 "\"x\"" Missing block label
                Expected an object whose property name is the name of the named block.
            1:51 "{" Missing block label
                Expected an object whose property name is the name of the named block.
            1:67 "1" Incorrect JSON value type
                Expected an object that contains the arguments and blocks of a block.
            1:84 "\"list\"" Duplicate argument
                "list" is already set. Each argument may be set only once.
            1:1 "" Missing required argument
                The argument "value" is required, but no definition was found.
            1:2 "\"valeu\"" Extraneous JSON object property
                No argument or block type is named "valeu". Did you mean "value"?
        "#]],
    );
}

#[test]
fn the_first_error_of_a_document_is_the_one_of_terraform() {
    let mut out = String::new();
    for text in [
        "",
        "{",
        "{\"a\" 1}",
        "{\"a\": }",
        "{\"a\": 1,}",
        "[1,]",
        "[1 2]",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": 1",
        "[1",
        "{a: 1}",
        "{\"a\": tru}",
        "{\"a\": 01}",
        "{\"a\": .5}",
        "{\"a\": 1.}",
        "{\"a\": \"x\ny\"}",
        "{\"a\": \"\\q\"}",
        "{\"a\": \"\\u12\"}",
        "{\"a\": \"x",
        "{} x",
        "1",
        "[1]",
        "\u{feff}{}",
    ] {
        let (_, document) = parse(text);
        let problems = document.problems();
        let first = problems.lines().next().unwrap_or("nothing");
        out += &format!("{text:?}: {first}\n");
    }
    expect![[r#"
        "": 1:1 "" Missing value
        "{": 1:2 "" Invalid object property name
        "{\"a\" 1}": 1:6 "1" Missing property value colon
        "{\"a\": }": 1:7 "}" Invalid start of value
        "{\"a\": 1,}": 1:8 "," Trailing comma in object
        "[1,]": 1:3 "," Trailing comma in array
        "[1 2]": 1:4 "2" Missing item seperator comma
        "{\"a\": 1 \"b\": 2}": 1:9 "\"" Missing attribute seperator comma
        "{\"a\": 1": 1:1 "{" Unclosed object
        "[1": 1:1 "[" Unclosed object
        "{a: 1}": 1:2 "a" Invalid object property name
        "{\"a\": tru}": 1:7 "tru" Invalid JSON keyword
        "{\"a\": 01}": 1:7 "01" Invalid JSON number
        "{\"a\": .5}": 1:7 "." Invalid start of value
        "{\"a\": 1.}": 1:7 "1." Invalid JSON number
        "{\"a\": \"x\ny\"}": 1:9 "\n" Invalid JSON string
        "{\"a\": \"\\q\"}": 1:9 "q" Invalid JSON string
        "{\"a\": \"\\u12\"}": 1:9 "u" Invalid JSON string
        "{\"a\": \"x": 1:7 "\"x" Invalid JSON string
        "{} x": 1:4 "x" Extraneous data after value
        "1": 1:1 "1" Root value must be object
        "[1]": 1:2 "1" Incorrect JSON value type
        "\u{feff}{}": 1:1 "\u{feff}" Invalid start of value
    "#]]
    .assert_eq(&out);
}

#[test]
fn parsing_continues_after_an_error() {
    let mut out = String::new();
    for text in [
        r#"{"a": tru, "b": 01, "c": "\q\"x", "d": [1, nul, {"e" 1, "f": "]"}, -]}"#,
        r#"{"a": {"b": 1,}, "c": [1, 2}, "d": {"e": 1], "f": wrong}"#,
        r#"{"a": {b: [1, "}"], "c": {}}, "d": :, "e": wrong}"#,
        r#"{"a": 1 "b": [1 2, [] {}], "c" {"d": wrong}, e: tru}"#,
        r#"{"a": tru, "b": [1"#,
        r#"{"a": "x"#,
        r#"{"a": [b, "x"#,
        "{\"a\": \"x\ny\", \"b\": wrong}",
    ] {
        let (_, document) = parse(text);
        out += &format!("{text:?}\n{}\n", document.problems().trim_end());
    }
    expect![[r#"
        "{\"a\": tru, \"b\": 01, \"c\": \"\\q\\\"x\", \"d\": [1, nul, {\"e\" 1, \"f\": \"]\"}, -]}"
        1:7 "tru" Invalid JSON keyword
            "tru" is not true, false or null. Did you mean true?
        1:17 "01" Invalid JSON number
            "01" is not a number. A number is digits without leading zeros, optionally followed by a point with digits and by an exponent.
        1:28 "q" Invalid JSON string
            Invalid escape sequence. Valid escapes are " \ / b f n r t, and u followed by four hexadecimal digits.
        1:44 "nul" Invalid JSON keyword
            "nul" is not true, false or null. Did you mean null?
        1:54 "1" Missing property value colon
            A colon must separate a property name from its value.
        1:68 "-" Invalid JSON number
            "-" is not a number. A number is digits without leading zeros, optionally followed by a point with digits and by an exponent.
        "{\"a\": {\"b\": 1,}, \"c\": [1, 2}, \"d\": {\"e\": 1], \"f\": wrong}"
        1:14 "," Trailing comma in object
            JSON does not allow a comma after the last item.
        1:28 "}" Mismatched brackets
            This array must be closed with a bracket.
        1:43 "]" Mismatched braces
            This object must be closed with a brace.
        1:51 "wrong" Invalid JSON keyword
            "wrong" is not true, false or null.
        "{\"a\": {b: [1, \"}\"], \"c\": {}}, \"d\": :, \"e\": wrong}"
        1:8 "b" Invalid object property name
            The property names of an object are strings in quotes.
        1:36 ":" Invalid start of value
            A value begins with a brace, a bracket, a quote, a digit or a minus sign, or is one of true, false and null.
        1:44 "wrong" Invalid JSON keyword
            "wrong" is not true, false or null.
        "{\"a\": 1 \"b\": [1 2, [] {}], \"c\" {\"d\": wrong}, e: tru}"
        1:9 "\"" Missing attribute seperator comma
            Separate items with a comma.
        1:17 "2" Missing item seperator comma
            Separate items with a comma.
        1:32 "{" Missing property value colon
            A colon must separate a property name from its value.
        1:38 "wrong" Invalid JSON keyword
            "wrong" is not true, false or null.
        1:46 "e" Invalid object property name
            The property names of an object are strings in quotes.
        1:49 "tru" Invalid JSON keyword
            "tru" is not true, false or null. Did you mean true?
        "{\"a\": tru, \"b\": [1"
        1:7 "tru" Invalid JSON keyword
            "tru" is not true, false or null. Did you mean true?
        1:17 "[" Unclosed object
            The document ends before the bracket that closes this array.
        "{\"a\": \"x"
        1:7 "\"x" Invalid JSON string
            The document ends before the quote that closes this string.
        "{\"a\": [b, \"x"
        1:8 "b" Invalid JSON keyword
            "b" is not true, false or null.
        1:11 "\"x" Invalid JSON string
            The document ends before the quote that closes this string.
        "{\"a\": \"x\ny\", \"b\": wrong}"
        1:9 "\n" Invalid JSON string
            A JSON string must be on one line. Write \n for a line end and \t for a tab.
        2:1 "y" Missing attribute seperator comma
            Separate items with a comma.
    "#]].assert_eq(&out);
}

#[test]
fn escapes_are_resolved_and_half_pairs_replaced() {
    let (body, text) =
        parse(r#"{"a": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83d\u0041\udc00\ud83dx"}"#);
    assert_eq!(text.problems(), "");
    let attr = &into_just_attributes(&mut Diagnostics::new(), body)[0];
    let expected = "\"\\/\u{8}\u{c}\n\r\té😀\u{fffd}A\u{fffd}\u{fffd}x";
    assert_eq!(attr.expr.as_string_literal().unwrap().as_str(), expected);
}

#[test]
fn a_string_is_a_reference_or_type_where_one_is_expected() {
    let (body, text) = parse(
        r#"{"a": "x.y[\"k\"][0]", "b": "${x.y}", "c": "x y", "t": "list(object({a = number}))"}"#,
    );
    assert_eq!(text.problems(), "");
    let mut diags = Diagnostics::new();
    let [a, b, c, t] = ["a", "b", "c", "t"].map(|name| &body.find_attribute(name).unwrap().expr);
    let traversal = as_traversal(a).unwrap();
    assert_eq!((traversal.root.name.as_str(), traversal.steps.len()), ("x", 3));
    assert_eq!((as_traversal(b), as_traversal(c)), (None, None));
    let object = Type::object([("a", Type::Number)]);
    assert_eq!(type_expr::read_type_constraint(&mut diags, t).unwrap().0, Type::list(object));
    assert!(type_expr::read_type_constraint(&mut diags, b).is_err());
}

#[test]
fn references_are_found_in_members_of_every_kind() {
    let (body, text) = parse(
        // A member named `//` is a comment in the JSON syntax, and an iterator is not a name from
        // outside.
        r#"{"//": "${no.a}", "x": {"${a.b}": ["${c.d}", "e.f"]}, "dynamic": {"s": [{"for_each": "${g.h}", "content": {"y": "${s.value}${i.j}"}}, {"for_each": "${k.l}", "iterator": "it", "content": {"y": "${it.value}${s.t}"}}]}}"#,
    );
    assert_eq!(text.problems(), "");
    let names: Vec<String> = traversals_of_body(&body)
        .iter()
        .map(|traversal| text.sources.text_of_span(traversal.span).to_owned())
        .collect();
    assert_eq!(names, ["a.b", "c.d", "g.h", "i.j", "k.l", "s.t"]);
}

#[test]
fn at_most_a_hundred_errors_of_a_file_are_shown() {
    let (_, text) = parse(&format!("{{\"a\": [{}1]}}", ",".repeat(10_000)));
    assert_eq!(text.diags.len(), 100);
}

#[test]
fn nesting_is_limited_by_a_diagnostic() {
    for (text, fine) in [
        ("[".repeat(1_000) + &"]".repeat(1_000), true),
        ("[".repeat(100_000), false),
        ("{\"a\":".repeat(100_000), false),
    ] {
        let (_, text) = parse(&format!("{{\"a\": {text}}}"));
        assert_eq!(text.diags.is_empty(), fine);
        assert!(fine || text.problems().contains("Too many nested levels"));
    }
}
