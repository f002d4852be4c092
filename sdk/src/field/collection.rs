//! Lists, sets and maps of fields.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use formwork_value::convert::ConversionError;
use formwork_value::schema::Nesting;
use formwork_value::{Number, Step, Str, Type, Value};

use super::{Attr, BlockField, Field, NestedShape, conversion_error, prepend_step};

/// A set of fields without their own order. Elements have the language's order. Equal elements
/// become one in the value.
///
/// ```
/// use formwork_sdk::value::Value;
/// use formwork_sdk::{Field as _, Set};
///
/// let tags: Set<String> = ["b", "a", "b"].into_iter().map(str::to_owned).collect();
/// assert_eq!(tags.len(), 3);
/// assert_eq!(tags.to_value().children(), [Value::string("a"), Value::string("b")]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set<T>(Vec<T>);

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for Set<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> From<Vec<T>> for Set<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<T> IntoIterator for Set<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'s, T> IntoIterator for &'s Set<T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T: Field> Field for Vec<T> {
    type Draft = Attr<Vec<T::DraftPart>>;
    type DraftPart = Vec<T::DraftPart>;
    type Input = Vec<T::Input>;

    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;
    const SENSITIVE: bool = T::SENSITIVE;
    const HAS_COMPUTED: bool = T::HAS_COMPUTED;
    const HAS_BLOCKS: bool = T::HAS_BLOCKS;
    const HAS_WRITE_ONLY: bool = T::HAS_WRITE_ONLY;
    const HAS_WRITE_ONLY_IN_SET: bool = T::HAS_WRITE_ONLY_IN_SET;
    const MAY_HOLD_STRINGS: bool = T::MAY_HOLD_STRINGS;
    const MAY_HOLD_NUMBERS: bool = T::MAY_HOLD_NUMBERS;

    fn ty() -> Type {
        // Each element may then have its own type, which a list cannot hold.
        if may_hold_objects_of_mixed_types::<T>() { Type::Dynamic } else { Type::list(T::ty()) }
    }

    fn nested_shape() -> Option<NestedShape> {
        collection_nested_shape::<T>(Nesting::List)
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        let items = match value {
            Value::List(list) => list.items(),
            // Elements with a dynamic attribute have different types, so the protocol has them as a
            // tuple.
            Value::Tuple(tuple) => tuple.items(),
            _ => return Err(conversion_error("a list is required")),
        };
        let mut read = Self::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let element = T::from_value(item);
            read.push(
                element.map_err(|reason| prepend_step(Step::Index(Number::from(index)), reason))?,
            );
        }
        Ok(read)
    }

    fn to_value(&self) -> Value {
        let items = self.iter().map(Field::to_value).collect();
        if may_hold_objects_of_mixed_types::<T>() {
            Value::tuple(items)
        } else {
            Value::list(T::ty(), items)
        }
    }

    fn same_as(&self, value: &Value) -> bool {
        match value {
            Value::List(list) => fields_equal_values(self, list.items()),
            // The rare case of a tuple, whose elements may have types of their own.
            _ => self.to_value() == *value,
        }
    }

    fn into_draft(self) -> Self::Draft {
        Attr::Known(self.into_draft_part())
    }

    fn into_draft_part(self) -> Self::DraftPart {
        self.into_iter().map(Field::into_draft_part).collect()
    }
}

/// Implements both kinds of sets. They differ only in the role of the parts of elements.
macro_rules! items_of_set_fields {
    () => {
        type Draft = Attr<Set<T::DraftPart>>;
        type DraftPart = Set<T::DraftPart>;

        const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;
        const SENSITIVE: bool = T::SENSITIVE;
        const HAS_BLOCKS: bool = T::HAS_BLOCKS;
        const HAS_WRITE_ONLY: bool = T::HAS_WRITE_ONLY;
        // Terraform refuses a schema with a write-only attribute in a set.
        const HAS_WRITE_ONLY_IN_SET: bool = T::HAS_WRITE_ONLY;
        const MAY_HOLD_STRINGS: bool = T::MAY_HOLD_STRINGS;
        const MAY_HOLD_NUMBERS: bool = T::MAY_HOLD_NUMBERS;

        fn ty() -> Type {
            Type::set(T::ty())
        }

        fn nested_shape() -> Option<NestedShape> {
            collection_nested_shape::<T>(Nesting::Set)
        }

        fn from_value(value: &Value) -> Result<Self, ConversionError> {
            let Value::Set(set) = value else { return Err(conversion_error("a set is required")) };
            // No path step leads to an element of a set, so an error refers to the whole set.
            let mut read = Vec::with_capacity(set.items().len());
            for item in set.items() {
                read.push(T::from_value(item)?);
            }
            Ok(read.into_iter().collect())
        }

        fn to_value(&self) -> Value {
            Value::set(T::ty(), self.iter().map(Field::to_value).collect())
        }

        fn same_as(&self, value: &Value) -> bool {
            // Elements that were read from a value still have the order of the set.
            matches!(value, Value::Set(set) if fields_equal_values(self.iter(), set.items()))
        }

        fn into_draft(self) -> Self::Draft {
            Attr::Known(self.into_draft_part())
        }

        fn into_draft_part(self) -> Self::DraftPart {
            self.into_iter().map(Field::into_draft_part).collect()
        }
    };
}

