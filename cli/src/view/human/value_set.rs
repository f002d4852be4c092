//! Whether a value is among many, without a look at each of them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use formwork_value::Value;

/// Values that can be asked for.
pub(super) struct ValueSet<'v>(HashMap<u64, Vec<&'v Value>>);

impl<'v> ValueSet<'v> {
    /// Takes in values.
    pub(super) fn of(values: &'v [Value]) -> Self {
        let mut by_hash: HashMap<u64, Vec<&Value>> = HashMap::with_capacity(values.len());
        for value in values {
            by_hash.entry(hash(value)).or_default().push(value);
        }
        Self(by_hash)
    }

    /// Whether a value is one of them.
    pub(super) fn holds(&self, value: &Value) -> bool {
        self.0.get(&hash(value)).is_some_and(|same_hash| same_hash.contains(&value))
    }
}

/// A number that equal values share.
fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(value, &mut hasher);
    hasher.finish()
}

fn feed(value: &Value, into: &mut DefaultHasher) {
    match value.peek() {
        Value::Bool(truth) => truth.hash(into),
        Value::Number(number) => number.hash(into),
        Value::String(text) => text.hash(into),
        several => {
            several.children().len().hash(into);
            several.children().iter().for_each(|child| feed(child, into));
        }
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::Marks;

    use super::*;

    #[test]
    fn a_value_is_found_by_being_equal() {
        let object = |n: i64| Value::object([("n", Value::int(n)), ("t", Value::string("x"))]);
        let values = [object(1), object(2), Value::string("1"), object(3).mark(Marks::SENSITIVE)];
        let among = ValueSet::of(&values);
        assert!(values.iter().all(|value| among.holds(value)));
        for other in
            [object(3), object(4), Value::int(1), Value::null(formwork_value::Type::String)]
        {
            assert!(!among.holds(&other), "{other:?}");
        }
    }

    #[test]
    fn many_are_asked_for_without_comparing_each_with_each() {
        // Compared one by one this would take minutes.
        let list = |from: i64| -> Vec<Value> {
            (from..from + 100_000).map(|n| Value::object([("n", Value::int(n))])).collect()
        };
        let (old, new) = (list(0), list(1));
        let among = ValueSet::of(&new);
        assert_eq!(old.iter().filter(|value| !among.holds(value)).count(), 1);
    }
}
