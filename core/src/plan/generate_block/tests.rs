//! Blocks after objects of small schemas.

use expect_test::{Expect, expect};
use formwork_value::schema::SchemaDocs;

use super::*;
use crate::config::config_from_text::load_valid_fixture;

fn attribute_with_role(ty: Type, role: Role) -> Attribute {
    Attribute::new(ty, role)
}

fn optional_string() -> Attribute {
    attribute_with_role(Type::String, Role::Optional)
}

fn block_of_attributes(attributes: impl IntoIterator<Item = (&'static str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute));
    Block { attributes: attributes.collect(), ..Block::default() }
}

fn nested_block(nesting: Nesting) -> NestedBlock {
    let block = block_of_attributes([("text", optional_string())]);
    NestedBlock { nesting, block, min_items: 0, max_items: 0, computed: false }
}

/// Checks the block generated for a resource that is imported; `import` follows the ID in the
/// import block.
fn check_generated_block(import: &str, schema: &Block, object: &Value, expect: Expect) {
    let (mut config, _) = load_valid_fixture(&format!(
        "provider \"test\" {{\n  alias = \"other\"\n}}\nimport {{\n  to = test_thing.a\n  id = \"a\"\n{import}\n}}\n"
    ));
    config.add_placeholder_resources(&mut Diagnostics::new()).unwrap();
    let resource = config.unwritten.values().next().unwrap();
    expect.assert_eq(&generate_block(resource, schema, object).unwrap());
}

#[test]
fn only_settable_attributes_are_generated() {
    let old = SchemaDocs { deprecated: true, ..SchemaDocs::default() };
    let schema = block_of_attributes([
        ("computed", attribute_with_role(Type::String, Role::Computed)),
        ("either", attribute_with_role(Type::list(Type::Number), Role::OptionalComputed)),
        // Like Terraform, an `id` that is optional and computed is left out.
        ("id", attribute_with_role(Type::String, Role::OptionalComputed)),
        ("needed", attribute_with_role(Type::map(Type::Bool), Role::Required)),
        ("nothing", optional_string()),
        ("old", Attribute { docs: old, ..optional_string() }),
        ("secret", Attribute { sensitive: true, ..optional_string() }),
    ]);
    let object = Value::object([
        ("computed", Value::string("c")),
        ("either", Value::list(Type::Number, vec![Value::int(1), Value::int(2)])),
        ("id", Value::string("id")),
        ("needed", Value::map(Type::Bool, [("a b", Value::Bool(true))])),
        ("nothing", Value::null(Type::String)),
        ("old", Value::string("old")),
        ("secret", Value::string("secret")),
    ]);
    // What only the provider sets cannot be written, and what is deprecated should not be.
    check_generated_block(
        "",
        &schema,
        &object,
        expect![[r#"
        resource "test_thing" "a" {
          either = [1, 2]
          needed = {
            "a b" = true
          }
          nothing = null
          secret  = null # sensitive
        }"#]],
    );
}

#[test]
fn a_string_with_a_json_document_is_generated_as_jsonencode() {
    // A document that is only a string or a number is more likely meant as that text.
    let schema =
        block_of_attributes(["a", "b", "c", "d", "e"].map(|name| (name, optional_string())));
    let object = Value::object([
        ("a", Value::string("{\"x\": [1, null]}")),
        ("b", Value::string("5")),
        ("c", Value::string("null")),
        ("d", Value::string("[] and ${more}\n")),
        ("e", Value::string("")),
    ]);
    check_generated_block(
        "provider = test.other",
        &schema,
        &object,
        expect![[r#"
            resource "test_thing" "a" {
              provider = test.other
              a = jsonencode({
                x = [1, null]
              })
              b = "5"
              c = jsonencode(null)
              d = "[] and $${more}\n"
              e = null
            }"#]],
    );
}

#[test]
fn each_nested_block_of_the_object_is_generated() {
    let mut schema = Block::default();
    for (name, nesting) in [
        ("group", Nesting::Group),
        ("list", Nesting::List),
        ("map", Nesting::Map),
        ("set", Nesting::Set),
    ] {
        schema.blocks.insert(name.into(), nested_block(nesting));
    }
    let nested_object = |value: &str| Value::object([("text", Value::string(value))]);
    let ty = nested_object("").ty();
    let secret = Value::object([("text", Value::string("s").mark(Marks::SENSITIVE))]);
    let object = Value::object([
        ("group", nested_object("g")),
        ("list", Value::list(ty.clone(), vec![nested_object("1"), nested_object("2")])),
        ("map", Value::map(ty.clone(), [("a key", nested_object("m"))])),
        ("set", Value::set(ty, vec![secret])),
    ]);
    check_generated_block(
        "",
        &schema,
        &object,
        expect![[r#"
        resource "test_thing" "a" {
          group {
            text = "g"
          }
          list {
            text = "1"
          }
          list {
            text = "2"
          }
          map "a key" {
            text = "m"
          }
          set {} # sensitive
        }"#]],
    );
}
