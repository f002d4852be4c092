//! Attributes written as blocks. Providers of the legacy SDK declare some lists and sets of objects as
//! attributes (`SchemaConfigModeAttr`), and configurations write them as a value or as blocks, `dynamic`
//! blocks included. The schema does not mark these attributes, so the rule depends on their types: every
//! attribute that is a list or set of objects, in a schema that the legacy SDK can declare.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use formwork_value::schema::{Attribute, AttributeKind, Block, Role};
use formwork_value::{Str, Type};

use crate::content::ContentSchema;
use crate::syntax::Body;

/// Whether the attributes of a schema and of the blocks in it may be written as blocks. The decision is
/// made on first use, because few configurations need it.
#[derive(Debug)]
pub struct LegacySchemaCheck<'s> {
    schema: &'s Block,
    applies: OnceCell<bool>,
}

impl<'s> LegacySchemaCheck<'s> {
    /// Returns the rule for a schema.
    #[must_use]
    pub fn of(schema: &'s Block) -> Self {
        Self { schema, applies: OnceCell::new() }
    }

    fn is_legacy_schema(&self) -> bool {
        *self.applies.get_or_init(|| fits_legacy_sdk(self.schema))
    }
}

/// Returns whether the legacy SDK can declare a schema.
fn fits_legacy_sdk(schema: &Block) -> bool {
    schema.attributes.values().all(|attribute| match &attribute.kind {
        AttributeKind::Plain(ty) => type_fits_legacy_sdk(ty),
        // Protocol 5, the only one of the legacy SDK, has no nested attributes: a schema with one
        // is from the plugin framework, whose attributes are never written as blocks.
        AttributeKind::Nested(_) => false,
    }) && schema.blocks.values().all(|nested| fits_legacy_sdk(&nested.block))
}

fn type_fits_legacy_sdk(ty: &Type) -> bool {
    let Some(element) = ty.element() else {
        return !matches!(ty, Type::Tuple(_) | Type::Object(_));
    };
    // A map of the legacy SDK has primitive elements only.
    if matches!((ty, element), (Type::Map(_), Type::Object(_))) {
        return false;
    }
    element.element().is_none_or(Type::is_primitive)
}

/// Returns the schema of a block that represents one element of an attribute, or `None` if the attribute
/// cannot be written as blocks. A type is less precise than a schema: all arguments are optional.
fn schema_of_element_block(attribute: &Attribute) -> Option<Block> {
    let AttributeKind::Plain(Type::List(element) | Type::Set(element)) = &attribute.kind else {
        return None;
    };
    let Type::Object(object) = &**element else { return None };
    let attributes = object
        .attributes
        .iter()
        .map(|(name, ty)| (name.clone(), Attribute::new(ty.clone(), Role::Optional)));
    Some(Block { attributes: attributes.collect(), ..Block::default() })
}

/// The schema of one body: blocks replace the attributes that the body writes as blocks.
#[derive(Debug)]
pub struct AttributesAsBlocks<'s> {
    schema: &'s Block,
    /// The schema of one block, by attribute name.
    elements: BTreeMap<&'s str, Block>,
}

impl<'s> AttributesAsBlocks<'s> {
    /// Finds the attributes that a body writes as blocks. An attribute with a value in the body is
    /// excluded, so that blocks in addition to the value are refused.
    #[must_use]
    pub fn find_in_body(
        schema: &'s Block,
        body: &Body,
        legacy_check: &LegacySchemaCheck<'_>,
    ) -> Self {
        let may_be_block = |(name, attribute): &(&'s Str, &'s Attribute)| {
            // A required attribute without a value counts as zero blocks, so that the language does not
            // require an argument that may only be written as blocks.
            let is_required = attribute.role == Role::Required;
            (is_required || has_block_or_dynamic(body, name)) && body.find_attribute(name).is_none()
        };
        let elements =
            schema.attributes.iter().filter(may_be_block).filter_map(|(name, attribute)| {
                Some((name.as_str(), schema_of_element_block(attribute)?))
            });
        let elements: BTreeMap<_, _> =
            elements.filter(|_| legacy_check.is_legacy_schema()).collect();
        Self { schema, elements }
    }

    /// The attributes that are written as blocks, each with the schema of one block. Some may have no
    /// blocks.
    pub fn iter_attributes_as_blocks(&self) -> impl Iterator<Item = (&'s str, &Block)> {
        self.elements.iter().map(|(name, element)| (*name, element))
    }

    /// The name of an attribute that is written as blocks, with the schema of one block.
    #[must_use]
    pub fn find_attribute_as_block(&self, name: &str) -> Option<(&'s str, &Block)> {
        self.elements.get_key_value(name).map(|(name, element)| (*name, element))
    }
}

/// Returns whether a body has a block of a type, or an undecided `dynamic` block of any type.
fn has_block_or_dynamic(body: &Body, kind: &str) -> bool {
    let is_block =
        |name: &str, label: Option<&str>| name == kind || name == "dynamic" && label == Some(kind);
    // In JSON the type of a `dynamic` block is a key inside its object, which is not decided yet.
    body.blocks.iter().any(|block| {
        is_block(&block.kind.name, block.labels.first().map(|label| label.name.as_str()))
    }) || body.undecided.iter().any(|member| member.name.name == "dynamic")
}

impl ContentSchema for AttributesAsBlocks<'_> {
    fn expects_attribute(&self, name: &str) -> bool {
        self.schema.expects_attribute(name) && !self.elements.contains_key(name)
    }

    fn label_names(&self, kind: &str) -> Option<&[&str]> {
        let element = self.elements.get(kind);
        self.schema.label_names(kind).or(element.map(|_| [].as_slice()))
    }

    fn required_attributes(&self) -> Vec<&str> {
        let mut required = self.schema.required_attributes();
        // Without a value it is an absent block. The provider reports that it is required.
        required.retain(|name| !self.elements.contains_key(name));
        required
    }

    fn attribute_names(&self) -> Vec<&str> {
        self.schema.attribute_names()
    }

    fn block_kinds(&self) -> Vec<&str> {
        self.schema.block_kinds().into_iter().chain(self.elements.keys().copied()).collect()
    }
}
