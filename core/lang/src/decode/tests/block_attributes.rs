//! Attributes written as blocks, as the legacy SDK allows it.

use std::sync::Arc;

use formwork_value::codec::json;
use formwork_value::diag::Sources;
use formwork_value::schema::{Attribute, Block, Nesting, Role};
use formwork_value::{Diagnostics, Str, Type};

use super::super::evaluate_body;
use super::{attributes, decoded, leaf, names, nested};
use crate::syntax::parse_json;

fn port() -> Type {
    Type::list(Type::object([("from", Type::Number), ("name", Type::String)]))
}

/// `rule` and `rules` are attributes that may be written as blocks, `box` is a block with such one.
fn schema() -> Block {
    let rule = Type::object([("a", Type::String), ("port", port())]);
    let list = [
        ("rule", Type::list(rule.clone()), Role::Optional),
        ("rules", Type::set(rule), Role::OptionalComputed),
    ];
    let mut schema = Block { attributes: attributes(&list), ..Block::default() };
    let inner =
        Block { attributes: attributes(&[("port", port(), Role::Required)]), ..Block::default() };
    schema.blocks.insert(Str::new("box"), nested(Nesting::List, inner));
    schema
}

/// The decoded body as JSON, or the problems.
fn value(text: &str, schema: &Block) -> String {
    let (body, mut text) = crate::testing::parse_valid_file(text);
    match evaluate_body(&mut text.diags, &body, schema, &names()) {
        Ok(value) => json::encode(&value, &schema.implied_type()).unwrap(),
        Err(_) => text.problems(),
    }
}

fn json_value(text: &str, schema: &Block) -> String {
    let mut sources = Sources::new();
    let id = sources.add("a.tf.json", text);
    let mut diags = Diagnostics::new();
    let body = parse_json(&mut diags, &sources, id);
    match evaluate_body(&mut diags, &body, schema, &names()) {
        Ok(value) => json::encode(&value, &schema.implied_type()).unwrap(),
        Err(_) => diags.iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect(),
    }
}

