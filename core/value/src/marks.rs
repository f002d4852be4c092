//! Marks on values, and types that prove their absence.

use std::collections::BTreeMap;

use crate::{Path, Step, Value};

/// A set of marks. The set of possible marks is closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Marks(u8);

impl Marks {
    /// No marks.
    pub const NONE: Self = Self(0);
    /// The value must not be shown.
    pub const SENSITIVE: Self = Self(1);
    /// The value must not be stored.
    pub const EPHEMERAL: Self = Self(2);

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are among these.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the marks as a number for storage. [`Marks::from_bits`] reads it.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Converts a number of [`Marks::bits`] back to marks. Returns `None` if it is not one.
    #[must_use]
    pub fn from_bits(bits: u8) -> Option<Self> {
        (bits & !(Self::SENSITIVE | Self::EPHEMERAL).0 == 0).then_some(Self(bits))
    }

    /// Returns these marks without `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl std::ops::BitOr for Marks {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Marks {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [(Self::SENSITIVE, "sensitive"), (Self::EPHEMERAL, "ephemeral")];
        f.debug_set()
            .entries(names.iter().filter(|(mark, _)| self.contains(*mark)).map(|(_, name)| name))
            .finish()
    }
}

/// Marks that were removed from a value, by path: sorted, without duplicate paths and without empty
/// marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkPaths(pub Vec<(Path, Marks)>);

/// A value that is proven to have no marks at any depth. Providers only receive such values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(Value);

/// A value that is proven to be wholly known and to contain no ephemeral parts. A state only contains
/// such values. It may have sensitive marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known(Value);

impl Plain {
    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The value.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl Known {
    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The value.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.0
    }
}

impl FromIterator<(Path, Marks)> for MarkPaths {
    /// Sorts paths, joins the marks of equal paths, and drops empty marks.
    fn from_iter<I: IntoIterator<Item = (Path, Marks)>>(entries: I) -> Self {
        let mut list: Vec<(Path, Marks)> =
            entries.into_iter().filter(|(_, marks)| !marks.is_empty()).collect();
        list.sort_by(|a, b| a.0.cmp(&b.0));
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 |= next.1;
            }
            same
        });
        Self(list)
    }
}

impl MarkPaths {
    /// The same marks on each of `paths`.
    #[must_use]
    pub fn on_all_paths(paths: impl IntoIterator<Item = Path>, marks: Marks) -> Self {
        paths.into_iter().map(|path| (path, marks)).collect()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths that carry all of `marks`, sorted.
    pub fn paths_with(&self, marks: Marks) -> impl Iterator<Item = &Path> {
        self.0
            .iter()
            .filter(move |(_, path_marks)| path_marks.contains(marks))
            .map(|(path, _)| path)
    }

    /// Returns these paths without `marks`. Paths without remaining marks are dropped.
    #[must_use]
    pub fn without(&self, marks: Marks) -> Self {
        self.0.iter().map(|(path, path_marks)| (path.clone(), path_marks.without(marks))).collect()
    }

    /// Returns the union of both sets of marks.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        if other.is_empty() {
            return self;
        }
        self.0.into_iter().chain(other.0).collect()
    }

    /// Returns the marks at or below `path`, with paths relative to it.
    #[must_use]
    pub fn below_path(&self, path: &Path) -> Self {
        let below = self.0.iter().filter(|(marked_path, _)| marked_path.starts_with(path));
        // The removal of the same prefix from all paths keeps them sorted.
        Self(
            below
                .map(|(marked_path, marks)| (Path(marked_path.0[path.0.len()..].to_vec()), *marks))
                .collect(),
        )
    }
}

impl Value {
    /// Removes all marks, and returns their paths. Marks inside a set are assigned to the set. A value
    /// without marks is only traversed, and returned unchanged.
    #[must_use]
    pub fn split_marks(self) -> (Plain, MarkPaths) {
        if self.all_marks().is_empty() {
            return (Plain(self), MarkPaths::default());
        }
        // The walk visits parents before children and children in order, which is the order of paths.
        let mut mark_paths = MarkPaths::default();
        let plain = strip_marks_into(&self, &mut Path::root(), &mut mark_paths).unwrap_or(self);
        (Plain(plain), mark_paths)
    }
}

