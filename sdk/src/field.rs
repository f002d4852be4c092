//! What a field of a model may be: a Rust type with a type of the language, converted both ways.

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::convert::Refused;
use formwork_value::{Number, Path, Step, Str, Type, Value};

/// A Rust type that is an attribute's value, or a part of one.
pub trait Field: Sized + Send + Sync + 'static {
    /// Whether a value of this type can say that a part of it is not known yet.
    const HOLDS_UNKNOWN: bool = false;

    /// The type of the values.
    fn ty() -> Type;

    /// Reads a value.
    ///
    /// # Errors
    /// When the value has parts that this type has no form for, such as a null where there can be
    /// none.
    fn from_value(value: &Value) -> Result<Self, Refused>;

    /// Makes a value.
    fn to_value(&self) -> Value;
}

/// The value of an attribute, which may be absent or not known yet.
///
/// Unknown occurs while planning and validating: an author's value may depend on something that does
/// not exist. When something is created or updated, only what the provider computes is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attr<T> {
    /// There is no value.
    #[default]
    Null,
    /// There will be a value.
    Unknown,
    /// The value.
    Known(T),
}

impl<T> Attr<T> {
    /// A known value.
    #[must_use]
    pub fn known(value: impl Into<T>) -> Self {
        Self::Known(value.into())
    }

    /// Returns the value, if there is one and it is known.
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// Returns a copy of the value, or the default of its type if it is null or unknown. For what is
    /// certain to be known: required and defaulted attributes, once something is created.
    #[must_use]
    pub fn or_default(&self) -> T
    where
        T: Clone + Default,
    {
        self.get().cloned().unwrap_or_default()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether there will be a value that is not known yet.
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
    const HOLDS_UNKNOWN: bool = true;

    fn ty() -> Type {
        T::ty()
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Null(_) => Ok(Self::Null),
            Value::Unknown(_) => Ok(Self::Unknown),
            // What is known in part is unknown, if there is no form for the parts.
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
}

impl Field for String {
    fn ty() -> Type {
        Type::String
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::String(text) => Ok(text.as_str().to_owned()),
            _ => Err(refused("a string is required")),
        }
    }

    fn to_value(&self) -> Value {
        Value::string(self)
    }
}

impl Field for bool {
    fn ty() -> Type {
        Type::Bool
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Bool(truth) => Ok(*truth),
            _ => Err(refused("a bool is required")),
        }
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Field for i64 {
    fn ty() -> Type {
        Type::Number
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Number(number) if number.is_integer() => number.to_i64().ok_or_else(|| {
                refused(format!("{number} is too large; numbers here have at most 64 bits"))
            }),
            Value::Number(number) => {
                Err(refused(format!("{number} has a fractional part; a whole number is required")))
            }
            _ => Err(refused("a number is required")),
        }
    }

    fn to_value(&self) -> Value {
        Value::int(*self)
    }
}

impl Field for Number {
    fn ty() -> Type {
        Type::Number
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Number(number) => Ok(number.clone()),
            _ => Err(refused("a number is required")),
        }
    }

    fn to_value(&self) -> Value {
        Value::Number(self.clone())
    }
}

/// A value of any type, as it is.
impl Field for Value {
    const HOLDS_UNKNOWN: bool = true;

    fn ty() -> Type {
        Type::Dynamic
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        Ok(value.clone())
    }

    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl<T: Field> Field for Vec<T> {
    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;

    fn ty() -> Type {
        Type::list(T::ty())
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        let Value::List(list) = value else { return Err(refused("a list is required")) };
        let element = |(at, item)| {
            T::from_value(item).map_err(|why| within(Step::Index(Number::from(at)), why))
        };
        list.items().iter().enumerate().map(element).collect()
    }

    fn to_value(&self) -> Value {
        Value::list(T::ty(), self.iter().map(Field::to_value).collect())
    }
}

impl<T: Field + Ord> Field for BTreeSet<T> {
    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;

    fn ty() -> Type {
        Type::set(T::ty())
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        let Value::Set(set) = value else { return Err(refused("a set is required")) };
        // No step leads to an element of a set, so a refusal is about the whole.
        set.items().iter().map(T::from_value).collect()
    }

    fn to_value(&self) -> Value {
        Value::set(T::ty(), self.iter().map(Field::to_value).collect())
    }
}

impl<T: Field> Field for BTreeMap<String, T> {
    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;

    fn ty() -> Type {
        Type::map(T::ty())
    }

    fn from_value(value: &Value) -> Result<Self, Refused> {
        let Value::Map(map) = value else { return Err(refused("a map is required")) };
        let element = |(key, item): (&Str, &Value)| match T::from_value(item) {
            Ok(item) => Ok((key.as_str().to_owned(), item)),
            Err(why) => Err(within(Step::Key(key.clone()), why)),
        };
        map.iter().map(element).collect()
    }

    fn to_value(&self) -> Value {
        Value::map(T::ty(), self.iter().map(|(key, item)| (key, item.to_value())))
    }
}

fn refused(reason: impl Into<String>) -> Refused {
    Refused { path: Path::root(), reason: reason.into() }
}

/// Adds an outer step to where a refusal is.
pub(crate) fn within(step: Step, mut refused: Refused) -> Refused {
    refused.path.0.insert(0, step);
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tags = Attr<BTreeMap<String, Attr<String>>>;

    fn check<T: Field + PartialEq + std::fmt::Debug>(field: &T) {
        let value = field.to_value();
        assert!(value.has_type(&T::ty()), "{value:?} has another type than {}", T::ty());
        assert_eq!(&T::from_value(&value).unwrap(), field);
    }

    #[test]
    fn every_field_comes_back_from_its_value() {
        check(&Attr::<String>::Null);
        check(&Attr::<Vec<i64>>::Unknown);
        check(&Attr::Known(vec![1_i64, -2]));
        check(&Attr::Known(BTreeSet::from([true, false])));
        check(&Attr::<String>::from("ö"));
        check(&Number::from(5_i64));
        let any = Attr::Known(Value::tuple(vec![Value::int(1), Value::dynamic()]));
        assert_eq!(Attr::from_value(&any.to_value()).unwrap(), any);
        let tags = [("a", Attr::Null), ("b", Attr::Unknown), ("c", Attr::from("d"))];
        check(&Tags::from(BTreeMap::from(tags.map(|(key, tag)| (key.to_owned(), tag)))));
    }

    #[test]
    fn what_is_known_in_part_is_unknown_where_parts_have_no_form_for_it() {
        let list = Value::list(Type::String, vec![Value::unknown(Type::String)]);
        assert_eq!(Attr::<Vec<String>>::from_value(&list).unwrap(), Attr::Unknown);
        assert_eq!(
            Attr::<Vec<Attr<String>>>::from_value(&list).unwrap(),
            Attr::Known(vec![Attr::Unknown])
        );
    }

    #[test]
    fn a_refusal_says_where_and_why() {
        let half = Value::Number(Number::parse("1.5").unwrap());
        let list = Value::map(
            Type::list(Type::Number),
            [("a", Value::list(Type::Number, vec![Value::int(1), half]))],
        );
        let why = BTreeMap::<String, Vec<i64>>::from_value(&list).unwrap_err();
        assert_eq!(why.path.to_string(), "[\"a\"][1]");
        assert_eq!(why.reason, "1.5 has a fractional part; a whole number is required");
        let large = Value::Number(Number::parse("1e30").unwrap());
        assert!(i64::from_value(&large).unwrap_err().reason.contains("too large"));
    }
}
