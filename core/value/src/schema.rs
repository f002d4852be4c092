//! Schemas: the attributes and blocks that a provider declares.

pub mod coerce;
pub mod find_attributes;
pub mod implied_type;
pub mod validate;

use std::collections::BTreeMap;

use crate::{Str, Type};

/// The schema of a provider configuration, resource, data source or similar object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    /// Version of the stored form, which the provider increments when the form changes.
    pub version: u64,
    /// The content.
    pub block: Block,
}

/// The content of a block: attributes and nested blocks. No name occurs in both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Attributes by name.
    pub attributes: BTreeMap<Str, Attribute>,
    /// Nested block types by name.
    pub blocks: BTreeMap<Str, NestedBlock>,
    /// For people.
    pub docs: SchemaDocs,
}

/// Documentation of a schema element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaDocs {
    /// The description; empty if there is none.
    pub description: String,
    /// Whether the description is Markdown.
    pub markdown: bool,
    /// Whether its use is discouraged.
    pub deprecated: bool,
    /// Suggested replacement; empty if none is given.
    pub deprecation: String,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Kind of content.
    pub kind: AttributeKind,
    /// Party that sets the attribute.
    pub role: Role,
    /// Whether its value must not be shown.
    pub sensitive: bool,
    /// Whether the provider only receives it, and never returns or stores it.
    pub write_only: bool,
    /// For people.
    pub docs: SchemaDocs,
}

/// Content of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// A value of a type.
    Plain(Type),
    /// An object, or a collection of objects, whose attributes are described one by one.
    Nested(NestedAttributes),
}

/// The described attributes of a nested attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedAttributes {
    /// Attributes by name.
    pub attributes: BTreeMap<Str, Attribute>,
    /// Number of objects and their container. Never [`Nesting::Group`].
    pub nesting: Nesting,
}

/// Party that sets an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The author must.
    Required,
    /// The author may.
    Optional,
    /// The author may; otherwise the provider does.
    OptionalComputed,
    /// Only the provider.
    Computed,
}

impl Role {
    /// Whether the author may set it.
    #[must_use]
    pub fn is_settable(self) -> bool {
        self != Self::Computed
    }

    /// Whether the provider may choose the value.
    #[must_use]
    pub fn is_computed(self) -> bool {
        matches!(self, Self::Computed | Self::OptionalComputed)
    }
}

/// Container of nested objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// At most one; null when absent.
    Single,
    /// At most one block, never null: without a block, its attributes are null. Only for blocks.
    Group,
    /// Any number, in order.
    List,
    /// Any number, distinct, without order.
    Set,
    /// Any number, each with a key. The key of a block is its label.
    Map,
}

/// One nested block type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedBlock {
    /// Container of the blocks of this type.
    pub nesting: Nesting,
    /// The content of each block.
    pub block: Block,
    /// The least number of them.
    pub min_items: u64,
    /// The greatest number of them; 0 means any.
    pub max_items: u64,
    /// Whether the provider may generate blocks if the configuration has none (protocol 6.11).
    pub computed: bool,
}

impl Attribute {
    /// An attribute of a type, neither sensitive nor write-only, without a description.
    #[must_use]
    pub fn new(ty: Type, role: Role) -> Self {
        Self {
            kind: AttributeKind::Plain(ty),
            role,
            sensitive: false,
            write_only: false,
            docs: SchemaDocs::default(),
        }
    }
}

#[cfg(test)]
mod tests;
