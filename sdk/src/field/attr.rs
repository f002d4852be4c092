//! A value that may be null or unknown.

use formwork_value::convert::ConversionError;
use formwork_value::{Type, Value};

use super::{Field, NestedShape, conversion_error};

/// The value of an attribute while planning and validating: null, unknown, or known. A value in a
/// configuration may depend on an object that does not exist yet.
///
/// ```
/// use formwork_sdk::Attr;
///
/// let size = Attr::Known(3);
/// assert_eq!(size.get(), Some(&3));
/// assert_eq!(Attr::<i64>::Unknown.get(), None);
/// assert_eq!(Attr::<String>::from(None), Attr::Null);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attr<T> {
    /// There is no value.
    #[default]
    Null,
    /// The value is not known yet.
    Unknown,
    /// The value.
    Known(T),
}

impl<T> Attr<T> {
    /// A known value.
    #[must_use]
    pub fn new_known(value: impl Into<T>) -> Self {
        Self::Known(value.into())
    }

    /// Returns the value, if it is known and not null.
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// Returns a copy of the value, or the default of its type if it is null or unknown.
    #[must_use]
    pub fn or_default(&self) -> T
    where
        T: Clone + Default,
    {
        self.get().cloned().unwrap_or_default()
    }

    /// Whether the value is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether the value is unknown.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

impl<T> From<T> for Attr<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

impl From<&str> for Attr<String> {
    fn from(text: &str) -> Self {
        Self::Known(text.to_owned())
    }
}

impl<T> From<Option<T>> for Attr<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Known)
    }
}

impl<T: Field> Field for Attr<T> {
    // Not `Attr` inside `Attr`: a value is null or unknown in one way only.
    type Draft = Attr<T::DraftPart>;
    type DraftPart = Attr<T::DraftPart>;
    type Input = Self;

    const HOLDS_UNKNOWN: bool = true;
    const NULLABLE: bool = true;
    const SENSITIVE: bool = T::SENSITIVE;
    forward_field_properties!();

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        match value {
            Value::Null(_) => Ok(Self::Null),
            Value::Unknown(_) => Ok(Self::Unknown),
            // A partly known value counts as unknown if the type cannot represent its parts.
            _ if !T::HOLDS_UNKNOWN && !value.is_wholly_known() => Ok(Self::Unknown),
            _ => T::from_value(value).map(Self::Known),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::null(T::ty()),
            Self::Unknown => Value::unknown(T::ty()),
            Self::Known(value) => value.to_value(),
        }
    }

    fn same_as(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Known(known), _) => known.same_as(value),
            (Self::Null, Value::Null(_)) => true,
            // This type does not store refinements.
            (Self::Unknown, Value::Unknown(_)) => true,
            _ => false,
        }
    }

    fn into_draft(self) -> Self::Draft {
        self.into_draft_part()
    }

    fn into_draft_part(self) -> Self::DraftPart {
        match self {
            Self::Null => Attr::Null,
            Self::Unknown => Attr::Unknown,
            Self::Known(value) => Attr::Known(value.into_draft_part()),
        }
    }
}

impl<T: Field> Field for Option<T> {
    // `Attr` has a null already, and an `Option` inside would be a second one.
    type Draft = Attr<T::DraftPart>;
    type DraftPart = Attr<T::DraftPart>;
    type Input = Option<T::Input>;

    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;
    const NULLABLE: bool = true;
    const SENSITIVE: bool = T::SENSITIVE;
    forward_field_properties!();

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        match value {
            Value::Null(_) => Ok(None),
            Value::Unknown(_) if !T::HOLDS_UNKNOWN => Err(conversion_error("it is not known yet")),
            _ => T::from_value(value).map(Some),
        }
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or_else(|| Value::null(T::ty()), Field::to_value)
    }

    fn same_as(&self, value: &Value) -> bool {
        match self {
            Some(known) => known.same_as(value),
            None => matches!(value, Value::Null(_)),
        }
    }

    fn into_draft(self) -> Self::Draft {
        self.into_draft_part()
    }

    fn into_draft_part(self) -> Self::DraftPart {
        self.map_or(Attr::Null, |value| Attr::Known(value.into_draft_part()))
    }
}
