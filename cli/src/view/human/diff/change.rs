//! A value before and after a change, with the facts that decide how the change is shown. Pure.

use std::collections::BTreeMap;

use formwork_value::schema::Attribute;
use formwork_value::{Marks, Path, Step, Str, Value};

use super::Sign;
use super::content::{content, is_keyed, is_sequence, member, members, same};

/// One of the two values of a change.
#[derive(Clone, Copy)]
pub(super) struct Side<'v> {
    value: Option<&'v Value>,
    /// Whether the container has this part, even if it is null.
    pub(super) explicit: bool,
    /// Whether the value must not be shown.
    pub(super) sensitive: bool,
    /// Whether marks on parts are ignored.
    ignores_marks: bool,
}

impl<'v> Side<'v> {
    /// The side without a value.
    pub(super) const ABSENT: Self =
        Self { value: None, explicit: false, sensitive: false, ignores_marks: false };

    /// The side with this value.
    pub(super) fn of(value: &'v Value) -> Self {
        Self { value: Some(value), sensitive: is_sensitive(value), ..Self::ABSENT }
    }

    /// The side with this value, or null, in a container that has it or not.
    pub(super) fn part_of(value: Option<&'v Value>, explicit: bool) -> Self {
        Self { explicit, ..value.map_or(Self::ABSENT, Self::of) }
    }

    /// The value, unless it is null or unknown.
    pub(super) fn content(self) -> Option<&'v Value> {
        self.value.and_then(content)
    }

    /// The text, if it is a string.
    pub(super) fn text(self) -> Option<&'v str> {
        match self.content()? {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The elements of a list, a set or a tuple.
    pub(super) fn elements(self) -> &'v [Value] {
        self.content().filter(|value| is_sequence(value)).map_or(&[], Value::children)
    }

    /// The names of the members of an object or a map.
    pub(super) fn names(self) -> impl Iterator<Item = &'v Str> {
        self.content().into_iter().flat_map(members).map(|(name, _)| name)
    }

    fn part(self, value: Option<&'v Value>, explicit: bool) -> Self {
        let sensitive = !self.ignores_marks && value.is_some_and(is_sensitive);
        Self { value, explicit, sensitive, ..self }
    }

    fn member(self, name: &str) -> Self {
        let value = self.content().and_then(|value| member(value, name));
        self.part(value, value.is_some_and(|value| !value.is_unknown()))
    }

    fn element(self, at: usize) -> Self {
        let value = self.elements().get(at);
        self.part(value, value.is_some())
    }

    fn without_marks(self) -> Self {
        Self { sensitive: false, ignores_marks: true, ..self }
    }

    /// Null in place of an empty string.
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
pub(super) enum Unknown<'v> {
    /// The value itself shows it.
    ByValue,
    /// It is unknown as a whole.
    Whole,
    /// It is known, and these members of it are unknown.
    Members(&'v BTreeMap<Str, Attribute>),
    /// It is known.
    Never,
}

/// A value before and after.
#[derive(Clone)]
pub(super) struct Change<'v> {
    pub(super) before: Side<'v>,
    pub(super) after: Side<'v>,
    pub(super) unknown: Unknown<'v>,
    /// Paths below this value whose change forces a replacement.
    pub(super) forces: Vec<&'v [Step]>,
    /// Whether the legacy SDK cannot have the schema. In others an empty string is as good as null,
    /// because that SDK cannot distinguish them.
    pub(super) modern: bool,
}

impl<'v> Change<'v> {
    /// A change of a whole value.
    pub(super) fn new(before: Side<'v>, after: Side<'v>, forces: &'v [Path]) -> Self {
        let forces = forces.iter().map(|path| path.0.as_slice()).collect();
        Self { before, after, unknown: Unknown::ByValue, forces, modern: false }
    }

    /// Whether this change forces a replacement.
    pub(super) fn forces(&self) -> bool {
        self.forces.iter().any(|path| path.is_empty())
    }