/// Returns the value without marks, or `None` if it has none. Parts without marks remain shared.
fn strip_marks_into(value: &Value, path: &mut Path, mark_paths: &mut MarkPaths) -> Option<Value> {
    let inner = value.without_own_marks();
    let inner_marks = match inner {
        // No path leads to an element of a set, so the set carries the marks of its elements.
        Value::Set(_) => value.all_marks(),
        _ => value.marks(),
    };
    if !inner_marks.is_empty() {
        mark_paths.0.push((path.clone(), inner_marks));
    }
    let mut children: Option<Vec<Value>> = None;
    for (at, child) in inner.children().iter().enumerate() {
        let stripped = match inner.step_to_child(at) {
            Some(step) => {
                path.0.push(step);
                let stripped = strip_marks_into(child, path, mark_paths);
                path.0.pop();
                stripped
            }
            // No step leads to the elements of a set; their marks were found above.
            None => strip_marks_into(child, path, &mut MarkPaths::default()),
        };
        if let Some(stripped) = stripped {
            children.get_or_insert_with(|| inner.children().to_vec())[at] = stripped;
        }
    }
    match children {
        Some(children) => Some(inner.with_children(children)),
        None => (!value.marks().is_empty()).then(|| inner.clone()),
    }
}

impl TryFrom<Value> for Plain {
    type Error = Path;

    /// Checks that a value has no marks. The error is the path of the first marked part.
    fn try_from(value: Value) -> Result<Self, Path> {
        match first_path_where(&value, |part| !part.marks().is_empty()) {
            None => Ok(Self(value)),
            Some(path) => Err(path),
        }
    }
}

impl Plain {
    /// Restores marks at their paths. If a path no longer exists, the nearest enclosing part is marked.
    #[must_use]
    pub fn with_marks(self, marks: &MarkPaths) -> Value {
        let entries: Vec<(&[Step], Marks)> =
            marks.0.iter().map(|(path, marks)| (path.0.as_slice(), *marks)).collect();
        put_marks(self.0, &entries)
    }
}

/// Marks a value and its parts. The paths are relative to the value.
fn put_marks(value: Value, entries: &[(&[Step], Marks)]) -> Value {
    let mut own_marks = Marks::NONE;
    // Grouped by child first, so that each child is rebuilt once, independent of the number of paths
    // into it.
    let mut below: BTreeMap<usize, Vec<(&[Step], Marks)>> = BTreeMap::new();
    for (steps, marks) in entries {
        let child = steps.split_first().and_then(|(first, rest)| {
            // Marks cannot stay on elements of a set, and no step leads to one.
            value.child_position(first).map(|at| (at, rest))
        });
        match child {
            Some((at, rest)) => below.entry(at).or_default().push((rest, *marks)),
            None => own_marks |= *marks,
        }
    }
    if below.is_empty() {
        return value.mark(own_marks);
    }
    let mut children = value.children().to_vec();
    for (at, entries) in below {
        if let Some(child) = children.get_mut(at) {
            *child = put_marks(child.clone(), &entries);
        }
    }
    value.with_children(children).mark(own_marks)
}

impl Known {
    /// Checks that a value is wholly known and contains no ephemeral parts.
    ///
    /// # Errors
    /// Returns the path of the first part that is unknown or ephemeral.
    pub fn new(value: Value) -> Result<Self, Path> {
        let offends = |part: &Value| part.is_unknown() || part.marks().contains(Marks::EPHEMERAL);
        match first_path_where(&value, offends) {
            None => Ok(Self(value)),
            Some(path) => Err(path),
        }
    }
}

/// Returns the path of the first part of a value that satisfies `offends`, parents first. The usual
/// result, `None`, needs no allocation of paths.
fn first_path_where(value: &Value, offends: impl Fn(&Value) -> bool) -> Option<Path> {
    fn has_offending_part(value: &Value, offends: &impl Fn(&Value) -> bool) -> bool {
        offends(value) || value.children().iter().any(|child| has_offending_part(child, offends))
    }
    if !has_offending_part(value, &offends) {
        return None;
    }
    let mut first = None;
    value.walk(&mut |path, part| {
        if first.is_none() && offends(part) {
            first = Some(path.clone());
        }
        first.is_none()
    });
    first
}

#[cfg(test)]
mod tests;
