//! Paths inside values.

use crate::{Number, Str, Value};

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// An attribute of an object, or a nested block type.
    Attribute(Str),
    /// The element of a map under a key.
    Key(Str),
    /// The element of a list or tuple at an index.
    Index(Number),
}

/// A sequence of steps, the outermost first. The empty path is the value itself. A path cannot address
/// an element of a set: it ends at the set.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The path of the value itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of an attribute below this one.
    #[must_use]
    pub fn attribute(&self, name: impl Into<Str>) -> Self {
        self.with_step(Step::Attribute(name.into()))
    }

    /// The path of a map element below this one.
    #[must_use]
    pub fn key(&self, key: impl Into<Str>) -> Self {
        self.with_step(Step::Key(key.into()))
    }

    /// The path of a list element below this one.
    #[must_use]
    pub fn index(&self, at: usize) -> Self {
        self.with_step(Step::Index(Number::from(at)))
    }

    /// This path with one more step.
    #[must_use]
    pub fn with_step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Returns the part of `value` at this path, if it exists. Marks on the way are dropped.
    #[must_use]
    pub fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match (step, value.without_own_marks()) {
            (Step::Attribute(name), Value::Object(object)) => object.get(name),
            (Step::Key(key), Value::Map(map)) => map.get(key),
            // A path may name an attribute by a key.
            (Step::Key(key), Value::Object(object)) => object.get(key),
            (Step::Index(at), Value::List(list)) => list.items().get(at.to_usize()?),
            (Step::Index(at), Value::Tuple(tuple)) => tuple.items().get(at.to_usize()?),
            _ => None,
        })
    }

    /// Returns whether this path is `other` or below it.
    #[must_use]
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// Prints the path as an expression: `.disk[0].size`, `.tags["a"]`.
impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for step in &self.0 {
            match step {
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{:?}]", key.as_str())?,
                Step::Index(at) => write!(f, "[{at}]")?,
            }
        }
        Ok(())
    }
}
