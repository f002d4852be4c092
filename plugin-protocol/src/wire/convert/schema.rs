//! Schemas, as protocol 6 writes them. Checks only for values that the types of this library cannot represent. The
//! contract checks whether a schema is valid.

use std::collections::BTreeMap;

use formwork_value::codec::type_json;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, Schema,
    SchemaDocs,
};
use formwork_value::{Str, Type};

use super::{InvalidMessage, UnencodableMessage, decode_count, encode_count};
use crate::wire::generated::tfplugin6 as v6;
use v6::StringKind;
use v6::schema::nested_block::NestingMode as BlockNesting;
use v6::schema::object::NestingMode as ObjectNesting;

/// Strictness of a host about a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaStrictness {
    /// Every attribute declares whether the author or the provider sets it.
    Strict,
    /// Leniency for schemas that hosts do not check: an attribute without a role is optional, and a
    /// required one has no other role.
    Lenient,
}

/// Reads a schema.
pub(super) fn decode_schema(
    wire: v6::Schema,
    strictness: SchemaStrictness,
) -> Result<Schema, InvalidMessage> {
    let block = wire.block.ok_or_else(|| InvalidMessage::new("the schema has no block"))?;
    Ok(Schema {
        version: decode_count(wire.version, "the schema version")?,
        block: decode_block(block, strictness)?,
    })
}

/// Reads a type.
pub(super) fn decode_type(json: &[u8]) -> Result<Type, InvalidMessage> {
    type_json::decode(json).map_err(|error| {
        InvalidMessage::new(format!(
            "`{}` is not a type: {error}",
            shorten_type_text(&String::from_utf8_lossy(json))
        ))
    })
}

fn shorten_type_text(text: &str) -> String {
    // A type may fill megabytes, and an error is for people.
    const MAX_SHOWN_TYPE_LENGTH: usize = 60;
    if text.chars().count() <= MAX_SHOWN_TYPE_LENGTH {
        return text.to_owned();
    }
    text.chars().take(MAX_SHOWN_TYPE_LENGTH).chain("…".chars()).collect()
}

/// Reads whether a description is Markdown. An unknown kind is shown as plain text.
pub(super) fn is_markdown(kind: i32) -> bool {
    kind == i32::from(StringKind::Markdown)
}

/// Writes whether a description is Markdown.
pub(super) fn description_string_kind(markdown: bool) -> i32 {
    if markdown { StringKind::Markdown } else { StringKind::Plain }.into()
}

fn decode_block(
    wire: v6::schema::Block,
    strictness: SchemaStrictness,
) -> Result<Block, InvalidMessage> {
    let mut blocks = BTreeMap::new();
    for nested in wire.block_types {
        let name = Str::from(&nested.type_name);
        let nested = decode_nested_block(nested, strictness)
            .map_err(|misread| misread.prepend_location(format_args!("block `{name}`")))?;
        // A map would silently keep one of the two.
        if blocks.contains_key(&name) {
            return Err(InvalidMessage::new(format!("block `{name}` is declared twice")));
        }
        blocks.insert(name, nested);
    }
    Ok(Block {
        attributes: decode_attributes(wire.attributes, strictness)?,
        blocks,
        docs: SchemaDocs {
            markdown: is_markdown(wire.description_kind),
            description: wire.description,
            deprecated: wire.deprecated,
            deprecation: wire.deprecation_message,
        },
    })
}

fn decode_nested_block(
    wire: v6::schema::NestedBlock,
    strictness: SchemaStrictness,
) -> Result<NestedBlock, InvalidMessage> {
    let nesting = match BlockNesting::try_from(wire.nesting) {
        Ok(BlockNesting::Single) => Nesting::Single,
        Ok(BlockNesting::Group) => Nesting::Group,
        Ok(BlockNesting::List) => Nesting::List,
        Ok(BlockNesting::Set) => Nesting::Set,
        Ok(BlockNesting::Map) => Nesting::Map,
        Ok(BlockNesting::Invalid) | Err(_) => return Err(unknown_nesting_error(wire.nesting)),
    };
    let block = wire.block.ok_or_else(|| InvalidMessage::new("it has no content"))?;
    Ok(NestedBlock {
        nesting,
        // Protocol 6.11 has the flag on the content and not on the block type.
        computed: block.computed,
        block: decode_block(block, strictness)?,
        min_items: decode_count(wire.min_items, "the least number of blocks")?,
        max_items: decode_count(wire.max_items, "the greatest number of blocks")?,
    })
}

fn unknown_nesting_error(number: i32) -> InvalidMessage {
    InvalidMessage::new(format!("nesting mode {number} is not known"))
}

fn decode_attributes(
    wire: Vec<v6::schema::Attribute>,
    strictness: SchemaStrictness,
) -> Result<BTreeMap<Str, Attribute>, InvalidMessage> {
    let mut attributes = BTreeMap::new();
    for attribute in wire {
        let name = Str::from(&attribute.name);
        let attribute = decode_attribute(attribute, strictness)
            .map_err(|misread| misread.prepend_location(format_args!("attribute `{name}`")))?;
        if attributes.contains_key(&name) {
            return Err(InvalidMessage::new(format!("attribute `{name}` is declared twice")));
        }
        attributes.insert(name, attribute);
    }
    Ok(attributes)
}

