//! Field types of a model: Rust types with a type of the language, converted in both directions.

/// Forwards the properties of the field `T` inside a wrapper.
macro_rules! forward_field_properties {
    () => {
        const HAS_COMPUTED: bool = T::HAS_COMPUTED;
        const HAS_BLOCKS: bool = T::HAS_BLOCKS;
        const HAS_WRITE_ONLY: bool = T::HAS_WRITE_ONLY;
        const HAS_WRITE_ONLY_IN_SET: bool = T::HAS_WRITE_ONLY_IN_SET;
        const MAY_HOLD_STRINGS: bool = T::MAY_HOLD_STRINGS;
        const MAY_HOLD_NUMBERS: bool = T::MAY_HOLD_NUMBERS;
        const HAS_LENGTH: bool = T::HAS_LENGTH;

        fn ty() -> Type {
            T::ty()
        }

        fn nested_shape() -> Option<NestedShape> {
            T::nested_shape()
        }
    };
}

mod attr;
mod collection;
mod definition_of_field;
mod leaf;
mod secret;
mod whole_object;

use std::fmt;

use formwork_value::convert::ConversionError;
use formwork_value::schema::Nesting;
use formwork_value::{Path, Step, Type, Value};

use crate::schema::Shape;

pub use attr::Attr;
pub use collection::Set;
pub use secret::Secret;
pub use whole_object::WholeObject;

/// A Rust type for an attribute's value, or a part of one.
///
/// Strings, booleans, numbers, [`Value`], collections of fields, `Option`, [`Secret`] and types
/// that derive `Nested` are fields.
///
/// ```
/// use formwork_sdk::Field as _;
/// use formwork_sdk::value::{Type, Value};
///
/// assert_eq!(Vec::<String>::ty(), Type::list(Type::String));
/// assert_eq!(true.to_value(), Value::Bool(true));
/// assert_eq!(u8::from_value(&Value::int(7)).ok(), Some(7));
/// assert!(u8::from_value(&Value::int(300)).is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an attribute",
    note = "attributes are String, bool, numbers, Value, Secret<T>, Option<T>, Vec<T>, Set<T>, \
            BTreeSet<T>, BTreeMap<String, T>, and structs with #[derive(Clone, Debug, Nested)]"
)]
pub trait Field: Sized + Clone + fmt::Debug + Send + Sync + 'static {
    /// The attribute while planning: it may be null or unknown.
    type Draft: Field + Default;
    /// The type as a part of another one while planning.
    type DraftPart: Field;
    /// The type without the parts that only the provider sets.
    type Input: Field;

    /// Whether a value of this type can have unknown parts.
    const HOLDS_UNKNOWN: bool = false;
    /// Whether a value of this type can be null.
    const NULLABLE: bool = false;
    /// Whether the values are sensitive.
    const SENSITIVE: bool = false;
    /// Whether the provider sets parts of it.
    const HAS_COMPUTED: bool = false;
    /// Whether some parts are blocks.
    const HAS_BLOCKS: bool = false;
    /// Whether some parts are write-only.
    const HAS_WRITE_ONLY: bool = false;
    /// Whether some write-only parts are in a set. Such a value is not stored, so it cannot be
    /// assigned to an element. Models with such parts do not compile.
    const HAS_WRITE_ONLY_IN_SET: bool = false;
    /// Whether it may be a string, or a collection of strings.
    const MAY_HOLD_STRINGS: bool = true;
    /// Whether it may be a number, or a collection of numbers.
    const MAY_HOLD_NUMBERS: bool = true;
    /// Whether it may have a length: a string or a collection.
    const HAS_LENGTH: bool = true;

    /// The type of the values.
    fn ty() -> Type;

    /// Described parts, if the type has any.
    #[must_use]
    fn nested_shape() -> Option<NestedShape> {
        None
    }

    /// Reads a value.
    ///
    /// # Errors
    /// When this type cannot represent a part of the value, such as a null.
    fn from_value(value: &Value) -> Result<Self, ConversionError>;

    /// Converts to a value.
    fn to_value(&self) -> Value;

    /// Whether [`to_value`](Self::to_value) would return this value, or one with the same content.
    /// A result of `false` may be wrong; the caller then compares the values.
    fn same_as(&self, value: &Value) -> bool {
        self.to_value() == *value
    }

    /// Converts to the type for planning.
    fn into_draft(self) -> Self::Draft;

    /// Converts to a part of the type for planning.
    fn into_draft_part(self) -> Self::DraftPart;
}

/// A field that can be blocks: a nested struct, or an `Option`, list, set or map of them.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::schema::{BlockDefinition, Shape};
/// use formwork_sdk::value::schema::Nesting;
///
/// /// A rule of a firewall.
/// #[derive(Clone, Debug, Nested)]
/// struct Rule {
///     #[attr(required)]
///     port: u16,
/// }
///
/// let rules = BlockDefinition::of_field_type::<Vec<Rule>>();
/// let shape = Shape::new("A firewall.").nested_block("rule", rules);
/// assert_eq!(shape.block.blocks["rule"].nesting, Nesting::List);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a block",
    note = "a block is a struct with #[derive(Clone, Debug, Nested)], or an Option, Vec, Set, \
            BTreeSet or BTreeMap<String, _> of one"
)]
pub trait BlockField: Field {}

/// Described parts of a field.
///
/// ```
/// use formwork_sdk::Field as _;
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::value::schema::Nesting;
///
/// /// A rule of a firewall.
/// #[derive(Clone, Debug, Nested)]
/// struct Rule {
///     #[attr(required)]
///     port: u16,
/// }
///
/// let rules = Vec::<Rule>::nested_shape().unwrap();
/// assert_eq!(rules.nesting, Nesting::List);
/// assert!(rules.shape.block.attributes.contains_key("port"));
/// ```
#[derive(Clone, Debug)]
pub struct NestedShape {
    /// The parts of one object.
    pub shape: Shape,
    /// Number of objects and their container.
    pub nesting: Nesting,
}

pub(crate) fn conversion_error(reason: impl Into<String>) -> ConversionError {
    ConversionError { path: Path::root(), reason: reason.into() }
}

/// Adds an outer step to the path of a conversion error.
pub(crate) fn prepend_step(step: Step, mut error: ConversionError) -> ConversionError {
    // The innermost part refuses first, and each part around it adds its step in front.
    error.path.0.insert(0, step);
    error
}

#[cfg(test)]
mod tests;
