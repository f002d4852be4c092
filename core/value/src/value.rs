//! A value that may be null, unknown or marked. Constructors and accessors only; operations live in
//! `ops`, conversion in `convert`.

use std::sync::Arc;

use crate::{Marks, Number, Str, Type, Unknown};

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

/// Elements of one type, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(Arc<Elements>);

/// Distinct elements of one type, in the language's iteration order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set(Arc<Elements>);

#[derive(Debug, PartialEq, Eq)]
struct Elements {
    ty: Type,
    facts: Facts,
    items: Vec<Value>,
}

/// Elements each of its own type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple(Arc<TupleData>);

#[derive(Debug, PartialEq, Eq)]
struct TupleData {
    facts: Facts,
    items: Vec<Value>,
}

/// Elements of one type under string keys, sorted bytewise by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map(Arc<MapData>);

#[derive(Debug, PartialEq, Eq)]
struct MapData {
    ty: Type,
    facts: Facts,
    keys: Arc<[Str]>,
    items: Vec<Value>,
}

/// Attributes each of its own type, sorted bytewise by name. Objects decoded by one schema share
/// their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object(Arc<ObjectData>);

#[derive(Debug, PartialEq, Eq)]
struct ObjectData {
    facts: Facts,
    names: Arc<[Str]>,
    items: Vec<Value>,
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

/// The types of elements. Neighbours of one type share it, so that a long tuple of alike objects has
/// one object type and not many equal ones.
fn types_of(items: &[Value]) -> Vec<Type> {
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

/// A value is nested deeper than [`Value::MAX_DEPTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value is nested more than {} levels deep", Value::MAX_DEPTH)]
pub struct TooDeep;

/// What is often asked about the content of a collection, kept so that asking does not walk it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Facts {
    depth: u16,
    /// Marks on anything inside.
    marks: Marks,
    /// Whether anything inside is unknown.
    unknown: bool,
}

impl Facts {
    /// The facts about a collection of these elements.
    fn of(items: &[Value]) -> Self {
        let mut facts = Self::default();
        for item in items {
            facts.depth = facts.depth.max(item.depth());
            facts.marks |= item.all_marks();
            facts.unknown |= !item.is_wholly_known();
        }
        Self { depth: facts.depth.saturating_add(1), ..facts }
    }
}

impl List {
    /// Makes a list; every element must have the type `ty` (or be null or unknown of it).
    #[must_use]
    pub fn new(ty: Type, items: Vec<Value>) -> Self {
        Self(Arc::new(Elements { ty, facts: Facts::of(&items), items }))
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> &Type {
        &self.0.ty
    }

    /// The elements.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }
}

impl Set {
    /// Makes a set of elements that are already distinct, unmarked and in iteration order.
    /// Everyone but `set.rs` uses [`Value::set`].
    pub(crate) fn from_ordered(ty: Type, items: Vec<Value>) -> Self {
        Self(Arc::new(Elements { ty, facts: Facts::of(&items), items }))
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> &Type {
        &self.0.ty
    }

    /// The elements in iteration order.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }
}

impl Tuple {
    /// Makes a tuple.
    #[must_use]
    pub fn new(items: Vec<Value>) -> Self {
        Self(Arc::new(TupleData { facts: Facts::of(&items), items }))
    }

    /// The elements.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }
}

/// Sorts pairs by key; of several pairs with one key the last wins.
fn sorted_pairs(pairs: Vec<(Str, Value)>) -> (Vec<Str>, Vec<Value>) {
    let mut pairs = pairs;
    if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        // Stable sorting keeps the order of equal keys; the later one overwrites the earlier.
        pairs.reverse();
        pairs.dedup_by(|a, b| a.0 == b.0);
        pairs.reverse();
    }
    pairs.into_iter().unzip()
}

impl Map {
    /// Makes a map; every element must have the type `ty`. Of several equal keys the last wins.
    #[must_use]
    pub fn new(ty: Type, pairs: Vec<(Str, Value)>) -> Self {
        let (keys, items) = sorted_pairs(pairs);
        Self(Arc::new(MapData { ty, facts: Facts::of(&items), keys: keys.into(), items }))
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> &Type {
        &self.0.ty
    }

    /// The keys, sorted bytewise.
    #[must_use]
    pub fn keys(&self) -> &[Str] {
        &self.0.keys
    }

    /// The elements in the order of their keys.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    /// The element under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        let at = self.0.keys.binary_search_by(|probe| probe.as_str().cmp(key)).ok()?;
        self.0.items.get(at)
    }

    /// Goes through keys and elements in the order of keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> {
        self.0.keys.iter().zip(self.0.items.iter())
    }
}

impl Object {
    /// Makes an object. Of several equal names the last wins.
    #[must_use]
    pub fn new(pairs: Vec<(Str, Value)>) -> Self {
        let (names, items) = sorted_pairs(pairs);
        Self(Arc::new(ObjectData { facts: Facts::of(&items), names: names.into(), items }))
    }

