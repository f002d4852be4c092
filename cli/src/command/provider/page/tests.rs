//! Tests of rendered pages.

use std::collections::BTreeMap;

use expect_test::expect;
use formwork_value::Str;

use super::*;

fn documented(ty: Type, role: Role, description: &str) -> Attribute {
    let docs =
        SchemaDocs { description: description.to_owned(), markdown: true, ..SchemaDocs::default() };
    Attribute { docs, ..Attribute::new(ty, role) }
}

#[test]
fn a_page_groups_required_optional_and_read_only_attributes_at_every_depth() {
    let size = documented(Type::Number, Role::Required, "How large\nit is.");
    let disk =
        Block { attributes: BTreeMap::from([(Str::from("size"), size)]), ..Block::default() };
    let disks = NestedBlock {
        nesting: Nesting::List,
        block: disk,
        min_items: 0,
        max_items: 2,
        computed: false,
    };
    let password = Attribute {
        sensitive: true,
        ..documented(Type::String, Role::Optional, "What lets you in.")
    };
    let attributes = [
        ("name", documented(Type::String, Role::Required, "What it is called.")),
        ("password", password),
        ("tags", documented(Type::map(Type::String), Role::Optional, "")),
        ("id", documented(Type::String, Role::Computed, "Its number.")),
    ];
    let docs = SchemaDocs { description: "A machine.".to_owned(), ..SchemaDocs::default() };
    let block = Block {
        attributes: attributes.map(|(name, attribute)| (Str::from(name), attribute)).into(),
        blocks: BTreeMap::from([(Str::from("disks"), disks)]),
        docs,
    };
    let subject = PageSubject {
        name: "cloud_machine",
        kind: "Resource",
        provider: "cloud",
        example: Some("resource \"cloud_machine\" \"a\" {}\n".to_owned()),
        import: Some("terraform import cloud_machine.a 1\n".to_owned()),
    };
    expect![[r##"
        ---
        page_title: "cloud_machine Resource - cloud"
        subcategory: ""
        description: |-
          A machine.
        ---

        # cloud_machine (Resource)

        A machine.

        ## Example Usage

        ```terraform
        resource "cloud_machine" "a" {}
        ```

        ## Schema

        ### Required

        - `name` (String) What it is called.

        ### Optional

        - `password` (String, Sensitive) What lets you in.
        - `tags` (Map of String)
        - `disks` (Block List, Max: 2) (see [below](#nested--disks))

        ### Read-Only

        - `id` (String) Its number.

        <a id="nested--disks"></a>
        ### Nested Schema for the block `disks`

        #### Required

        - `size` (Number) How large it is.

        ## Import

        ```shell
        terraform import cloud_machine.a 1
        ```
    "##]]
    .assert_eq(&block_page(&subject, &block));
}

#[test]
fn a_function_has_its_signature_and_arguments() {
    let parameter = |name: &str, ty| FunctionParameter {
        description: "A number.".to_owned(),
        markdown: true,
        ..FunctionParameter::new(name, ty)
    };
    let of = vec![parameter("of", Type::Number)];
    let function = FunctionSignature {
        variadic: Some(parameter("more", Type::Number)),
        summary: "Halves numbers.".to_owned(),
        markdown: true,
        ..FunctionSignature::new(of, Type::list(Type::Number))
    };
    let subject = PageSubject {
        name: "halves",
        kind: "Function",
        provider: "math",
        example: None,
        import: None,
    };
    let page = function_page(&subject, &function);
    assert!(page.contains("halves(of number, more number...) list of number"), "{page}");
    assert!(page.contains("2. `more` (Variadic, Number) A number."), "{page}");
}
