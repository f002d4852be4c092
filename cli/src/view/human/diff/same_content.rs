//! Equality of values as the JSON document of a plan shows them: types and marks are ignored, an unknown
//! attribute is absent, and an unknown element is null.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use formwork_value::{Str, Value};

/// The value, unless it is null or unknown.
pub(super) fn known_content(value: &Value) -> Option<&Value> {
    Some(value.without_own_marks())
        .filter(|value| !matches!(value, Value::Null(_) | Value::Unknown(_)))
}

/// The members of an object or a map.
pub(super) fn members(value: &Value) -> impl Iterator<Item = (&Str, &Value)> {
    let names: &[Str] = match value.without_own_marks() {
        Value::Map(map) => map.keys(),
        Value::Object(object) => object.names(),
        _ => &[],
    };
    names.iter().zip(value.children())
}

/// A member of an object or a map.
pub(super) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value.without_own_marks() {
        Value::Map(map) => map.get(name),
        Value::Object(object) => object.get(name),
        _ => None,
    }
}

/// Whether two values have the same content.
pub(super) fn is_same_content(before: Option<&Value>, after: Option<&Value>) -> bool {
    match (before.and_then(known_content), after.and_then(known_content)) {
        (None, None) => true,
        (Some(before), Some(after)) => are_same_parts(before, after),
        _ => false,
    }
}

fn are_same_parts(before: &Value, after: &Value) -> bool {
    if is_object_or_map_value(before) || is_object_or_map_value(after) {
        let mut rest = known_members(after);
        let starts_same = known_members(before).all(|(name, value)| {
            rest.next().is_some_and(|(next_old, new)| {
                name == next_old && is_same_content(Some(value), Some(new))
            })
        });
        return is_object_or_map_value(before)
            && is_object_or_map_value(after)
            && starts_same
            && rest.next().is_none();
    }
    if is_sequence(before) || is_sequence(after) {
        let (old, new) = (before.children(), after.children());
        let mut pairs = old.iter().zip(new);
        return is_sequence(before)
            && is_sequence(after)
            && old.len() == new.len()
            && pairs.all(|(old, new)| is_same_content(Some(old), Some(new)));
    }
    before == after
}

fn known_members(value: &Value) -> impl Iterator<Item = (&Str, &Value)> {
    members(value).filter(|(_, value)| !value.is_unknown())
}

/// Whether a value is an object or a map.
pub(super) fn is_object_or_map_value(value: &Value) -> bool {
    matches!(value.without_own_marks(), Value::Map(_) | Value::Object(_))
}

/// Whether a value is a list, a set or a tuple.
pub(super) fn is_sequence(value: &Value) -> bool {
    matches!(value.without_own_marks(), Value::List(_) | Value::Set(_) | Value::Tuple(_))
}

/// The indexes of elements by their content, to find equal elements without comparing all pairs.
pub(super) struct ElementPositions<'v>(HashMap<u64, Vec<(usize, &'v Value)>>);

impl<'v> ElementPositions<'v> {
    /// Collects the indexes of elements.
    pub(super) fn of(elements: impl Iterator<Item = (usize, &'v Value)>) -> Self {
        let mut by_hash: HashMap<u64, Vec<(usize, &Value)>> = HashMap::new();
        for (index, element) in elements {
            by_hash.entry(content_hash(element)).or_default().push((index, element));
        }
        Self(by_hash)
    }

    /// Whether an element with equal content exists.
    pub(super) fn contains(&self, element: &Value) -> bool {
        self.of_hash(element).any(|(_, candidate)| is_same_content(Some(element), Some(candidate)))
    }

    /// Removes the elements with equal content and returns the index of the last one.
    pub(super) fn take(&mut self, element: &Value) -> Option<usize> {
        let candidates = self.0.get_mut(&content_hash(element))?;
        let mut last = None;
        candidates.retain(|(index, candidate)| {
            let is_same = is_same_content(Some(element), Some(candidate));
            last = if is_same { Some(*index) } else { last };
            !is_same
        });
        last
    }

    /// The indexes that were not taken, in order.
    pub(super) fn remaining(self) -> Vec<usize> {
        let mut rest: Vec<usize> = self.0.into_values().flatten().map(|(index, _)| index).collect();
        rest.sort_unstable();
        rest
    }

    fn of_hash(&self, element: &Value) -> impl Iterator<Item = &(usize, &'v Value)> {
        self.0.get(&content_hash(element)).into_iter().flatten()
    }
}

/// A hash that is equal for values of the same content.
fn content_hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash_value_into(value, &mut hasher);
    hasher.finish()
}

fn hash_value_into(value: &Value, into: &mut DefaultHasher) {
    match known_content(value) {
        None => 0_u8.hash(into),
        Some(Value::Bool(truth)) => truth.hash(into),
        Some(Value::Number(number)) => number.hash(into),
        Some(Value::String(text)) => text.hash(into),
        Some(keyed) if is_object_or_map_value(keyed) => {
            for (name, value) in known_members(keyed) {
                name.hash(into);
                hash_value_into(value, into);
            }
        }
        Some(several) => several.children().iter().for_each(|child| hash_value_into(child, into)),
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::{Marks, Type};

    use super::*;

    #[test]
    fn types_marks_and_unknown_attributes_are_ignored() {
        let object = |note: Option<Value>| {
            let note = note.map(|note| ("note", note));
            Value::object([("key", Value::string("k"))].into_iter().chain(note))
        };
        let same = |before: &Value, after: &Value| is_same_content(Some(before), Some(after));
        let plain = object(None);
        assert!(same(&plain, &object(Some(Value::unknown(Type::String)))));
        assert!(!same(&plain, &object(Some(Value::null(Type::String)))));
        assert!(same(&plain, &plain.clone().mark(Marks::SENSITIVE)));
        assert!(same(&plain, &Value::map(Type::String, [("key", Value::string("k"))])));
        let list = |item: Value| Value::tuple(vec![item]);
        assert!(same(&list(Value::null(Type::Bool)), &list(Value::dynamic())));
        assert!(!same(&list(Value::int(1)), &list(Value::string("1"))));
        assert!(!same(&list(Value::int(1)), &plain));
    }

    #[test]
    fn an_element_is_matched_once() {
        let values = [Value::int(1), Value::int(2), Value::int(1)];
        let mut positions = ElementPositions::of(values.iter().enumerate());
        assert!(positions.contains(&values[0]) && !positions.contains(&Value::int(3)));
        assert_eq!(positions.take(&values[0]), Some(2));
        assert_eq!(positions.take(&values[0]), None);
        assert_eq!(positions.remaining(), [1]);
    }

    #[test]
    fn many_elements_are_matched_without_pairwise_comparison() {
        // Pairwise comparison would take minutes.
        let list = |from: i64| -> Vec<Value> {
            (from..from + 100_000).map(|n| Value::object([("n", Value::int(n))])).collect()
        };
        let (old, new) = (list(0), list(1));
        let mut positions = ElementPositions::of(new.iter().enumerate());
        assert_eq!(old.iter().filter(|value| positions.take(value).is_none()).count(), 1);
        assert_eq!(positions.remaining(), [99_999]);
    }
}
