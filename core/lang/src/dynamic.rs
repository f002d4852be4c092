//! `dynamic` blocks as written: their parts, and the schema of a body that may contain them.

use formwork_value::Str;

use crate::attributes_as_blocks::AttributesAsBlocks;
use crate::content::ContentSchema;
use crate::syntax::{Attribute, Block, Expr, Ident};
use crate::traversal::as_traversal;

/// The parts of a `dynamic` block. Missing ones are `None`.
#[derive(Clone, Copy, Debug)]
pub struct DynamicBlock<'b> {
    /// The type of the generated blocks.
    pub kind: &'b Ident,
    /// The collection to iterate over.
    pub for_each: Option<&'b Expr>,
    /// The name of the iterator, if it differs from the block type.
    pub iterator: Option<&'b Attribute>,
    /// The labels of each block.
    pub labels: Option<&'b Expr>,
    /// The content of each block.
    pub content: Option<&'b Block>,
}

impl<'b> DynamicBlock<'b> {
    /// Reads a block as a `dynamic` block. Returns `None` for an ordinary block.
    #[must_use]
    pub fn of(block: &'b Block) -> Option<Self> {
        let [kind] = block.labels.as_slice() else { return None };
        if block.kind.name != "dynamic" {
            return None;
        }
        let attribute =
            |name: &str| block.body.attributes.iter().find(|attr| attr.name.name == name);
        Some(Self {
            kind,
            for_each: attribute("for_each").map(|attr| &attr.expr),
            iterator: attribute("iterator"),
            labels: attribute("labels").map(|attr| &attr.expr),
            content: block.body.blocks.iter().find(|block| block.kind.name == "content"),
        })
    }

    /// Returns the name by which the content refers to the current element.
    #[must_use]
    pub fn iterator_name(&self) -> Str {
        self.iterator
            // A quoted name is reported when the block is decoded, so it is not reported here.
            .and_then(|attr| match as_traversal(&attr.expr) {
                Some(name) => Some(name.root.name),
                None => attr.expr.as_string_literal().cloned(),
            })
            .unwrap_or_else(|| self.kind.name.clone())
    }
}

/// The schema of a body in which `dynamic` blocks may generate the declared blocks.
pub(crate) struct SchemaWithDynamicBlocks<'s>(pub(crate) AttributesAsBlocks<'s>);

impl ContentSchema for SchemaWithDynamicBlocks<'_> {
    fn expects_attribute(&self, name: &str) -> bool {
        self.0.expects_attribute(name)
    }

    fn label_names(&self, kind: &str) -> Option<&[&str]> {
        self.0.label_names(kind).or((kind == "dynamic").then_some(&["type"]))
    }

    fn required_attributes(&self) -> Vec<&str> {
        self.0.required_attributes()
    }

    fn attribute_names(&self) -> Vec<&str> {
        self.0.attribute_names()
    }

    fn block_kinds(&self) -> Vec<&str> {
        self.0.block_kinds()
    }
}
