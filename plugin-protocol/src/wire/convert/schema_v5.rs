//! Schemas as protocol 5 writes them, from and to those of protocol 6. It numbers some fields of an
//! attribute differently and has neither nested attributes nor computed blocks.

use super::UnencodableMessage;
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};

impl From<v5::Schema> for v6::Schema {
    fn from(wire: v5::Schema) -> Self {
        Self { version: wire.version, block: wire.block.map(Into::into) }
    }
}

impl From<v5::schema::Block> for v6::schema::Block {
    fn from(wire: v5::schema::Block) -> Self {
        Self {
            version: wire.version,
            attributes: wire.attributes.into_iter().map(Into::into).collect(),
            block_types: wire.block_types.into_iter().map(Into::into).collect(),
            description: wire.description,
            description_kind: wire.description_kind,
            deprecated: wire.deprecated,
            deprecation_message: wire.deprecation_message,
            // Protocol 5 has no such flag.
            computed: false,
        }
    }
}

impl From<v5::schema::NestedBlock> for v6::schema::NestedBlock {
    fn from(wire: v5::schema::NestedBlock) -> Self {
        Self {
            type_name: wire.type_name,
            block: wire.block.map(Into::into),
            nesting: wire.nesting,
            min_items: wire.min_items,
            max_items: wire.max_items,
        }
    }
}

impl From<v5::schema::Attribute> for v6::schema::Attribute {
    fn from(wire: v5::schema::Attribute) -> Self {
        Self {
            name: wire.name,
            r#type: wire.r#type,
            description: wire.description,
            required: wire.required,
            optional: wire.optional,
            computed: wire.computed,
            sensitive: wire.sensitive,
            description_kind: wire.description_kind,
            deprecated: wire.deprecated,
            // Only protocol 6 has nested attributes.
            nested_type: None,
            write_only: wire.write_only,
            deprecation_message: wire.deprecation_message,
        }
    }
}

impl TryFrom<v6::Schema> for v5::Schema {
    type Error = UnencodableMessage;

    fn try_from(schema: v6::Schema) -> Result<Self, UnencodableMessage> {
        let block = schema.block.map(TryInto::try_into).transpose()?;
        Ok(Self { version: schema.version, block })
    }
}

impl TryFrom<v6::schema::Block> for v5::schema::Block {
    type Error = UnencodableMessage;

    fn try_from(block: v6::schema::Block) -> Result<Self, UnencodableMessage> {
        let attributes = block.attributes.into_iter().map(TryInto::try_into);
        let block_types = block.block_types.into_iter().map(TryInto::try_into);
        Ok(Self {
            version: block.version,
            attributes: attributes.collect::<Result<_, _>>()?,
            block_types: block_types.collect::<Result<_, _>>()?,
            description: block.description,
            description_kind: block.description_kind,
            deprecated: block.deprecated,
            deprecation_message: block.deprecation_message,
        })
    }
}

impl TryFrom<v6::schema::NestedBlock> for v5::schema::NestedBlock {
    type Error = UnencodableMessage;

    fn try_from(nested: v6::schema::NestedBlock) -> Result<Self, UnencodableMessage> {
        // Without the flag it would be a block that only authors fill.
        if nested.block.as_ref().is_some_and(|block| block.computed) {
            return Err(UnencodableMessage(format!(
                "block `{}` is computed, which protocol 5 has no form for",
                nested.type_name
            )));
        }
        Ok(Self {
            type_name: nested.type_name,
            block: nested.block.map(TryInto::try_into).transpose()?,
            nesting: nested.nesting,
            min_items: nested.min_items,
            max_items: nested.max_items,
        })
    }
}

impl TryFrom<v6::schema::Attribute> for v5::schema::Attribute {
    type Error = UnencodableMessage;

    fn try_from(attribute: v6::schema::Attribute) -> Result<Self, UnencodableMessage> {
        if attribute.nested_type.is_some() {
            return Err(UnencodableMessage(format!(
                "attribute `{}` has nested attributes, which protocol 5 has no form for",
                attribute.name
            )));
        }
        Ok(Self {
            name: attribute.name,
            r#type: attribute.r#type,
            description: attribute.description,
            required: attribute.required,
            optional: attribute.optional,
            computed: attribute.computed,
            sensitive: attribute.sensitive,
            description_kind: attribute.description_kind,
            deprecated: attribute.deprecated,
            write_only: attribute.write_only,
            deprecation_message: attribute.deprecation_message,
        })
    }
}
