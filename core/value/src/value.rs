//! A value that may be null, unknown or marked. This module contains constructors and accessors.
//! Operations are in `ops`, and conversion is in `convert`.

mod collection;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::{Marks, Number, Str, Type, Unknown};

use collection::ContentFacts;
pub use collection::{List, Map, Object, Set, Tuple};

/// A value of the language. Cheap to clone.
///
/// `==` compares representations: types, marks and refinements count, and unknown equals unknown. The
/// `==` of the language is `ops::equal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The absence of a value, of a known type (or `Dynamic`).
    Null(Type),
    /// A value that will be known later.
    Unknown(Arc<Unknown>),
    /// True or false.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Str),
    /// Elements of one type, in order.
    List(List),
    /// Distinct elements of one type, in the iteration order of the language.
    Set(Set),
    /// Elements of one type with string keys.
    Map(Map),
    /// Elements that each have their own type.
    Tuple(Tuple),
    /// Attributes that each have their own type.
    Object(Object),
    /// A value with marks. Never nested directly in another one.
    Marked(Arc<Marked>),
}

/// A value with marks on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    marks: Marks,
    value: Value,
}

impl Marked {
    /// The marks; never empty.
    #[must_use]
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// The value without its own marks. It is not `Marked` itself, but its parts may be.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// A value is nested deeper than [`Value::MAX_DEPTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value is nested more than {} levels deep", Value::MAX_DEPTH)]
pub struct TooDeepError;

impl Value {
    /// The deepest nesting of values that evaluation and decoding produce.
    pub const MAX_DEPTH: u16 = 1_000;

    /// A null of a type.
    #[must_use]
    pub fn null(ty: Type) -> Self {
        Self::Null(ty)
    }

    /// Creates an unknown value of a type, without refinements.
    #[must_use]
    pub fn unknown(ty: Type) -> Self {
        Self::Unknown(Arc::new(Unknown::new(ty)))
    }

    /// Creates an unknown value of unknown type.
    #[must_use]
    pub fn dynamic() -> Self {
        Self::unknown(Type::Dynamic)
    }

    /// A string.
    #[must_use]
    pub fn string(text: impl Into<Str>) -> Self {
        Self::String(text.into())
    }

    /// An integer.
    #[must_use]
    pub fn int(number: i64) -> Self {
        Self::Number(Number::from(number))
    }

    /// Creates a list. Every element must have the type `ty`.
    #[must_use]
    pub fn list(ty: Type, items: Vec<Self>) -> Self {
        Self::List(List::new(ty, items))
    }

    /// Creates a map. Every element must have the type `ty`.
    #[must_use]
    pub fn map(ty: Type, pairs: impl IntoIterator<Item = (impl Into<Str>, Self)>) -> Self {
        Self::Map(Map::new(ty, pairs.into_iter().map(|(key, value)| (key.into(), value)).collect()))
    }

    /// A tuple.
    #[must_use]
    pub fn tuple(items: Vec<Self>) -> Self {
        Self::Tuple(Tuple::new(items))
    }

    /// An object.
    #[must_use]
    pub fn object(pairs: impl IntoIterator<Item = (impl Into<Str>, Self)>) -> Self {
        Self::Object(Object::new(
            pairs.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        ))
    }

