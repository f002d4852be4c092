//! The type a schema implies, and its empty value.

use super::{Attribute, Block};
use crate::{Type, Value};

impl Block {
    /// The type of values of this block. A list or map block whose content holds a dynamic attribute
    /// has the type `Dynamic`.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        todo!()
    }

    /// The value of the block when nothing is written: attributes null, collections empty.
    #[must_use]
    pub fn empty_value(&self) -> Value {
        todo!()
    }
}

impl Attribute {
    /// The type of values of this attribute.
    #[must_use]
    pub fn implied_type(&self) -> Type {
        todo!()
    }
}
