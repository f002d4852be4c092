//! The type a schema implies, and its empty value.

use std::sync::Arc;

use super::{Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role};
use crate::ty::ObjectType;
use crate::{Type, Value};

impl Block {
    /// The type of values of this block. A list or map block whose content holds a dynamic attribute
    /// has the type `Dynamic`.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attr)| (name, attr.implied_type()));
        let blocks = self.blocks.iter().map(|(name, nested)| (name, nested.implied_type()));
        Type::object(attributes.chain(blocks))
    }

    /// Returns the value of an omitted block: attributes are null, collections empty.
    #[must_use]
    pub fn empty_value(&self) -> Value {
        let attributes = self
            .attributes
            .iter()
            .map(|(name, attr)| (name.clone(), Value::null(attr.implied_type())));
        let blocks = self.blocks.iter().map(|(name, nested)| (name.clone(), nested.empty_value()));
        Value::object(attributes.chain(blocks))
    }
}

impl NestedBlock {
    /// The type of the attribute that holds all blocks of this type.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        let content = self.block.implied_type();
        match self.nesting {
            Nesting::Single | Nesting::Group => content,
            // Each block may then have its own type, which a list or map cannot contain.
            Nesting::List | Nesting::Map if content.has_dynamic() => Type::Dynamic,
            Nesting::List => Type::list(content),
            Nesting::Map => Type::map(content),
            Nesting::Set => Type::set(content),
        }
    }

    /// The value of the attribute that holds all blocks of this type when none is written.
    #[must_use]
    pub fn empty_value(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::null(self.block.implied_type()),
            Nesting::Group => self.block.empty_value(),
            Nesting::List | Nesting::Set => self.to_list_or_set_value(Vec::new()),
            Nesting::Map => self.to_keyed_collection_value(Vec::new()),
        }
    }

    /// The value that holds `blocks`, values of the content, where the nesting is list or set.
    #[must_use]
    pub fn to_list_or_set_value(&self, blocks: Vec<Value>) -> Value {
        let content = self.block.implied_type();
        match self.nesting {
            Nesting::Set => Value::set(content, blocks),
            // Each block may then have its own type, which a list cannot contain.
            _ if content.has_dynamic() => Value::tuple(blocks),
            _ => Value::list(content, blocks),
        }
    }

    /// The value that holds `blocks` under their keys, where the nesting is map.
    #[must_use]
    pub fn to_keyed_collection_value(&self, blocks: Vec<(crate::Str, Value)>) -> Value {
        let content = self.block.implied_type();
        // Blocks of different types fit into an object, but not into a map.
        if content.has_dynamic() { Value::object(blocks) } else { Value::map(content, blocks) }
    }
}

impl Attribute {
    /// The type of values of this attribute.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        match &self.kind {
            AttributeKind::Plain(ty) => ty.clone(),
            AttributeKind::Nested(nested) => nested.implied_type(),
        }
    }

    /// The type that a value is converted to: as [`Attribute::implied_type`], but nested attributes that
    /// are not required may be missing, and become null.
    #[must_use]
    pub fn conversion_type(&self) -> Type {
        match &self.kind {
            AttributeKind::Plain(ty) => ty.clone(),
            AttributeKind::Nested(nested) => nested.conversion_type(),
        }
    }
}

impl NestedAttributes {
    fn conversion_type(&self) -> Type {
        let mut object = ObjectType::default();
        for (name, attr) in &self.attributes {
            object.attributes.insert(name.clone(), attr.conversion_type());
            if attr.role != Role::Required {
                object.optional.insert(name.clone());
            }
        }
        self.wrap_object_type(Type::Object(Arc::new(object)))
    }

    /// The type of one object.
    #[must_use]
    pub fn object_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attr)| (name, attr.implied_type())))
    }

    /// The type of all objects together. Unlike that of blocks it never turns dynamic as a whole.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        self.wrap_object_type(self.object_type())
    }

    fn wrap_object_type(&self, object: Type) -> Type {
        match self.nesting {
            Nesting::Single | Nesting::Group => object,
            Nesting::List => Type::list(object),
            Nesting::Map => Type::map(object),
            Nesting::Set => Type::set(object),
        }
    }
}
