//! Schemas and offers on the wire.

use super::*;

fn string_attribute() -> v6::schema::Attribute {
    v6::schema::Attribute {
        name: "size".into(),
        // A type is JSON inside the message.
        r#type: "\"string\"".into(),
        optional: true,
        ..Default::default()
    }
}

fn block_of(attribute: v6::schema::Attribute) -> v6::schema::Block {
    v6::schema::Block { attributes: vec![attribute], ..Default::default() }
}

fn disk_of(nested: v6::schema::NestedBlock) -> v6::schema::Block {
    let nested = v6::schema::NestedBlock { type_name: "disk".into(), ..nested };
    v6::schema::Block { block_types: vec![nested], ..Default::default() }
}

/// Offers the block as a resource's.
fn offer(block: Option<v6::schema::Block>) -> v6::get_provider_schema::Response {
    // Without this schema, the whole answer would be refused.
    let provider = v6::Schema { block: Some(v6::schema::Block::default()), version: 0 };
    v6::get_provider_schema::Response {
        provider: Some(provider),
        resource_schemas: BTreeMap::from([(
            "acme_vm".to_owned(),
            v6::Schema { version: 0, block },
        )]),
        ..Default::default()
    }
}

fn check_refused(wires: Vec<v6::get_provider_schema::Response>, expect: &Expect) {
    let refusals = wires.into_iter().map(|wire| match ProviderSchema::try_from(wire) {
        Ok(schema) => panic!("this was accepted: {schema:?}"),
        Err(misread) => format!("{misread}\n"),
    });
    expect.assert_eq(&refusals.collect::<String>());
}