    /// Returns the type of the value, independent of marks.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Null(ty) => ty.clone(),
            Self::Unknown(unknown) => unknown.ty().clone(),
            Self::Bool(_) => Type::Bool,
            Self::Number(_) => Type::Number,
            Self::String(_) => Type::String,
            Self::List(list) => Type::list(list.element_type().clone()),
            Self::Set(set) => Type::set(set.element_type().clone()),
            Self::Map(map) => Type::map(map.element_type().clone()),
            Self::Tuple(tuple) => Type::tuple(element_types(tuple.items())),
            Self::Object(object) => {
                Type::object(object.iter().map(|(name, value)| (name, value.ty())))
            }
            Self::Marked(marked) => marked.value.ty(),
        }
    }

    /// Returns whether the value has the type, ignoring which attributes of the type are optional.
    /// Equivalent to a comparison with [`Value::ty`], without computing that type.
    #[must_use]
    pub fn has_type(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Self::Marked(marked), _) => marked.value.has_type(ty),
            (Self::Null(null_ty), _) => is_same_type(null_ty, ty),
            (Self::Unknown(unknown), _) => is_same_type(unknown.ty(), ty),
            (Self::Bool(_), Type::Bool)
            | (Self::Number(_), Type::Number)
            | (Self::String(_), Type::String) => true,
            (Self::List(list), Type::List(ty)) => is_same_type(list.element_type(), ty),
            (Self::Set(set), Type::Set(ty)) => is_same_type(set.element_type(), ty),
            (Self::Map(map), Type::Map(ty)) => is_same_type(map.element_type(), ty),
            (Self::Tuple(tuple), Type::Tuple(types)) => {
                let items = tuple.items();
                items.len() == types.len()
                    && items.iter().zip(types.iter()).all(|(item, ty)| item.has_type(ty))
            }
            (Self::Object(object), Type::Object(ty)) => {
                object.names().iter().eq(ty.attributes.keys())
                    && object
                        .values()
                        .iter()
                        .zip(ty.attributes.values())
                        .all(|(a, b)| a.has_type(b))
            }
            _ => false,
        }
    }

    /// Returns the value if it is not nested too deeply. Code that nests a value in another must call
    /// this, because every walk over a value recurses.
    ///
    /// # Errors
    /// Returns an error if the value is deeper than [`Value::MAX_DEPTH`].
    pub fn check_depth(self) -> Result<Self, TooDeepError> {
        if self.depth() > Self::MAX_DEPTH { Err(TooDeepError) } else { Ok(self) }
    }

    /// Nesting depth: 0 for a primitive, one more than the deepest element otherwise.
    #[must_use]
    pub fn depth(&self) -> u16 {
        self.content_facts().depth
    }

    /// Returns the expanded size of the value: about the number of bytes without sharing of parts. The
    /// time of a walk over the value is proportional to it.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.content_facts().size
    }

    /// Returns the depth, the size and other facts of the content, ignoring own marks.
    fn content_facts(&self) -> ContentFacts {
        match self.without_own_marks() {
            Self::List(list) => list.content_facts(),
            Self::Set(set) => set.content_facts(),
            Self::Map(map) => map.content_facts(),
            Self::Tuple(tuple) => tuple.content_facts(),
            Self::Object(object) => object.content_facts(),
            Self::String(text) => {
                ContentFacts { size: text.len() as u64, ..ContentFacts::default() }
            }
            _ => ContentFacts::default(),
        }
    }

    /// Returns whether the value itself is null, ignoring marks.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.without_own_marks(), Self::Null(_))
    }

    /// Returns whether the value itself is unknown, ignoring marks.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self.without_own_marks(), Self::Unknown(_))
    }

    /// Returns whether the value is wholly known.
    #[must_use]
    pub fn is_wholly_known(&self) -> bool {
        !self.is_unknown() && !self.content_facts().unknown
    }

    /// Returns whether any part is null, excluding the value itself.
    #[must_use]
    pub fn has_null_inside(&self) -> bool {
        self.content_facts().null
    }

    /// Returns the direct elements or attribute values, in iteration order, ignoring marks. Empty for
    /// other values.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match self.without_own_marks() {
            Self::List(list) => list.items(),
            Self::Set(set) => set.items(),
            Self::Map(map) => map.values(),
            Self::Tuple(tuple) => tuple.items(),
            Self::Object(object) => object.values(),
            _ => &[],
        }
    }

    /// Borrows the value **without** its own marks. Use it only for inspection: a result computed from
    /// it loses the marks. Parts of it may still be marked.
    #[must_use]
    pub fn without_own_marks(&self) -> &Self {
        match self {
            Self::Marked(marked) => &marked.value,
            _ => self,
        }
    }

    /// Returns the marks on the value itself, without those on its parts.
    #[must_use]
    pub fn marks(&self) -> Marks {
        match self {
            Self::Marked(marked) => marked.marks,
            _ => Marks::NONE,
        }
    }

    /// Removes the marks of the value itself, but not of its parts.
    #[must_use]
    pub fn unmark(self) -> (Self, Marks) {
        match self {
            // A value without other owners does not need to be copied.
            Self::Marked(marked) => match Arc::try_unwrap(marked) {
                Ok(marked) => (marked.value, marked.marks),
                Err(shared) => (shared.value.clone(), shared.marks),
            },
            value => (value, Marks::NONE),
        }
    }

    /// Adds marks to the value itself.
    #[must_use]
    pub fn mark(self, marks: Marks) -> Self {
        if marks.is_empty() {
            return self;
        }
        // Marks are never nested, so the existing marks are joined with the new ones.
        let (value, own_marks) = self.unmark();
        Self::Marked(Arc::new(Marked { marks: own_marks | marks, value }))
    }

    /// Returns the union of the marks on the value and on all its parts.
    #[must_use]
    pub fn all_marks(&self) -> Marks {
        self.marks() | self.content_facts().marks
    }
}

/// The types of elements. Adjacent elements of one type share it, so that a long tuple of similar
/// objects has one object type and not many equal ones.
fn element_types(items: &[Value]) -> Vec<Type> {
    let mut types: Vec<Type> = Vec::with_capacity(items.len());
    for item in items {
        let ty = match types.last() {
            Some(last) if item.has_type(last) => last.clone(),
            _ => item.ty(),
        };
        types.push(ty);
    }
    types
}

fn is_same_type(from: &Type, wanted: &Type) -> bool {
    from == wanted || *from == wanted.without_optional()
}