#[test]
fn a_list_or_set_of_objects_accepts_a_value_or_blocks() {
    let port = r#""port":[{"from":1,"name":null}]"#;
    let rule = format!(r#"[{{"a":null,{port}}},{{"a":"x","port":null}}]"#);
    let body = "{\n port {\n from = 1\n}\n}\nKIND {\n a = text\n}\n";
    assert_eq!(
        value(&format!("rule {}", body.replace("KIND", "rule")), &schema()),
        format!(r#"{{"box":[],"rule":{rule},"rules":null}}"#)
    );
    assert_eq!(
        value("rules {\n a = \"y\"\n}\nrules {\n a = \"y\"\n}\n", &schema()),
        r#"{"box":[],"rule":null,"rules":[{"a":"y","port":null}]}"#,
        "equal blocks are one element of a set"
    );
    assert_eq!(
        value("box {\n port {\n from = 1\n}\n}\n", &schema()),
        format!(r#"{{"box":[{{{port}}}],"rule":null,"rules":null}}"#)
    );
    assert_eq!(
        value("rule = [{ a = \"x\", port = [] }]\n", &schema()),
        r#"{"box":[],"rule":[{"a":"x","port":[]}],"rules":null}"#
    );
}

#[test]
fn no_blocks_are_null_and_an_empty_value_is_empty() {
    let expected = |rule: &str| format!(r#"{{"box":[],"rule":{rule},"rules":null}}"#);
    assert_eq!(value("", &schema()), expected("null"));
    assert_eq!(value("rule = []\n", &schema()), expected("[]"));
    let none = "dynamic \"rule\" {\n for_each = []\n content {\n}\n}\n";
    assert_eq!(value(none, &schema()), expected("null"));
    // The provider reports that the block is required.
    assert_eq!(
        value("box {\n}\n", &schema()),
        r#"{"box":[{"port":null}],"rule":null,"rules":null}"#
    );
}

#[test]
fn dynamic_blocks_make_elements_of_an_attribute() {
    let text = "dynamic \"rule\" {\n for_each = list\n content {\n a = rule.value\n dynamic \"port\" {\n for_each = [rule.key]\n content {\n from = port.value\n}\n}\n}\n}\n";
    assert_eq!(
        value(text, &schema()),
        r#"{"box":[],"rule":[{"a":"a","port":[{"from":0,"name":null}]},{"a":"b","port":[{"from":1,"name":null}]}],"rules":null}"#
    );
}

#[test]
fn an_unknown_number_of_blocks_yields_one_element_with_unknown_arguments() {
    let text = "dynamic \"rule\" {\n for_each = unknown_list\n content {\n a = rule.value\n port {\n from = 1\n}\n}\n}\n";
    assert_eq!(
        decoded(text, &schema()),
        "{rule=list({a=unknown string, port=list({from=unknown number})})}\n"
    );
}

#[test]
fn a_value_together_with_blocks_is_refused() {
    let both = value("rule = []\nrule {\n}\n", &schema());
    assert!(both.contains("Unsupported block type"), "{both}");
    let both =
        value("rule = []\ndynamic \"rule\" {\n for_each = []\n content {\n}\n}\n", &schema());
    assert!(both.contains("Unsupported block type"), "{both}");
    let other = value("rule {\n nothing = 1\n}\n", &schema());
    assert!(other.contains("Unsupported argument"), "{other}");
    let labelled = value("rule \"x\" {\n}\n", &schema());
    assert!(labelled.contains("Extraneous label for rule"), "{labelled}");
}

#[test]
fn json_accepts_values_and_dynamic_blocks() {
    let rule = r#"{"a":"x","port":null}"#;
    assert_eq!(
        json_value(&format!(r#"{{"rule":[{rule}]}}"#), &schema()),
        format!(r#"{{"box":[],"rule":[{rule}],"rules":null}}"#)
    );
    let dynamic = r#"{"for_each":["p"],"content":{"a":"${rule.value}"}}"#;
    assert_eq!(
        json_value(&format!(r#"{{"dynamic":{{"rule":{dynamic}}}}}"#), &schema()),
        r#"{"box":[],"rule":[{"a":"p","port":null}],"rules":null}"#
    );
    // A value needs every attribute of its type, as it does in the native syntax.
    let partial = json_value(r#"{"rule":[{"a":"x"}]}"#, &schema());
    assert!(partial.contains("Incorrect attribute value type"), "{partial}");
}

#[test]
fn schemas_that_the_legacy_sdk_cannot_have_take_values_only() {
    let blocks = "rule {\n a = \"x\"\n}\n";
    let refused = |change: &dyn Fn(&mut Block)| {
        let mut schema = schema();
        change(&mut schema);
        let output = value(blocks, &schema);
        assert!(output.contains("Unsupported block type"), "{output}");
    };
    let add = |schema: &mut Block, ty: Type| {
        schema.attributes.insert(Str::new("other"), Attribute::new(ty, Role::Optional));
    };
    let object = || Type::object([("a", Type::String)]);
    refused(&|schema| add(schema, object()));
    refused(&|schema| add(schema, Type::map(object())));
    refused(&|schema| add(schema, Type::Tuple(Arc::new(vec![Type::String]))));
    refused(&|schema| add(schema, Type::list(Type::list(Type::list(Type::String)))));
    refused(&|schema| {
        let mut inner = leaf(Type::String);
        inner.attributes.insert(Str::new("o"), Attribute::new(object(), Role::Optional));
        schema.blocks.insert(Str::new("deep"), nested(Nesting::List, inner));
    });
    let mut fine = schema();
    add(&mut fine, Type::list(Type::list(Type::String)));
    assert!(!value(blocks, &fine).contains("Unsupported"), "{}", value(blocks, &fine));
}
