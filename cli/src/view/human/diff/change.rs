//! A value before and after a change, with the properties that determine its display. Pure.

use std::collections::BTreeMap;

use formwork_value::schema::Attribute;
use formwork_value::{Marks, Path, Step, Str, Value};

use super::ChangeSign;
use super::same_content::{
    is_object_or_map_value, is_same_content, is_sequence, known_content, member, members,
};

/// One of the two values of a change.
#[derive(Clone, Copy)]
pub(super) struct ChangeSide<'v> {
    value: Option<&'v Value>,
    /// Whether the container contains this part, even if it is null.
    pub(super) explicit: bool,
    /// Whether the value must not be shown.
    pub(super) sensitive: bool,
    /// Whether marks on parts are ignored.
    ignores_marks: bool,
}

impl<'v> ChangeSide<'v> {
    /// The side without a value.
    pub(super) const ABSENT: Self =
        Self { value: None, explicit: false, sensitive: false, ignores_marks: false };

    /// The side with this value.
    pub(super) fn of(value: &'v Value) -> Self {
        Self { value: Some(value), sensitive: is_sensitive(value), ..Self::ABSENT }
    }

    /// The side with this value or null. `explicit` is whether the container contains it.
    pub(super) fn part_of(value: Option<&'v Value>, explicit: bool) -> Self {
        Self { explicit, ..value.map_or(Self::ABSENT, Self::of) }
    }

    /// The value, unless it is null or unknown.
    pub(super) fn known_content(self) -> Option<&'v Value> {
        self.value.and_then(known_content)
    }

    /// The string, if the value is one.
    pub(super) fn text(self) -> Option<&'v str> {
        match self.known_content()? {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The elements of a list, a set or a tuple.
    pub(super) fn elements(self) -> &'v [Value] {
        self.known_content().filter(|value| is_sequence(value)).map_or(&[], Value::children)
    }

    /// The names of the members of an object or a map.
    pub(super) fn names(self) -> impl Iterator<Item = &'v Str> {
        self.known_content().into_iter().flat_map(members).map(|(name, _)| name)
    }

    fn part_side(self, value: Option<&'v Value>, explicit: bool) -> Self {
        let sensitive = !self.ignores_marks && value.is_some_and(is_sensitive);
        Self { value, explicit, sensitive, ..self }
    }

    fn member_side(self, name: &str) -> Self {
        let value = self.known_content().and_then(|value| member(value, name));
        self.part_side(value, value.is_some_and(|value| !value.is_unknown()))
    }

    fn element(self, index: usize) -> Self {
        let value = self.elements().get(index);
        self.part_side(value, value.is_some())
    }

    fn without_marks(self) -> Self {
        Self { sensitive: false, ignores_marks: true, ..self }
    }

    /// Null instead of an empty string.
    fn without_empty_string(self) -> Self {
        match self.text() {
            Some("") => Self { value: None, ..self },
            _ => self,
        }
    }
}

fn is_sensitive(value: &Value) -> bool {
    value.marks().contains(Marks::SENSITIVE)
}

/// Whether the value after the change is unknown.
#[derive(Clone, Copy)]
pub(super) enum UnknownAfter<'v> {
    /// As marked in the value itself.
    ByValue,
    /// The value is unknown as a whole.
    Whole,
    /// The value is known, except for these members.
    Members(&'v BTreeMap<Str, Attribute>),
    /// The value is known.
    Never,
}

/// A value before and after.
#[derive(Clone)]
pub(super) struct ValueChange<'v> {
    pub(super) before: ChangeSide<'v>,
    pub(super) after: ChangeSide<'v>,
    pub(super) unknown: UnknownAfter<'v>,
    /// Paths below this value whose change forces a replacement.
    pub(super) forces: Vec<&'v [Step]>,
    /// Whether the schema cannot be from the legacy SDK. In legacy schemas, an empty string is treated as
    /// null, because that SDK cannot distinguish them.
    pub(super) modern: bool,
}

impl<'v> ValueChange<'v> {
    /// A change of a whole value.
    pub(super) fn new(before: ChangeSide<'v>, after: ChangeSide<'v>, forces: &'v [Path]) -> Self {
        let forces = forces.iter().map(|path| path.0.as_slice()).collect();
        Self { before, after, unknown: UnknownAfter::ByValue, forces, modern: false }
    }

    /// Whether this change forces a replacement.
    pub(super) fn forces_replacement(&self) -> bool {
        self.forces.iter().any(|path| path.is_empty())
    }

