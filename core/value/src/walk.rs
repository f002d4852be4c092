//! Traversal of a value with the path of each part, and reconstruction of a value from changed parts,
//! independent of schemas and marks.

use crate::value::{List, Map, Object, Tuple};
use crate::{Number, Path, Step, Str, Value};

impl Value {
    /// Returns the path step from this value to its child `at`, or `None` for the elements of a set,
    /// which have no steps. Marks are ignored.
    #[must_use]
    pub fn step_to_child(&self, at: usize) -> Option<Step> {
        match self.without_own_marks() {
            Self::List(_) | Self::Tuple(_) => Some(Step::Index(Number::from(at))),
            Self::Map(map) => map.keys().get(at).cloned().map(Step::Key),
            Self::Object(object) => object.names().get(at).cloned().map(Step::Attribute),
            _ => None,
        }
    }

    /// Returns the index of the child that `step` selects, by the rules of [`Path::find`]. Marks are
    /// ignored.
    #[must_use]
    pub fn child_position(&self, step: &Step) -> Option<usize> {
        let search = |names: &[Str], name: &Str| names.binary_search(name).ok();
        match (step, self.without_own_marks()) {
            (Step::Attribute(name) | Step::Key(name), Self::Object(object)) => {
                search(object.names(), name)
            }
            (Step::Key(key), Self::Map(map)) => search(map.keys(), key),
            (Step::Index(at), Self::List(_) | Self::Tuple(_)) => {
                at.to_usize().filter(|at| *at < self.children().len())
            }
            _ => None,
        }
    }

    /// Returns the value with other children: keys, names, element type and own marks are kept. A set is
    /// rebuilt, so equal elements merge. A value without children is not changed.
    ///
    /// The number and the types of the children must be the same as before.
    #[must_use]
    pub fn with_children(&self, children: Vec<Self>) -> Self {
        debug_assert_eq!(children.len(), self.children().len(), "as many children as before");
        let value = match self.without_own_marks() {
            Self::List(list) => Self::List(List::new(list.element_type().clone(), children)),
            // Created as a new set, because changed elements may now be equal, or in another order.
            Self::Set(set) => Self::set(set.element_type().clone(), children),
            Self::Map(map) => {
                let pairs = map.keys().iter().cloned().zip(children).collect();
                Self::Map(Map::new(map.element_type().clone(), pairs))
            }
            Self::Tuple(_) => Self::Tuple(Tuple::new(children)),
            Self::Object(object) => {
                Self::Object(Object::with_names(object.names().clone(), children))
            }
            other => other.clone(),
        };
        value.mark(self.marks())
    }

    /// Visits this value and all its parts, each before its own parts, in the order of children. `visit`
    /// returns whether to continue into the parts of a value. The elements of a set are visited with the
    /// path of the set.
    pub fn walk(&self, visit: &mut impl FnMut(&Path, &Self) -> bool) {
        self.walk_at(&mut Path::root(), visit);
    }

    fn walk_at(&self, path: &mut Path, visit: &mut impl FnMut(&Path, &Self) -> bool) {
        if !visit(path, self) {
            return;
        }
        for (at, child) in self.children().iter().enumerate() {
            match self.step_to_child(at) {
                Some(step) => {
                    path.0.push(step);
                    child.walk_at(path, visit);
                    path.0.pop();
                }
                None => child.walk_at(path, visit),
            }
        }
    }

    /// Returns the value without signed zeros. Planned and stored outputs have no signed zeros, as if
    /// they were encoded for the wire.
    #[must_use]
    pub fn without_signed_zeros(&self) -> Self {
        let is_signed_zero = |part: &Self| match part.without_own_marks() {
            Self::Number(number) => number.is_zero() && number.is_negative(),
            _ => false,
        };
        // Searched for first, because a value without one does not need to be copied.
        let mut has_one = false;
        self.walk(&mut |_, part| {
            has_one |= is_signed_zero(part);
            !has_one
        });
        match self.children() {
            _ if !has_one => self.clone(),
            [] => Self::int(0).mark(self.marks()),
            parts => self.with_children(parts.iter().map(Self::without_signed_zeros).collect()),
        }
    }

    /// Returns the value with the part at `path` replaced by the result of `change`, and with all marks
    /// kept. Returns `None` if the path does not exist.
    #[must_use]
    pub fn replace_at(&self, path: &Path, change: impl FnOnce(&Self) -> Self) -> Option<Self> {
        self.replace_below(&path.0, change)
    }

    fn replace_below(&self, steps: &[Step], change: impl FnOnce(&Self) -> Self) -> Option<Self> {
        let Some((first, rest)) = steps.split_first() else {
            return Some(change(self));
        };
        let at = self.child_position(first)?;
        let mut children = self.children().to_vec();
        let child = children.get_mut(at)?;
        *child = child.replace_below(rest, change)?;
        Some(self.with_children(children))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Marks, Type};

    fn sample() -> Value {
        Value::object([
            ("list", Value::list(Type::String, vec![Value::string("a"), Value::string("b")])),
            ("map", Value::map(Type::Bool, [("k", Value::Bool(true))])),
            ("secret", Value::string("s").mark(Marks::SENSITIVE)),
        ])
    }

    #[test]
    fn every_part_is_visited_with_its_path() {
        let mut seen = Vec::new();
        sample().walk(&mut |path, _| {
            seen.push(path.to_string());
            true
        });
        assert_eq!(seen, ["", ".list", ".list[0]", ".list[1]", ".map", ".map[\"k\"]", ".secret"]);
    }

    #[test]
    fn zeros_lose_their_sign_and_other_values_are_unchanged() {
        let zero = || Value::Number(Number::from(0_i64).negate());
        let with = |zero: Value| {
            let list = Value::list(Type::Number, vec![Value::int(-1), zero.clone()]);
            let set = Value::set(Type::Number, vec![zero.clone()]);
            let secret = zero.mark(Marks::SENSITIVE);
            Value::object([("list", list), ("set", set), ("secret", secret)])
        };
        assert_eq!(
            // Both zeros are equal, so only the string shows the sign.
            format!("{:?}", with(zero()).without_signed_zeros()),
            format!("{:?}", with(Value::int(0)))
        );
    }

    #[test]
    fn replacing_a_part_keeps_its_siblings_and_marks() {
        let path = Path::root().attribute("list").index(1);
        let changed = sample().replace_at(&path, |_| Value::string("c")).unwrap();
        assert_eq!(path.find(&changed), Some(&Value::string("c")));
        assert_eq!(changed.all_marks(), Marks::SENSITIVE);
        assert_eq!(sample().replace_at(&Path::root().attribute("no"), Value::clone), None);
    }
}