impl<T: Field> Field for Set<T> {
    type Input = Set<T::Input>;

    const HAS_COMPUTED: bool = T::HAS_COMPUTED;

    items_of_set_fields!();
}

impl<T: Field + Ord> Field for BTreeSet<T> {
    type Input = Self;

    const HAS_COMPUTED: bool = {
        // Their `Input` would be a set of `T::Input`, which need not have an order.
        assert!(
            !T::HAS_COMPUTED,
            "the provider sets parts of the elements; use `Set` for this set"
        );
        false
    };

    items_of_set_fields!();
}

impl<T: Field> Field for BTreeMap<String, T> {
    type Draft = Attr<BTreeMap<String, T::DraftPart>>;
    type DraftPart = BTreeMap<String, T::DraftPart>;
    type Input = BTreeMap<String, T::Input>;

    const HOLDS_UNKNOWN: bool = T::HOLDS_UNKNOWN;
    const SENSITIVE: bool = T::SENSITIVE;
    const HAS_COMPUTED: bool = T::HAS_COMPUTED;
    const HAS_BLOCKS: bool = T::HAS_BLOCKS;
    const HAS_WRITE_ONLY: bool = T::HAS_WRITE_ONLY;
    const HAS_WRITE_ONLY_IN_SET: bool = T::HAS_WRITE_ONLY_IN_SET;
    const MAY_HOLD_STRINGS: bool = T::MAY_HOLD_STRINGS;
    const MAY_HOLD_NUMBERS: bool = T::MAY_HOLD_NUMBERS;

    fn ty() -> Type {
        if may_hold_objects_of_mixed_types::<T>() { Type::Dynamic } else { Type::map(T::ty()) }
    }

    fn nested_shape() -> Option<NestedShape> {
        collection_nested_shape::<T>(Nesting::Map)
    }

    fn from_value(value: &Value) -> Result<Self, ConversionError> {
        let element = |(key, item): (&Str, &Value)| match T::from_value(item) {
            Ok(item) => Ok((key.as_str().to_owned(), item)),
            Err(reason) => Err(prepend_step(Step::Key(key.clone()), reason)),
        };
        match value {
            Value::Map(map) => map.iter().map(element).collect(),
            // As for lists: elements of different types are the attributes of an object.
            Value::Object(object) => object.iter().map(element).collect(),
            _ => Err(conversion_error("a map is required")),
        }
    }

    fn to_value(&self) -> Value {
        let pairs = self.iter().map(|(key, item)| (key, item.to_value()));
        if may_hold_objects_of_mixed_types::<T>() {
            Value::object(pairs)
        } else {
            Value::map(T::ty(), pairs)
        }
    }

    fn same_as(&self, value: &Value) -> bool {
        match value {
            Value::Map(map) => {
                // Both are sorted by key.
                self.keys().map(String::as_str).eq(map.keys().iter().map(Str::as_str))
                    && fields_equal_values(self.values(), map.values())
            }
            _ => self.to_value() == *value,
        }
    }

    fn into_draft(self) -> Self::Draft {
        Attr::Known(self.into_draft_part())
    }

    fn into_draft_part(self) -> Self::DraftPart {
        self.into_iter().map(|(key, item)| (key, item.into_draft_part())).collect()
    }
}

impl<T: BlockField> BlockField for Option<T> {}
impl<T: BlockField> BlockField for Vec<T> {}
impl<T: BlockField> BlockField for Set<T> {}
impl<T: BlockField + Ord> BlockField for BTreeSet<T> {}
impl<T: BlockField> BlockField for BTreeMap<String, T> {}

/// The content of a collection of described fields. Collections of collections have none, because
/// the protocol cannot describe them.
fn collection_nested_shape<T: Field>(nesting: Nesting) -> Option<NestedShape> {
    // The protocol has no blocks in collections of collections.
    let content = T::nested_shape().filter(|content| content.nesting == Nesting::Single)?;
    Some(NestedShape { nesting, ..content })
}

fn fields_equal_values<'f, T: Field>(
    fields: impl IntoIterator<Item = &'f T, IntoIter: ExactSizeIterator>,
    values: &[Value],
) -> bool {
    let fields = fields.into_iter();
    fields.len() == values.len() && fields.zip(values).all(|(field, value)| field.same_as(value))
}

/// Whether elements are objects with different types.
fn may_hold_objects_of_mixed_types<T: Field>() -> bool {
    // The type is available, while the content would have to be built.
    T::ty().has_dynamic() && T::nested_shape().is_some()
}