    /// Whether the value after is unknown as a whole.
    pub(super) fn is_unknown(&self) -> bool {
        match self.unknown {
            Unknown::ByValue => self.after.value.is_some_and(Value::is_unknown),
            Unknown::Whole => true,
            Unknown::Members(_) | Unknown::Never => false,
        }
    }

    /// Whether there is no value on either side.
    pub(super) fn is_empty(&self) -> bool {
        self.before.content().is_none() && self.after.content().is_none()
    }

    /// The change of a value without parts.
    pub(super) fn sign(&self) -> Sign {
        let (before, after) = (self.before.content(), self.after.content());
        let was_there = before.is_some() || self.before.explicit;
        let is_there = after.is_some() || self.after.explicit;
        match (was_there, is_there) {
            (false, true) => Sign::Add,
            (true, false) => Sign::Remove,
            _ if same(before, after)
                && self.before.explicit == self.after.explicit
                && self.before.sensitive == self.after.sensitive =>
            {
                Sign::Keep
            }
            _ => Sign::Change,
        }
    }

    /// The change of a value with parts, before the parts are compared.
    pub(super) fn outer_sign(&self) -> Sign {
        match (self.before.content(), self.after.content()) {
            (None, Some(_)) => Sign::Add,
            (Some(_), None) => Sign::Remove,
            _ => Sign::Keep,
        }
    }

    /// The change of one member of an object or a map.
    pub(super) fn member(&self, name: &str) -> Self {
        let unknown = match self.unknown {
            Unknown::ByValue => Unknown::ByValue,
            Unknown::Members(names) if names.contains_key(name) => Unknown::Whole,
            _ => Unknown::Never,
        };
        let is_step = |step: &Step| match step {
            Step::Attribute(step) | Step::Key(step) => step.as_str() == name,
            Step::Index(_) => false,
        };
        Self {
            before: self.before.member(name),
            after: self.after.member(name),
            unknown,
            forces: self.below(is_step),
            modern: self.modern,
        }
    }

    /// The change of one member of an object. Whether the object has it does not count.
    pub(super) fn attribute(&self, name: &str) -> Self {
        let mut change = self.member(name);
        (change.before.explicit, change.after.explicit) = (false, false);
        change
    }

    /// The change of one element from a place before to a place after. As in Terraform, the elements
    /// of any schema are compared as those of a legacy one.
    pub(super) fn element(&self, before: usize, after: usize) -> Self {
        let at = if before < self.before.elements().len() { before } else { after };
        let unknown = match self.unknown {
            Unknown::ByValue => Unknown::ByValue,
            _ => Unknown::Never,
        };
        let is_step = |step: &Step| match step {
            Step::Index(index) => index.to_usize() == Some(at),
            _ => false,
        };
        Self {
            before: self.before.element(before),
            after: self.after.element(after),
            unknown,
            forces: self.below(is_step),
            modern: false,
        }
    }

    fn below(&self, is_step: impl Fn(&Step) -> bool) -> Vec<&'v [Step]> {
        let below = self.forces.iter().filter_map(|path| path.split_first());
        below.filter(|(step, _)| is_step(step)).map(|(_, rest)| rest).collect()
    }

    /// The removal of the value before.
    pub(super) fn removal(&self, unknown: Unknown<'v>) -> Self {
        Self { after: Side::ABSENT, unknown, modern: false, ..self.clone() }
    }

    /// The creation of the value after.
    pub(super) fn creation(&self) -> Self {
        Self { before: Side::ABSENT, modern: false, ..self.clone() }
    }

    /// The same change of values that may be shown.
    pub(super) fn without_marks(&self) -> Self {
        let (before, after) = (self.before.without_marks(), self.after.without_marks());
        Self { before, after, modern: false, ..self.clone() }
    }

    /// The same change, with null in place of empty strings unless the schema is modern.
    pub(super) fn normalized(self) -> Self {
        if self.modern {
            return self;
        }
        let (before, after) =
            (self.before.without_empty_string(), self.after.without_empty_string());
        Self { before, after, ..self }
    }

    /// Whether a side is an object or a map.
    pub(super) fn has_members(side: Side<'_>) -> bool {
        side.content().is_some_and(is_keyed)
    }
}