fn decode_attribute(
    wire: v6::schema::Attribute,
    strictness: SchemaStrictness,
) -> Result<Attribute, InvalidMessage> {
    let role = decode_role(&wire, strictness)?;
    let kind = match (wire.r#type.is_empty(), wire.nested_type) {
        (false, None) => AttributeKind::Plain(decode_type(&wire.r#type)?),
        (true, Some(nested)) => {
            AttributeKind::Nested(decode_nested_attributes(nested, strictness)?)
        }
        (true, None) => {
            return Err(InvalidMessage::new("it has neither a type nor nested attributes"));
        }
        (false, Some(_)) => {
            return Err(InvalidMessage::new("it has both a type and nested attributes"));
        }
    };
    Ok(Attribute {
        kind,
        role,
        sensitive: wire.sensitive,
        write_only: wire.write_only,
        docs: SchemaDocs {
            markdown: is_markdown(wire.description_kind),
            description: wire.description,
            deprecated: wire.deprecated,
            deprecation: wire.deprecation_message,
        },
    })
}

fn decode_nested_attributes(
    wire: v6::schema::Object,
    strictness: SchemaStrictness,
) -> Result<NestedAttributes, InvalidMessage> {
    let nesting = match ObjectNesting::try_from(wire.nesting) {
        Ok(ObjectNesting::Single) => Nesting::Single,
        Ok(ObjectNesting::List) => Nesting::List,
        Ok(ObjectNesting::Set) => Nesting::Set,
        Ok(ObjectNesting::Map) => Nesting::Map,
        Ok(ObjectNesting::Invalid) | Err(_) => return Err(unknown_nesting_error(wire.nesting)),
    };
    Ok(NestedAttributes { attributes: decode_attributes(wire.attributes, strictness)?, nesting })
}

fn decode_role(
    wire: &v6::schema::Attribute,
    strictness: SchemaStrictness,
) -> Result<Role, InvalidMessage> {
    match (wire.required, wire.optional, wire.computed) {
        (true, false, false) => Ok(Role::Required),
        (false, true, false) => Ok(Role::Optional),
        (false, true, true) => Ok(Role::OptionalComputed),
        (false, false, true) => Ok(Role::Computed),
        (false, false, false) if strictness == SchemaStrictness::Lenient => Ok(Role::Optional),
        (true, _, _) if strictness == SchemaStrictness::Lenient => Ok(Role::Required),
        (false, false, false) => {
            Err(InvalidMessage::new("it is neither required nor optional nor computed"))
        }
        (true, true, _) => Err(InvalidMessage::new("it is both required and optional")),
        (true, false, true) => Err(InvalidMessage::new("it is both required and computed")),
    }
}

/// Writes a schema.
pub(super) fn encode_schema(schema: &Schema) -> Result<v6::Schema, UnencodableMessage> {
    Ok(v6::Schema {
        version: encode_count(schema.version, "the schema version")?,
        block: Some(encode_block(&schema.block, false)?),
    })
}

fn encode_block(block: &Block, computed: bool) -> Result<v6::schema::Block, UnencodableMessage> {
    let nested = block.blocks.iter().map(|(name, nested)| encode_nested_block(name, nested));
    Ok(v6::schema::Block {
        // Unused: the version of the whole schema counts.
        version: 0,
        attributes: encode_attributes(&block.attributes),
        block_types: nested.collect::<Result<_, _>>()?,
        description: block.docs.description.clone(),
        description_kind: description_string_kind(block.docs.markdown),
        deprecated: block.docs.deprecated,
        deprecation_message: block.docs.deprecation.clone(),
        computed,
    })
}

fn encode_nested_block(
    name: &Str,
    nested: &NestedBlock,
) -> Result<v6::schema::NestedBlock, UnencodableMessage> {
    let nesting = match nested.nesting {
        Nesting::Single => BlockNesting::Single,
        Nesting::Group => BlockNesting::Group,
        Nesting::List => BlockNesting::List,
        Nesting::Set => BlockNesting::Set,
        Nesting::Map => BlockNesting::Map,
    };
    Ok(v6::schema::NestedBlock {
        type_name: name.to_string(),
        block: Some(encode_block(&nested.block, nested.computed)?),
        nesting: nesting.into(),
        min_items: encode_count(nested.min_items, "the least number of blocks")?,
        max_items: encode_count(nested.max_items, "the greatest number of blocks")?,
    })
}

fn encode_attributes(attributes: &BTreeMap<Str, Attribute>) -> Vec<v6::schema::Attribute> {
    attributes.iter().map(|(name, attribute)| encode_attribute(name, attribute)).collect()
}

fn encode_attribute(name: &Str, attribute: &Attribute) -> v6::schema::Attribute {
    let (ty, nested_type) = match &attribute.kind {
        AttributeKind::Plain(ty) => (type_json::encode(ty), None),
        AttributeKind::Nested(nested) => (String::new(), Some(encode_nested_attributes(nested))),
    };
    v6::schema::Attribute {
        name: name.to_string(),
        r#type: ty.into(),
        description: attribute.docs.description.clone(),
        required: attribute.role == Role::Required,
        optional: matches!(attribute.role, Role::Optional | Role::OptionalComputed),
        computed: attribute.role.is_computed(),
        sensitive: attribute.sensitive,
        description_kind: description_string_kind(attribute.docs.markdown),
        deprecated: attribute.docs.deprecated,
        nested_type,
        write_only: attribute.write_only,
        deprecation_message: attribute.docs.deprecation.clone(),
    }
}

fn encode_nested_attributes(nested: &NestedAttributes) -> v6::schema::Object {
    let nesting = match nested.nesting {
        // A group is a single object that is never null; for attributes there is only the former.
        Nesting::Single | Nesting::Group => ObjectNesting::Single,
        Nesting::List => ObjectNesting::List,
        Nesting::Set => ObjectNesting::Set,
        Nesting::Map => ObjectNesting::Map,
    };
    v6::schema::Object {
        attributes: encode_attributes(&nested.attributes),
        nesting: nesting.into(),
        // The counts of nested attributes are deprecated since 6.1, and hosts ignore them.
        ..v6::schema::Object::default()
    }
}
