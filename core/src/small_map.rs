//! A map that usually contains one entry: the instances of a resource, or planned results by instances
//! of its module.

use std::collections::{BTreeMap, btree_map};

/// A sorted map that stores its first entry inline. A [`BTreeMap`] of one entry takes the memory of
/// eleven.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallMap<K, V> {
    /// The entry with the least key. `None` only in an empty map.
    first: Option<(K, V)>,
    /// All other entries.
    others: BTreeMap<K, V>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self { first: None, others: BTreeMap::new() }
    }
}

impl<K, V> SmallMap<K, V> {
    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.others.len()
    }

    /// Returns whether the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Iterates over the entries in key order.
    pub fn iter(&self) -> SmallMapIter<'_, K, V> {
        // As a function pointer, the closure has a type that can be written.
        let pair: fn(&(K, V)) -> (&K, &V) = |(key, value)| (key, value);
        self.first.as_ref().map(pair).into_iter().chain(&self.others)
    }

    /// Iterates over the keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Iterates over the values in key order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Iterates mutably over the values in key order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let first = self.first.as_mut().map(|(_, value)| value);
        first.into_iter().chain(self.others.values_mut())
    }
}

impl<K: Ord, V> SmallMap<K, V> {
    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        match &self.first {
            Some((first, value)) if first == key => Some(value),
            _ => self.others.get(key),
        }
    }

    /// Returns a mutable reference to the value of a key.
    #[must_use]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match &mut self.first {
            Some((first, value)) if first == key => Some(value),
            _ => self.others.get_mut(key),
        }
    }

    /// Returns whether the map contains a key.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Inserts a value for a key, and returns the previous one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match &mut self.first {
            Some((first, old)) if *first == key => Some(std::mem::replace(old, value)),
            Some((first, _)) if *first < key => self.others.insert(key, value),
            _ => {
                let second = self.first.replace((key, value));
                self.others.extend(second);
                None
            }
        }
    }

    /// Removes a key, and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        match self.first.take_if(|(first, _)| first == key) {
            Some((_, value)) => {
                // The first entry must be the least again, because order and equality rely on it.
                self.first = self.others.pop_first();
                Some(value)
            }
            None => self.others.remove(key),
        }
    }
}

impl<K: Ord + Clone, V: Default> SmallMap<K, V> {
    /// Returns the value of a key, after inserting one if it has none.
    pub fn or_default(&mut self, key: &K) -> &mut V {
        if !self.contains_key(key) {
            self.insert(key.clone(), V::default());
        }
        // Depending on the order, `insert` may have stored the key in either place.
        match &mut self.first {
            Some((first, value)) if first == key => value,
            _ => self.others.entry(key.clone()).or_default(),
        }
    }
}

/// Entries of a [`SmallMap`].
pub type SmallMapIter<'m, K, V> =
    std::iter::Chain<std::option::IntoIter<(&'m K, &'m V)>, btree_map::Iter<'m, K, V>>;

impl<'m, K, V> IntoIterator for &'m SmallMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = SmallMapIter<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> IntoIterator for SmallMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::iter::Chain<std::option::IntoIter<(K, V)>, btree_map::IntoIter<K, V>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others)
    }
}

impl<K: Ord, V> Extend<(K, V)> for SmallMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| drop(self.insert(key, value)));
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SmallMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SmallMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::SmallMap;

    proptest! {
        #[test]
        fn it_is_a_sorted_map(steps in prop::collection::vec((0..3, 0..6_u8, any::<u8>()), 0..40)) {
            let (mut map, mut model) = (SmallMap::default(), BTreeMap::new());
            for (what, key, value) in steps {
                match what {
                    0 => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                    1 => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                    _ => prop_assert_eq!(map.or_default(&key), model.entry(key).or_default()),
                }
                prop_assert!(map.iter().eq(&model));
                prop_assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.get_mut(&key), model.get_mut(&key));
                prop_assert!(map.values_mut().eq(model.values_mut()));
                // Maps with the same entries are equal, independent of the order of insertion.
                prop_assert_eq!(&map, &model.clone().into_iter().rev().collect());
            }
            prop_assert!(map.into_iter().eq(model));
        }
    }
}
