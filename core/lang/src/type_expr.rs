//! Type constraints as written, and the defaults of their optional attributes.

/// What fills optional attributes of a type constraint, at any depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {}