    /// Whether the value after is unknown as a whole.
    pub(super) fn is_unknown(&self) -> bool {
        match self.unknown {
            UnknownAfter::ByValue => self.after.value.is_some_and(Value::is_unknown),
            UnknownAfter::Whole => true,
            UnknownAfter::Members(_) | UnknownAfter::Never => false,
        }
    }

    /// Whether neither side has a value.
    pub(super) fn is_empty(&self) -> bool {
        self.before.known_content().is_none() && self.after.known_content().is_none()
    }

    /// The change of a value without parts.
    pub(super) fn sign(&self) -> ChangeSign {
        let (before, after) = (self.before.known_content(), self.after.known_content());
        let was_there = before.is_some() || self.before.explicit;
        let is_there = after.is_some() || self.after.explicit;
        match (was_there, is_there) {
            (false, true) => ChangeSign::Add,
            (true, false) => ChangeSign::Remove,
            _ if is_same_content(before, after)
                && self.before.explicit == self.after.explicit
                && self.before.sensitive == self.after.sensitive =>
            {
                ChangeSign::Keep
            }
            _ => ChangeSign::Change,
        }
    }

    /// The change of a value with parts, before the parts are compared.
    pub(super) fn outer_sign(&self) -> ChangeSign {
        match (self.before.known_content(), self.after.known_content()) {
            (None, Some(_)) => ChangeSign::Add,
            (Some(_), None) => ChangeSign::Remove,
            _ => ChangeSign::Keep,
        }
    }

    /// The change of one member of an object or a map.
    pub(super) fn member(&self, name: &str) -> Self {
        let unknown = match self.unknown {
            UnknownAfter::ByValue => UnknownAfter::ByValue,
            UnknownAfter::Members(names) if names.contains_key(name) => UnknownAfter::Whole,
            _ => UnknownAfter::Never,
        };
        let is_step = |step: &Step| match step {
            Step::Attribute(step) | Step::Key(step) => step.as_str() == name,
            Step::Index(_) => false,
        };
        Self {
            before: self.before.member_side(name),
            after: self.after.member_side(name),
            unknown,
            forces: self.paths_below(is_step),
            modern: self.modern,
        }
    }

    /// The change of one member of an object. It does not matter whether the object contains the member.
    pub(super) fn attribute(&self, name: &str) -> Self {
        let mut change = self.member(name);
        (change.before.explicit, change.after.explicit) = (false, false);
        change
    }

    /// The change of an element from an index before to an index after. As in Terraform, elements of any
    /// schema are compared by the rules for legacy schemas.
    pub(super) fn element(&self, before: usize, after: usize) -> Self {
        let child_index = if before < self.before.elements().len() { before } else { after };
        let unknown = match self.unknown {
            UnknownAfter::ByValue => UnknownAfter::ByValue,
            _ => UnknownAfter::Never,
        };
        let is_step = |step: &Step| match step {
            Step::Index(index) => index.to_usize() == Some(child_index),
            _ => false,
        };
        Self {
            before: self.before.element(before),
            after: self.after.element(after),
            unknown,
            forces: self.paths_below(is_step),
            modern: false,
        }
    }

    fn paths_below(&self, is_step: impl Fn(&Step) -> bool) -> Vec<&'v [Step]> {
        let inner_paths = self.forces.iter().filter_map(|path| path.split_first());
        inner_paths.filter(|(step, _)| is_step(step)).map(|(_, rest)| rest).collect()
    }

    /// The removal of the value before.
    pub(super) fn removal(&self, unknown: UnknownAfter<'v>) -> Self {
        Self { after: ChangeSide::ABSENT, unknown, modern: false, ..self.clone() }
    }

    /// The creation of the value after.
    pub(super) fn creation(&self) -> Self {
        Self { before: ChangeSide::ABSENT, modern: false, ..self.clone() }
    }

    /// The same change of values that may be shown.
    pub(super) fn without_marks(&self) -> Self {
        let (before, after) = (self.before.without_marks(), self.after.without_marks());
        Self { before, after, modern: false, ..self.clone() }
    }

    /// The same change, with null instead of empty strings unless the schema is modern.
    pub(super) fn normalized(self) -> Self {
        if self.modern {
            return self;
        }
        let (before, after) =
            (self.before.without_empty_string(), self.after.without_empty_string());
        Self { before, after, ..self }
    }

    /// Whether a side is an object or a map.
    pub(super) fn is_object_or_map(side: ChangeSide<'_>) -> bool {
        side.known_content().is_some_and(is_object_or_map_value)
    }
}
