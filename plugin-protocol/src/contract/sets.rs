//! Finds the elements of a set that may correspond to a given one, without comparing each with each.
//! Only narrows the choice: whether two elements do correspond is for the asker to say.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher as _};

use formwork_value::{Str, Value};

use super::parts;

/// Elements of a set, indexed by some of their attributes as need arises. Elements that agree on
/// which attributes matter share an index, so the work is in proportion to the elements unless
/// nearly every one matters in its own way.
pub(super) struct Candidates<'v> {
    elements: &'v [Value],
    indexes: BTreeMap<Vec<Str>, HashMap<u64, Vec<usize>>>,
}

impl<'v> Candidates<'v> {
    pub(super) fn new(elements: &'v [Value]) -> Self {
        Self { elements, indexes: BTreeMap::new() }
    }

    /// The positions of the elements whose attributes of these names are the same as those of
    /// `like`, in order; some others may be among them. Names must be sorted.
    pub(super) fn agreeing(&mut self, names: Vec<Str>, like: &Value) -> &mut Vec<usize> {
        let key = key(&names, like);
        let elements = self.elements;
        let index = self.indexes.entry(names).or_insert_with_key(|names| {
            let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
            for (at, element) in elements.iter().enumerate() {
                index.entry(self::key(names, element)).or_default().push(at);
            }
            index
        });
        index.entry(key).or_default()
    }
}

/// A hash of some attributes of an object; with no names, of nothing.
fn key(names: &[Str], element: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    if let Value::Object(object) = element {
        for part in names.iter().filter_map(|name| object.get(name)) {
            parts::hash(part, &mut hasher);
        }
    }
    hasher.finish()
}
