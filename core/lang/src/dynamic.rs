//! `dynamic` blocks: what one is made of. Their expansion is part of decoding.

use formwork_value::Str;

use crate::syntax::{Attribute, Block, Expr};

/// The parts of a `dynamic` block, as far as they are there.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic<'b> {
    /// The whole block.
    pub block: &'b Block,
    /// The type of the blocks it stands for.
    pub kind: &'b crate::syntax::Ident,
    /// What it is repeated for.
    pub for_each: Option<&'b Expr>,
    /// The name of the iterator, if it is not that of the block type.
    pub iterator: Option<&'b Attribute>,
    /// The labels of each block.
    pub labels: Option<&'b Expr>,
    /// The content of each block.
    pub content: Option<&'b Block>,
}

impl<'b> Dynamic<'b> {
    /// Reads a block as a `dynamic` block; `None` if it is an ordinary one.
    #[must_use]
    pub fn of(block: &'b Block) -> Option<Self> {
        let [kind] = block.labels.as_slice() else { return None };
        if block.kind.name != "dynamic" {
            return None;
        }
        let attribute =
            |name: &str| block.body.attributes.iter().find(|attr| attr.name.name == name);
        Some(Self {
            block,
            kind,
            for_each: attribute("for_each").map(|attr| &attr.expr),
            iterator: attribute("iterator"),
            labels: attribute("labels").map(|attr| &attr.expr),
            content: block.body.blocks.iter().find(|block| block.kind.name == "content"),
        })
    }

    /// The name by which the content refers to the current element.
    #[must_use]
    pub fn iterator_name(&self) -> Str {
        self.iterator
            .and_then(|attr| attr.expr.as_keyword())
            .map_or_else(|| self.kind.name.clone(), Str::new)
    }
}
