//! What makes set elements equal, and the order in which the language goes through them.

use crate::{Type, Value, value::Set};

impl Value {
    /// A set of the distinct ones among `items`, in iteration order. Marks on elements move to the
    /// set; every element must have the type `ty`.
    #[must_use]
    pub fn set(ty: Type, items: Vec<Self>) -> Self {
        let _ = (&ty, &items);
        let _ = Set::from_ordered;
        todo!()
    }
}
