//! Field types of a model: Rust types with a type of the language, converted in both directions.

/// Implements for a wrapper the properties of the one field `T` inside it.
macro_rules! like_what_is_inside {
    () => {
        const FILLS: bool = T::FILLS;
        const HAS_BLOCKS: bool = T::HAS_BLOCKS;
        const WRITE_ONLY: bool = T::WRITE_ONLY;
        const WRITE_ONLY_IN_SET: bool = T::WRITE_ONLY_IN_SET;
        const HAS_TEXTS: bool = T::HAS_TEXTS;
        const HAS_NUMBERS: bool = T::HAS_NUMBERS;
        const HAS_LENGTH: bool = T::HAS_LENGTH;

        fn ty() -> Type {
            T::ty()
        }

        fn content() -> Option<Content> {
            T::content()
        }
    };
}

mod attr;
mod collection;
mod leaf;
mod secret;
mod whole;

use std::fmt;

use formwork_value::convert::ConversionError;
use formwork_value::schema::Nesting;
use formwork_value::{Path, Step, Type, Value};

use crate::schema::Shape;

pub use attr::Attr;
pub use collection::Set;
pub use secret::Secret;
pub use whole::Whole;

/// A Rust type that is an attribute's value, or a part of one.
///
/// Texts, truths, numbers, [`Value`], collections of fields, `Option`, [`Secret`] and whatever derives
/// `Nested` are fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an attribute",
    note = "attributes are String, bool, numbers, Value, Secret<T>, Option<T>, Vec<T>, Set<T>, \
            BTreeSet<T>, BTreeMap<String, T>, and structs with #[derive(Clone, Debug, Nested)]"
)]
pub trait Field: Sized + Clone + fmt::Debug + Send + Sync + 'static {
    /// The same attribute while planning: it may be null, or not known yet.
    type Draft: Field + Default;
    /// The same as a part of something else while planning.
    type Part: Field;
    /// The same without what only the provider sets.
    type Input: Field;

    /// Whether a value of this type can say that a part of it is not known yet.
    const HOLDS_UNKNOWN: bool = false;
    /// Whether it can say that there is no value.
    const NULLABLE: bool = false;
    /// Whether its values must not be shown.
    const SENSITIVE: bool = false;
    /// Whether the provider sets parts of it.
    const FILLS: bool = false;
    /// Whether some parts are blocks.
    const HAS_BLOCKS: bool = false;
    /// Whether some parts are write-only.
    const WRITE_ONLY: bool = false;
    /// Whether some such parts are in a set, where nothing could tell which element a value belongs
    /// to that is not stored. Models refuse this.
    const WRITE_ONLY_IN_SET: bool = false;
    /// Whether it may be a text, or a collection of texts.
    const HAS_TEXTS: bool = true;
    /// Whether it may be a number, or a collection of numbers.
    const HAS_NUMBERS: bool = true;
    /// Whether it may be something that has a length: a text or a collection.
    const HAS_LENGTH: bool = true;

    /// The type of the values.
    fn ty() -> Type;

    /// Described parts, if it consists of any.
    #[must_use]
    fn content() -> Option<Content> {
        None
    }

    /// Reads a value.
    ///
    /// # Errors
    /// When the value has parts that this type has no form for, such as a null where there can be
    /// none.
    fn from_value(value: &Value) -> Result<Self, ConversionError>;

    /// Makes a value.
    fn to_value(&self) -> Value;

    /// Whether [`to_value`](Self::to_value) would make this value, or one that says no less. An
    /// answer of `false` may be wrong; the caller then compares the values.
    fn same_as(&self, value: &Value) -> bool {
        self.to_value() == *value
    }

    /// The same as a draft.
    fn into_draft(self) -> Self::Draft;

    /// The same as a part of a draft.
    fn into_part(self) -> Self::Part;
}

/// A field that can stand as blocks: a nested struct, or an `Option`, list, set or map of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a block",
    note = "a block is a struct with #[derive(Clone, Debug, Nested)], or an Option, Vec, Set, \
            BTreeSet or BTreeMap<String, _> of one"
)]
pub trait BlockField: Field {}

/// Described parts of a field.
#[derive(Clone, Debug)]
pub struct Content {
    /// The parts of one.
    pub shape: Shape,
    /// Number of objects and their container.
    pub nesting: Nesting,
}

pub(crate) fn refused(reason: impl Into<String>) -> ConversionError {
    ConversionError { path: Path::root(), reason: reason.into() }
}

/// Adds an outer step to where a refusal is.
pub(crate) fn within(step: Step, mut refused: ConversionError) -> ConversionError {
    refused.path.0.insert(0, step);
    refused
}

#[cfg(test)]
mod tests;