#[test]
fn an_invalid_schema_is_refused_with_its_location() {
    let attribute = |change: fn(&mut v6::schema::Attribute)| {
        let mut attribute = string_attribute();
        change(&mut attribute);
        offer(Some(block_of(attribute)))
    };
    let nested_type = |nesting, attributes| {
        let nested = v6::schema::Object { nesting, attributes, ..Default::default() };
        let attribute = v6::schema::Attribute {
            r#type: Bytes::new(),
            nested_type: Some(nested),
            ..string_attribute()
        };
        offer(Some(block_of(attribute)))
    };
    let disk = |nested| offer(Some(disk_of(nested)));
    let list = v6::schema::NestedBlock {
        nesting: 2,
        block: Some(v6::schema::Block::default()),
        ..Default::default()
    };
    check_refused(
        vec![
            v6::get_provider_schema::Response::default(),
            offer(None),
            attribute(|attribute| attribute.r#type = Bytes::new()),
            attribute(|attribute| attribute.nested_type = Some(v6::schema::Object::default())),
            attribute(|attribute| attribute.r#type = "string".into()),
            attribute(|attribute| attribute.r#type = "[\"list\"".repeat(40).into()),
            attribute(|attribute| attribute.r#type = vec![0xff, 0xfe].into()),
            attribute(|attribute| attribute.optional = false),
            attribute(|attribute| attribute.required = true),
            attribute(|attribute| {
                (attribute.required, attribute.optional, attribute.computed) = (true, false, true);
            }),
            // 0 is `INVALID` in the protocol, and 5 is a group, which only blocks can be.
            nested_type(0, vec![]),
            nested_type(5, vec![]),
            nested_type(
                1,
                vec![v6::schema::Attribute { r#type: "1".into(), ..string_attribute() }],
            ),
            disk(v6::schema::NestedBlock { nesting: 0, ..list.clone() }),
            disk(v6::schema::NestedBlock { nesting: 9, ..list.clone() }),
            disk(v6::schema::NestedBlock { block: None, ..list.clone() }),
            // The protocol has these numbers as signed integers.
            disk(v6::schema::NestedBlock { min_items: -1, ..list.clone() }),
            disk(v6::schema::NestedBlock { max_items: -1, ..list }),
        ],
        &expect![[r#"
            the answer has no schema of the provider itself
            the schema of resource `acme_vm`: the schema has no block
            the schema of resource `acme_vm`: attribute `size`: it has neither a type nor nested attributes
            the schema of resource `acme_vm`: attribute `size`: it has both a type and nested attributes
            the schema of resource `acme_vm`: attribute `size`: `string` is not a type: invalid JSON at line 1, column 1: a value expected, found 's'
            the schema of resource `acme_vm`: attribute `size`: `["list"["list"["list"["list"["list"["list"["list"["list"["li…` is not a type: invalid JSON at line 1, column 8: a comma or the end of the array expected, found '['
            the schema of resource `acme_vm`: attribute `size`: `��` is not a type: invalid JSON at line 1, column 1: not valid UTF-8
            the schema of resource `acme_vm`: attribute `size`: it is neither required nor optional nor computed
            the schema of resource `acme_vm`: attribute `size`: it is both required and optional
            the schema of resource `acme_vm`: attribute `size`: it is both required and computed
            the schema of resource `acme_vm`: attribute `size`: nesting mode 0 is not known
            the schema of resource `acme_vm`: attribute `size`: nesting mode 5 is not known
            the schema of resource `acme_vm`: attribute `size`: attribute `size`: `1` is not a type: a type is a string or an array
            the schema of resource `acme_vm`: block `disk`: nesting mode 0 is not known
            the schema of resource `acme_vm`: block `disk`: nesting mode 9 is not known
            the schema of resource `acme_vm`: block `disk`: it has no content
            the schema of resource `acme_vm`: block `disk`: the least number of blocks is -1
            the schema of resource `acme_vm`: block `disk`: the greatest number of blocks is -1
        "#]],
    );
}

#[test]
fn a_lenient_schema_may_omit_the_role_of_an_attribute() {
    let attribute = |required, optional, computed| {
        block_of(v6::schema::Attribute { required, optional, computed, ..string_attribute() })
    };
    for (block, role) in [
        (attribute(false, false, false), Role::Optional),
        (attribute(true, true, true), Role::Required),
    ] {
        let mut wire = offer(Some(v6::schema::Block::default()));
        wire.provider = Some(v6::Schema { version: 0, block: Some(block) });
        let schema = ProviderSchema::try_from(wire).unwrap();
        assert_eq!(schema.provider.block.attributes["size"].role, role);
    }
}

#[test]
fn an_error_takes_precedence_over_the_schema() {
    let mut wire = offer(None);
    wire.provider = None;
    wire.diagnostics =
        vec![v6::Diagnostic { severity: 1, summary: "No".into(), ..Default::default() }];
    let schema = ProviderSchema::try_from(wire).unwrap();
    assert_eq!(schema.diagnostics[0].summary, "No");
    assert!(schema.resources.is_empty());
}

#[test]
fn a_schema_with_endless_nesting_is_refused() {
    let mut block = v6::schema::Block::default();
    // prost stops at a depth of 100.
    for _ in 0..200 {
        block = disk_of(v6::schema::NestedBlock {
            nesting: 2,
            block: Some(block),
            ..Default::default()
        });
    }
    let bytes = offer(Some(block)).encode_to_vec();
    assert!(v6::get_provider_schema::Response::decode(&bytes[..]).is_err());
}

#[test]
fn protocol_5_refuses_unsupported_schema_features() {
    let refusal = |block| {
        let wire = offer(Some(block));
        let Err(error) = v5::get_provider_schema::Response::try_from(wire) else {
            panic!("this has no form")
        };
        unencodable_schema_response(error).diagnostics.remove(0).detail
    };
    let nested = v6::schema::Attribute {
        nested_type: Some(v6::schema::Object::default()),
        ..string_attribute()
    };
    let computed = v6::schema::NestedBlock {
        block: Some(v6::schema::Block { computed: true, ..Default::default() }),
        ..Default::default()
    };
    let texts = [refusal(block_of(nested)), refusal(disk_of(computed))].join("\n");
    expect![[r#"
        This provider cannot be used through protocol 5: resource `acme_vm`: attribute `size` has nested attributes, which protocol 5 has no form for. Use a host that offers protocol 6.
        This provider cannot be used through protocol 5: resource `acme_vm`: block `disk` is computed, which protocol 5 has no form for. Use a host that offers protocol 6."#]].assert_eq(&texts);
}

#[test]
fn protocol_5_numbers_write_only_differently() {
    let wire = v5::schema::Attribute { write_only: true, ..Default::default() };
    // Field 10 as a varint.
    assert_eq!(wire.encode_to_vec(), [0x50, 1]);
    let wire = v6::schema::Attribute { write_only: true, ..Default::default() };
    // Field 11 as a varint.
    assert_eq!(wire.encode_to_vec(), [0x58, 1]);
}

#[test]
fn protocol_5_actions_are_read_at_both_numbers_in_use() {
    let action = vec![v6::get_metadata::ActionMetadata { type_name: "acme_boot".into() }];
    for metadata in [
        v5::get_metadata::Response { actions: action.clone(), ..Default::default() },
        // terraform-plugin-go has another field number than Terraform.
        v5::get_metadata::Response { actions_of_go_library: action.clone(), ..Default::default() },
    ] {
        assert_eq!(v6::get_metadata::Response::from(metadata).actions, action);
    }
}
