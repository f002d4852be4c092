//! Finds the elements of a set that may correspond to a given one, without comparing each with
//! each. Only narrows the candidates: the caller decides whether two elements correspond.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher as _};

use formwork_value::{Str, Value};

use super::inspect_values;

/// Elements of a set, indexed by some of their attributes as need arises. Elements that agree on
/// which attributes matter share an index, so the work is in proportion to the elements unless
/// nearly every one matters in its own way.
pub(super) struct ElementIndex<'v> {
    elements: &'v [Value],
    indexes: BTreeMap<ElementKeyParts, HashMap<u64, Vec<usize>>>,
}

/// The parts of elements that an index goes by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ElementKeyParts {
    /// The complete element.
    Whole,
    /// The attributes of these names, in order. With none, all elements agree.
    Attributes(Vec<Str>),
}

impl<'v> ElementIndex<'v> {
    pub(super) fn new(elements: &'v [Value]) -> Self {
        Self { elements, indexes: BTreeMap::new() }
    }

    /// The positions of the elements that are the same as `like` by `key`, in order; some others may
    /// be among them.
    pub(super) fn candidate_positions(
        &mut self,
        key: ElementKeyParts,
        sample: &Value,
    ) -> &mut Vec<usize> {
        let hash = key.hash_of_element(sample);
        // Copied out: the closure cannot borrow `self` while an entry of it is borrowed.
        let elements = self.elements;
        let index = self.indexes.entry(key).or_insert_with_key(|key| {
            let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
            for (position, element) in elements.iter().enumerate() {
                index.entry(key.hash_of_element(element)).or_default().push(position);
            }
            index
        });
        // Mutable, so that a caller can take used positions out and never meets them again.
        index.entry(hash).or_default()
    }
}

impl ElementKeyParts {
    /// A hash of the element by the key.
    fn hash_of_element(&self, element: &Value) -> u64 {
        let mut hasher = DefaultHasher::new();
        match (self, element) {
            (Self::Whole, _) => inspect_values::hash_value(element, &mut hasher),
            (Self::Attributes(names), Value::Object(object)) => {
                for part in names.iter().filter_map(|name| object.get(name)) {
                    inspect_values::hash_value(part, &mut hasher);
                }
            }
            (Self::Attributes(_), _) => {}
        }
        hasher.finish()
    }
}

/// A hash of the exact element.
pub(super) fn hash_whole_element(element: &Value) -> u64 {
    ElementKeyParts::Whole.hash_of_element(element)
}
