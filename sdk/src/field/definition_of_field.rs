//! Definition of attributes and blocks by the types of their fields.

use formwork_value::schema::{AttributeKind, NestedAttributes, NestedBlock, Nesting};

use super::{BlockField, Field, NestedShape};
use crate::schema::{AttributeDefinition, BlockDefinition, NestedRules, PartRules, Role, Shape};

impl AttributeDefinition {
    /// An attribute with the type of a field. A field with described parts is a nested attribute.
    #[must_use]
    pub fn of_field_type<F: Field>(role: Role) -> Self {
        let mut definition = Self::new(F::ty(), role);
        definition.rules.nullable = F::NULLABLE;
        definition.attribute.sensitive = F::SENSITIVE;
        if let Some(content) = F::nested_shape() {
            let attributes = content.shape.block.attributes;
            let nested = NestedAttributes { attributes, nesting: content.nesting };
            definition.attribute.kind = AttributeKind::Nested(nested);
            // The description of the struct is that of the field, unless the field has one.
            definition.attribute.docs = content.shape.block.docs;
            let (nesting, rules) = (content.nesting, content.shape.rules);
            definition.rules.inner = Some(Box::new(NestedRules { nesting, rules }));
        }
        definition
    }
}

impl BlockDefinition {
    /// Blocks with the type of a field. A struct that is not in an `Option` is required.
    #[must_use]
    pub fn of_field_type<F: BlockField>() -> Self {
        // All types of `BlockField` have a content. An empty block is better than a panic in a
        // schema.
        let content = F::nested_shape()
            .unwrap_or_else(|| NestedShape { shape: Shape::default(), nesting: Nesting::Single });
        // The protocol has no flag for a required block: both counts of a single one are 1.
        let must = content.nesting == Nesting::Single && !F::NULLABLE;
        let inner = NestedRules { nesting: content.nesting, rules: content.shape.rules };
        let rules = PartRules {
            nullable: F::NULLABLE,
            inner: Some(Box::new(inner)),
            ..PartRules::default()
        };
        let block = NestedBlock {
            nesting: content.nesting,
            block: content.shape.block,
            min_items: u64::from(must),
            max_items: u64::from(must),
            computed: false,
        };
        Self { block, rules }
    }
}
