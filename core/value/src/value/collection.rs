//! Lists, sets, maps, tuples and objects: shared and immutable. Equality and order of set elements
//! are decided in `set_elements`.

use std::sync::Arc;

use crate::{Marks, Str, Type, Value};

/// Elements of one type, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(Arc<ElementData>);

/// Distinct elements of one type, in the iteration order of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set(Arc<ElementData>);

#[derive(Debug, PartialEq, Eq)]
struct ElementData {
    ty: Type,
    facts: ContentFacts,
    items: Vec<Value>,
}

/// Elements that each have their own type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple(Arc<TupleData>);

#[derive(Debug, PartialEq, Eq)]
struct TupleData {
    facts: ContentFacts,
    items: Vec<Value>,
}

/// Elements of one type under string keys, sorted bytewise by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map(Arc<MapData>);

#[derive(Debug, PartialEq, Eq)]
struct MapData {
    ty: Type,
    facts: ContentFacts,
    keys: Arc<[Str]>,
    items: Vec<Value>,
}

/// Attributes each of its own type, sorted bytewise by name. Objects decoded by one schema share
/// their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object(Arc<ObjectData>);

#[derive(Debug, PartialEq, Eq)]
struct ObjectData {
    facts: ContentFacts,
    names: Arc<[Str]>,
    items: Vec<Value>,
}

/// Size that an element adds to a collection besides its own.
const ELEMENT_OVERHEAD: u64 = 40;

/// Facts about the content of a collection, stored so that a query does not walk it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContentFacts {
    /// Nesting depth, at least 1.
    pub(super) depth: u16,
    /// Marks on anything inside.
    pub(super) marks: Marks,
    /// Whether anything inside is unknown.
    pub(super) unknown: bool,
    /// Whether anything inside is null.
    pub(super) null: bool,
    /// See [`Value::size`].
    pub(super) size: u64,
}

impl ContentFacts {
    /// The facts about a collection of these elements.
    fn for_elements(items: &[Value]) -> Self {
        let mut facts = Self::default();
        for item in items {
            let inside = item.content_facts();
            facts.depth = facts.depth.max(inside.depth);
            facts.marks |= item.marks() | inside.marks;
            facts.unknown |= inside.unknown || item.is_unknown();
            facts.null |= inside.null || item.is_null();
            // Shared parts count each time, so the sum may exceed any integer.
            facts.size = facts.size.saturating_add(inside.size).saturating_add(ELEMENT_OVERHEAD);
        }
        Self { depth: facts.depth.saturating_add(1), ..facts }
    }

    /// The facts about a collection of these elements with names.
    fn for_named_elements(names: &[Str], items: &[Value]) -> Self {
        let facts = Self::for_elements(items);
        let names: u64 = names.iter().map(|name| name.len() as u64).sum();
        Self { size: facts.size.saturating_add(names), ..facts }
    }
}

/// Declares the questions that lists and sets answer alike.
macro_rules! element_accessors {
    ($items_doc:literal) => {
        /// The type of the elements.
        #[must_use]
        pub fn element_type(&self) -> &Type {
            &self.0.ty
        }

        #[doc = $items_doc]
        #[must_use]
        pub fn items(&self) -> &[Value] {
            &self.0.items
        }

        pub(super) fn content_facts(&self) -> ContentFacts {
            self.0.facts
        }
    };
}

impl List {
    /// Creates a list. Every element must have the type `ty`, or be null or unknown with this type.
    #[must_use]
    pub fn new(ty: Type, items: Vec<Value>) -> Self {
        Self(Arc::new(ElementData { ty, facts: ContentFacts::for_elements(&items), items }))
    }

    element_accessors!("The elements.");
}

impl Set {
    /// Creates a set of elements that are already distinct, unmarked and in iteration order. Everyone
    /// but `set_elements.rs` uses [`Value::set`].
    pub(crate) fn from_ordered(ty: Type, items: Vec<Value>) -> Self {
        Self(Arc::new(ElementData { ty, facts: ContentFacts::for_elements(&items), items }))
    }

    element_accessors!("The elements in iteration order.");
}

impl Tuple {
    /// Creates a tuple.
    #[must_use]
    pub fn new(items: Vec<Value>) -> Self {
        Self(Arc::new(TupleData { facts: ContentFacts::for_elements(&items), items }))
    }

    /// The elements.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    pub(super) fn content_facts(&self) -> ContentFacts {
        self.0.facts
    }
}

/// Sorts pairs by key; of several pairs with one key the last wins.
fn sort_pairs(pairs: Vec<(Str, Value)>) -> (Vec<Str>, Vec<Value>) {
    let mut pairs = pairs;
    // Decoders and other objects deliver sorted pairs, and the strict order also rules duplicates
    // out.
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
    /// Creates a map. Every element must have the type `ty`. Of several equal keys, the last is used.
    #[must_use]
    pub fn new(ty: Type, pairs: Vec<(Str, Value)>) -> Self {
        let (keys, items) = sort_pairs(pairs);
        let facts = ContentFacts::for_named_elements(&keys, &items);
        Self(Arc::new(MapData { ty, facts, keys: keys.into(), items }))
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
    pub fn values(&self) -> &[Value] {
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

    pub(super) fn content_facts(&self) -> ContentFacts {
        self.0.facts
    }
}

impl Object {
    /// Creates an object. Of several equal names, the last is used.
    #[must_use]
    pub fn new(pairs: Vec<(Str, Value)>) -> Self {
        let (names, items) = sort_pairs(pairs);
        let facts = ContentFacts::for_named_elements(&names, &items);
        Self(Arc::new(ObjectData { facts, names: names.into(), items }))
    }

    /// Creates an object that shares its names with others.
    ///
    /// # Panics
    /// When the names are not strictly sorted bytewise, or are not as many as the values: only an
    /// error in this program can do that.
    #[must_use]
    pub fn with_names(names: Arc<[Str]>, items: Vec<Value>) -> Self {
        assert_eq!(names.len(), items.len(), "as many names as values");
        debug_assert!(names.is_sorted_by(|a, b| a < b), "names are sorted and distinct");
        let facts = ContentFacts::for_named_elements(&names, &items);
        Self(Arc::new(ObjectData { facts, names, items }))
    }

    /// The attribute names, sorted bytewise.
    #[must_use]
    pub fn names(&self) -> &Arc<[Str]> {
        &self.0.names
    }

    /// The attribute values in the order of their names.
    #[must_use]
    pub fn values(&self) -> &[Value] {
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

    pub(super) fn content_facts(&self) -> ContentFacts {
        self.0.facts
    }
}
