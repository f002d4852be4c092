//! Marks on values, and the proofs that there are none.

use crate::{Path, Value};

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

    /// These without `other`.
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

/// Marks that were taken off a value, by path. Sorted by path, each path once, no empty marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkPaths(pub Vec<(Path, Marks)>);

/// A value proven to carry no marks anywhere: all that a provider ever sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain(Value);

/// A value proven to be wholly known and to hold nothing ephemeral: all that a state ever holds.
/// It may carry sensitive marks.
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

impl Value {
    /// Takes all marks off, remembering where they were.
    #[must_use]
    pub fn split_marks(self) -> (Plain, MarkPaths) {
        todo!()
    }
}

impl Plain {
    /// Puts marks back where they were; a path that no longer fits marks the nearest part above it.
    #[must_use]
    pub fn with_marks(self, marks: &MarkPaths) -> Value {
        let _ = marks;
        todo!()
    }
}

impl Known {
    /// Proves that a value is wholly known and holds nothing ephemeral.
    ///
    /// # Errors
    /// With the path of the first part that is unknown or ephemeral.
    pub fn new(value: Value) -> Result<Self, Path> {
        let _ = value;
        todo!()
    }
}
