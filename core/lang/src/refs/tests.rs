//! References found in expressions and bodies without evaluating them.

use formwork_value::Type;
use formwork_value::schema::{Attribute, Block as Schema, NestedBlock, Nesting, Role};

use super::{Traversal, find_spans_outside_schema, references_of_content, traversals_of_body};
use crate::testing::{parse_valid_file, print_traversal};

fn check(text: &str, expected: &str) {
    let (body, source) = parse_valid_file(text);
    let traversals = traversals_of_body(&body);
    let names: Vec<String> = traversals.iter().map(print_traversal).collect();
    assert_eq!(names.join(" "), expected, "{text}");
    for (traversal, name) in traversals.iter().zip(names) {
        let slice = source.sources.text_of_span(traversal.span);
        assert!(slice.starts_with(traversal.root.name.as_str()), "{name} at {slice}");
    }
}

#[test]
fn references_are_found_in_every_kind_of_expression() {
    check("x = a.b + f(c, [d], {e = g, (h) = i})", "a.b c d g h i");
    check("x = \"${a} %{if b}${c}%{else}${d}%{endif}\"", "a b c d");
    check("x = -a ? !b : (c)", "a b c");
    check("x = true ? null : 1", "");
}

#[test]
fn steps_are_returned_up_to_the_first_variable_one() {
    check("x = a.b[0][\"k\"].c", "a.b[0][\"k\"].c");
    check("x = a.b[c.d].e", "a.b c.d");
    check("x = a.0.b", "a[0].b");
    check("x = a.b[*].c[d]", "a.b[*] d");
    check("x = a.*.b", "a[*]");
    check("x = f(a).b[c]", "a c");
}

#[test]
fn locally_bound_names_are_excluded_only_in_their_scope() {
    check("x = [for k, v in v : \"${k}${v.a}${w}\" if v]", "v w");
    check("x = [[for a in a : a], a]", "a a");
    check("x = {for a in [for a in b : a] : a => c[a]...}", "b c");
    check("x = \"%{for a in b}${a}${c}%{endfor}${a}\"", "b c a");
}

#[test]
fn dynamic_blocks_bind_their_iterator() {
    check(
        // There is no iterator yet where `for_each` is evaluated, so this `disk` comes from
        // outside.
        "dynamic \"disk\" {\n for_each = disk.a\n labels = [disk.key]\n content {\n x = disk.value\n y = c\n}\n}\nz = disk",
        "disk.a c disk",
    );
    check(
        "dynamic \"disk\" {\n for_each = a\n iterator = it\n content {\n x = it.value\n y = disk\n}\n}\n",
        "a disk",
    );
}

#[test]
fn blocks_and_arguments_are_visited_in_source_order() {
    check("b {\n x = a\n c {\n y = b\n}\n z = c\n}\nx = d\n", "a b c d");
}

/// Checks the references in the parts of a body that a schema has: those that decide about the number of
/// blocks, the others, and the parts that it lacks.
fn check_content(text: &str, expected: [&str; 3]) {
    let leaf = Schema {
        attributes: [("a".into(), Attribute::new(Type::String, Role::Optional))].into(),
        ..Schema::default()
    };
    let nested = |nesting, block| NestedBlock {
        nesting,
        block,
        min_items: 0,
        max_items: 0,
        computed: false,
    };
    let inner = Schema {
        blocks: [("leaf".into(), nested(Nesting::Map, leaf.clone()))].into(),
        ..leaf.clone()
    };
    let objects = Type::list(Type::object([("a", Type::String)]));
    let mut schema =
        Schema { blocks: [("part".into(), nested(Nesting::List, inner))].into(), ..leaf };
    schema.attributes.insert("list".into(), Attribute::new(objects, Role::Optional));
    let (body, source) = parse_valid_file(text);
    let references = references_of_content(&body, &schema);
    let names = |traversals: Vec<Traversal>| {
        traversals.iter().map(print_traversal).collect::<Vec<_>>().join(" ")
    };
    let lacking = find_spans_outside_schema(&body, &schema);
    let lacking: Vec<_> = lacking.iter().map(|span| source.sources.text_of_span(*span)).collect();
    let names_by_kind =
        [names(references.repetitions), names(references.values), lacking.join(", ")];
    assert_eq!(names_by_kind, expected, "{text}");
}

#[test]
fn references_outside_the_schema_are_ignored() {
    check_content("a = x\nb = y", ["", "x", "b = y"]);
    check_content("part {\na = x\nb = y\n}", ["", "x", "b = y"]);
    check_content("part {\nleaf \"k\" {\na = x\nb = y\n}\n}", ["", "x", "b = y"]);
    check_content("part = x\na {\nb = y\n}", ["", "", "part = x, a {\nb = y\n}"]);
    check_content("list = [x]", ["", "x", ""]);
    check_content("list {\na = x\nb = y\n}", ["", "x", "b = y"]);
    check_content("list = [x]\nlist {\na = y\n}", ["", "x", "list {\na = y\n}"]);
    let dynamic = "dynamic \"part\" {\nfor_each = x\ncontent {\na = part.value.y\nb = z\n}\n}";
    check_content(dynamic, ["x", "", "b = z"]);
    let unknown = "dynamic \"nope\" {\nfor_each = x\nlabels = y\ncontent {\na = z\n}\n}";
    check_content(unknown, ["x", "y", "content {\na = z\n}"]);
}
