//! Bodies matched against the expected content.

use expect_test::{Expect, expect};

use super::{BodySchema, into_content, into_just_attributes, read_content, split_content};
use crate::testing::parse_valid_file;

const OUTPUT: BodySchema<'_> = BodySchema {
    attributes: &[("value", true), ("description", false)],
    blocks: &[("precondition", &[]), ("named", &["type", "name"])],
};

fn check(text: &str, expected: &Expect) {
    let (body, mut text) = parse_valid_file(text);
    let content = read_content(&mut text.diags, &body.blocks[0].body, &OUTPUT);
    let names: Vec<&str> = content.attributes.keys().map(|name| name.as_str()).collect();
    let blocks: Vec<&str> = content.blocks.iter().map(|block| block.kind.name.as_str()).collect();
    expected.assert_eq(&format!("{names:?} {blocks:?}\n{}", text.problems()));
}

#[test]
fn expected_items_are_returned_by_name_and_in_order() {
    check(
        "x {\n value = 1\n named a \"b\" {\n}\n precondition {\n}\n named c d {\n}\n}\n",
        &expect![[r#"
            ["value"] ["named", "precondition", "named"]
        "#]],
    );
}

#[test]
fn unexpected_items_are_reported_with_a_suggestion() {
    check(
        "x {\n valu = 1\n named = 2\n zzz = 3\n description {\n}\n precondtion {\n}\n}\n",
        &expect![[r#"
            [] []
            1:3 "{" Missing required argument
                The argument "value" is required, but no definition was found.
            2:2 "valu" Unsupported argument
                An argument named "valu" is not expected here. Did you mean "value"?
            3:2 "named" Unsupported argument
                An argument named "named" is not expected here. Did you mean to define a block of type "named"?
            4:2 "zzz" Unsupported argument
                An argument named "zzz" is not expected here.
            5:2 "description" Unsupported block type
                Blocks of type "description" are not expected here. Did you mean to define argument "description"? If so, use the equals sign to assign it a value.
            7:2 "precondtion" Unsupported block type
                Blocks of type "precondtion" are not expected here. Did you mean "precondition"?
        "#]],
    );
}

#[test]
fn names_already_set_are_not_suggested() {
    check(
        "x {\n value = 1\n valu = 2\n description = 3\n descriptio = 4\n}\n",
        &expect![[r#"
            ["description", "value"] []
            3:2 "valu" Unsupported argument
                An argument named "valu" is not expected here.
            5:2 "descriptio" Unsupported argument
                An argument named "descriptio" is not expected here.
        "#]],
    );
}

#[test]
fn the_number_of_labels_must_match_the_schema() {
    check(
        "x {\n value = 1\n named \"a\" {\n}\n precondition \"b\" {\n}\n named a b c {\n}\n}\n",
        &expect![[r#"
            ["value"] []
            3:12 "{" Missing name for named
                All named blocks must have 2 labels (type, name).
            5:15 "\"b\"" Extraneous label for precondition
                No labels are expected for precondition blocks.
            7:12 "c" Extraneous label for named
                Only 2 labels (type, name) are expected for named blocks.
        "#]],
    );
}

#[test]
fn unmatched_items_remain_in_the_body() {
    let (mut body, mut text) =
        parse_valid_file("x {\n value = 1\n size = 2\n disk {\n}\n precondition {\n}\n}\n");
    let (mut content, rest) = split_content(&mut text.diags, body.blocks.remove(0).body, &OUTPUT);
    assert_eq!(text.problems(), "");
    assert!(content.take_attribute("value").is_some() && content.take_attribute("value").is_none());
    assert_eq!(content.take_blocks("precondition").len(), 1);
    assert_eq!((content.attributes.len(), content.blocks.len()), (0, 0));
    assert_eq!(rest.attributes[0].name.name, "size");
    assert_eq!(rest.blocks[0].kind.name, "disk");
    into_content(&mut text.diags, rest, &OUTPUT);
    assert_eq!(text.diags.len(), 3);
}

#[test]
fn blocks_in_locals_are_refused() {
    let (body, mut text) = parse_valid_file("a = 1\nb {\n}\n");
    assert_eq!(into_just_attributes(&mut text.diags, body).len(), 1);
    expect![[r#"
        2:1 "b" Unexpected "b" block
            Blocks are not allowed here. To set "b", write b = followed by its value.
    "#]]
    .assert_eq(&text.problems());
}
