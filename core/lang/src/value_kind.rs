//! Kinds of values. Cheaper than the type of a value, which for a tuple or an object has to be
//! assembled from all its parts.

use formwork_value::{Type, Value};

/// A sort of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// Not known yet.
    Dynamic,
    Bool,
    Number,
    String,
    List,
    Set,
    Map,
    Tuple,
    Object,
}

impl ValueKind {
    /// The kind of a value, including null and unknown ones. Marks are ignored.
    pub(crate) fn of(value: &Value) -> Self {
        match value.without_own_marks() {
            Value::Null(ty) => Self::of_type(ty),
            Value::Unknown(unknown) => Self::of_type(unknown.ty()),
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::List(_) => Self::List,
            Value::Set(_) => Self::Set,
            Value::Map(_) => Self::Map,
            Value::Tuple(_) => Self::Tuple,
            Value::Object(_) => Self::Object,
            // Marks are never nested directly in each other.
            Value::Marked(_) => Self::Dynamic,
        }
    }

    fn of_type(ty: &Type) -> Self {
        match ty {
            Type::Dynamic => Self::Dynamic,
            Type::Bool => Self::Bool,
            Type::Number => Self::Number,
            Type::String => Self::String,
            Type::List(_) => Self::List,
            Type::Set(_) => Self::Set,
            Type::Map(_) => Self::Map,
            Type::Tuple(_) => Self::Tuple,
            Type::Object(_) => Self::Object,
        }
    }

    /// Whether this is a list, a set or a tuple.
    pub(crate) fn is_sequence(self) -> bool {
        matches!(self, Self::List | Self::Set | Self::Tuple)
    }

    /// Whether this is a bool, a number or a string.
    pub(crate) fn is_primitive(self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }
}
