//! Values without a printable form.

use std::fmt;

use formwork_value::convert::ConversionError;
use formwork_value::{Type, Value};

use super::{Attr, Field, NestedShape};

/// A sensitive value: its attribute is sensitive, and neither a log nor a message can print it.
/// [`expose`](Self::expose) returns it.
///
/// ```
/// use formwork_sdk::Secret;
///
/// let password = Secret::<String>::new("hunter2");
/// assert_eq!(format!("{password:?}"), "(sensitive)");
/// assert_eq!(password.expose(), "hunter2");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    #[must_use]
    pub fn new(value: impl Into<T>) -> Self {
        Self(value.into())
    }

    /// Returns a reference to the value.
    #[must_use]
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Returns the value.
    #[must_use]
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A derived `Debug` prints all fields, and a log would have the secret.
        f.write_str("(sensitive)")
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl<T: Field> Field for Secret<T> {
    // The secret stays outermost, so that a draft does not print its parts either.
    type Draft = Attr<Secret<T::DraftPart>>;
    type DraftPart = Secret<T::DraftPart>;
    type Input = Secret<T::Input>;

    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;
    const NULLABLE: bool = T::NULLABLE;
    const SENSITIVE: bool = true;
    forward_field_properties!();

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        T::from_value(value).map(Self)
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn same_as(&self, value: &Value) -> bool {
        self.0.same_as(value)
    }

    fn into_draft(self) -> Self::Draft {
        Attr::Known(self.into_draft_part())
    }

    fn into_draft_part(self) -> Self::DraftPart {
        Secret(self.0.into_draft_part())
    }
}
