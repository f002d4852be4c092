//! A value that may be null, unknown or marked. Constructors and accessors only; operations live in
//! `ops`, conversion in `convert`.

mod collection;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::{Marks, Number, Str, Type, Unknown};

use collection::ContentFacts;
pub use collection::{List, Map, Object, Set, Tuple};

/// A value of the language. Cheap to clone.
///
/// `==` is identity of representation: types, marks and refinements count, unknown equals unknown.
/// The language's own `==` is `ops::equal`.
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
    /// Text.
    String(Str),
    /// Elements of one type, in order.
    List(List),
    /// Distinct elements of one type, in the language's iteration order.
    Set(Set),
    /// Elements of one type under string keys.
    Map(Map),
    /// Elements each of its own type.
    Tuple(Tuple),
    /// Attributes each of its own type.
    Object(Object),
    /// Any of the above with marks on it. Never nested directly in itself.
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

    /// The value under the marks; not itself `Marked`, though parts of it may be.
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

    /// An unknown value of a type, about which nothing else is known.
    #[must_use]
    pub fn unknown(ty: Type) -> Self {
        Self::Unknown(Arc::new(Unknown::new(ty)))
    }

    /// A value whose type is not known either.
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

    /// A list; every element must have the type `ty`.
    #[must_use]
    pub fn list(ty: Type, items: Vec<Self>) -> Self {
        Self::List(List::new(ty, items))
    }

    /// A map; every element must have the type `ty`.
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

    /// The type of the value; for a marked value that of the value under the marks.
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

    /// Whether the value has the type, apart from which attributes of it may be left out. The same as
    /// comparing with [`Value::ty`], without making that type.
    #[must_use]
    pub fn has_type(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Self::Marked(marked), _) => marked.value.has_type(ty),
            (Self::Null(own), _) => is_same_type(own, ty),
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

    /// Returns the value if it is not nested too deep. Code that builds a value around another must
    /// call this, because every walk over a value recurses.
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

    /// Size of the value when written out: about the number of bytes if no part of it were shared.
    /// The time of a walk over the value is proportional to it.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.content_facts().size
    }

    /// The facts about the inside of the value, marks on itself aside.
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

    /// Whether the value itself, marks aside, is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.without_own_marks(), Self::Null(_))
    }

    /// Whether the value itself, marks aside, is unknown.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self.without_own_marks(), Self::Unknown(_))
    }

    /// Whether nothing inside is unknown.
    #[must_use]
    pub fn is_wholly_known(&self) -> bool {
        !self.is_unknown() && !self.content_facts().unknown
    }

    /// Whether anything inside is null; not whether the value itself is.
    #[must_use]
    pub fn has_null_inside(&self) -> bool {
        self.content_facts().null
    }

    /// The direct elements or attribute values, in iteration order; empty for everything else.
    /// Looks under marks.
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

    /// The value under its own marks, borrowed, **without** the marks: only for looking at it, never
    /// for computing with it, or the marks are lost. Parts of it may still be marked.
    #[must_use]
    pub fn without_own_marks(&self) -> &Self {
        match self {
            Self::Marked(marked) => &marked.value,
            _ => self,
        }
    }

    /// The marks on the value itself, not those on its parts.
    #[must_use]
    pub fn marks(&self) -> Marks {
        match self {
            Self::Marked(marked) => marked.marks,
            _ => Marks::NONE,
        }
    }

    /// Takes the marks off the value itself, not off its parts.
    #[must_use]
    pub fn unmark(self) -> (Self, Marks) {
        match self {
            // A value without other owners need not be copied.
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
        // Marks are never nested, so those that the value has are united with the new ones.
        let (value, own) = self.unmark();
        Self::Marked(Arc::new(Marked { marks: own | marks, value }))
    }

    /// The union of the marks on the value and on everything inside it.
    #[must_use]
    pub fn all_marks(&self) -> Marks {
        self.marks() | self.content_facts().marks
    }
}

/// The types of elements. Neighbours of one type share it, so that a long tuple of alike objects has
/// one object type and not many equal ones.
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

fn is_same_type(own: &Type, wanted: &Type) -> bool {
    own == wanted || *own == wanted.without_optional()
}
