//! Described parts as one value, for schemas whose attribute is an object.

use formwork_value::convert::ConversionError;
use formwork_value::{Type, Value};

use super::{Attr, Field};

/// An object as one value: the attribute has an object type, and the schema does not describe the
/// parts. Hosts of protocol 5 support no other objects in attributes.
///
/// ```
/// use formwork_sdk::Field as _;
/// use formwork_sdk::prelude::*;
///
/// /// Limits of a machine.
/// #[derive(Clone, Debug, Nested)]
/// struct Limits {
///     #[attr(required)]
///     cores: i64,
/// }
///
/// assert!(Limits::nested_shape().is_some());
/// assert!(WholeObject::<Limits>::nested_shape().is_none());
/// assert_eq!(WholeObject::<Limits>::ty(), Limits::ty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeObject<T>(pub T);

impl<T: Field> Field for WholeObject<T> {
    type Draft = Attr<Self>;
    type DraftPart = Self;
    type Input = Self;

    fn ty() -> Type {
        T::ty()
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        T::from_value(value).map(Self)
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn same_as(&self, value: &Value) -> bool {
        self.0.same_as(value)
    }

    fn into_draft(self) -> Attr<Self> {
        Attr::Known(self)
    }

    fn into_draft_part(self) -> Self {
        self
    }
}