    /// Makes an object that shares its names with others.
    ///
    /// # Panics
    /// When the names are not strictly sorted bytewise, or are not as many as the values: only a
    /// mistake in this program can do that.
    #[must_use]
    pub fn with_names(names: Arc<[Str]>, items: Vec<Value>) -> Self {
        assert_eq!(names.len(), items.len(), "as many names as values");
        debug_assert!(names.is_sorted_by(|a, b| a < b), "names are sorted and distinct");
        Self(Arc::new(ObjectData { facts: Facts::of(&items), names, items }))
    }

    /// The attribute names, sorted bytewise.
    #[must_use]
    pub fn names(&self) -> &Arc<[Str]> {
        &self.0.names
    }

    /// The attribute values in the order of their names.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    /// The value of an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let at = self.0.names.binary_search_by(|probe| probe.as_str().cmp(name)).ok()?;
        self.0.items.get(at)
    }

    /// Goes through names and values in the order of names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Value)> {
        self.0.names.iter().zip(self.0.items.iter())
    }
}

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
            Self::Tuple(tuple) => Type::tuple(types_of(tuple.items())),
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
            (Self::Null(own), _) => own == ty || *own == ty.without_optional(),
            (Self::Unknown(unknown), _) => {
                unknown.ty() == ty || *unknown.ty() == ty.without_optional()
            }
            (Self::Bool(_), Type::Bool)
            | (Self::Number(_), Type::Number)
            | (Self::String(_), Type::String) => true,
            (Self::List(List(data)), Type::List(ty)) | (Self::Set(Set(data)), Type::Set(ty)) => {
                data.ty == **ty || data.ty == ty.without_optional()
            }
            (Self::Map(map), Type::Map(ty)) => {
                map.0.ty == **ty || map.0.ty == ty.without_optional()
            }
            (Self::Tuple(tuple), Type::Tuple(types)) => {
                let items = tuple.items();
                items.len() == types.len()
                    && items.iter().zip(types.iter()).all(|(item, ty)| item.has_type(ty))
            }
            (Self::Object(object), Type::Object(ty)) => {
                object.names().iter().eq(ty.attributes.keys())
                    && object.items().iter().zip(ty.attributes.values()).all(|(a, b)| a.has_type(b))
            }
            _ => false,
        }
    }

    /// The value, if it is not nested too deep. Whoever builds a value around another, in whatever many
    /// steps, asks this, because everything that walks a value recurses.
    ///
    /// # Errors
    /// When the value is deeper than [`Value::MAX_DEPTH`].
    pub fn check_depth(self) -> Result<Self, TooDeep> {
        if self.depth() > Self::MAX_DEPTH { Err(TooDeep) } else { Ok(self) }
    }

    /// Nesting depth: 0 for a primitive, one more than the deepest element otherwise.
    #[must_use]
    pub fn depth(&self) -> u16 {
        self.facts().depth
    }

    /// The facts about what is inside the value, marks on itself aside.
    fn facts(&self) -> Facts {
        match self.peek() {
            Self::List(List(data)) | Self::Set(Set(data)) => data.facts,
            Self::Map(Map(data)) => data.facts,
            Self::Tuple(Tuple(data)) => data.facts,
            Self::Object(Object(data)) => data.facts,
            _ => Facts::default(),
        }
    }

    /// Whether the value itself, marks aside, is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.peek(), Self::Null(_))
    }

    /// Whether the value itself, marks aside, is unknown.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        matches!(self.peek(), Self::Unknown(_))
    }

    /// Whether nothing inside is unknown.
    #[must_use]
    pub fn is_wholly_known(&self) -> bool {
        !self.is_unknown() && !self.facts().unknown
    }

    /// The direct elements or attribute values, in iteration order; empty for everything else.
    /// Looks under marks.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match self.peek() {
            Self::List(list) => list.items(),
            Self::Set(set) => set.items(),
            Self::Map(map) => map.items(),
            Self::Tuple(tuple) => tuple.items(),
            Self::Object(object) => object.items(),
            _ => &[],
        }
    }

    /// The value under its own marks, borrowed, **without** the marks: only for looking at it, never
    /// for computing with it, or the marks are lost. Parts of it may still be marked.
    #[must_use]
    pub fn peek(&self) -> &Self {
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
        let (value, own) = self.unmark();
        Self::Marked(Arc::new(Marked { marks: own | marks, value }))
    }

    /// The union of the marks on the value and on everything inside it.
    #[must_use]
    pub fn all_marks(&self) -> Marks {
        self.marks() | self.facts().marks
    }
}
