//! Unknown values and what is known about them nevertheless.

use crate::{Number, Str, Type};

/// An unknown value: its type, and refinements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    ty: Type,
    refinement: Refinement,
}

/// What is known about an unknown value. The default says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refinement {
    /// The value is certainly not null.
    pub not_null: bool,
    /// Of a string: the text it certainly begins with; empty says nothing.
    pub prefix: Option<Str>,
    /// Of a number: lower bound, and whether it is inclusive.
    pub lower: Option<(Number, bool)>,
    /// Of a number: upper bound, and whether it is inclusive.
    pub upper: Option<(Number, bool)>,
    /// Of a collection: the least length; 0 says nothing.
    pub min_length: u64,
    /// Of a collection: the greatest length.
    pub max_length: Option<u64>,
}

impl Unknown {
    /// An unknown value about which only the type is known.
    #[must_use]
    pub fn new(ty: Type) -> Self {
        Self { ty, refinement: Refinement::default() }
    }

    /// An unknown value about which more is known. What the type cannot have is ignored.
    #[must_use]
    pub fn refined(ty: Type, refinement: Refinement) -> Self {
        Self { ty, refinement }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// What else is known.
    #[must_use]
    pub fn refinement(&self) -> &Refinement {
        &self.refinement
    }
}
